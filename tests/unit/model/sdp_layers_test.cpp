// SPDX-License-Identifier: MIT
//
// Random stand-alone SDP layers of every precision with all three operators and the table, against
// the reference: every byte of the output and around it, and all counters.
#include <gtest/gtest.h>

#include <string>

#include "support/configurations.hpp"
#include "support/sdp_generator.hpp"
#include "support/share.hpp"

namespace nvdla::test {
namespace {

class SdpLayers : public testing::TestWithParam<const char*> {};

TEST_P(SdpLayers, EqualTheReference) {
  const nvdla_hw* hw = nvdla_hw_find(GetParam());
  ASSERT_NE(hw, nullptr);
  const unsigned count = share(hw->regmap == NVDLA_REGMAP_NV_FULL ? 4000 : 500);
  for (unsigned seed = 0; seed < count; ++seed) {
    SdpGenerator generator(*hw, seed);
    const SdpCase layer = generator.layer();
    UnitRig rig(*hw);
    generator.fill(layer, rig);
    const std::string wrong = check_sdp(layer, rig);
    ASSERT_EQ(wrong, "") << "seed " << seed << ": " << layer.in << layer.proc << layer.out << ", "
                         << layer.width << " x " << layer.height << " x " << layer.channels
                         << (layer.uses_lut() ? ", table" : "") << (layer.equal() ? ", EQL" : "");
  }
  count_layers("SDP with all operators", count);
}

INSTANTIATE_TEST_SUITE_P(Configurations, SdpLayers, testing::ValuesIn(kConfigurations),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
