// SPDX-License-Identifier: MIT
#include "model/core/register_info.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace nvdla::model {
namespace {

constexpr std::uint32_t kWindow = NVDLA_UNIT_WINDOW;
constexpr std::size_t kPages = NVDLA_REG_SPACE / NVDLA_UNIT_WINDOW;

// The words of the generated rows.
constexpr Access RO = Access::kReadOnly;
constexpr Access RW = Access::kReadWrite;
constexpr Access WO = Access::kWriteOnly;
constexpr Access RW1C = Access::kWriteOneClears;
constexpr Access W1S = Access::kWriteOneSets;
constexpr Access RW_TRIGGER = Access::kTrigger;
constexpr Access RW_PORT = Access::kPort;
constexpr Access MIXED = Access::kMixed;
constexpr Scope SINGLE = Scope::kSingle;
constexpr Scope GROUP = Scope::kGroup;
constexpr FieldKind NUMBER = FieldKind::kNumber;
constexpr FieldKind SIGNED = FieldKind::kSigned;
constexpr FieldKind BYTES = FieldKind::kBytes;
constexpr FieldKind ADDRESS = FieldKind::kAddress;

constexpr std::optional<std::uint32_t> known(std::uint32_t value) {
  if (value == NVDLA_NO_REG) return std::nullopt;
  return value;
}

constexpr EnumInfo kEnums[] = {
#define NVDLA_ENUM_ROW(name, value) {name, value},
#include "firmware/registers/nvdla_reg_table.inc"
};

constexpr FieldInfo kFields[] = {
#define NVDLA_FIELD_ROW(name, kind, access, lsb0, width0, lsb1, width1, first, count, desc) \
  {name, kind, access, {lsb0, lsb1}, {width0, width1}, {kEnums + (first), count}, desc},
#include "firmware/registers/nvdla_reg_table.inc"
};

constexpr RegisterInfo kRegisters[] = {
#define NVDLA_REG_ROW(unit, name, offset, scope, access, statistic, present0, present1, reset0,  \
                      reset1, read0, read1, write0, write1, w1c, w1s, trigger, counts0, counts1, \
                      first, count, desc)                                                        \
  {NVDLA_UNIT_##unit,                                                                            \
   name,                                                                                         \
   offset,                                                                                       \
   scope,                                                                                        \
   access,                                                                                       \
   (statistic) != 0,                                                                             \
   {(present0) != 0, (present1) != 0},                                                           \
   {reset0, reset1},                                                                             \
   {read0, read1},                                                                               \
   {write0, write1},                                                                             \
   w1c,                                                                                          \
   w1s,                                                                                          \
   trigger,                                                                                      \
   {static_cast<nvdla_counts>(counts0), static_cast<nvdla_counts>(counts1)},                     \
   {kFields + (first), count},                                                                   \
   desc},
#include "firmware/registers/nvdla_reg_table.inc"
};

constexpr UnitInfo kUnits[] = {
#define NVDLA_UNIT_ROW(unit, name, base0, base1, built0, built1, groups, first_group, first, \
                       count, desc)                                                          \
  {NVDLA_UNIT_##unit,                                                                        \
   name,                                                                                     \
   {known(base0), known(base1)},                                                             \
   {(built0) != 0, (built1) != 0},                                                           \
   groups,                                                                                   \
   known(first_group),                                                                       \
   {kRegisters + (first), count},                                                            \
   desc},
#include "firmware/registers/nvdla_reg_table.inc"
};

static_assert(std::size(kUnits) == NVDLA_UNIT_COUNT);

constexpr bool rows_are_in_enum_order() {
  for (std::size_t i = 0; i < std::size(kUnits); ++i) {
    if (kUnits[i].unit != static_cast<Unit>(i)) return false;
    for (const RegisterInfo& info : kUnits[i].registers)
      if (info.unit != kUnits[i].unit) return false;
  }
  return true;
}
static_assert(rows_are_in_enum_order());

constexpr std::size_t largest_word() {
  std::size_t largest = 0;
  for (const RegisterInfo& info : kRegisters)
    largest = std::max<std::size_t>(largest, info.offset / 4);
  return largest;
}
constexpr std::size_t kWords = largest_word() + 1;

// Register index + 1 of each word of each unit; 0 where there is none.
using WordTable = std::array<std::array<std::uint16_t, kWords>, NVDLA_UNIT_COUNT>;
constexpr WordTable make_word_table() {
  WordTable table{};
  for (std::size_t i = 0; i < std::size(kRegisters); ++i)
    table[kRegisters[i].unit][kRegisters[i].offset / 4] = static_cast<std::uint16_t>(i + 1);
  return table;
}
constexpr WordTable kWordTable = make_word_table();

// Unit of each window of each map; NVDLA_UNIT_COUNT where there is none.
using PageTable = PerMap<std::array<std::uint8_t, kPages>>;
constexpr PageTable make_page_table() {
  PageTable table{};
  for (std::size_t map = 0; map < NVDLA_REGMAP_COUNT; ++map) {
    for (std::uint8_t& page : table[map]) page = NVDLA_UNIT_COUNT;
    for (const UnitInfo& info : kUnits)
      if (info.base[map])
        table[map][*info.base[map] / kWindow] = static_cast<std::uint8_t>(info.unit);
  }
  return table;
}
constexpr PageTable kPageTable = make_page_table();

