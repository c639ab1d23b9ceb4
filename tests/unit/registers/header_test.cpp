// SPDX-License-Identifier: MIT
//
// Every macro of nvdla_regs.h against the tables of the model, which facts_test.cpp compares with
// the facts; and some macros by hand, in case both are wrong in the same way.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "firmware/registers/nvdla_regs.h"
#include "header_c11.h"
#include "model/core/register_info.hpp"

namespace nvdla::model {
namespace {

// All single-line numeric macros; a second definition of a name is a failure.
std::map<std::string, std::uint32_t> read_macros() {
  std::ifstream file(NVDLA_SOURCE_DIR "/firmware/registers/nvdla_regs.h");
  EXPECT_TRUE(file.good());
  std::map<std::string, std::uint32_t> macros;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string define, name, value, rest;
    words >> define >> name >> value;
    if (define != "#define" || value.empty() || !std::isdigit(static_cast<unsigned char>(value[0])))
      continue;
    const auto number = static_cast<std::uint32_t>(std::stoul(value, nullptr, 0));
    EXPECT_TRUE(macros.emplace(name, number).second) << name << " is defined twice";
  }
  return macros;
}

std::string prefix_of(Unit unit) {
  if (unit == NVDLA_UNIT_CMAC_A || unit == NVDLA_UNIT_CMAC_B) return "NVDLA_CMAC_";
  return "NVDLA_" + std::string(unit_name(unit)) + "_";
}

class Header : public testing::Test {
 protected:
  // The macro's value, or a failure and all ones.
  std::uint32_t macro(const std::string& name) {
    const auto found = macros_.find(name);
    if (found == macros_.end()) {
      ADD_FAILURE() << name << " is not defined";
      return ~0u;
    }
    return found->second;
  }

