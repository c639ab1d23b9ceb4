// SPDX-License-Identifier: MIT
//
// The compiler backwards: from the registers of one launch to the descriptor
// that asks for it. Golden cases are given as registers; lifted, compiled and
// compared they prove what the compiler writes.
//
// A unit has one function; what it reads from the registers is only what a
// descriptor says. Copies and derived registers are not looked at: that they
// agree is for the comparison to find.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "model/core/register_info.hpp"

namespace nvdla::test {

// The registers say what no descriptor can say.
class LiftError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Values of one register group of every unit, reset values where not written.
class LaunchRegisters {
 public:
  explicit LaunchRegisters(model::RegisterMap map) : map_(map) {}

  model::RegisterMap map() const noexcept { return map_; }
  // At a byte address of the register space; ignores what is no register.
  void write(std::uint32_t byte_address, std::uint32_t value);
  std::uint32_t read(model::Unit unit, std::uint32_t offset) const;
  bool enabled(model::Unit unit) const;
  // All that was written, by byte address.
  const std::map<std::uint32_t, std::uint32_t>& values() const noexcept { return values_; }

  // Entries of the look-up tables of SDP or CDP, 0 where not written.
  struct Tables {
    std::array<std::uint16_t, NVDLA_LUT_LE_ENTRIES> le{};
    std::array<std::uint16_t, NVDLA_LUT_LO_ENTRIES> lo{};
  };
  const Tables& tables(model::Unit unit) const { return tables_[unit == NVDLA_UNIT_CDP]; }

  // BDMA's registers as they were at each push, by offset.
  using Command = std::unordered_map<std::uint32_t, std::uint32_t>;
  std::span<const Command> commands() const noexcept { return commands_; }
  // They were launched: the next ones are another layer's.
  void forget_commands() noexcept { commands_.clear(); }

 private:
  void write_table(model::Unit unit, std::uint32_t offset, std::uint32_t value);

  model::RegisterMap map_;
  std::map<std::uint32_t, std::uint32_t> values_;
  Tables tables_[2];
  std::uint32_t access_[2] = {};  // as S_LUT_ACCESS_CFG, counting up
  std::vector<Command> commands_;
};

// Memory of launches; becomes a slot.
struct LaunchMemory {
  std::uint64_t address;
  std::uint64_t size;
  // enum nvdla_memory; nullopt where one address space is reached both ways:
  // then the first access decides, and a memory is one or the other.
  std::optional<std::uint32_t> memory = std::nullopt;
};

// What published software takes for WEIGHT_BYTES, whatever the width of an entry.
constexpr std::uint64_t round_up_weights(std::uint64_t bytes) { return (bytes + 127) / 128 * 128; }

struct Lifted {
  std::vector<nvdla_layer> layers;  // one per launch, without waits
  std::vector<nvdla_slot> slots;
  std::vector<std::uint64_t> bases;  // address of each slot
  std::vector<nvdla_lut> luts;
  std::vector<nvdla_transfer> transfers;
  // Tables of compressed weights, copied into the last slot, and where that
  // puts what the registers of the launches name.
  std::vector<std::uint8_t> control;
  std::map<std::uint64_t, std::uint64_t> moved;
};

// What memory holds before the first launch.
using Contents = std::function<std::vector<std::uint8_t>(std::uint64_t address, std::size_t size)>;

// Launches that share memory, in their order. Throws LiftError for an address
// in none of the memories, and for settings that descriptors do not offer.
Lifted lift(const nvdla_hw& hw, std::span<const LaunchRegisters> launches,
            std::span<const LaunchMemory> memories, const Contents& contents);

// Where int16 meets int8, SDP's surfaces come in pairs; cases have memory for the surfaces with
// channels only. Gives their slots twice as much; false if there are no such pairs.
bool widen_pairs(Lifted& lifted);

}  // namespace nvdla::test
