// SPDX-License-Identifier: MIT
//
// Every unit, register and field of the hardware's fact file against the tables, in both maps and
// in both directions: nothing is missing, nothing is invented.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "common/shared.hpp"
#include "model/core/register_info.hpp"

namespace nvdla::model {
namespace {

using Json = nlohmann::json;

constexpr std::pair<RegisterMap, const char*> kMaps[] = {{NVDLA_REGMAP_NV_FULL, "nv_full"},
                                                         {NVDLA_REGMAP_NV_SMALL, "nv_small"}};

std::uint32_t number(const Json& value) {
  if (value.is_string())
    return static_cast<std::uint32_t>(std::stoul(value.get<std::string>(), nullptr, 0));
  return value.get<std::uint32_t>();
}

// A fact that may differ between the maps: a field's key, overridden under "nv_small".
std::uint32_t field_fact(const Json& field, RegisterMap map, const char* key) {
  if (map == NVDLA_REGMAP_NV_SMALL && field.contains("nv_small") && field["nv_small"].contains(key))
    return number(field["nv_small"][key]);
  return number(field[key]);
}

std::uint32_t field_mask(const Json& field, RegisterMap map) {
  const std::uint64_t ones = (std::uint64_t{1} << field_fact(field, map, "width")) - 1;
  return static_cast<std::uint32_t>(ones << field_fact(field, map, "lsb"));
}

std::uint32_t masks(const Json& reg, RegisterMap map, const std::set<std::string>& access) {
  std::uint32_t mask = 0;
  for (const Json& field : reg["fields"])
    if (access.contains(field["access"])) mask |= field_mask(field, map);
  return mask;
}

std::string access_name(Access access) {
  switch (access) {
    case Access::kReadOnly:
      return "RO";
    case Access::kReadWrite:
      return "RW";
    case Access::kWriteOnly:
      return "WO";
    case Access::kWriteOneClears:
      return "RW1C";
    case Access::kWriteOneSets:
      return "W1S";
    case Access::kTrigger:
      return "RW-TRIGGER";
    case Access::kPort:
      return "RW-PORT";
    case Access::kMixed:
      return "RO/RW";
  }
  return "?";
}

// The tables drop what repeats the context: the unit in CFGROM's names.
std::string table_name(const std::string& unit, const std::string& reg) {
  const std::string prefix = unit + "_";
  return unit == "CFGROM" && reg.starts_with(prefix) ? reg.substr(prefix.size()) : reg;
}

void check_enums(const Json& fact, const FieldInfo& field) {
  if (!fact.contains("enum")) {
    EXPECT_TRUE(field.enums.empty());
    return;
  }
  const std::string prefix = std::string(field.name) + "_";
  bool counts = true;  // NAME_1 = 0, NAME_2 = 1 ...: says no more than "minus 1"
  for (const auto& [name, value] : fact["enum"].items())
    counts = counts && name == prefix + std::to_string(number(value) + 1);
  if (counts) {
    EXPECT_TRUE(field.enums.empty());
    return;
  }
  EXPECT_EQ(field.enums.size(), fact["enum"].size());
  for (const EnumInfo& label : field.enums) {
    const std::string name(label.name);
    const Json& labels = fact["enum"];
    const std::string key = labels.contains(name) ? name : prefix + name;
    ASSERT_TRUE(labels.contains(key)) << name;
    EXPECT_EQ(number(labels[key]), label.value) << name;
  }
}

void check_field(const Json& fact, const FieldInfo* field) {
  ASSERT_NE(field, nullptr);
  EXPECT_EQ(access_name(field->access), fact["access"]);
  for (const auto& [map, map_name] : kMaps) {
    SCOPED_TRACE(map_name);
    EXPECT_EQ(field->lsb[map], field_fact(fact, map, "lsb"));
    EXPECT_EQ(field->width[map], field_fact(fact, map, "width"));
    EXPECT_EQ(field->mask(map), field_mask(fact, map));
  }
  check_enums(fact, *field);
}

void check_register(const Json& fact, Unit unit, const RegisterInfo* info) {
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->unit, unit);
  EXPECT_EQ(info->offset, number(fact["offset"]));
  EXPECT_EQ(info->scope, fact["scope"] == "group" ? Scope::kGroup : Scope::kSingle);
  EXPECT_EQ(access_name(info->access), fact["access"]);
  EXPECT_EQ(info->statistic, fact.value("statistic", false));
  EXPECT_EQ(info->write_one_clears, masks(fact, NVDLA_REGMAP_NV_SMALL, {"RW1C"}));
  EXPECT_EQ(info->write_one_sets, masks(fact, NVDLA_REGMAP_NV_SMALL, {"W1S"}));
  EXPECT_EQ(info->trigger, masks(fact, NVDLA_REGMAP_NV_SMALL, {"RW-TRIGGER", "RW-PORT"}));
  for (const auto& [map, map_name] : kMaps) {
    SCOPED_TRACE(map_name);
    const Json& reset = fact["reset"].is_object() ? fact["reset"][map_name] : fact["reset"];
    EXPECT_EQ(info->reset[map], number(reset));
    std::uint32_t fields = 0;
    for (const Json& field : fact["fields"])
      fields |= field_fact(field, map, "reset") << field_fact(field, map, "lsb");
    EXPECT_EQ(info->reset[map], fields);
    EXPECT_EQ(info->read[map], masks(fact, map, {"RO", "RW", "RW1C", "RW-TRIGGER", "RW-PORT"}));
    EXPECT_EQ(info->write[map], masks(fact, map, {"RW", "WO", "RW-TRIGGER", "RW-PORT"}));
    // The facts say where the register is only in the maps that have it.
    const std::string key = std::string("address_") + map_name;
    EXPECT_EQ(info->present[map], fact.contains(key));
    const std::optional<std::uint32_t> address = register_address(map, *info);
    EXPECT_EQ(address.has_value(), fact.contains(key));
    if (address && fact.contains(key)) {
      EXPECT_EQ(*address, number(fact[key]));
      EXPECT_EQ(register_at(map, *address), info);
      EXPECT_EQ(find_register(map, unit, info->offset), info);
    }
  }
  EXPECT_EQ(info->fields.size(), fact["fields"].size());
  for (const Json& field : fact["fields"]) {
    const std::string name = field["name"];
    SCOPED_TRACE(name);
    check_field(field, info->find_field(name));
  }
}

TEST(Facts, EveryRegisterAndField) {
  NVDLA_NEEDS_SHARED("hw/registers.json");
  std::ifstream file(test::shared_folder() / "hw/registers.json");
  const Json facts = Json::parse(file);

  std::size_t register_count = 0;
  EXPECT_EQ(facts["units"].size(), units().size());
  for (const Json& fact : facts["units"]) {
    const std::string name = fact["name"];
    SCOPED_TRACE(name);
    const std::optional<Unit> unit = find_unit(name);
    ASSERT_TRUE(unit.has_value());
    const UnitInfo& info = unit_info(*unit);
    EXPECT_EQ(info.name, name);
    EXPECT_EQ(info.groups, number(fact["pingpong_groups"]));
    EXPECT_EQ(info.first_group_offset.has_value(), fact.contains("first_group_register_offset"));
    if (info.first_group_offset) {
      EXPECT_EQ(*info.first_group_offset, number(fact["first_group_register_offset"]));
    }
    for (const auto& [map, map_name] : kMaps) {
      const Json& base = fact["base"][map_name];
      EXPECT_EQ(info.base[map].has_value(), !base.is_null());
      if (info.base[map]) {
        EXPECT_EQ(*info.base[map], number(base));
      }
      EXPECT_EQ(info.built[map], fact["implemented"][map_name].get<bool>());
    }
    EXPECT_EQ(info.registers.size(), fact["registers"].size());
    for (const Json& reg : fact["registers"]) {
      const std::string reg_name = table_name(name, reg["name"]);
      SCOPED_TRACE(reg_name);
      check_register(reg, *unit, find_register(name + "." + reg_name));
      ++register_count;
    }
  }
  EXPECT_EQ(register_count, registers().size());
}

}  // namespace
}  // namespace nvdla::model
