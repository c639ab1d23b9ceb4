// SPDX-License-Identifier: MIT
//
// Random CDP layers of every precision and configuration against the reference: every byte of the
// output and around it, the bytes that are touched, and all counters.
#include <gtest/gtest.h>

#include <string>

#include "support/cdp_case.hpp"
#include "support/configurations.hpp"
#include "support/property.hpp"
#include "support/share.hpp"

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
  const unsigned count = share(first_generation ? 3000 : 600);
  for_all(count, [&](Random& random) {
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
  count_layers("CDP", count);
}

INSTANTIATE_TEST_SUITE_P(Configurations, CdpLayers, testing::ValuesIn(kConfigurations),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
