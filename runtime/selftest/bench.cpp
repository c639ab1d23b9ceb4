// SPDX-License-Identifier: MIT
#include "selftest/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace nvdla::selftest {

using model::RegisterInfo;
using model::UnitInfo;

bool Registers::has(model::Unit unit) const noexcept {
  switch (unit) {
    case NVDLA_UNIT_BDMA:
      return (hw_.features & NVDLA_HW_BDMA) != 0;
    case NVDLA_UNIT_RBK:
      return (hw_.features & NVDLA_HW_RUBIK) != 0;
    case NVDLA_UNIT_CVIF:
      return (hw_.features & NVDLA_HW_SRAM) != 0;
    case NVDLA_UNIT_GEC:
      return false;
    default:
      return model::unit_base(map_, unit).has_value();
  }
}

bool Registers::is_plain(const RegisterInfo& info) noexcept {
  return info.access != model::Access::kTrigger && info.access != model::Access::kPort &&
         info.write_one_clears == 0 && info.write_one_sets == 0 && info.trigger == 0 &&
         info.name != "S_POINTER" && info.name != "S_STATUS" && info.name != "S_CBUF_FLUSH_STATUS";
}

std::string Registers::name(const RegisterInfo& info) {
  return fmt::format("{}.{}", model::unit_name(info.unit), info.name);
}

std::uint32_t Registers::read(const RegisterInfo& info) const {
  return device_.read(*model::register_address(map_, info));
}

void Registers::write(const RegisterInfo& info, std::uint32_t value) const {
  device_.write(*model::register_address(map_, info), value);
}

std::uint32_t Registers::read(std::string_view name) const {
  return read(*model::find_register(name));
}

void Registers::write(std::string_view name, std::uint32_t value) const {
  write(*model::find_register(name), value);
}

void Registers::select(const UnitInfo& unit, unsigned group) const {
  device_.write(*unit.base[map_] + NVDLA_REG_S_POINTER, group);
}

void Registers::write_reset_value(const RegisterInfo& info) const {
  write(info, info.reset[map_] & info.write[map_]);
}

const RegisterInfo* widest(const UnitInfo& unit, model::RegisterMap map) noexcept {
  const RegisterInfo* best = nullptr;
  int most = 0;
  for (const RegisterInfo& info : unit.registers) {
    if (!info.present[map] || !Registers::is_plain(info)) continue;
    if (unit.groups != 0 && info.scope != model::Scope::kGroup) continue;
    const int bits = std::popcount(info.write[map] & info.read[map]);
    if (bits > most) best = &info;
    most = std::max(most, bits);
  }
  return best;
}

bool Bench::can_reset() {
  if (!resets) {
    bare->forget();
    resets = bare->device().reset() && !check_reset(Registers(bare->device(), hw));
  }
  return *resets;
}

std::optional<Finding> check_reset(const Registers& registers) {
  const model::RegisterMap map = registers.map();
  std::vector<const RegisterInfo*> written;
  for (const UnitInfo& unit : model::units()) {
    if (!unit.base[map] || !registers.has(unit.unit)) continue;
    const RegisterInfo* info = widest(unit, map);
    if (info == nullptr) continue;
    registers.write(*info, ~info->reset[map]);
    written.push_back(info);
  }
  registers.device().reset();
  std::optional<Finding> found;
  for (const RegisterInfo* info : written) {
    const std::uint32_t saw = registers.read(*info);
    const std::uint32_t wanted = info->reset[map] & info->read[map];
    registers.write_reset_value(*info);
    if (saw == wanted || found) continue;
    found = Finding{fmt::format("{} is {:#010x} after a reset", Registers::name(*info), saw),
                    fmt::format("{:#010x}", wanted),
                    {"reset: what resets the device does not reach the core (reset line, reset "
                     "control of the device tree, function reset of PCI, reset() of a "
                     "simulator's harness)"}};
  }
  return found;
}

std::optional<Finding> run(Load& load, const std::string& what) {
  const Ran ran = load.run();
  const std::string ends = fmt::format("{} ends", what);
  switch (ran.end) {
    case End::kDone:
      break;
    case End::kHang:
      return Finding{fmt::format("{}: layer {} does not end: {}", what, ran.layer, ran.text),
                     ends,
                     {cause::kUnitClock, cause::kMemoryAddress, cause::kConfiguration}};
    case End::kGone:
      return Finding{fmt::format("{}: {}", what, ran.text), ends, {cause::kNoAnswer}};
    case End::kStray:
      return Finding{fmt::format("{}: {}", what, ran.text),
                     "accesses of the layer's memory only",
                     {cause::kMemoryAddress, cause::kConfiguration}};
  }
  if (const auto stray = load.stray()) {
    const std::int64_t size = static_cast<std::int64_t>(load.bytes(stray->region).size());
    const bool ahead = stray->offset < 0;
    return Finding{
        fmt::format("{}: {} bytes outside of the layer's memory were written, the first, {:#04x}, "
                    "{} bytes {} it",
                    what, stray->count, stray->value, ahead ? -stray->offset : stray->offset - size,
                    ahead ? "ahead of" : "behind"),
        "no byte there changes",
        {"the device writes beyond: a memory bus without byte strobes, or atoms larger than the "
         "configuration's",
         cause::kConfiguration}};
  }
  return std::nullopt;
}

Bytes noise(std::size_t size, std::uint32_t seed) {
  Bytes bytes(size);
  std::uint32_t state = seed * 2654435761u | 1;
  for (std::uint8_t& byte : bytes) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    byte = static_cast<std::uint8_t>(state >> 11);
  }
  return bytes;
}

}  // namespace nvdla::selftest
