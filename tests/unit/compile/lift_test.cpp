// SPDX-License-Identifier: MIT
//
// What golden cases are lifted by, against images of the compiler: an image becomes a layer that
// compiles to it again, and so does one that differs in nothing that the unit takes notice of.
#include "common/lift/lift.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "common/compiled.hpp"
#include "common/lift/used_registers.hpp"
#include "unit_layers.hpp"

namespace nvdla::test {
namespace {

constexpr std::uint32_t kOpEnables[] = NVDLA_UNIT_OP_ENABLES;

// What becomes of the value of a register.
using Change = std::function<std::uint32_t(const model::RegisterInfo&, std::uint32_t)>;

// Registers of the layer, changed, then lifted and compiled: where the two differ.
std::vector<std::string> differences(const Base& base, const Change& change) {
  const auto map = static_cast<model::RegisterMap>(base.hw->regmap);
  std::vector<std::uint64_t> bases;
  std::vector<LaunchMemory> memories;
  for (const nvdla_slot& slot : base.slots) {
    bases.push_back(std::uint64_t{0x1000000} * (bases.size() + 1));
    memories.push_back({bases.back(), slot.size});
  }
  Program program(*base.hw, base.slots, 1, 0, 0, base.luts);
  EXPECT_TRUE(program.add(base.layer)) << to_string(program.error());

  LaunchRegisters launch(map);
  for (const auto& [address, value] : program.registers(0, bases))
    launch.write(address, change(*model::register_at(map, address), value));
  for (const auto& info : model::units())
    if ((program.image(0).units >> info.unit & 1) != 0)
      launch.write(*info.base[map] + kOpEnables[info.unit], 1);

  const Lifted lifted = lift(*base.hw, {&launch, 1}, memories, {});
  Program again(*base.hw, lifted.slots, 1, 0, 0, lifted.luts);
  EXPECT_TRUE(again.add(lifted.layers[0])) << to_string(again.error());
  if (!again.ok()) return {};
  return differing_registers(*base.hw, launch, lifted.layers[0], again.registers(0, lifted.bases),
                             again.image(0).units, lifted.moved);
}

using Lines = std::vector<std::string>;

TEST(Lift, BitsThatNoRegisterKeepsMeanNothing) {
  for (auto make : {base_conv, base_sdp, base_y, base_pdp, base_bands, base_sdp_pdp, base_cdp,
                    base_contract, base_split, base_merge}) {
    const Base base = make("nv_full");
    const auto map = static_cast<model::RegisterMap>(base.hw->regmap);
    EXPECT_EQ(differences(base, [](const auto&, std::uint32_t value) { return value; }), Lines{});
    EXPECT_EQ(differences(base, [&](const auto& info,
                                    std::uint32_t value) { return value | ~info.write[map]; }),
              Lines{});
  }
}

// The accumulator writes nothing: of several cubes it pairs positions by that bit.
TEST(Lift, HalvesOf64BytesAreAllThatTheAccumulatorIsToldOf) {
  for (const char* name : {"D_DATAOUT_ADDR", "D_LINE_STRIDE", "D_SURF_STRIDE"}) {
    const auto flip = [&](std::uint32_t bits) {
      return differences(base_batch("nv_full"), [=](const auto& info, std::uint32_t value) {
        return info.unit == NVDLA_UNIT_CACC && info.name == name ? value ^ bits : value;
      });
    };
    EXPECT_EQ(flip(0xffffffc0), Lines{}) << name;
    EXPECT_EQ(flip(0x20).size(), 1u) << name;
  }
}

// Traces hold any number there, beside the same kernel and stride as PDP's.
TEST(Lift, PaddingOfTheReadDmaMeansNothing) {
  for (auto make : {base_pdp, base_bands}) {
    const auto change = [](const model::RegisterInfo& info, std::uint32_t value) {
      const bool padding = info.unit == NVDLA_UNIT_PDP_RDMA && info.name == "D_POOLING_PADDING_CFG";
      return padding ? value ^ 6 : value;
    };
    EXPECT_EQ(differences(make("nv_full"), change), Lines{});
  }
}

// A trace may program padding that no window reaches; the compiler does not.
TEST(Lift, PaddingThatNoWindowReachesMeansNothing) {
  for (auto make : {base_pdp, base_sdp_pdp, base_conv_pdp}) {
    Base base = make("nv_full");
    nvdla_pdp& pdp = base.layer.pdp;
    pdp.kernel_width = pdp.kernel_height = 4;
    pdp.stride_width = pdp.stride_height = 3;
    pdp.pad_left = 0;
    // Three windows end in the last column, and two lines behind the last one.
    pdp.output = cube(pdp.output.slot, 3, 3, base.hw->atom);
    pdp.pad_right = 2;
    pdp.pad_bottom = 3;
    const auto padding = [](std::uint32_t right, std::uint32_t bottom) {
      return [=](const model::RegisterInfo& info, std::uint32_t value) {
        if (info.unit != NVDLA_UNIT_PDP || info.name != "D_POOLING_PADDING_CFG") return value;
        value &= ~(NVDLA_PDP_D_POOLING_PADDING_CFG_PAD_RIGHT_MASK |
                   NVDLA_PDP_D_POOLING_PADDING_CFG_PAD_BOTTOM_MASK);
        return value | right << NVDLA_PDP_D_POOLING_PADDING_CFG_PAD_RIGHT_SHIFT |
               bottom << NVDLA_PDP_D_POOLING_PADDING_CFG_PAD_BOTTOM_SHIFT;
      };
    };
    EXPECT_EQ(differences(base, padding(2, 3)), Lines{});
  }
}

}  // namespace
}  // namespace nvdla::test
