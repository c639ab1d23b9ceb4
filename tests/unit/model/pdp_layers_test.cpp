// SPDX-License-Identifier: MIT
//
// Random PDP layers of every precision and configuration against the reference: every byte of the
// output and around it, the bytes that are touched, and all counters.
#include <gtest/gtest.h>

#include <string>

#include "support/configurations.hpp"
#include "support/pdp_case.hpp"
#include "support/share.hpp"

namespace nvdla::test {
namespace {

// What a layer in bands reads: each band its own columns and what it shares with the one before.
void add_bands(Bytes& reads, const PdpCase& layer) {
  const std::uint64_t atom = layer.hw->atom;
  const int shared = static_cast<int>(layer.kw) - static_cast<int>(layer.sx);
  int begin = 0;
  for (unsigned band = 0; band < layer.bands; ++band) {
    const auto fresh = static_cast<int>(layer.in[band == 0 ? 0 : band + 1 < layer.bands ? 1 : 2]);
    const int overlap = band == 0 ? 0 : shared;
    Cube cube = layer.source;
    cube.base += static_cast<std::uint64_t>(begin - overlap) * atom;
    add_cube(reads, cube, layer.surfaces(), layer.height,
             static_cast<std::uint64_t>(fresh + overlap) * atom);
    begin += fresh;
  }
}

class PdpLayers : public testing::TestWithParam<const char*> {};

TEST_P(PdpLayers, EqualTheReference) {
  const nvdla_hw& hw = *nvdla_hw_find(GetParam());
  const unsigned count = share(hw.regmap == NVDLA_REGMAP_NV_FULL ? 3000 : 600);
  unsigned split_layers = 0;
  for (unsigned seed = 0; seed < count; ++seed) {
    std::mt19937_64 random(seed);
    const PdpCase layer = random_pdp(hw, random);
    UnitRig rig(hw);
    fill_pdp(layer, rig, random);
    rig.memory.fill(model::Ram::kPrimary, kPdpOut, kPdpRegion, std::byte{kUntouched});
    program_pdp(layer, rig.regs);
    enable_pdp(rig.regs);
    rig.run();
    ASSERT_EQ(rig.blocked(), "") << seed;
    const PdpOutcome want = pdp_reference(layer, rig);
    ASSERT_EQ(rig.compare(kPdpOut, kPdpRegion, want.bytes), "")
        << "seed " << seed << " precision " << layer.precision << " method " << layer.method
        << " kernel " << layer.kw << "x" << layer.kh << " bands " << layer.bands;
    ASSERT_EQ(rig.regs.read("GLB.S_INTR_STATUS"), kPdpDone);
    ASSERT_EQ(rig.regs.read("PDP.S_POINTER"), 1u << 16);
    ASSERT_EQ(rig.regs.read("PDP_RDMA.S_POINTER"), 1u << 16);
    ASSERT_EQ(rig.regs.read("PDP.D_NAN_OUTPUT_NUM"), want.nan_out) << seed;

    Bytes reads, writes;
    if (layer.bands == 1) {
      // Bands do not read the columns between their windows.
      ASSERT_EQ(rig.regs.read("PDP.D_NAN_INPUT_NUM"), want.nan_in) << seed;
      ASSERT_EQ(rig.regs.read("PDP.D_INF_INPUT_NUM"), want.infinite_in) << seed;
      add_cube(reads, layer.source, layer.surfaces(), layer.height, layer.width * hw.atom);
    } else {
      ++split_layers;
      add_bands(reads, layer);
    }
    add_cube(writes, layer.destination, layer.surfaces(), layer.out_height,
             layer.out_width * hw.atom);
    ASSERT_EQ(rig.recorder.reads.merged(), reads.merged()) << seed;
    ASSERT_EQ(rig.recorder.writes.merged(), writes.merged()) << seed;
  }
  EXPECT_GT(split_layers, count / 50);
  count_layers("PDP", count);
}

INSTANTIATE_TEST_SUITE_P(Configurations, PdpLayers, testing::ValuesIn(kConfigurations),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
