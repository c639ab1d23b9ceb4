// SPDX-License-Identifier: MIT
//
// Random CDP layers of every precision and configuration against the reference: every byte of the
// output and around it, the bytes that are touched, and all counters.
#include <gtest/gtest.h>

#include <string>

#include "support/cdp_case.hpp"
#include "support/configurations.hpp"
#include "support/share.hpp"

namespace nvdla::test {
namespace {

class CdpLayers : public testing::TestWithParam<const char*> {};

TEST_P(CdpLayers, EqualTheReference) {
  const nvdla_hw& hw = *nvdla_hw_find(GetParam());
  const bool first_generation = hw.regmap == NVDLA_REGMAP_NV_FULL;
  const unsigned count = share(first_generation ? 3000 : 600);
  for (unsigned seed = 0; seed < count; ++seed) {
    std::mt19937_64 random(seed);
    const CdpCase layer = random_cdp(hw, random, first_generation ? seed % 3 : 0);
    UnitRig rig(hw);
    fill_cdp(layer, rig, random);
    ASSERT_EQ(check_cdp(layer, rig), "") << "seed " << seed << " precision " << layer.precision;
    Bytes reads, writes;
    add_cube(reads, layer.source, layer.surfaces(), layer.height, layer.width * hw.atom);
    add_cube(writes, layer.destination, layer.surfaces(), layer.height, layer.width * hw.atom);
    ASSERT_EQ(rig.recorder.reads.merged(), reads.merged()) << seed;
    ASSERT_EQ(rig.recorder.writes.merged(), writes.merged()) << seed;
  }
  count_layers("CDP", count);
}

INSTANTIATE_TEST_SUITE_P(Configurations, CdpLayers, testing::ValuesIn(kConfigurations),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
