// SPDX-License-Identifier: MIT
//
// The tables of all registers, for code that handles registers as data: the model's register file,
// the decoder behind `nvdla regs`, trace players and core dumps. The tables are built at compile
// time from the description in firmware/registers; this file depends on nothing else of the
// project.
//
// Offsets are bytes inside a unit's 4 KiB window, byte addresses are offsets in the device's
// register space. Everything that differs between the two register maps is an array indexed by
// RegisterMap.
#ifndef NVDLA_MODEL_CORE_REGISTER_INFO_HPP
#define NVDLA_MODEL_CORE_REGISTER_INFO_HPP

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "firmware/registers/nvdla_regs.h"

namespace nvdla::model {

using Unit = ::nvdla_unit;
using RegisterMap = ::nvdla_regmap;

template <typename T>
using PerMap = std::array<T, NVDLA_REGMAP_COUNT>;

enum class Access : std::uint8_t {
  kReadOnly,
  kReadWrite,
  kWriteOnly,
  kWriteOneClears,  // reads back, writing 1 clears the bit
  kWriteOneSets,    // reads 0, writing 1 sets the matching status bit
  kTrigger,         // reads back, a write also starts an action
  kPort,            // every access moves an internal index on
  kMixed,           // registers only: ask the fields
};

enum class Scope : std::uint8_t {
  kSingle,  // one copy
  kGroup,   // one copy per ping-pong group, reached through S_POINTER.PRODUCER
};

enum class FieldKind : std::uint8_t {
  kNumber,
  kSigned,   // two's complement of the field's width
  kBytes,    // a byte count that stays in place: missing low bits are zero
  kAddress,  // half of an address, in place like kBytes
};

struct EnumInfo {
  std::string_view name;
  std::uint32_t value;
};

struct FieldInfo {
  std::string_view name;
  FieldKind kind;
  Access access;
  PerMap<std::uint8_t> lsb;
  PerMap<std::uint8_t> width;
  std::span<const EnumInfo> enums;
  std::string_view description;

  constexpr std::uint32_t mask(RegisterMap map) const noexcept {
    const std::uint32_t ones = width[map] >= 32 ? ~0u : (1u << width[map]) - 1;
    return ones << lsb[map];
  }

  // The field's value in a register: shifted down, except that byte counts and
  // addresses stay in place (in bytes), as in the C header.
  constexpr std::uint32_t extract(RegisterMap map, std::uint32_t value) const noexcept {
    const std::uint32_t bits = value & mask(map);
    const bool in_place = kind == FieldKind::kBytes || kind == FieldKind::kAddress;
    return in_place ? bits : bits >> lsb[map];
  }
};

struct RegisterInfo {
  Unit unit;
  std::string_view name;
  std::uint32_t offset;
  Scope scope;
  Access access;
  bool statistic;                  // latched when the layer of a group completes
  PerMap<bool> present;            // the map has a window for the unit
  PerMap<std::uint32_t> reset;     // value after reset
  PerMap<std::uint32_t> read;      // bits that can read non-zero
  PerMap<std::uint32_t> write;     // bits that a write stores
  std::uint32_t write_one_clears;  // bits that writing 1 clears
  std::uint32_t write_one_sets;    // bits whose writing 1 sets a status bit
  std::uint32_t trigger;           // bits whose access also acts
  PerMap<nvdla_counts> counts;     // what the value of a statistic is worth
  std::span<const FieldInfo> fields;
  std::string_view description;

  const FieldInfo* find_field(std::string_view field_name) const noexcept;
};

struct UnitInfo {
  Unit unit;
  std::string_view name;
  PerMap<std::optional<std::uint32_t>> base;        // nullopt: the map has no such window
  PerMap<bool> built;                               // in the configuration that names the map
  unsigned groups;                                  // 2 with ping-pong register groups, else 0
  std::optional<std::uint32_t> first_group_offset;  // offset of the first D_ register
  std::span<const RegisterInfo> registers;          // ascending offsets
  std::string_view description;
};

// All units, indexed by Unit; all registers, unit by unit.
std::span<const UnitInfo> units() noexcept;
std::span<const RegisterInfo> registers() noexcept;

// Throws std::out_of_range unless unit is below NVDLA_UNIT_COUNT.
const UnitInfo& unit_info(Unit unit);

// "invalid" for a value that is no unit.
std::string_view unit_name(Unit unit) noexcept;
std::optional<Unit> find_unit(std::string_view name) noexcept;
std::optional<std::uint32_t> unit_base(RegisterMap map, Unit unit) noexcept;

// Constant time.  nullptr if there is no such window, no such register, or the
// offset is not that of a whole word.
const UnitInfo* unit_at(RegisterMap map, std::uint32_t byte_address) noexcept;
const RegisterInfo* find_register(RegisterMap map, Unit unit, std::uint32_t offset) noexcept;
const RegisterInfo* register_at(RegisterMap map, std::uint32_t byte_address) noexcept;

// "CDMA.D_BANK"; nullptr if there is no such register in any map.
const RegisterInfo* find_register(std::string_view name) noexcept;

std::optional<std::uint32_t> register_address(RegisterMap map, const RegisterInfo& info) noexcept;

// "CDMA.D_BANK", "CDMA+0x1f0" where the window has no register, or "0x3f000".
std::string register_name(RegisterMap map, std::uint32_t byte_address);

// One line for people: "CDMA.D_BANK = 0x0002000b (DATA_BANK 11, WEIGHT_BANK 2)".
// Enumerators print by name, bits outside of all fields as "reserved 0x...".
std::string decode(RegisterMap map, std::uint32_t byte_address, std::uint32_t value);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_REGISTER_INFO_HPP