  const std::map<std::string, std::uint32_t> macros_ = read_macros();
};

TEST_F(Header, HasEveryRegisterAndField) {
  for (const RegisterInfo& info : registers()) {
    const std::string name = prefix_of(info.unit) + std::string(info.name);
    EXPECT_EQ(macro(name), info.offset) << name;
    if (info.unit == NVDLA_UNIT_GEC) continue;  // offsets only, see gec.json
    for (const FieldInfo& field : info.fields) {
      const std::string field_name = name + "_" + std::string(field.name);
      const std::uint32_t full = field.mask(NVDLA_REGMAP_NV_FULL);
      const std::uint32_t second = field.mask(NVDLA_REGMAP_NV_SMALL);
      const bool in_place = field.kind == FieldKind::kBytes || field.kind == FieldKind::kAddress;
      EXPECT_EQ(macro(field_name + "_SHIFT"), in_place ? 0u : field.lsb[NVDLA_REGMAP_NV_SMALL])
          << field_name;
      EXPECT_EQ(macro(field_name + "_MASK"), second) << field_name;
      EXPECT_EQ(full & ~second, 0u) << field_name;
      if (full == second)
        EXPECT_FALSE(macros_.contains(field_name + "_MASK_NV_FULL")) << field_name;
      else
        EXPECT_EQ(macro(field_name + "_MASK_NV_FULL"), full) << field_name;
      for (const EnumInfo& label : field.enums)
        EXPECT_EQ(macro(field_name + "_" + std::string(label.name)), label.value) << field_name;
    }
  }
}

TEST_F(Header, HasEveryBase) {
  constexpr std::pair<RegisterMap, const char*> kMaps[] = {
      {NVDLA_REGMAP_NV_FULL, "NVDLA_NV_FULL_"}, {NVDLA_REGMAP_NV_SMALL, "NVDLA_NV_SMALL_"}};
  for (const auto& [map, prefix] : kMaps) {
    for (const UnitInfo& info : units()) {
      const std::string name = prefix + std::string(info.name) + "_BASE";
      if (info.base[map])
        EXPECT_EQ(macro(name), *info.base[map]) << name;
      else
        EXPECT_FALSE(macros_.contains(name)) << name;
      EXPECT_EQ(c11_unit_base(map, info.unit), info.base[map].value_or(NVDLA_NO_REG)) << name;
    }
  }
}

TEST_F(Header, TellsWhereGroupsBegin) {
  for (const UnitInfo& info : units()) {
    std::uint32_t op_enable = NVDLA_NO_REG;
    for (const RegisterInfo& reg : info.registers)
      if (reg.name == "D_OP_ENABLE") op_enable = reg.offset;
    EXPECT_EQ(c11_op_enable(info.unit), op_enable) << info.name;
    const std::string name = prefix_of(info.unit) + "FIRST_GROUP_REG";
    if (info.first_group_offset)
      EXPECT_EQ(macro(name), *info.first_group_offset);
    else
      EXPECT_FALSE(macros_.contains(name));
    EXPECT_EQ(macro(prefix_of(info.unit) + "REGS_END"), info.registers.back().offset + 4);
  }
}

TEST_F(Header, TellsWhatCountersAreWorth) {
  unsigned counters = 0;
  for (const RegisterInfo& reg : registers()) {
    const std::string name = prefix_of(reg.unit) + std::string(reg.name) + "_COUNTS";
    if (!reg.statistic) {
      EXPECT_FALSE(macros_.contains(name)) << name;
      continue;
    }
    ++counters;
    EXPECT_EQ(macro(name), static_cast<std::uint32_t>(reg.counts[NVDLA_REGMAP_NV_FULL]) |
                               static_cast<std::uint32_t>(reg.counts[NVDLA_REGMAP_NV_SMALL]) << 4)
        << name;
  }
  EXPECT_GT(counters, 40u);
}

// Nothing but what the tests above know.
TEST_F(Header, HasNothingElse) {
  std::size_t known = 3;  // NVDLA_UNIT_WINDOW, NVDLA_REG_SPACE, NVDLA_NO_REG
  for (const UnitInfo& info : units()) {
    known += info.base[NVDLA_REGMAP_NV_FULL].has_value();
    known += info.base[NVDLA_REGMAP_NV_SMALL].has_value();
    if (info.unit == NVDLA_UNIT_CMAC_B) continue;  // shares CMAC_A's
    known += 1 + info.first_group_offset.has_value();
    for (const RegisterInfo& reg : info.registers) {
      known += 1 + reg.statistic;
      const bool shared =
          info.unit == NVDLA_UNIT_CDMA &&
          (reg.name == "S_STATUS" || reg.name == "S_POINTER" || reg.name == "D_OP_ENABLE");
      if (shared && reg.name != "D_OP_ENABLE") known += 1;  // NVDLA_REG_S_*
      if (info.unit == NVDLA_UNIT_GEC) continue;
      for (const FieldInfo& field : reg.fields) {
        const std::size_t rows =
            2 + (field.mask(NVDLA_REGMAP_NV_FULL) != field.mask(NVDLA_REGMAP_NV_SMALL)) +
            field.enums.size();
        known += shared ? 2 * rows : rows;
      }
    }
  }
  EXPECT_EQ(macros_.size(), known);
}

TEST(HeaderByHand, Macros) {
  EXPECT_EQ(NVDLA_NV_FULL_CDMA_BASE, 0x5000);
  EXPECT_EQ(NVDLA_NV_SMALL_CDMA_BASE, 0x3000);
  EXPECT_EQ(NVDLA_NV_FULL_RBK_BASE, 0x10000);
  EXPECT_EQ(NVDLA_NV_SMALL_SDP_BASE, 0x9000);
#ifdef NVDLA_NV_FULL_CFGROM_BASE
  ADD_FAILURE() << "nv_full has no CFGROM";
#endif
  EXPECT_EQ(NVDLA_CDMA_D_BANK, 0xbc);
  EXPECT_EQ(NVDLA_CDMA_D_BANK_DATA_BANK_MASK, 0x0000001fu);
  EXPECT_EQ(NVDLA_CDMA_D_BANK_DATA_BANK_MASK_NV_FULL, 0x0000000fu);
  EXPECT_EQ(NVDLA_CDMA_D_BANK_WEIGHT_BANK_MASK, 0x001f0000u);
  EXPECT_EQ(NVDLA_CDMA_D_WEIGHT_BYTES_WEIGHT_BYTES_SHIFT, 0);
  EXPECT_EQ(NVDLA_CDMA_D_WEIGHT_BYTES_WEIGHT_BYTES_MASK, 0xffffffffu);
  EXPECT_EQ(NVDLA_CDMA_D_WEIGHT_BYTES_WEIGHT_BYTES_MASK_NV_FULL, 0xffffff80u);
  EXPECT_EQ(NVDLA_BDMA_CFG_SRC_ADDR_LOW_V32_SHIFT, 0);
  EXPECT_EQ(NVDLA_BDMA_CFG_SRC_ADDR_LOW_V32_MASK, 0xffffffe0u);
  EXPECT_EQ(NVDLA_CMAC_D_MISC_CFG_PROC_PRECISION_INT16, 1);
  EXPECT_EQ(NVDLA_PDP_D_OPERATION_MODE_CFG_POOLING_METHOD_MAX, 1);
  EXPECT_EQ(NVDLA_SDP_D_DP_EW_CFG_EW_ALU_ALGO_EQL, 3);
  EXPECT_EQ(NVDLA_GLB_S_INTR_STATUS_CACC_DONE_STATUS1_MASK, 0x00200000u);
  EXPECT_EQ(NVDLA_REG_S_POINTER_CONSUMER_SHIFT, 16);
  EXPECT_EQ(NVDLA_CDP_FIRST_GROUP_REG, 0x48);
  EXPECT_EQ(NVDLA_CDMA_D_DATAIN_FORMAT_PIXEL_FORMAT_T_Y16___V16U16_N444, 35);
}

}  // namespace
}  // namespace nvdla::model
