// SPDX-License-Identifier: MIT
//
// All registers of one NVDLA and what happens when software touches them: ping-pong groups, dropped
// writes, interrupt status, LUT access ports. Driven by the register description; what a layer
// computes is not its business.
#ifndef NVDLA_MODEL_CORE_REGISTER_FILE_HPP
#define NVDLA_MODEL_CORE_REGISTER_FILE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "model/core/register_info.hpp"

namespace nvdla::model {

class RegisterFile;

// One register group of one unit, for the datapath.
class GroupView {
 public:
  GroupView(const std::uint32_t* words, unsigned group) noexcept : words_(words), group_(group) {}

  unsigned group() const noexcept { return group_; }
  std::uint32_t word(std::uint32_t offset) const noexcept { return words_[offset / 4]; }
  std::uint32_t field(std::uint32_t offset, std::uint32_t mask, unsigned shift) const noexcept {
    return (word(offset) & mask) >> shift;
  }

 private:
  const std::uint32_t* words_;
  unsigned group_;
};

// A field by the name that it has in nvdla_regs.h.
#define NVDLA_VIEW_FIELD(view, reg, name) \
  ((view).field(NVDLA_##reg, NVDLA_##reg##_##name##_MASK, NVDLA_##reg##_##name##_SHIFT))

// The tables behind S_LUT_ACCESS_CFG and S_LUT_ACCESS_DATA of SDP and CDP.
struct Lut {
  static constexpr unsigned kLeEntries = 65;
  static constexpr unsigned kLoEntries = 257;
  std::array<std::int16_t, kLeEntries> le{};
  std::array<std::int16_t, kLoEntries> lo{};
  std::uint32_t index = 0;

  std::int16_t* entry(unsigned table) noexcept;
};

class RegisterFile {
 public:
  // `posted`: as Options::posted_writes.
  explicit RegisterFile(const nvdla_hw& hw, bool posted = false);
  RegisterFile(RegisterFile&&) = default;  // words stay where they are
  RegisterFile& operator=(RegisterFile&&) = delete;

  void reset();

  // The bus side. Undefined offsets and windows of units that are not built read 0.
  std::uint32_t read(std::uint32_t offset);
  void write(std::uint32_t offset, std::uint32_t value);
  // Does the same for a register of a group that only stores, which is most of what software
  // writes: a layer has about a hundred. Returns false, and does nothing, if it is another one, or
  // BDMA's.
  bool store(std::uint32_t offset, std::uint32_t value) noexcept;
  // Does so from the first of several on, up to one that is in another window or does more than to
  // store; returns how many.
  std::size_t store(std::span<const nvdla_reg_write> writes) noexcept;

  // Level of the interrupt line.
  bool interrupt() const noexcept { return line_; }
  // Lets the line follow the interrupt registers; false if it did already.
  bool settle_line() noexcept;

  // The datapath side.
  bool built(Unit unit) const noexcept { return units_[unit].built; }
  unsigned consumer(Unit unit) const noexcept { return units_[unit].consumer; }
  bool enabled(Unit unit, unsigned group) const noexcept;
  // Writes D_OP_ENABLE of each unit of a mask.
  void enable(std::uint32_t units) noexcept;
  // The group at CONSUMER is enabled.
  bool running(Unit unit) const noexcept { return enabled(unit, consumer(unit)); }
  GroupView view(Unit unit) const noexcept;  // of the group at CONSUMER
  std::uint32_t single(Unit unit, std::uint32_t offset) const noexcept;
  void set_single(Unit unit, std::uint32_t offset, std::uint32_t value) noexcept;
  // A statistic or status register of the group at CONSUMER.
  void set_statistic(Unit unit, std::uint32_t offset, std::uint32_t value) noexcept;
  // The layer at CONSUMER has ended: OP_EN falls and CONSUMER moves on.
  void finish(Unit unit) noexcept;
  void raise(std::uint32_t interrupts) noexcept;
  const Lut& lut(Unit unit) const noexcept { return luts_[unit == NVDLA_UNIT_CDP ? 1 : 0]; }
  // Convolution buffer cleared after reset.
  void flush_done() noexcept;

 private:
  static constexpr std::size_t kWindow = NVDLA_UNIT_WINDOW, kWords = kWindow / 4;
  struct UnitState {
    bool built = false;
    bool grouped = false;
    std::uint32_t op_enable = 0;  // offset of D_OP_ENABLE
    std::uint32_t op_mask = 0;    // its bits that a write stores
    unsigned producer = 0;
    unsigned consumer = 0;
    // Single registers live in words[0], those of a group in words[group].
    std::array<std::vector<std::uint32_t>, 2> words;
    // For each register of a group the bits that a write stores which does nothing else; 0 of all
    // others.
    std::vector<std::uint32_t> stored;
    std::size_t window = 0;
    std::vector<std::size_t> cleared;  // words, when their group is enabled
  };

  // Finds out whether and where a unit's groups can be written.
  void open(UnitState& unit) noexcept;
  std::uint32_t status(const UnitState& unit) const noexcept;
  // Writes S_POINTER or D_OP_ENABLE, of which a layer has two dozen; returns false, and does
  // nothing, if it is another register, or BDMA's.
  bool control(std::uint32_t offset, std::uint32_t value) noexcept;
  // A write has changed an interrupt register.
  void line_written() noexcept;
  Lut* port(Unit unit, std::uint32_t offset) noexcept;
  void write_entry(Unit unit, std::uint32_t value) noexcept;

  RegisterMap map_;
  std::array<UnitState, NVDLA_UNIT_COUNT> units_;
  // `Window` leads a write to the words of a unit's registers.
  struct Window {
    const std::uint32_t* stored = nullptr;  // UnitState::stored; null where store() does nothing
    // The words of the group at PRODUCER, or null: an enabled group belongs to the hardware, and
    // all writes are dropped, OP_EN included.
    std::uint32_t* words = nullptr;
    Unit unit = NVDLA_UNIT_COUNT;  // whose groups control() leads
  };
  std::array<Window, NVDLA_REG_SPACE / kWindow> windows_;
  std::array<Lut, 2> luts_;
  // S_LUT_ACCESS_DATA of SDP and CDP, where they are built: software writes tables entry by entry.
  std::array<std::uint32_t, 2> lut_data_ = {UINT32_MAX, UINT32_MAX};
  std::uint32_t interrupts_;  // bits of S_INTR_STATUS that are built
  bool posted_;
  bool line_ = false;
  bool line_pending_ = false;
};

inline bool RegisterFile::store(std::uint32_t offset, std::uint32_t value) noexcept {
  if (offset % 4 != 0 || offset >= NVDLA_REG_SPACE) return false;
  const Window& window = windows_[offset / kWindow];
  if (window.stored == nullptr) return false;
  const std::size_t at = offset % kWindow / 4;
  const std::uint32_t mask = window.stored[at];
  if (mask == 0) return false;
  if (window.words != nullptr) window.words[at] = (window.words[at] & ~mask) | (value & mask);
  return true;
}

inline std::size_t RegisterFile::store(std::span<const nvdla_reg_write> writes) noexcept {
  if (writes.empty() || writes.front().offset >= NVDLA_REG_SPACE) return 0;
  const std::uint32_t base = writes.front().offset & ~std::uint32_t{kWindow - 1};
  const Window window = windows_[base / kWindow];
  if (window.stored == nullptr) return 0;
  std::size_t count = 0;
  for (; count < writes.size(); ++count) {
    const std::uint32_t at = writes[count].offset - base;
    if (at >= kWindow || at % 4 != 0) break;
    const std::uint32_t mask = window.stored[at / 4];
    if (mask == 0) break;
    if (window.words == nullptr) continue;
    std::uint32_t& word = window.words[at / 4];
    word = (word & ~mask) | (writes[count].value & mask);
  }
  return count;
}

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_REGISTER_FILE_HPP
