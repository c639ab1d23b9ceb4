// SPDX-License-Identifier: MIT
//
// Random PDP layers of every precision and configuration against the reference: every byte of the
// output and around it, the bytes that are touched, and all counters.
#include <gtest/gtest.h>

#include <string>

#include "common/configurations.hpp"
#include "common/layers/pdp_case.hpp"
#include "common/property.hpp"
#include "common/share.hpp"

namespace nvdla::test {
namespace {

std::string describe(const PdpCase& layer) {
  constexpr const char* kMethods[] = {"ave", "max", "min"};
  return std::string(layer.hw->name) + " PDP " + kPrecisionNames[layer.precision] + " " +
         kMethods[layer.method] +
         numbers({layer.width, layer.height, layer.channels, layer.kw, layer.kh, layer.sx, layer.sy,
                  layer.left, layer.right, layer.top, layer.bottom, layer.bands});
}

class PdpLayers : public testing::TestWithParam<const char*> {};

TEST_P(PdpLayers, EqualTheReference) {
  const nvdla_hw& hw = *nvdla_hw_find(GetParam());
  unsigned layers = 0, split_layers = 0;
  const unsigned drawn =
      for_all(share(hw.regmap == NVDLA_REGMAP_NV_FULL ? 3000 : 600), [&](Random& random) {
        const PdpCase layer = random_pdp(hw, random);
        ++layers;
        split_layers += layer.bands > 1;
        UnitRig rig(hw);
        fill_pdp(layer, rig, random);
        return with_name(describe(layer), check_pdp(layer, rig));
      });
  EXPECT_GT(split_layers, layers / 50);
  count_layers("PDP", drawn);
}

INSTANTIATE_TEST_SUITE_P(Configurations, PdpLayers, testing::ValuesIn(kConfigurations),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
