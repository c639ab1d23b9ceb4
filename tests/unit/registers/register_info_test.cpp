// SPDX-License-Identifier: MIT
//
// Lookup and decoding of registers, and the registers that are unlike the others.
#include "model/core/register_info.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace nvdla::model {
namespace {

constexpr RegisterMap kFull = NVDLA_REGMAP_NV_FULL;
constexpr RegisterMap kSmall = NVDLA_REGMAP_NV_SMALL;

const RegisterInfo& reg(std::string_view name) {
  const RegisterInfo* info = find_register(name);
  if (!info) throw std::runtime_error("no register " + std::string(name));
  return *info;
}

TEST(Lookup, ByAddress) {
  EXPECT_EQ(register_at(kFull, 0x50bc), &reg("CDMA.D_BANK"));
  EXPECT_EQ(register_at(kSmall, 0x30bc), &reg("CDMA.D_BANK"));
  EXPECT_EQ(register_at(kSmall, 0x0000), &reg("CFGROM.HW_VERSION"));
  EXPECT_EQ(register_at(kFull, 0x0000), &reg("GLB.S_NVDLA_HW_VERSION"));
  EXPECT_EQ(register_at(kFull, 0x8008), &reg("CMAC_B.D_OP_ENABLE"));
}

TEST(Lookup, ByAddressAgreesWithTheTableForEveryAddress) {
  for (const RegisterMap map : {kFull, kSmall}) {
    std::size_t found = 0;
    for (std::uint32_t address = 0; address < NVDLA_REG_SPACE + 0x2000; ++address) {
      const RegisterInfo* info = register_at(map, address);
      if (!info) continue;
      ++found;
      ASSERT_EQ(register_address(map, *info), address) << info->name;
    }
    std::size_t present = 0;
    for (const RegisterInfo& info : registers()) present += info.present[map];
    EXPECT_EQ(found, present);
  }
}

TEST(Lookup, WhatIsNotThere) {
  EXPECT_EQ(register_at(kFull, 0x50bd), nullptr);   // inside a word
  EXPECT_EQ(register_at(kFull, 0x5ffc), nullptr);   // past the unit's registers
  EXPECT_EQ(register_at(kFull, 0x11000), nullptr);  // no window
  EXPECT_EQ(register_at(kFull, 0x40000), nullptr);  // past the space
  EXPECT_EQ(register_at(kFull, 0xfffffffc), nullptr);
  EXPECT_EQ(find_register(kFull, NVDLA_UNIT_CFGROM, 0), nullptr);  // not in this map
  EXPECT_NE(find_register(kSmall, NVDLA_UNIT_CFGROM, 0), nullptr);
  EXPECT_EQ(find_register(kFull, static_cast<Unit>(NVDLA_UNIT_COUNT), 0), nullptr);
  EXPECT_EQ(find_register(static_cast<RegisterMap>(NVDLA_REGMAP_COUNT), NVDLA_UNIT_GLB, 0),
            nullptr);
  EXPECT_EQ(register_at(static_cast<RegisterMap>(NVDLA_REGMAP_COUNT), 0), nullptr);
  EXPECT_EQ(find_register("CDMA"), nullptr);
  EXPECT_EQ(find_register("CDMA."), nullptr);
  EXPECT_EQ(find_register(".D_BANK"), nullptr);
  EXPECT_EQ(find_register("CDMA.D_BANKS"), nullptr);
  EXPECT_EQ(find_register("XDMA.D_BANK"), nullptr);
  EXPECT_EQ(find_register(""), nullptr);
  EXPECT_THROW(unit_info(static_cast<Unit>(NVDLA_UNIT_COUNT)), std::out_of_range);
  EXPECT_EQ(unit_name(static_cast<Unit>(NVDLA_UNIT_COUNT)), "invalid");
}

TEST(Lookup, Units) {
  EXPECT_EQ(unit_base(kFull, NVDLA_UNIT_SDP), 0xb000u);
  EXPECT_EQ(unit_base(kSmall, NVDLA_UNIT_SDP), 0x9000u);
  EXPECT_EQ(unit_base(kFull, NVDLA_UNIT_CFGROM), std::nullopt);
  EXPECT_EQ(find_unit("SDP_RDMA"), NVDLA_UNIT_SDP_RDMA);
  EXPECT_EQ(find_unit("SDP_"), std::nullopt);
  EXPECT_EQ(unit_at(kSmall, 0x9ffc)->unit, NVDLA_UNIT_SDP);
  EXPECT_EQ(unit_name(NVDLA_UNIT_RBK), "RBK");
}

TEST(Special, PointerIsHalfWritable) {
  const RegisterInfo& pointer = reg("SDP.S_POINTER");
  EXPECT_EQ(pointer.access, Access::kMixed);
  EXPECT_EQ(pointer.scope, Scope::kSingle);
  EXPECT_EQ(pointer.write[kFull], 0x00000001u);
  EXPECT_EQ(pointer.read[kFull], 0x00010001u);
}

TEST(Special, Interrupts) {
  constexpr std::uint32_t kAll = 0x003f03ff;
  EXPECT_EQ(reg("GLB.S_INTR_MASK").write[kSmall], kAll);
  EXPECT_EQ(reg("GLB.S_INTR_SET").write_one_sets, kAll);
  EXPECT_EQ(reg("GLB.S_INTR_SET").read[kSmall], 0u);
  EXPECT_EQ(reg("GLB.S_INTR_STATUS").write_one_clears, kAll);
  EXPECT_EQ(reg("GLB.S_INTR_STATUS").read[kSmall], kAll);
  EXPECT_EQ(reg("GLB.S_INTR_STATUS").write[kSmall], 0u);
}

TEST(Special, TriggersAndPorts) {
  EXPECT_EQ(reg("CDMA.D_OP_ENABLE").trigger, 1u);
  EXPECT_EQ(reg("CDMA.D_OP_ENABLE").scope, Scope::kGroup);
  EXPECT_EQ(reg("SDP.S_LUT_ACCESS_DATA").access, Access::kPort);
  EXPECT_EQ(reg("SDP.S_LUT_ACCESS_DATA").write[kFull], 0xffffu);
  EXPECT_EQ(reg("BDMA.CFG_LAUNCH0").access, Access::kTrigger);
}

TEST(Special, StatisticsAreReadOnly) {
  std::size_t statistics = 0;
  for (const RegisterInfo& info : registers()) {
    if (!info.statistic) continue;
    ++statistics;
    EXPECT_EQ(info.access, Access::kReadOnly) << info.name;
    EXPECT_EQ(info.write[kFull] | info.write[kSmall], 0u) << info.name;
  }
  EXPECT_EQ(statistics, 48u);
}

TEST(Special, MapsDiffer) {
  EXPECT_EQ(reg("SDP.D_DP_BS_CFG").reset[kFull], 0x00u);
  EXPECT_EQ(reg("SDP.D_DP_BS_CFG").reset[kSmall], 0x73u);
  EXPECT_EQ(reg("CDMA.D_DAIN_ADDR_LOW_0").write[kFull], 0xffffffe0u);
  EXPECT_EQ(reg("CDMA.D_DAIN_ADDR_LOW_0").write[kSmall], 0xffffffffu);
  EXPECT_EQ(reg("CSC.D_ENTRY_PER_SLICE").write[kFull], 0x0fffu);
  EXPECT_EQ(reg("CSC.D_ENTRY_PER_SLICE").write[kSmall], 0x3fffu);
}

TEST(Extract, AddressesAndByteCountsStayInPlace) {
  const FieldInfo* bytes = reg("CDMA.D_WEIGHT_BYTES").find_field("WEIGHT_BYTES");
  ASSERT_NE(bytes, nullptr);
  EXPECT_EQ(bytes->extract(kFull, 0x000001ff), 0x180u);
  EXPECT_EQ(bytes->extract(kSmall, 0x000001ff), 0x1ffu);
  const FieldInfo* bank = reg("CDMA.D_BANK").find_field("WEIGHT_BANK");
  ASSERT_NE(bank, nullptr);
  EXPECT_EQ(bank->extract(kFull, 0x001f0000), 15u);
  EXPECT_EQ(bank->extract(kSmall, 0x001f0000), 31u);
}

TEST(Decode, Fields) {
  EXPECT_EQ(decode(kFull, 0x50bc, 0x0002000b),
            "CDMA.D_BANK = 0x0002000b (DATA_BANK 11, WEIGHT_BANK 2)");
  EXPECT_EQ(decode(kFull, 0x5014, 0x00011100),
            "CDMA.D_MISC_CFG = 0x00011100 (CONV_MODE DIRECT, IN_PRECISION INT16, PROC_PRECISION "
            "INT16, DATA_REUSE ENABLE, WEIGHT_REUSE DISABLE, SKIP_DATA_RLS DISABLE, "
            "SKIP_WEIGHT_RLS DISABLE)");
  EXPECT_EQ(decode(kSmall, 0x3034, 0x80000008),
            "CDMA.D_DAIN_ADDR_LOW_0 = 0x80000008 (DATAIN_ADDR_LOW_0 0x80000008)");
  EXPECT_EQ(decode(kFull, 0x5040, 0x00000060), "CDMA.D_LINE_STRIDE = 0x00000060 (LINE_STRIDE 96)");
  EXPECT_EQ(decode(kFull, 0xb014, 0x0000fdff),
            "SDP.S_LUT_INFO = 0x0000fdff (LUT_LE_INDEX_OFFSET -1, LUT_LE_INDEX_SELECT -3, "
            "LUT_LO_INDEX_SELECT 0)");
}

TEST(Decode, WhatIsNotThere) {
  // A value without an enumerator is a number; bits outside of the fields are shown.
  EXPECT_EQ(decode(kFull, 0x700c, 0x00003001),
            "CMAC_A.D_MISC_CFG = 0x00003001 (CONV_MODE WINOGRAD, PROC_PRECISION 3)");
  EXPECT_EQ(decode(kFull, 0x50bc, 0x80000010),
            "CDMA.D_BANK = 0x80000010 (DATA_BANK 0, WEIGHT_BANK 0, reserved 0x80000010)");
  EXPECT_EQ(decode(kSmall, 0x30bc, 0x00000010),
            "CDMA.D_BANK = 0x00000010 (DATA_BANK 16, WEIGHT_BANK 0)");
  EXPECT_EQ(decode(kFull, 0x51f0, 1), "CDMA+0x1f0 = 0x00000001 (no such register)");
  EXPECT_EQ(decode(kFull, 0x50be, 1), "CDMA+0x0be = 0x00000001 (not a word address)");
  EXPECT_EQ(decode(kFull, 0x3f000, 1), "0x3f000 = 0x00000001 (no unit at this address)");
}

}  // namespace
}  // namespace nvdla::model
