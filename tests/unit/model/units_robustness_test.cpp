// SPDX-License-Identifier: MIT
//
// PDP, CDP, RUBIK and BDMA with registers that no driver would write: a layer ends or blocks with a
// reason, others go on, and a sanitizer finds nothing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/unit_rig.hpp"

namespace nvdla::test {
namespace {

using model::RegisterInfo;
using model::Unit;

constexpr Unit kUnitsBeside[] = {NVDLA_UNIT_PDP_RDMA, NVDLA_UNIT_PDP, NVDLA_UNIT_CDP_RDMA,
                                 NVDLA_UNIT_CDP, NVDLA_UNIT_RBK};

// A small layer of each unit that ends.
void program(Registers& regs, const nvdla_hw& hw) {
  for (const std::string unit : {"PDP", "PDP_RDMA"}) {
    regs.write(unit + ".D_DATA_CUBE_IN_WIDTH", 7);
    regs.write(unit + ".D_DATA_CUBE_IN_HEIGHT", 7);
    regs.write(unit + ".D_DATA_CUBE_IN_CHANNEL", 19);
  }
  regs.write("PDP.D_OPERATION_MODE_CFG", 0x10);
  regs.write("PDP.D_DATA_CUBE_OUT_WIDTH", 7);
  regs.write("PDP.D_DATA_CUBE_OUT_HEIGHT", 7);
  regs.write("PDP.D_DATA_CUBE_OUT_CHANNEL", 19);
  regs.write("PDP.D_DST_RAM_CFG", 1);
  regs.write("PDP_RDMA.D_SRC_RAM_CFG", 1);
  regs.write("CDP_RDMA.D_DATA_CUBE_WIDTH", 5);
  regs.write("CDP_RDMA.D_DATA_CUBE_CHANNEL", 40);
  regs.write("CDP_RDMA.D_SRC_DMA_CFG", 1);
  regs.write("CDP.D_DST_DMA_CFG", 1);
  if ((hw.features & NVDLA_HW_RUBIK) == 0) return;
  regs.write("RBK.D_DATAIN_SIZE_0", 0x30004);
  regs.write("RBK.D_DATAIN_SIZE_1", 63);
  regs.write("RBK.D_DATAOUT_SIZE_1", 63);
}

class UnitsRobustness : public testing::TestWithParam<const char*> {};

TEST_P(UnitsRobustness, AnyRegisterValues) {
  const nvdla_hw& hw = *nvdla_hw_find(GetParam());
  const auto map = static_cast<model::RegisterMap>(hw.regmap);
  std::vector<const RegisterInfo*> targets;
  for (const RegisterInfo& reg : model::registers())
    for (const Unit unit : kUnitsBeside)
      if (reg.unit == unit && reg.present[map] && reg.name != "D_OP_ENABLE" &&
          reg.name != "S_POINTER" && reg.write[map] != 0)
        targets.push_back(&reg);
  unsigned ended = 0, stuck = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    UnitRig rig(hw);
    program(rig.regs, hw);
    const auto changes = pick(random, 1, 4);
    for (std::int64_t i = 0; i < changes; ++i) {
      const RegisterInfo& reg = *targets[static_cast<std::size_t>(
          pick(random, 0, static_cast<std::int64_t>(targets.size()) - 1))];
      auto value = static_cast<std::uint32_t>(random());
      // Hardware would take as long as the model over a huge cube.
      const bool size = reg.name.find("CUBE") != std::string_view::npos ||
                        reg.name.find("SIZE") != std::string_view::npos;
      if (size) value &= 0x001f001f;
      // Small values hit more than random ones.
      if (pick(random, 0, 1) == 0) value &= 7;
      rig.device.write(*model::register_address(map, reg), value);
    }
    std::vector<std::string> enables = {"PDP", "PDP_RDMA", "CDP", "CDP_RDMA"};
    if ((hw.features & NVDLA_HW_RUBIK) != 0) enables.push_back("RBK");
    for (const std::string& unit : enables) rig.regs.write(unit + ".D_OP_ENABLE", 1);
    rig.run();
    for (const std::string& unit : enables)
      (rig.regs.read(unit + ".S_STATUS") == 0 ? ended : stuck) += 1;
    ASSERT_TRUE(rig.device.idle() || !rig.device.blocked().empty()) << seed;
    for (const model::Blocked& blocked : rig.device.blocked())
      ASSERT_FALSE(blocked.reason.empty()) << seed;
    ASSERT_EQ(rig.device.refusals().count, 0u);
  }
  EXPECT_GT(ended, 1000u);
  EXPECT_GT(stuck, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Configurations, UnitsRobustness,
                         testing::Values("nv_full", "nv_medium_512", "nv_small"),
                         [](const auto& which) { return std::string(which.param); });

TEST(BdmaRobustness, AnyOrderOfPushesAndLaunches) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    UnitRig rig(*nvdla_hw_find("nv_full"));
    rig.regs.write("BDMA.CFG_DST_ADDR_LOW", 0x8000'0000);
    for (unsigned i = 0; i < 60; ++i) {
      switch (pick(random, 0, 7)) {
        case 0:
          rig.regs.write("BDMA.CFG_LAUNCH0", 1);
          break;
        case 1:
          rig.regs.write("BDMA.CFG_LAUNCH1", 1);
          break;
        case 2:
        case 3:
          rig.device.step();
          break;
        default:
          rig.regs.write("BDMA.CFG_OP", 1);
          break;
      }
      const std::uint32_t status = rig.regs.read("BDMA.STATUS");
      ASSERT_LE(status & 0xff, 20u);
      // Idle exactly when no group is busy.
      ASSERT_EQ((status & 0x100) != 0, (status & 0x600) == 0) << seed;
    }
    rig.run();
    ASSERT_TRUE(rig.device.idle() || !rig.device.blocked().empty()) << seed;
  }
}

}  // namespace
}  // namespace nvdla::test
