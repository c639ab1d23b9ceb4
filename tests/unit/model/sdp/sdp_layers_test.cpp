// SPDX-License-Identifier: MIT
//
// Random stand-alone SDP layers of every precision with all three operators and the table, against
// the reference: every byte of the output and around it, and all counters.
#include <gtest/gtest.h>

#include <string>

#include "common/configurations.hpp"
#include "common/layers/sdp_generator.hpp"
#include "common/property.hpp"
#include "common/share.hpp"

namespace nvdla::test {
namespace {

std::string describe(const SdpCase& layer) {
  std::string text = std::string(layer.hw->name) + " SDP " + kPrecisionNames[layer.in] + " -> " +
                     kPrecisionNames[layer.proc] + " -> " + kPrecisionNames[layer.out] + ", " +
                     std::to_string(layer.width) + " x " + std::to_string(layer.height) + " x " +
                     std::to_string(layer.channels);
  for (unsigned i = 0; i < 3; ++i) {
    const SdpUnit& unit = layer.units[i];
    if (!unit.active) continue;
    text += std::string(", ") + (i == 2 ? "Y" : i == 1 ? "X2" : "X1");
    if (unit.alu.active) text += " ALU " + std::to_string(unit.algorithm);
    if (unit.mul.active) text += unit.prelu ? " PReLU" : " MUL";
    if (unit.relu) text += " ReLU";
    if (unit.lut) text += " LUT";
  }
  return text;
}

class SdpLayers : public testing::TestWithParam<const char*> {};

TEST_P(SdpLayers, EqualTheReference) {
  const nvdla_hw* hw = nvdla_hw_find(GetParam());
  ASSERT_NE(hw, nullptr);
  const unsigned drawn =
      for_all(share(hw->regmap == NVDLA_REGMAP_NV_FULL ? 4000 : 500), [&](Random& random) {
        SdpGenerator generator(*hw, random);
        const SdpCase layer = generator.layer();
        UnitRig rig(*hw);
        generator.fill(layer, rig);
        return with_name(describe(layer), check_sdp(layer, rig));
      });
  count_layers("SDP with all operators", drawn);
}

INSTANTIATE_TEST_SUITE_P(Configurations, SdpLayers, testing::ValuesIn(kConfigurations),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
