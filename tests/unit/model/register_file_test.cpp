// SPDX-License-Identifier: MIT
//
// What software sees of the registers: groups, pointers, interrupts, ports.
#include <gtest/gtest.h>

#include <random>
#include <span>
#include <string>
#include <vector>

#include "common/layers/model_layer.hpp"
#include "model/core/memory.hpp"
#include "model/core/register_info.hpp"
#include "model/device.hpp"

namespace nvdla::model {
namespace {

using test::Registers;

std::uint32_t word(RegisterMap map, const RegisterInfo& reg) {
  return register_address(map, reg).value();
}

bool is_built(const nvdla_hw& hw, Unit unit) {
  switch (unit) {
    case NVDLA_UNIT_BDMA:
      return (hw.features & NVDLA_HW_BDMA) != 0;
    case NVDLA_UNIT_RBK:
      return (hw.features & NVDLA_HW_RUBIK) != 0;
    case NVDLA_UNIT_CVIF:
      return (hw.features & NVDLA_HW_SRAM) != 0;
    case NVDLA_UNIT_GEC:
      return false;
    default:
      return true;
  }
}

class AllConfigurations : public testing::TestWithParam<unsigned> {
 protected:
  const nvdla_hw& hw_ = *nvdla_hw_get(GetParam());
  RegisterMap map_ = static_cast<RegisterMap>(hw_.regmap);
  Memory memory_;
  Device device_{hw_, memory_};
  Registers regs_{device_};
};

TEST_P(AllConfigurations, RegistersHaveTheirResetValues) {
  for (const RegisterInfo& reg : registers()) {
    if (!reg.present[map_]) continue;
    const bool built = is_built(hw_, reg.unit);
    EXPECT_EQ(device_.read(word(map_, reg)), built ? reg.reset[map_] & reg.read[map_] : 0)
        << unit_name(reg.unit) << "." << reg.name;
  }
}

TEST_P(AllConfigurations, WritesStoreTheWriteMaskOfTheGroupAtProducer) {
  for (const RegisterInfo& reg : registers()) {
    if (!reg.present[map_] || !is_built(hw_, reg.unit)) continue;
    if (reg.access == Access::kTrigger || reg.access == Access::kPort ||
        reg.write_one_clears != 0 || reg.write_one_sets != 0 || reg.name == "S_POINTER" ||
        reg.name == "S_STATUS")
      continue;
    const auto pointer = unit_base(map_, reg.unit).value() + NVDLA_REG_S_POINTER;
    const bool grouped = reg.scope == Scope::kGroup;
    const std::uint32_t fixed = reg.reset[map_] & ~reg.write[map_];
    const std::uint32_t ones = (reg.write[map_] | fixed) & reg.read[map_];
    const std::uint32_t zeros = fixed & reg.read[map_];
    const std::string name = std::string(unit_name(reg.unit)) + "." + std::string(reg.name);
    // CDMA's flush status changes by itself.
    if (name == "CDMA.S_CBUF_FLUSH_STATUS") continue;
    device_.write(word(map_, reg), 0xffffffff);
    EXPECT_EQ(device_.read(word(map_, reg)), ones) << name;
    if (grouped) {
      device_.write(pointer, 1);
      device_.write(word(map_, reg), 0);
      EXPECT_EQ(device_.read(word(map_, reg)), zeros) << name;
      device_.write(pointer, 0);
      EXPECT_EQ(device_.read(word(map_, reg)), ones) << name << ", after group 1 was written";
    }
    device_.write(word(map_, reg), 0);
    EXPECT_EQ(device_.read(word(map_, reg)), zeros) << name;
  }
}

TEST_P(AllConfigurations, WritesTogetherDoWhatTheyDoOneByOne) {
  std::mt19937 random(GetParam());
  std::vector<nvdla_reg_write> writes;
  const auto add = [&](std::uint32_t offset) {
    writes.push_back({offset, static_cast<std::uint32_t>(random())});
  };
  // Most follow each other in a window; some are holes, at odd places, or beyond all windows.
  for (const RegisterInfo& reg : registers()) {
    if (!reg.present[map_]) continue;
    add(word(map_, reg));
    if (random() % 8 == 0) add(word(map_, reg) + random() % 64);
    if (random() % 32 == 0) add(random() % (2 * NVDLA_REG_SPACE));
  }
  Device other(hw_, memory_);
  other.write(writes);
  for (const nvdla_reg_write& write : writes) device_.write(write.offset, write.value);
  for (std::uint32_t at = 0; at < NVDLA_REG_SPACE; at += 4)
    ASSERT_EQ(other.read(at), device_.read(at)) << "0x" << std::hex << at;
  other.write(std::span<const nvdla_reg_write>());
}

TEST_P(AllConfigurations, HolesAndUnbuiltWindowsReadZero) {
  unsigned holes = 0;
  for (std::uint32_t at = 0; at < NVDLA_REG_SPACE + 0x1000; at += 4) {
    const RegisterInfo* reg = register_at(map_, at);
    if (reg != nullptr && is_built(hw_, reg->unit)) continue;
    ++holes;
    device_.write(at, 0xffffffff);
    ASSERT_EQ(device_.read(at), 0u) << "0x" << std::hex << at;
  }
  EXPECT_GT(holes, 0u);
  EXPECT_TRUE(device_.idle());
}

TEST_P(AllConfigurations, AnEnabledGroupDropsWrites) {
  for (const UnitInfo& unit : units()) {
    if (unit.groups == 0 || !unit.base[map_] || !is_built(hw_, unit.unit)) continue;
    Device device(hw_, memory_);
    const std::uint32_t base = *unit.base[map_];
    const std::string name(unit.name);
    const std::uint32_t enable = word(map_, *find_register(name + ".D_OP_ENABLE"));
    EXPECT_EQ(device.read(base + NVDLA_REG_S_STATUS), 0u);
    device.write(enable, 1);
    EXPECT_EQ(device.read(enable), 1u) << "a layer never runs inside the enabling write";
    EXPECT_EQ(device.read(base + NVDLA_REG_S_STATUS), 1u) << name << ": group 0 runs";
    device.write(enable, 0);
    EXPECT_EQ(device.read(enable), 1u) << name << ": software cannot take it back";
    for (const RegisterInfo& reg : unit.registers) {
      if (reg.scope != Scope::kGroup || !reg.present[map_]) continue;
      const std::uint32_t before = device.read(word(map_, reg));
      device.write(word(map_, reg), ~before);
      EXPECT_EQ(device.read(word(map_, reg)), before) << name << "." << reg.name;
    }
    // The other group is free, and only pends.
    device.write(base + NVDLA_REG_S_POINTER, 1);
    EXPECT_EQ(device.read(enable), 0u);
    device.write(enable, 1);
    EXPECT_EQ(device.read(base + NVDLA_REG_S_STATUS), 0x20001u) << name;
    EXPECT_FALSE(device.idle());
    device.reset();
    EXPECT_TRUE(device.idle());
    EXPECT_EQ(device.read(base + NVDLA_REG_S_STATUS), 0u);
    EXPECT_EQ(device.read(base + NVDLA_REG_S_POINTER), 0u);
  }
}

// Bits of BDMA and Rubik are there where these are built.
std::uint32_t all_interrupts(const nvdla_hw& hw) {
  std::uint32_t all = 0x3f003f;
  if ((hw.features & NVDLA_HW_BDMA) != 0) all |= 0xc0;
  if ((hw.features & NVDLA_HW_RUBIK) != 0) all |= 0x300;
  return all;
}

TEST_P(AllConfigurations, OnlyBuiltUnitsHaveInterrupts) {
  const std::uint32_t all = all_interrupts(hw_);
  EXPECT_EQ(nvdla_hw_interrupts(&hw_), all);
  regs_.write("GLB.S_INTR_MASK", 0xffffffff);
  EXPECT_EQ(regs_.read("GLB.S_INTR_MASK"), 0x3f03ffu) << "masks of others do nothing";
  regs_.write("GLB.S_INTR_SET", ~all);
  EXPECT_EQ(regs_.read("GLB.S_INTR_STATUS"), 0u);
}

// A write that changes the line reaches it with the next read or step, and not before.
TEST_P(AllConfigurations, WritesAreOnTheirWayToTheLine) {
  while (device_.step()) {
  }
  for (const bool read : {true, false}) {
    const auto arrive = [&] {
      if (read)
        regs_.read("CDMA.S_STATUS");
      else
        EXPECT_TRUE(device_.step());
      EXPECT_FALSE(device_.settle()) << "nothing is on its way any more";
    };
    regs_.write("GLB.S_INTR_SET", 1);
    EXPECT_FALSE(device_.interrupt());
    arrive();
    EXPECT_TRUE(device_.interrupt());
    regs_.write("GLB.S_INTR_MASK", 1);
    EXPECT_TRUE(device_.interrupt()) << "a mask is late";
    arrive();
    EXPECT_FALSE(device_.interrupt());
    regs_.write("GLB.S_INTR_MASK", 0);
    arrive();
    EXPECT_TRUE(device_.interrupt());
    regs_.write("GLB.S_INTR_STATUS", 1);
    EXPECT_TRUE(device_.interrupt()) << "so is a clear";
    EXPECT_TRUE(device_.settle());
    EXPECT_FALSE(device_.interrupt());
    EXPECT_FALSE(device_.step()) << "nothing else is on its way";
  }
  Device prompt(hw_, memory_, {.posted_writes = false});
  prompt.write(word(map_, *find_register("GLB.S_INTR_SET")), 1);
  EXPECT_TRUE(prompt.interrupt());
}

TEST_P(AllConfigurations, InterruptsAreLevelsOfStatusAndMask) {
  EXPECT_FALSE(device_.interrupt());
  regs_.write("GLB.S_INTR_SET", 0xffffffff);
  const std::uint32_t all = all_interrupts(hw_);
  EXPECT_EQ(regs_.read("GLB.S_INTR_STATUS"), all);
  EXPECT_EQ(regs_.read("GLB.S_INTR_SET"), 0u);
  EXPECT_TRUE(device_.interrupt());
  regs_.write("GLB.S_INTR_MASK", all & ~0x100000u);
  EXPECT_TRUE(device_.interrupt());
  regs_.write("GLB.S_INTR_MASK", all);
  EXPECT_EQ(regs_.read("GLB.S_INTR_MASK"), all);
  EXPECT_FALSE(device_.interrupt()) << "masked bits are recorded but do not drive the line";
  regs_.write("GLB.S_INTR_STATUS", 0x3);
  EXPECT_EQ(regs_.read("GLB.S_INTR_STATUS"), all & ~0x3u);
  regs_.write("GLB.S_INTR_MASK", ~0x3u);
  EXPECT_EQ(regs_.read("GLB.S_INTR_MASK"), 0x3f03fcu);
  EXPECT_FALSE(device_.interrupt()) << "cleared bits do not drive the line";
  regs_.write("GLB.S_INTR_SET", 0x1);
  EXPECT_EQ(regs_.read("GLB.S_INTR_STATUS"), all & ~0x2u);
  EXPECT_TRUE(device_.interrupt());
}

TEST_P(AllConfigurations, ConvolutionBufferIsFlushedAfterAMoment) {
  EXPECT_EQ(regs_.read("CDMA.S_CBUF_FLUSH_STATUS"), 0u);
  while (device_.step()) {
  }
  EXPECT_EQ(regs_.read("CDMA.S_CBUF_FLUSH_STATUS"), 1u);
  regs_.write("CDMA.S_CBUF_FLUSH_STATUS", 0);
  EXPECT_EQ(regs_.read("CDMA.S_CBUF_FLUSH_STATUS"), 1u) << "read only";
}

TEST_P(AllConfigurations, TheFlushIsProgress) {
  // A player polls only while the device has something to do.
  EXPECT_EQ(regs_.read("CDMA.S_CBUF_FLUSH_STATUS"), 0u);
  EXPECT_TRUE(device_.step());
  EXPECT_EQ(regs_.read("CDMA.S_CBUF_FLUSH_STATUS"), 1u);
  EXPECT_FALSE(device_.step());
  device_.reset();
  EXPECT_EQ(regs_.read("CDMA.S_CBUF_FLUSH_STATUS"), 0u);
  EXPECT_TRUE(device_.step());
}

TEST_P(AllConfigurations, LutPortsMoveOn) {
  for (const std::string unit : {"SDP", "CDP"}) {
    for (unsigned table = 0; table < 2; ++table) {
      regs_.set(unit + ".S_LUT_ACCESS_CFG",
                {{"LUT_ADDR", 3}, {"LUT_TABLE_ID", table}, {"LUT_ACCESS_TYPE", 1}});
      const std::uint32_t config = regs_.read(unit + ".S_LUT_ACCESS_CFG");
      for (std::uint32_t i = 0; i < 5; ++i)
        regs_.write(unit + ".S_LUT_ACCESS_DATA", 0x8000 + 16 * table + i);
      EXPECT_EQ(regs_.read(unit + ".S_LUT_ACCESS_CFG"), config) << "the value, not the index";
    }
    for (unsigned table = 0; table < 2; ++table) {
      regs_.set(unit + ".S_LUT_ACCESS_CFG", {{"LUT_ADDR", 4}, {"LUT_TABLE_ID", table}});
      for (std::uint32_t i = 1; i < 5; ++i)
        EXPECT_EQ(regs_.read(unit + ".S_LUT_ACCESS_DATA"), 0x8000 + 16 * table + i) << unit;
    }
    // Past the end: nothing to read, nothing to break.
    regs_.set(unit + ".S_LUT_ACCESS_CFG", {{"LUT_ADDR", 1023}, {"LUT_ACCESS_TYPE", 1}});
    regs_.write(unit + ".S_LUT_ACCESS_DATA", 1);
    regs_.set(unit + ".S_LUT_ACCESS_CFG", {{"LUT_ADDR", 1023}});
    EXPECT_EQ(regs_.read(unit + ".S_LUT_ACCESS_DATA"), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, AllConfigurations, testing::Range(0u, nvdla_hw_count()),
                         [](const auto& which) {
                           return std::string(nvdla_hw_get(which.param)->name);
                         });

TEST(Configurations, AnImpossibleOneIsRefused) {
  nvdla_hw hw = *nvdla_hw_find("nv_small");
  hw.atom = 24;
  Memory memory;
  EXPECT_THROW(Device(hw, memory), std::invalid_argument);
}

}  // namespace
}  // namespace nvdla::model