// A C enum can hold any value, and these come from command lines and files.
bool is_valid(RegisterMap map) noexcept { return static_cast<unsigned>(map) < NVDLA_REGMAP_COUNT; }

bool is_valid(Unit unit) noexcept { return static_cast<unsigned>(unit) < NVDLA_UNIT_COUNT; }

std::string hex(std::uint32_t value, int digits) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%0*x", digits, value);
  return text;
}

std::string field_text(RegisterMap map, const FieldInfo& field, std::uint32_t value) {
  const std::uint32_t content = field.extract(map, value);
  for (const EnumInfo& candidate : field.enums)
    if (candidate.value == content) return std::string(candidate.name);
  switch (field.kind) {
    case FieldKind::kAddress:
      return hex(content, 8);
    case FieldKind::kSigned: {
      const std::int64_t range = std::int64_t{1} << field.width[map];
      return std::to_string(content < range / 2 ? content : content - range);
    }
    case FieldKind::kNumber:
    case FieldKind::kBytes:
      break;
  }
  return std::to_string(content);
}

}  // namespace

const FieldInfo* RegisterInfo::find_field(std::string_view field_name) const noexcept {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const FieldInfo& field) { return field.name == field_name; });
  return found == fields.end() ? nullptr : &*found;
}

std::span<const UnitInfo> units() noexcept { return kUnits; }

std::span<const RegisterInfo> registers() noexcept { return kRegisters; }

const UnitInfo& unit_info(Unit unit) {
  if (!is_valid(unit))
    throw std::out_of_range("no unit has the number " +
                            std::to_string(static_cast<unsigned>(unit)) + ", the last one is " +
                            std::to_string(NVDLA_UNIT_COUNT - 1));
  return kUnits[unit];
}

std::string_view unit_name(Unit unit) noexcept {
  return is_valid(unit) ? kUnits[unit].name : "invalid";
}

std::optional<Unit> find_unit(std::string_view name) noexcept {
  for (const UnitInfo& info : kUnits)
    if (info.name == name) return info.unit;
  return std::nullopt;
}

std::optional<std::uint32_t> unit_base(RegisterMap map, Unit unit) noexcept {
  if (!is_valid(map) || !is_valid(unit)) return std::nullopt;
  return kUnits[unit].base[map];
}

const UnitInfo* unit_at(RegisterMap map, std::uint32_t byte_address) noexcept {
  if (!is_valid(map) || byte_address >= NVDLA_REG_SPACE) return nullptr;
  const std::uint8_t unit = kPageTable[map][byte_address / kWindow];
  return unit < NVDLA_UNIT_COUNT ? &kUnits[unit] : nullptr;
}

const RegisterInfo* find_register(RegisterMap map, Unit unit, std::uint32_t offset) noexcept {
  if (!is_valid(map) || !is_valid(unit) || offset % 4 != 0 || offset / 4 >= kWords) return nullptr;
  const std::uint16_t index = kWordTable[unit][offset / 4];
  if (index == 0 || !kRegisters[index - 1].present[map]) return nullptr;
  return &kRegisters[index - 1];
}

const RegisterInfo* register_at(RegisterMap map, std::uint32_t byte_address) noexcept {
  const UnitInfo* unit = unit_at(map, byte_address);
  return unit ? find_register(map, unit->unit, byte_address % kWindow) : nullptr;
}

const RegisterInfo* find_register(std::string_view name) noexcept {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const std::optional<Unit> unit = find_unit(name.substr(0, dot));
  if (!unit) return nullptr;
  for (const RegisterInfo& info : kUnits[*unit].registers)
    if (info.name == name.substr(dot + 1)) return &info;
  return nullptr;
}

std::optional<std::uint32_t> register_address(RegisterMap map, const RegisterInfo& info) noexcept {
  const std::optional<std::uint32_t> base = unit_base(map, info.unit);
  if (!base) return std::nullopt;
  return *base + info.offset;
}

std::string register_name(RegisterMap map, std::uint32_t byte_address) {
  const UnitInfo* unit = unit_at(map, byte_address);
  if (!unit) return hex(byte_address, 5);
  std::string name(unit->name);
  if (const RegisterInfo* info = register_at(map, byte_address))
    return name.append(".").append(info->name);
  return name + "+" + hex(byte_address % kWindow, 3);
}

std::string decode(RegisterMap map, std::uint32_t byte_address, std::uint32_t value) {
  std::string text = register_name(map, byte_address) + " = " + hex(value, 8) + " (";
  const RegisterInfo* info = register_at(map, byte_address);
  if (!info) {
    if (!unit_at(map, byte_address)) return text + "no unit at this address)";
    return text + (byte_address % 4 ? "not a word address)" : "no such register)");
  }
  std::uint32_t reserved = value;
  const char* separator = "";
  for (const FieldInfo& field : info->fields) {
    text.append(separator).append(field.name).append(" ").append(field_text(map, field, value));
    reserved &= ~field.mask(map);
    separator = ", ";
  }
  if (reserved) text.append(separator).append("reserved ").append(hex(reserved, 8));
  return text + ")";
}

}  // namespace nvdla::model
