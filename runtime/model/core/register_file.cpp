// SPDX-License-Identifier: MIT
#include "model/core/register_file.hpp"

#include <utility>

namespace nvdla::model {
namespace {

// The registers that both ping-pong units share have the same offsets everywhere.
constexpr std::uint32_t kStatus = NVDLA_REG_S_STATUS;
constexpr std::uint32_t kPointer = NVDLA_REG_S_POINTER;

bool unit_built(const nvdla_hw& hw, Unit unit) {
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
      return unit_base(static_cast<RegisterMap>(hw.regmap), unit).has_value();
  }
}

// Some counters are cleared when their group is enabled again, the others keep what an earlier
// layer left until the next one ends.
bool cleared_at_enable(const RegisterInfo& reg) {
  if (!reg.statistic) return false;
  switch (reg.unit) {
    case NVDLA_UNIT_CDMA:
    case NVDLA_UNIT_CACC:
    case NVDLA_UNIT_SDP_RDMA:
    case NVDLA_UNIT_SDP:
      return true;
    // The counts of NaNs and infinities, D_*PUT_NUM, but nothing else.
    case NVDLA_UNIT_PDP:
    case NVDLA_UNIT_CDP:
      return reg.name.ends_with("PUT_NUM");
    default:
      return false;
  }
}

// Returns true if a write, unless it is dropped, only stores its value.
bool stores_alone(const RegisterInfo& reg) {
  return reg.scope == Scope::kGroup && reg.write_one_clears == 0 && reg.write_one_sets == 0;
}

}  // namespace

std::int16_t* Lut::entry(unsigned table) noexcept {
  if (table == 0) return index < kLeEntries ? &le[index] : nullptr;
  return index < kLoEntries ? &lo[index] : nullptr;
}

RegisterFile::RegisterFile(const nvdla_hw& hw, bool posted)
    : map_(static_cast<RegisterMap>(hw.regmap)),
      interrupts_(nvdla_hw_interrupts(&hw)),
      posted_(posted) {
  for (const UnitInfo& info : nvdla::model::units()) {
    UnitState& unit = units_[info.unit];
    unit.built = unit_built(hw, info.unit);
    unit.grouped = info.groups != 0;
    for (auto& words : unit.words) words.resize(kWords);
    unit.stored.resize(kWords);
    for (const RegisterInfo& reg : info.registers) {
      const bool enables = reg.name == "D_OP_ENABLE";
      if (enables) {
        unit.op_enable = reg.offset;
        unit.op_mask = reg.write[map_];
      }
      if (cleared_at_enable(reg)) unit.cleared.push_back(reg.offset / 4);
      if (stores_alone(reg) && !enables && unit.built && reg.present[map_])
        unit.stored[reg.offset / 4] = reg.write[map_];
    }
    const auto base = unit_base(map_, info.unit);
    unit.window = base.value_or(0) / kWindow;
    // BDMA acts on writes: they never end in store().
    if (unit.built && info.unit != NVDLA_UNIT_BDMA) {
      windows_[unit.window].stored = unit.stored.data();
      if (unit.grouped) windows_[unit.window].unit = info.unit;
    }
    if (unit.built && port(info.unit, NVDLA_SDP_S_LUT_ACCESS_DATA) != nullptr)
      lut_data_[info.unit == NVDLA_UNIT_CDP ? 1 : 0] = *base + NVDLA_SDP_S_LUT_ACCESS_DATA;
  }
  reset();
}

void RegisterFile::reset() {
  for (const UnitInfo& info : nvdla::model::units()) {
    UnitState& unit = units_[info.unit];
    unit.producer = 0;
    unit.consumer = 0;
    for (const RegisterInfo& reg : info.registers)
      for (auto& words : unit.words) words[reg.offset / 4] = reg.reset[map_];
    open(unit);
  }
  // The tables are RAM: silicon leaves them undefined, the model leaves them 0.
  luts_ = {};
  settle_line();
}

void RegisterFile::open(UnitState& unit) noexcept {
  if (!unit.built) return;
  std::uint32_t* const words = unit.words[unit.producer].data();
  windows_[unit.window].words = (words[unit.op_enable / 4] & 1) == 0 ? words : nullptr;
}

bool RegisterFile::enabled(Unit unit, unsigned group) const noexcept {
  const UnitState& state = units_[unit];
  return state.built && state.grouped && (state.words[group][state.op_enable / 4] & 1) != 0;
}

