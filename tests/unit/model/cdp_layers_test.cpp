// SPDX-License-Identifier: MIT
//
// Random CDP layers of every precision and configuration against the reference: every byte of the
// output and around it, the bytes that are touched, and all counters.
#include <gtest/gtest.h>

#include <string>
#include <vector>

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

// Runs a layer, the next after so many, without counters of the tables.
std::string check_next(const CdpCase& layer, unsigned number, UnitRig& rig, Random& random) {
  for (const char* pointer : {"CDP.S_POINTER", "CDP_RDMA.S_POINTER"})
    rig.regs.write(pointer, number & 1);
  fill_cdp(layer, rig, random);
  return check_cdp_output(layer, cdp_reference(layer, rig), rig);
}

// Layers whose sums have few values, one after the other on a device: their answers are kept, and
// are those of other tables, converters and windows the next time.
TEST_P(CdpLayers, EqualTheReferenceFromKeptAnswers) {
  const nvdla_hw& hw = *nvdla_hw_find(GetParam());
  const unsigned count = share(100);
  for_all(count, [&](Random& random) {
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
  count_layers("CDP by kept answers", 3 * count);
}

INSTANTIATE_TEST_SUITE_P(Configurations, CdpLayers, testing::ValuesIn(kConfigurations),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
