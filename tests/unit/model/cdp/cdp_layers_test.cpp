// SPDX-License-Identifier: MIT
//
// Random CDP layers of every precision and configuration against the reference: every byte of the
// output and around it, the bytes that are touched, and all counters.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/configurations.hpp"
#include "common/layers/cdp_case.hpp"
#include "common/property.hpp"
#include "common/share.hpp"

namespace nvdla::test {
namespace {

std::string describe(const CdpCase& layer) {
  return std::string(layer.hw->name) + " CDP " + kPrecisionNames[layer.precision] + " " +
         std::to_string(layer.width) + " x " + std::to_string(layer.height) + " x " +
         std::to_string(layer.channels) + ", window " + std::to_string(2 * layer.reach + 1) +
         (layer.bypass_sum ? ", no sum" : "") + (layer.bypass_mul ? ", no product" : "");
}

class CdpLayers : public testing::TestWithParam<const char*> {};

TEST_P(CdpLayers, EqualTheReference) {
  const nvdla_hw& hw = *nvdla_hw_find(GetParam());
  const bool first_generation = hw.regmap == NVDLA_REGMAP_NV_FULL;
  const unsigned drawn = for_all(share(first_generation ? 3000 : 600), [&](Random& random) {
    const auto precision = static_cast<unsigned>(pick(random, 0, first_generation ? 2 : 0));
    const CdpCase layer = random_cdp(hw, random, precision);
    UnitRig rig(hw);
    fill_cdp(layer, rig, random);
    std::string wrong = check_cdp(layer, rig);
    if (wrong.empty()) {
      Bytes reads, writes;
      add_cube(reads, layer.source, layer.surfaces(), layer.height, layer.width * hw.atom);
      add_cube(writes, layer.destination, layer.surfaces(), layer.height, layer.width * hw.atom);
      wrong = rig.compare_access(reads, writes);
    }
    return with_name(describe(layer), wrong);
  });
  count_layers("CDP", drawn);
}

void point_to(unsigned number, UnitRig& rig) {
  for (const char* pointer : {"CDP.S_POINTER", "CDP_RDMA.S_POINTER"})
    rig.regs.write(pointer, number & 1);
}

// Runs a layer, the next after so many, without counters of the tables.
std::string check_next(const CdpCase& layer, unsigned number, UnitRig& rig, Random& random) {
  point_to(number, rig);
  fill_cdp(layer, rig, random);
  return check_cdp_output(layer, cdp_reference(layer, rig), rig);
}

// Layers whose sums have few values, one after the other on a device: their answers are kept, and
// are those of other tables, converters and windows the next time.
TEST_P(CdpLayers, EqualTheReferenceFromKeptAnswers) {
  const nvdla_hw& hw = *nvdla_hw_find(GetParam());
  const unsigned drawn = for_all(share(100), [&](Random& random) {
    std::vector<CdpCase> layers(static_cast<std::size_t>(pick(random, 1, 6)));
    for (CdpCase& layer : layers) {
      layer = random_cdp(hw, random, 0);
      layer.count = false;
      layer.in_scale = pick(random, -3, 3);
      layer.in_shift = static_cast<unsigned>(pick(random, 4, 6));
      layer.width = static_cast<unsigned>(pick(random, 10, 70));
      place_cdp(layer, random);
    }
    UnitRig rig(hw);
    unsigned number = 0;
    for (unsigned round = 0; round < 3; ++round)
      for (const CdpCase& layer : layers)
        if (const std::string wrong = check_next(layer, number++, rig, random); !wrong.empty())
          return with_name(describe(layer), wrong);
    return std::string();
  });
  count_layers("CDP by kept answers", 3 * drawn);
}

// Layers that keep answers to sums of elements without a scale, as LRN has them, of other sizes and
// with other converters of the output once there are enough of them.
TEST_P(CdpLayers, EqualTheReferenceWithoutAScale) {
  const nvdla_hw& hw = *nvdla_hw_find(GetParam());
  constexpr unsigned kLayers = 8;
  const unsigned drawn = for_all(share(20), [&](Random& random) {
    CdpCase layer = random_cdp(hw, random, 0);
    layer.count = layer.bypass_sum = layer.bypass_mul = false;
    layer.reach = static_cast<unsigned>(pick(random, 1, 2));
    layer.in_offset = pick(random, -30, 30);
    layer.in_scale = 1;
    layer.in_shift = 0;
    layer.width = 60;
    layer.height = 5;
    layer.channels = 64;
    place_cdp(layer, random);
    UnitRig rig(hw);
    rig.recorder.open = one_in(random, 2);
    const std::int64_t greatest = 128 + std::abs(layer.in_offset);
    unsigned number = 0;
    for (std::int64_t sums = (2 * layer.reach + 1) * greatest * greatest; sums >= 0;
         sums -= layer.width * layer.height * layer.channels) {
      point_to(number++, rig);
      program_cdp(layer, rig.regs);
      enable_cdp(rig.regs);
      rig.run();
    }
    for (unsigned i = 0; i < kLayers; ++i) {
      layer.width = static_cast<unsigned>(pick(random, 1, 40));
      layer.height = static_cast<unsigned>(pick(random, 1, 2));
      layer.channels = static_cast<unsigned>(pick(random, 1, 100));
      layer.out_offset = pick(random, 0, 1) * pick(random, -(1 << 20), 1 << 20);
      layer.out_scale = pick(random, one_in(random, 8) ? -32768 : 0, 32767);
      layer.out_shift = static_cast<unsigned>(pick(random, one_in(random, 8) ? 0 : 15, 40));
      place_cdp(layer, random);
      if (const std::string wrong = check_next(layer, number++, rig, random); !wrong.empty())
        return with_name(describe(layer), wrong);
    }
    return std::string();
  });
  count_layers("CDP without a scale", kLayers * drawn);
}

INSTANTIATE_TEST_SUITE_P(Configurations, CdpLayers, testing::ValuesIn(kConfigurations),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