void RegisterFile::enable(std::uint32_t units) noexcept {
  for (const UnitInfo& info : nvdla::model::units())
    if ((units >> info.unit & 1) != 0)
      write(*unit_base(map_, info.unit) + units_[info.unit].op_enable, 1);
}

GroupView RegisterFile::view(Unit unit) const noexcept {
  const UnitState& state = units_[unit];
  return {state.words[state.consumer].data(), state.consumer};
}

std::uint32_t RegisterFile::single(Unit unit, std::uint32_t offset) const noexcept {
  return units_[unit].words[0][offset / 4];
}

void RegisterFile::set_single(Unit unit, std::uint32_t offset, std::uint32_t value) noexcept {
  units_[unit].words[0][offset / 4] = value;
}

void RegisterFile::set_statistic(Unit unit, std::uint32_t offset, std::uint32_t value) noexcept {
  UnitState& state = units_[unit];
  state.words[state.consumer][offset / 4] = value;
}

void RegisterFile::finish(Unit unit) noexcept {
  UnitState& state = units_[unit];
  state.words[state.consumer][state.op_enable / 4] = 0;
  state.consumer ^= 1;
  open(state);
}

void RegisterFile::raise(std::uint32_t interrupts) noexcept {
  units_[NVDLA_UNIT_GLB].words[0][NVDLA_GLB_S_INTR_STATUS / 4] |= interrupts & interrupts_;
  settle_line();
}

void RegisterFile::flush_done() noexcept {
  set_single(NVDLA_UNIT_CDMA, NVDLA_CDMA_S_CBUF_FLUSH_STATUS,
             NVDLA_CDMA_S_CBUF_FLUSH_STATUS_FLUSH_DONE_MASK);
}

bool RegisterFile::settle_line() noexcept {
  line_ = (single(NVDLA_UNIT_GLB, NVDLA_GLB_S_INTR_STATUS) &
           ~single(NVDLA_UNIT_GLB, NVDLA_GLB_S_INTR_MASK)) != 0;
  return std::exchange(line_pending_, false);
}

void RegisterFile::line_written() noexcept {
  line_pending_ = true;
  if (!posted_) settle_line();
}

std::uint32_t RegisterFile::status(const UnitState& unit) const noexcept {
  std::uint32_t value = 0;
  for (unsigned group = 0; group < 2; ++group) {
    if ((unit.words[group][unit.op_enable / 4] & 1) == 0) continue;
    value |= (unit.consumer == group ? NVDLA_REG_S_STATUS_STATUS_0_RUNNING
                                     : NVDLA_REG_S_STATUS_STATUS_0_PENDING)
             << (16 * group);
  }
  return value;
}

Lut* RegisterFile::port(Unit unit, std::uint32_t offset) noexcept {
  // Both units have the pair at the same offsets.
  static_assert(NVDLA_SDP_S_LUT_ACCESS_CFG == NVDLA_CDP_S_LUT_ACCESS_CFG);
  static_assert(NVDLA_SDP_S_LUT_ACCESS_DATA == NVDLA_CDP_S_LUT_ACCESS_DATA);
  if (unit != NVDLA_UNIT_SDP && unit != NVDLA_UNIT_CDP) return nullptr;
  if (offset != NVDLA_SDP_S_LUT_ACCESS_CFG && offset != NVDLA_SDP_S_LUT_ACCESS_DATA) return nullptr;
  return &luts_[unit == NVDLA_UNIT_CDP ? 1 : 0];
}

std::uint32_t RegisterFile::read(std::uint32_t offset) {
  // The register bus answers a read when all writes before it have arrived.
  if (line_pending_) settle_line();
  const RegisterInfo* info = register_at(map_, offset);
  if (info == nullptr) return 0;
  UnitState& unit = units_[info->unit];
  if (!unit.built) return 0;
  if (unit.grouped) {
    if (info->offset == kStatus) return status(unit);
    if (info->offset == kPointer)
      return unit.producer << NVDLA_REG_S_POINTER_PRODUCER_SHIFT |
             unit.consumer << NVDLA_REG_S_POINTER_CONSUMER_SHIFT;
  }
  if (Lut* lut = port(info->unit, info->offset);
      lut != nullptr && info->offset == NVDLA_SDP_S_LUT_ACCESS_DATA) {
    const std::uint32_t config = unit.words[0][NVDLA_SDP_S_LUT_ACCESS_CFG / 4];
    const unsigned table = (config & NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_TABLE_ID_MASK) != 0;
    const std::int16_t* entry = lut->entry(table);
    lut->index = (lut->index + 1) & NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_ADDR_MASK;
    return entry != nullptr ? static_cast<std::uint16_t>(*entry) : 0;
  }
  const unsigned group = info->scope == Scope::kGroup ? unit.producer : 0;
  const std::uint32_t value = unit.words[group][info->offset / 4] & info->read[map_];
  // Hardware needs some cycles after reset to clear the convolution buffer: whoever reads once sees
  // it busy, whoever polls sees it end.
  if (info->unit == NVDLA_UNIT_CDMA && info->offset == NVDLA_CDMA_S_CBUF_FLUSH_STATUS) flush_done();
  return value;
}

