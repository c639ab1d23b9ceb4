// SPDX-License-Identifier: MIT
//
// Stand-alone layers whose memory lies open, where threads share them and SDP's elements go through
// it as streams: the bytes and counters of the reference on any number of threads. Run under TSan.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/layers/cdp_case.hpp"
#include "common/layers/pdp_case.hpp"
#include "common/layers/sdp_generator.hpp"
#include "common/property.hpp"
#include "common/share.hpp"

namespace nvdla::test {
namespace {

const nvdla_hw& first_generation() { return *nvdla_hw_find("nv_full"); }

// Every layer is worth sharing.
model::Options on_threads(unsigned count) { return {.threads = count, .worth_sharing = 0}; }

class SharedUnits : public testing::TestWithParam<unsigned> {};

TEST_P(SharedUnits, SdpLayersEqualTheReference) {
  const unsigned drawn = for_all(share(600), [](Random& random) {
    SdpGenerator generator(first_generation(), random);
    const SdpCase layer = generator.layer();
    UnitRig rig(first_generation(), on_threads(GetParam()));
    rig.recorder.open = true;
    generator.fill(layer, rig);
    return check_sdp(layer, rig);
  });
  count_layers("SDP in open memory", drawn);
}

std::int32_t between(Random& random, int low, int high) {
  return static_cast<std::int32_t>(pick(random, low, high));
}

// Numbers of a size that 32 bits hold what becomes of them, mostly.
void tame(SdpPart& part, bool of_y, bool real, Random& random) {
  part.bypass_converter = one_in(random, 2);
  part.offset = between(random, -100, 100);
  part.scale = between(random, -300, 300);
  part.truncate = static_cast<unsigned>(between(random, 0, 12));
  if (!real)
    part.value = static_cast<std::uint32_t>(between(random, -300, 300)) & (of_y ? ~0u : 0xffff);
  if (real && of_y) part.value &= ~0x1fffu;
}

// A layer that does the same to each element and counts nothing.
SdpCase stream_layer(SdpGenerator& generator, Random& random) {
  SdpCase layer = generator.layer();
  layer.in = layer.out = layer.proc;
  layer.count_saturation = layer.count_lut = layer.count_input = false;
  const bool real = layer.proc == kRefFp16;
  for (unsigned i = 0; i < 3; ++i) {
    SdpUnit& unit = layer.units[i];
    unit.lut = false;
    if (unit.algorithm == 3) unit.algorithm = 2;
    // One operand of an element at most.
    if (unit.alu.in_memory() && unit.mul.in_memory()) unit.mul.source = Source::kRegister;
    tame(unit.alu, i == 2, real, random);
    tame(unit.mul, i == 2, real, random);
    unit.alu_shift = static_cast<unsigned>(between(random, 0, 6));
    unit.mul_shift = static_cast<unsigned>(between(random, 0, 10));
  }
  layer.offset = between(random, -50, 50);
  layer.scale = between(random, -9, 9);
  layer.shift = static_cast<unsigned>(between(random, 0, 8));
  if (one_in(random, 2)) {
    layer.offset = 0;
    layer.scale = 1;
    layer.shift = 0;
  }
  place_sdp(layer, random, one_in(random, 2));
  return layer;
}

TEST_P(SharedUnits, StreamsEqualTheReference) {
  const unsigned drawn = for_all(share(2000), [](Random& random) {
    SdpGenerator generator(first_generation(), random);
    const SdpCase layer = stream_layer(generator, random);
    UnitRig rig(first_generation(), on_threads(GetParam()));
    rig.recorder.open = true;
    generator.fill(layer, rig);
    return check_sdp(layer, rig);
  });
  count_layers("SDP streams", drawn);
}

// A layer where nothing but an element decides its result, with more of them than patterns.
SdpCase map_layer(SdpGenerator& generator, Random& random) {
  const bool wide = one_in(random, 16);
  SdpCase layer = generator.layer();
  while (!layer.uses_lut() || layer.equal() || (layer.proc != kRefInt8) != wide)
    layer = generator.layer();
  layer.in = layer.out = layer.proc;
  layer.count_saturation = layer.count_lut = layer.count_input = false;
  for (SdpUnit& unit : layer.units) unit.alu.source = unit.mul.source = Source::kRegister;
  layer.width = static_cast<unsigned>(between(random, 30, 60));
  layer.height = wide ? 33 : static_cast<unsigned>(between(random, 1, 4));
  layer.channels = wide ? 80 : static_cast<unsigned>(between(random, 20, 70));
  place_sdp(layer, random, one_in(random, 2));
  return layer;
}

// One of what the results depend on.
void change_one(SdpCase& layer, Random& random) {
  SdpUnit& unit = layer.units[between(random, 0, 2)];
  SdpTable& table = one_in(random, 2) ? layer.le : layer.lo;
  const auto any = static_cast<std::uint32_t>(random());
  switch (between(random, 0, 15)) {
    case 0:
      table.entries[any % table.entries.size()] ^= 1u << 9;
      break;
    case 1:
      table.start ^= 1u << 20;
      break;
    case 2:
      table.end ^= 1u << 20;
      break;
    case 3:
      table.select ^= 1;
      break;
    case 4:
      table.under_scale ^= 1u << 9;
      break;
    case 5:
      table.over_scale ^= 1u << 9;
      break;
    case 6:
      table.over_shift ^= 1;
      table.under_shift ^= 1;
      break;
    case 7:
      layer.le.exponential = !layer.le.exponential;
      break;
    case 8:
      layer.le.offset ^= 1;
      break;
    case 9:
      (one_in(random, 2) ? layer.under_priority : layer.over_priority) ^= 1;
      layer.hybrid_priority ^= 1;
      break;
    case 10:
      unit.alu.value ^= 1u << 9;
      break;
    case 11:
      unit.mul.value ^= 1u << 9;
      break;
    case 12:
      unit.mul_shift ^= 1;
      break;
    case 13:
      unit.active = unit.lut || !unit.active;
      break;
    case 14:
      layer.flush_nan = !layer.flush_nan;
      break;
    default:
      layer.offset ^= 1;
      layer.scale ^= 1;
  }
}

// The results of a layer's patterns serve the same layer again, and none that is not quite so.
TEST_P(SharedUnits, MapsEqualTheReference) {
  const unsigned drawn = for_all(share(160), [](Random& random) {
    SdpGenerator generator(first_generation(), random);
    SdpCase layer = map_layer(generator, random);
    UnitRig rig(first_generation(), on_threads(GetParam()));
    rig.recorder.open = true;
    for (unsigned run = 0; run < 3; ++run) {
      if (run != 0) rig.device.reset();
      if (run == 2) change_one(layer, random);
      generator.fill(layer, rig);
      if (const std::string wrong = check_sdp(layer, rig); !wrong.empty())
        return wrong + ", in run " + std::to_string(run);
    }
    return std::string();
  });
  count_layers("SDP by patterns", drawn);
}

TEST_P(SharedUnits, PdpLayersEqualTheReference) {
  const unsigned drawn = for_all(share(1000), [](Random& random) {
    const PdpCase layer = random_pdp(first_generation(), random);
    UnitRig rig(first_generation(), on_threads(GetParam()));
    rig.recorder.open = true;
    fill_pdp(layer, rig, random);
    return check_pdp(layer, rig);
  });
  count_layers("PDP in open memory", drawn);
}

TEST_P(SharedUnits, CdpLayersEqualTheReference) {
  const unsigned drawn = for_all(share(600), [](Random& random) {
    const auto precision = static_cast<unsigned>(pick(random, 0, 2));
    const CdpCase layer = random_cdp(first_generation(), random, precision);
    UnitRig rig(first_generation(), on_threads(GetParam()));
    rig.recorder.open = true;
    fill_cdp(layer, rig, random);
    return check_cdp(layer, rig);
  });
  count_layers("CDP in open memory", drawn);
}

INSTANTIATE_TEST_SUITE_P(Threads, SharedUnits, testing::Values(1u, 3u),
                         testing::PrintToStringParamName());

// What a layer leaves of memory that it reads and writes: in its place, or so many bytes further.
std::vector<std::byte> left_of(std::uint64_t further, bool open, unsigned count) {
  Random random(7);
  SdpCase layer;
  layer.hw = &first_generation();
  layer.width = 30;
  layer.height = 5;
  layer.channels = 70;
  layer.units[0].active = layer.units[0].relu = layer.units[0].alu.active = true;
  layer.units[0].alu.value = 3;
  layer.count_saturation = false;
  place_sdp(layer, random, false);
  layer.destination = layer.source;
  layer.destination.base += further;
  UnitRig rig(first_generation(), on_threads(count));
  rig.recorder.open = open;
  rig.randomise(kSdpIn, sdp_region(layer), random);
  program_sdp(layer, rig.regs);
  enable_sdp(rig.regs);
  rig.run();
  EXPECT_EQ(rig.blocked(), "");
  return rig.memory.read(model::Ram::kPrimary, kSdpIn, sdp_region(layer));
}

TEST(SharedSdpLayers, InTheirPlaceOrOverlapping) {
  for (const std::uint64_t further : {0u, 32u, 320u, 30u * 32u, 5u * 30u * 32u})
    for (const unsigned count : {1u, 3u})
      EXPECT_EQ(left_of(further, true, count), left_of(further, false, 1))
          << further << " bytes further on " << count << " threads";
}

}  // namespace
}  // namespace nvdla::test
