// SPDX-License-Identifier: MIT
//
// Random PDP layers of every precision and configuration against the reference: every byte of the
// output and around it, the bytes that are touched, and all counters.
#include <gtest/gtest.h>

#include <string>

#include "support/configurations.hpp"
#include "support/pdp_case.hpp"
#include "support/property.hpp"
#include "support/share.hpp"

namespace nvdla::test {
namespace {

std::string describe(const PdpCase& layer) {
  constexpr const char* kMethods[] = {"ave", "max", "min"};
  return std::string(layer.hw->name) + " PDP " + kPrecisionNames[layer.precision] + " " +
         kMethods[layer.method] +
         numbers({layer.width, layer.height, layer.channels, layer.kw, layer.kh, layer.sx, layer.sy,
                  layer.left, layer.right, layer.top, layer.bottom, layer.bands});
}

// Empty if all is as it should be.
std::string check(const PdpCase& layer, UnitRig& rig) {
  rig.memory.fill(model::Ram::kPrimary, kPdpOut, kPdpRegion, std::byte{kUntouched});
  program_pdp(layer, rig.regs);
  enable_pdp(rig.regs);
  rig.run();
  if (const std::string reason = rig.blocked(); !reason.empty()) return "blocked: " + reason;
  const PdpOutcome want = pdp_reference(layer, rig);
  if (const std::string wrong = rig.compare(kPdpOut, kPdpRegion, want.bytes); !wrong.empty())
    return wrong;
  const std::pair<const char*, std::uint32_t> registers[] = {
      {"GLB.S_INTR_STATUS", kPdpDone},           {"PDP.S_POINTER", 1u << 16},
      {"PDP_RDMA.S_POINTER", 1u << 16},          {"PDP.D_NAN_INPUT_NUM", want.nan_in},
      {"PDP.D_INF_INPUT_NUM", want.infinite_in}, {"PDP.D_NAN_OUTPUT_NUM", want.nan_out}};
  if (const std::string wrong = rig.compare_registers(registers); !wrong.empty()) return wrong;
  const std::uint64_t atom = layer.hw->atom;
  Bytes reads, writes;
  for (const PdpColumns& band : pdp_columns(layer)) {
    Cube cube = layer.source;
    cube.base += band.begin * atom;
    add_cube(reads, cube, layer.surfaces(), layer.height, (band.end - band.begin) * atom);
  }
  add_cube(writes, layer.destination, layer.surfaces(), layer.out_height, layer.out_width * atom);
  return rig.compare_access(reads, writes);
}

class PdpLayers : public testing::TestWithParam<const char*> {};

TEST_P(PdpLayers, EqualTheReference) {
  const nvdla_hw& hw = *nvdla_hw_find(GetParam());
  const unsigned count = share(hw.regmap == NVDLA_REGMAP_NV_FULL ? 3000 : 600);
  unsigned layers = 0, split_layers = 0;  // RC_PARAMS may ask for another number
  for_all(count, [&](Random& random) {
    const PdpCase layer = random_pdp(hw, random);
    ++layers;
    split_layers += layer.bands > 1;
    UnitRig rig(hw);
    fill_pdp(layer, rig, random);
    return with_name(describe(layer), check(layer, rig));
  });
  EXPECT_GT(split_layers, layers / 50);
  count_layers("PDP", count);
}

INSTANTIATE_TEST_SUITE_P(Configurations, PdpLayers, testing::ValuesIn(kConfigurations),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
