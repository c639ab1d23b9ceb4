// SPDX-License-Identifier: MIT
#include "backend/registers/mmio/pci_function.hpp"

#include <endian.h>
#include <linux/pci_regs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "firmware/registers/nvdla_regs.h"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// The IDs of the device server (emulator/pci_config.hpp): a device ID is kDevice plus the index of
// the configuration. Other functions need config=.
constexpr std::uint64_t kVendor = 0x1234;
constexpr std::uint64_t kDevice = 0xd1a0;
// IORESOURCE_MEM, from the kernel's struct resource.
constexpr std::uint64_t kMemoryResource = 0x200;

std::uint64_t pci_number(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 0);
}

}  // namespace

PciFunction::PciFunction(const System& system, std::string function, std::string name)
    : system_(system), function_(std::move(function)), name_(std::move(name)) {
  if (!system_.has(file(""))) {
    throw_error(ErrorCode::kNoDevice,
                "{}: there is no PCI function {}: 'lspci -D' lists what there is", name_,
                function_);
  }
  config_ = system_.open(file("config"), name_);
}

std::string PciFunction::file(std::string_view attribute) const {
  return fmt::format("/sys/bus/pci/devices/{}/{}", function_, attribute);
}

std::string PciFunction::driver() const { return system_.linked(file("driver")); }

const nvdla_hw* PciFunction::configuration() const {
  const std::uint64_t vendor = pci_number(system_.text(file("vendor")).value_or(""));
  const std::uint64_t device = pci_number(system_.text(file("device")).value_or(""));
  if (vendor != kVendor || device < kDevice || device - kDevice >= nvdla_hw_count()) return nullptr;
  return nvdla_hw_get(static_cast<std::uint32_t>(device - kDevice));
}

// The first line is of BAR 0: first and last address, and flags.
std::uint64_t PciFunction::bar_bytes() const {
  const std::string text = system_.text(file("resource")).value_or("");
  char* rest = nullptr;
  const std::uint64_t first = std::strtoull(text.c_str(), &rest, 0);
  const std::uint64_t last = std::strtoull(rest, &rest, 0);
  const std::uint64_t flags = std::strtoull(rest, &rest, 0);
  if ((flags & kMemoryResource) != 0 && last > first && last - first + 1 >= NVDLA_REG_SPACE) {
    return last - first + 1;
  }
  throw_error(ErrorCode::kNoDevice, "{}: its first BAR is no window of registers of {} KiB", name_,
              NVDLA_REG_SPACE >> 10);
}

void PciFunction::check_no_translation() const {
  const std::string type = system_.text(file("iommu_group/type")).value_or("");
  if (!type.starts_with("DMA") && type != "blocked") return;
  const std::string group = system_.linked(file("iommu_group"));
  throw_error(ErrorCode::kNoDevice,
              "{}: an IOMMU translates its addresses: write 'identity' to "
              "/sys/kernel/iommu_groups/{}/type, or boot with iommu.passthrough=1",
              name_, group);
}

bool PciFunction::put(std::string_view attribute, std::string_view word) const {
  return system_.put(file(attribute), word);
}

std::uint16_t PciFunction::command() const {
  std::uint16_t word = 0;
  if (::pread(config_.get(), &word, sizeof(word), PCI_COMMAND) !=
      static_cast<ssize_t>(sizeof(word))) {
    throw_error(ErrorCode::kNoDevice, "{}: its configuration space cannot be read", name_);
  }
  return le16toh(word);
}

void PciFunction::change_command(std::uint16_t bits, bool set) const {
  const std::uint16_t before = command();
  const auto after = static_cast<std::uint16_t>(set ? before | bits : before & ~bits);
  if (after == before) return;
  const std::uint16_t word = htole16(after);
  if (::pwrite(config_.get(), &word, sizeof(word), PCI_COMMAND) !=
      static_cast<ssize_t>(sizeof(word))) {
    throw_error(ErrorCode::kNoDevice, "{}: its configuration space cannot be written", name_);
  }
}

bool PciFunction::reset() const { return put("reset", "1"); }

// The kernel also wakes it, and counts who wants it so.
PciDecoding::PciDecoding(const PciFunction& function) : function_(function) {
  const std::string power = function_.system().text(function_.file("power_state")).value_or("D0");
  if (power == "D0" && (function_.command() & PCI_COMMAND_MEMORY) != 0) return;
  enabled_ = function_.put("enable", "1");
  if (enabled_) return;
  throw_error(ErrorCode::kNoDevice, "{}: it cannot be enabled: {}", function_.name(),
              std::strerror(errno));
}

PciDecoding::~PciDecoding() {
  if (enabled_) function_.put("enable", "0");
}

void BusMastering::begin() {
  on_ = true;
  function_.change_command(PCI_COMMAND_MASTER, true);
}

void BusMastering::end() noexcept {
  if (!on_) return;
  on_ = false;
  try {
    function_.change_command(PCI_COMMAND_MASTER, false);
  } catch (const Error&) {
    // It is gone, and reaches nothing.
  }
}

}  // namespace nvdla::detail