void RegisterFile::write_entry(Unit unit, std::uint32_t value) noexcept {
  Lut& lut = luts_[unit == NVDLA_UNIT_CDP ? 1 : 0];
  const std::uint32_t config = units_[unit].words[0][NVDLA_SDP_S_LUT_ACCESS_CFG / 4];
  const unsigned table = (config & NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_TABLE_ID_MASK) != 0;
  if ((config & NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_ACCESS_TYPE_MASK) != 0)
    if (std::int16_t* entry = lut.entry(table); entry != nullptr)
      *entry = static_cast<std::int16_t>(value);
  lut.index = (lut.index + 1) & NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_ADDR_MASK;
}

bool RegisterFile::control(std::uint32_t offset, std::uint32_t value) noexcept {
  if (offset >= NVDLA_REG_SPACE || windows_[offset / kWindow].unit == NVDLA_UNIT_COUNT)
    return false;
  UnitState& unit = units_[windows_[offset / kWindow].unit];
  const std::uint32_t at = offset % kWindow;
  if (at == kPointer) {
    unit.producer = value & NVDLA_REG_S_POINTER_PRODUCER_MASK;
  } else if (at == unit.op_enable) {
    std::vector<std::uint32_t>& words = unit.words[unit.producer];
    std::uint32_t& word = words[at / 4];
    // An enabled group drops it.
    if ((word & 1) != 0) return true;
    word = (word & ~unit.op_mask) | (value & unit.op_mask);
    if ((value & 1) != 0)
      for (const std::size_t cleared : unit.cleared) words[cleared] = 0;
  } else {
    return false;
  }
  open(unit);
  return true;
}

void RegisterFile::write(std::uint32_t offset, std::uint32_t value) {
  if (store(offset, value) || control(offset, value)) return;
  if (offset == lut_data_[0]) return write_entry(NVDLA_UNIT_SDP, value);
  if (offset == lut_data_[1]) return write_entry(NVDLA_UNIT_CDP, value);
  const RegisterInfo* info = register_at(map_, offset);
  if (info == nullptr) return;
  UnitState& unit = units_[info->unit];
  if (!unit.built) return;
  if (info->write_one_clears != 0) {
    unit.words[0][info->offset / 4] &= ~(value & info->write_one_clears);
    line_written();  // GLB.S_INTR_STATUS is the only one
    return;
  }
  if (info->write_one_sets != 0) {  // GLB.S_INTR_SET is the only one
    unit.words[0][NVDLA_GLB_S_INTR_STATUS / 4] |= value & info->write_one_sets & interrupts_;
    line_written();
    return;
  }
  if (unit.grouped && info->offset == kPointer) {
    unit.producer = value & NVDLA_REG_S_POINTER_PRODUCER_MASK;
    open(unit);
    return;
  }
  if (Lut* lut = port(info->unit, info->offset); lut != nullptr)
    lut->index = value & NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_ADDR_MASK;
  const bool group_register = info->scope == Scope::kGroup;
  const unsigned group = group_register ? unit.producer : 0;
  // An enabled group drops them, as open() knows.
  if (group_register && (unit.words[group][unit.op_enable / 4] & 1) != 0) return;
  std::uint32_t& word = unit.words[group][info->offset / 4];
  const bool masks = info->unit == NVDLA_UNIT_GLB && info->offset == NVDLA_GLB_S_INTR_MASK;
  const std::uint32_t mask = info->write[map_];
  word = (word & ~mask) | (value & mask);
  if (masks) line_written();
  if (group_register && info->offset == unit.op_enable && (value & 1) != 0)
    for (const std::size_t at : unit.cleared) unit.words[group][at] = 0;
  open(unit);
}

}  // namespace nvdla::model
