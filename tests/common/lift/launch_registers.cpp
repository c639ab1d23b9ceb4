// SPDX-License-Identifier: MIT
#include <string>

#include "common/lift/lift.hpp"

namespace nvdla::test {

void LaunchRegisters::write(std::uint32_t byte_address, std::uint32_t value) {
  const auto* info = model::register_at(map_, byte_address);
  if (info == nullptr) return;
  values_[byte_address] = value;
  const std::uint32_t offset = byte_address - *model::unit_base(map_, info->unit);
  if (info->unit == NVDLA_UNIT_SDP || info->unit == NVDLA_UNIT_CDP)
    write_table(info->unit, offset, value);
  if (info->unit == NVDLA_UNIT_BDMA && offset == NVDLA_BDMA_CFG_OP && (value & 1) != 0) {
    Command command;
    for (std::uint32_t at = 0; at < NVDLA_BDMA_CFG_OP; at += 4)
      command[at] = read(NVDLA_UNIT_BDMA, at);
    commands_.push_back(command);
  }
}

// The same registers in both units.
void LaunchRegisters::write_table(model::Unit unit, std::uint32_t offset, std::uint32_t value) {
  const bool cdp = unit == NVDLA_UNIT_CDP;
  std::uint32_t& access = access_[cdp];
  if (offset == NVDLA_SDP_S_LUT_ACCESS_CFG) access = value;
  if (offset != NVDLA_SDP_S_LUT_ACCESS_DATA) return;
  const std::uint32_t index = access++ & NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_ADDR_MASK;
  // Told to read, the port moves on and keeps what is there.
  if ((access & NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_ACCESS_TYPE_MASK) == 0) return;
  const bool lo = (access & NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_TABLE_ID_MASK) != 0;
  if (lo && index < NVDLA_LUT_LO_ENTRIES)
    tables_[cdp].lo[index] = static_cast<std::uint16_t>(value);
  if (!lo && index < NVDLA_LUT_LE_ENTRIES)
    tables_[cdp].le[index] = static_cast<std::uint16_t>(value);
}

std::uint32_t LaunchRegisters::read(model::Unit unit, std::uint32_t offset) const {
  const auto* info = model::find_register(map_, unit, offset);
  const auto base = model::unit_base(map_, unit);
  if (info == nullptr || !base)
    throw LiftError("no register " + std::to_string(offset) + " in " +
                    std::string(model::unit_name(unit)));
  const auto found = values_.find(*base + offset);
  // Other bits are nowhere kept.
  return found != values_.end() ? found->second & info->write[map_] : info->reset[map_];
}

bool LaunchRegisters::enabled(model::Unit unit) const {
  constexpr std::uint32_t kOpEnables[] = NVDLA_UNIT_OP_ENABLES;
  const auto base = model::unit_base(map_, unit);
  if (!base || kOpEnables[unit] == NVDLA_NO_REG) return false;
  const auto found = values_.find(*base + kOpEnables[unit]);
  return found != values_.end() && (found->second & 1) != 0;
}

}  // namespace nvdla::test
