// SPDX-License-Identifier: MIT
//
// Golden cases decide what the compiler writes: each is lifted to descriptors,
// one for each launch, compiled, and every register that the layers use must
// have the value of the case. Slots are exactly the memory of the case, so the
// claims of memory are held against it, too.
//
// Some cases are beyond what the compiler accepts: the reference model, which
// they were made with, finishes layers that are not proven to end on hardware.
// Those are listed by name with the rule, and the rule must be the one that
// the registers of the case call for.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "common/cases.hpp"
#include "common/compiled.hpp"
#include "common/lift/launches.hpp"
#include "common/lift/lift.hpp"
#include "common/lift/used_registers.hpp"
#include "common/shared.hpp"

namespace nvdla::test {
namespace {

// Input and output of an int8 layer that lie in one memory, one between the
// surfaces of the other: the compiler compares from the first to the last byte.
bool interleaves(const nvdla_hw& hw, const nvdla_layer& layer) {
  const nvdla_sdp& sdp = layer.sdp;
  if (layer.kind != NVDLA_LAYER_SDP || sdp.y.alu == NVDLA_ALU_EQUAL ||
      sdp.in_precision != NVDLA_PRECISION_INT8 || sdp.out_precision != NVDLA_PRECISION_INT8 ||
      sdp.input.slot != sdp.output.slot)
    return false;
  const auto end = [&](const nvdla_surface& s) {
    return s.offset + std::uint64_t{(sdp.channels - 1) / hw.atom} * s.surface_stride +
           std::uint64_t{sdp.height - 1} * s.line_stride + sdp.width * hw.atom;
  };
  return sdp.input.offset != sdp.output.offset && sdp.input.offset < end(sdp.output) &&
         sdp.output.offset < end(sdp.input);
}

// Weights that do not fit their banks all at once; no case of the second generation has images or
// tiles.
bool overflows(const nvdla_hw& hw, const nvdla_layer& layer) {
  const nvdla_conv& conv = layer.conv;
  const std::uint64_t bytes =
      std::uint64_t{conv.kernels} * conv.channels * conv.kernel_width * conv.kernel_height;
  const std::uint64_t margin = conv.kernels > hw.atomic_k ? 128 : 0;
  return (hw.features & NVDLA_HW_WEIGHT_GATING) != 0 && conv.kernels != 0 &&
         bytes + margin > std::uint64_t{conv.weight_banks} * hw.cbuf_entries * hw.cbuf_entry_bytes;
}

// Rules that the layer breaks, worked out again from the facts.
std::set<std::uint32_t> broken_rules(const nvdla_hw& hw, const nvdla_layer& layer) {
  std::set<std::uint32_t> rules;
  if (interleaves(hw, layer)) rules.insert(NVDLA_RULE_OVERLAP);
  if (overflows(hw, layer)) rules.insert(NVDLA_RULE_RESIDENT_WEIGHTS);
  return rules;
}

// Of the files of the case; nothing else is named by an address of compressed weights.
std::vector<std::uint8_t> contents(const Case& c, std::uint64_t address, std::size_t size) {
  for (const auto& region : c.regions) {
    if (address >= region.address && address - region.address + size <= region.bytes.size())
      return {region.bytes.begin() + static_cast<std::ptrdiff_t>(address - region.address),
              region.bytes.begin() + static_cast<std::ptrdiff_t>(address - region.address + size)};
  }
  throw LiftError("no file has the contents at " + std::to_string(address));
}

class Golden : public testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  void run(const Case& c) {
    const nvdla_hw* hw = nvdla_hw_find(c.configuration.c_str());
    ASSERT_NE(hw, nullptr);
    const auto map = static_cast<model::RegisterMap>(hw->regmap);
    LaunchTracker tracker(map);
    for (const auto& write : c.writes) tracker.write(write.offset, write.value);
    std::vector<LaunchRegisters> launches;
    for (Launch& launch : tracker.run()) launches.push_back(std::move(launch.registers));
    ASSERT_FALSE(launches.empty());
    ASSERT_EQ(tracker.waiting(), 0u);
    std::vector<LaunchMemory> memories;
    for (const auto& region : c.regions) memories.push_back({region.address, region.size});

