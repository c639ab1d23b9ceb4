// SPDX-License-Identifier: MIT
#include <memory>
#include <optional>

#include "backend/name/device_name.hpp"
#include "backend/open/open_registers.hpp"
#include "backend/registers/identify.hpp"
#include "selftest/bench.hpp"
#include "tools/cli/input/configuration.hpp"
#include "tools/cli/registers/register_printer.hpp"
#include "tools/cli/registers/regs.hpp"

namespace nvdla::cli {
namespace {

using detail::DeviceName;

std::unique_ptr<detail::BareDevice> open(const std::string& device) {
  switch (detail::choose_device_name(device).kind) {
    case DeviceName::Kind::kAuto:
      throw UsageError(
          "--live: of which device? expected --device with one whose registers can be reached, "
          "such as mmio:0000:00:04.0");
    case DeviceName::Kind::kKernel:
      throw UsageError(
          "--live: the registers of a kernel device are its driver's, which shows them in debugfs: "
          "nvdla regs --device kernel /sys/kernel/debug/accel/0000:00:04.0/registers");
    default:
      return detail::open_bare(device_text(device));
  }
}

// A port moves on when it is read.
bool harmless(const model::RegisterInfo& info, model::RegisterMap map) {
  return info.access != model::Access::kPort && info.read[map] != 0;
}

class Live {
 public:
  Live(detail::BareDevice& device, const nvdla_hw& hw, const std::string& unit, RegisterJson* list)
      : device_(device), registers_(device, hw), printer_(registers_.map(), unit, list) {}

  void show(const model::RegisterInfo& info) {
    const std::uint32_t offset = *model::register_address(registers_.map(), info);
    const bool grouped = info.scope == model::Scope::kGroup;
    const auto group = grouped ? std::optional(producer(info.unit)) : std::nullopt;
    printer_.add(offset, group, device_.read(offset));
  }
  bool has(model::Unit unit) const { return registers_.has(unit); }
  void show_all() {
    for (const model::RegisterInfo& info : model::registers()) {
      if (registers_.has(info.unit) && model::register_address(registers_.map(), info) &&
          harmless(info, registers_.map()))
        show(info);
    }
  }

 private:
  // Returns the register group that reads of a unit access.
  std::uint32_t producer(model::Unit unit) {
    return device_.read(*model::unit_base(registers_.map(), unit) + NVDLA_REG_S_POINTER) & 1;
  }

  detail::BareDevice& device_;
  selftest::Registers registers_;
  RegisterPrinter printer_;
};

}  // namespace

void print_live_registers(const std::string& device, const std::string& what, RegisterJson* list) {
  const bool one = !what.empty() && !model::find_unit(what);
  const std::unique_ptr<detail::BareDevice> live = open(device);
  const nvdla_hw& hw = detail::identify(*live, detail::choose_device_name(device).hw);
  if (!one) {
    Live all(*live, hw, what, list);
    if (!what.empty() && !all.has(*model::find_unit(what)))
      throw UsageError(fmt::format("--live {}: {} has no such unit", what, hw.name));
    return all.show_all();
  }
  const auto map = static_cast<model::RegisterMap>(hw.regmap);
  const std::uint32_t address = register_address_of(map, what);
  const model::RegisterInfo* const info = model::register_at(map, address);
  if (info == nullptr || !harmless(*info, map))
    throw UsageError(fmt::format("--live {}: {}", what,
                                 info == nullptr ? "there is no register"
                                 : info->access == model::Access::kPort
                                     ? "reading it would move its index on"
                                     : "it cannot be read"));
  Live(*live, hw, "", list).show(*info);
}

}  // namespace nvdla::cli