    Lifted lifted = lift(*hw, launches, memories,
                         [&](auto address, auto size) { return contents(c, address, size); });
    const auto num_layers = static_cast<std::uint32_t>(launches.size());
    const auto compiled = [&] {
      auto program = std::make_unique<Program>(*hw, lifted.slots, num_layers, 0, 0, lifted.luts,
                                               lifted.transfers, lifted.control);
      for (const nvdla_layer& layer : lifted.layers) program->add(layer);
      return program;
    };
    auto program = compiled();
    if (program->error().rule == NVDLA_RULE_EXTENT && widen_pairs(lifted)) {
      listed_ << "  " << c.name << ": NVDLA_RULE_EXTENT in the memory of the case\n";
      program = compiled();
    }
    std::set<std::uint32_t> broken;
    for (const nvdla_layer& layer : lifted.layers) broken.merge(broken_rules(*hw, layer));
    if (!program->ok()) {
      listed_ << "  " << c.name << ": " << to_string(program->error()) << "\n";
      refused_++;
      EXPECT_TRUE(broken.contains(program->error().rule)) << to_string(program->error());
      return;
    }
    EXPECT_TRUE(broken.empty()) << "compiled, although rule " << *broken.begin() << " is broken";
    EXPECT_TRUE(program->end());
    for (std::uint32_t i = 0; i < num_layers; i++)
      for (const auto& difference : differing_registers(*hw, launches[i], lifted.layers[i],
                                                        program->registers(i, lifted.bases),
                                                        program->image(i).units, lifted.moved))
        ADD_FAILURE() << difference;
    compiled_++;
  }

  std::ostringstream listed_;
  unsigned compiled_ = 0;
  unsigned refused_ = 0;
};

TEST_P(Golden, RegistersAreThoseOfTheCase) {
  const auto [configuration, unit] = GetParam();
  NVDLA_NEEDS_SHARED("vectors");
  const auto cases = find_cases(configuration, unit);
  ASSERT_FALSE(cases.empty()) << "no cases in " << configuration << "/" << unit;
  for (const auto& path : cases) {
    SCOPED_TRACE(path.string());
    ASSERT_NO_THROW(run(load_case(path)));
  }
  RecordProperty("compiled", static_cast<int>(compiled_));
  RecordProperty("refused", static_cast<int>(refused_));
  std::cout << configuration << "/" << unit << ": " << compiled_ << " compiled, " << refused_
            << " refused\n"
            << listed_.str();
  EXPECT_GT(compiled_, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Golden,
    testing::Values(std::pair{"nv_small", "conv_dc"}, std::pair{"nv_small", "conv_sdp"},
                    std::pair{"nv_small", "sdp"}, std::pair{"nv_small", "pdp"},
                    std::pair{"nv_small", "cdp"}, std::pair{"nv_full", "pdp"},
                    std::pair{"nv_full", "cdp"}, std::pair{"nv_full", "rubik"},
                    std::pair{"nv_full", "bdma"}, std::pair{"nv_full", "sdp_pdp"},
                    std::pair{"nv_full", "conv_img"}, std::pair{"nv_full", "conv_dc"},
                    std::pair{"nv_full", "conv_sdp"}, std::pair{"nv_full", "conv_comp"},
                    std::pair{"nv_full", "sdp"}, std::pair{"nv_full", "conv_wino"},
                    std::pair{"nv_full", "conv_batch"}, std::pair{"nv_full", "pingpong"}),
    [](const auto& tested) { return std::string(tested.param.first) + "_" + tested.param.second; });

// The published traces of the second generation, which ran on its logic.
class Traces : public Golden {};

TEST_P(Traces, RegistersAreThoseOfTheTrace) {
  const auto [configuration, prefix] = GetParam();
  NVDLA_NEEDS_SHARED("traces");
  const auto traces = find_traces(configuration, prefix);
  ASSERT_FALSE(traces.empty()) << "no traces in " << configuration;
  for (const auto& path : traces) {
    SCOPED_TRACE(path.string());
    ASSERT_NO_THROW(run(load_trace(path)));
  }
  std::cout << configuration << ": " << compiled_ << " compiled, " << refused_ << " refused\n"
            << listed_.str();
}

INSTANTIATE_TEST_SUITE_P(
    Published, Traces,
    testing::Values(std::pair{"nv_large", "pdp_"}, std::pair{"nv_large", "cdp_"},
                    std::pair{"nv_medium_1024_full", "pdp_"},
                    std::pair{"nv_medium_1024_full", "cdp_"}, std::pair{"nv_medium_512", "pdp_"},
                    std::pair{"nv_medium_512", "cdp_"}, std::pair{"nv_small_256_full", "pdp_"},
                    std::pair{"nv_small_256_full", "cdp_"}, std::pair{"nv_small_256", "pdp_"},
                    std::pair{"nv_small_256", "cdp_"}, std::pair{"nv_small", "pdp_"},
                    std::pair{"nv_small", "cdp_"}, std::pair{"nv_large", "dc_"},
                    std::pair{"nv_large", "sdp_"}, std::pair{"nv_medium_1024_full", "dc_"},
                    std::pair{"nv_medium_1024_full", "sdp_"}, std::pair{"nv_medium_512", "dc_"},
                    std::pair{"nv_small_256_full", "dc_"}, std::pair{"nv_small_256_full", "sdp_"},
                    std::pair{"nv_small_256", "dc_"}, std::pair{"nv_small", "dc_"},
                    std::pair{"nv_small", "sdp_"}),
    [](const auto& tested) { return std::string(tested.param.first) + "_" + tested.param.second; });

}  // namespace
}  // namespace nvdla::test
