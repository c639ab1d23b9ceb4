// SPDX-License-Identifier: MIT
#include "emulator/device/pci_config.hpp"

#include <linux/pci_regs.h>

#include "emulator/device/faults.hpp"

namespace nvdla::emulator {
namespace {

constexpr std::uint32_t kMsi = 0x40;
constexpr std::uint32_t kAf = 0x58;
constexpr std::uint32_t kFaults = NVDLA_FAULT_CAPABILITY;
constexpr std::uint32_t kPower = kFaults + NVDLA_FAULT_LENGTH;
constexpr std::uint32_t kClass = 0x120000;  // processing accelerator
constexpr std::uint32_t kD0 = 0;
constexpr std::uint32_t kD3Hot = 3;

}  // namespace

PciConfig::PciConfig(std::uint16_t device_id, bool with_reset) : with_reset_(with_reset) {
  set(PCI_VENDOR_ID, 2, kVendorId);
  set(PCI_DEVICE_ID, 2, device_id);
  set(PCI_STATUS, 2, PCI_STATUS_CAP_LIST);
  set(PCI_CLASS_REVISION, 4, kClass << 8);
  set(PCI_SUBSYSTEM_VENDOR_ID, 2, kVendorId);
  set(PCI_SUBSYSTEM_ID, 2, 0x0001);
  set(PCI_CAPABILITY_LIST, 1, kMsi);
  set(PCI_INTERRUPT_PIN, 1, 1);

  set(kMsi + PCI_CAP_LIST_ID, 1, PCI_CAP_ID_MSI);
  set(kMsi + PCI_CAP_LIST_NEXT, 1, with_reset ? kAf : kFaults);
  set(kMsi + PCI_MSI_FLAGS, 2, PCI_MSI_FLAGS_64BIT | PCI_MSI_FLAGS_MASKBIT);
  if (with_reset) {
    set(kAf + PCI_CAP_LIST_ID, 1, PCI_CAP_ID_AF);
    set(kAf + PCI_CAP_LIST_NEXT, 1, kFaults);
    set(kAf + PCI_AF_LENGTH, 1, PCI_CAP_AF_SIZEOF);
    set(kAf + PCI_AF_CAP, 1, PCI_AF_CAP_TP | PCI_AF_CAP_FLR);
  }
  set(kFaults + PCI_CAP_LIST_ID, 1, PCI_CAP_ID_VNDR);
  set(kFaults + PCI_CAP_LIST_NEXT, 1, kPower);
  set(kFaults + 2, 1, NVDLA_FAULT_LENGTH);
  set(kFaults + 3, 1, NVDLA_FAULT_VERSION);
  set(kPower + PCI_CAP_LIST_ID, 1, PCI_CAP_ID_PM);
  set(kPower + PCI_PM_PMC, 2, 3);  // version 1.2, without D1, D2 and PME
  set_sleep_loses_state(with_reset);

  allow(PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE);
  // The low bits of the BAR are fixed: by what reads back after ones a host learns its size.
  allow(PCI_BASE_ADDRESS_0, 4, ~(kBarBytes - 1));
  allow(PCI_CACHE_LINE_SIZE, 1, 0xff);
  allow(PCI_INTERRUPT_LINE, 1, 0xff);
  allow(kMsi + PCI_MSI_FLAGS, 2, PCI_MSI_FLAGS_ENABLE);
  allow(kMsi + PCI_MSI_ADDRESS_LO, 4, 0xfffffffc);
  allow(kMsi + PCI_MSI_ADDRESS_HI, 4, 0xffffffff);
  allow(kMsi + PCI_MSI_DATA_64, 2, 0xffff);
  allow(kMsi + PCI_MSI_MASK_64, 4, 1);
  allow(kPower + PCI_PM_CTRL, 2, PCI_PM_CTRL_STATE_MASK);
  for (const FaultRegister& fault : kFaultRegisters) allow(kFaults + fault.offset, 4, 0xffffffff);
  for (const std::uint32_t offset : {NVDLA_FAULT_SYNC_ADDRESS, NVDLA_FAULT_SYNC_ADDRESS_HIGH,
                                     NVDLA_FAULT_SYNC_BYTES, NVDLA_FAULT_SYNC})
    allow(kFaults + offset, 4, 0xffffffff);
}

std::uint32_t PciConfig::get(std::uint32_t address, std::uint32_t bytes) const {
  std::uint32_t value = 0;
  for (std::uint32_t i = 0; i < bytes; ++i)
    value |= static_cast<std::uint32_t>(bytes_[address + i]) << (8 * i);
  return value;
}

void PciConfig::set(std::uint32_t address, std::uint32_t bytes, std::uint32_t value) {
  for (std::uint32_t i = 0; i < bytes; ++i)
    bytes_[address + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

void PciConfig::allow(std::uint32_t address, std::uint32_t bytes, std::uint32_t mask) {
  for (std::uint32_t i = 0; i < bytes; ++i)
    writable_[address + i] = static_cast<std::uint8_t>(mask >> (8 * i));
}

std::uint32_t PciConfig::read(std::uint32_t address, std::uint32_t length) const {
  std::uint32_t value = 0;
  for (std::uint32_t i = 0; i < length; ++i) {
    // A sum beyond 32 bits must not come back to the start.
    const std::uint64_t at = std::uint64_t{address} + i;
    if (at < bytes_.size()) value |= static_cast<std::uint32_t>(bytes_[at]) << (8 * i);
  }
  return value;
}

PciConfig::Effects PciConfig::write(std::uint32_t address, std::uint32_t value,
                                    std::uint32_t length) {
  Effects effects;
  const std::uint32_t before = get(kPower + PCI_PM_CTRL, 2) & PCI_PM_CTRL_STATE_MASK;
  for (std::uint32_t i = 0; i < length; ++i) {
    const std::uint64_t at = std::uint64_t{address} + i;
    if (at >= bytes_.size()) break;
    const auto byte = static_cast<std::uint8_t>(value >> (8 * i));
    bytes_[at] = static_cast<std::uint8_t>((bytes_[at] & ~writable_[at]) | (byte & writable_[at]));
    if (at == kAf + PCI_AF_CTRL && (byte & PCI_AF_CTRL_FLR) != 0)
      effects.function_reset = (bytes_[kAf + PCI_AF_CAP] & PCI_AF_CAP_FLR) != 0;
    if (at >= kFaults + 4 && at < kFaults + NVDLA_FAULT_LENGTH) effects.faults = true;
  }
  const std::uint32_t power = get(kPower + PCI_PM_CTRL, 2);
  const std::uint32_t state = power & PCI_PM_CTRL_STATE_MASK;
  if (state != kD0 && state != kD3Hot) set_power_state(before);
  effects.woken = before == kD3Hot && state == kD0 && (power & PCI_PM_CTRL_NO_SOFT_RESET) == 0;
  return effects;
}

void PciConfig::reset() {
  for (std::uint32_t at = 0; at < bytes_.size(); ++at)
    if (at < kFaults || at >= kPower)
      bytes_[at] = static_cast<std::uint8_t>(bytes_[at] & ~writable_[at]);
  set_interrupt_status(false);
  set_msi_pending(false);
}

void PciConfig::set_power_state(std::uint32_t state) {
  const std::uint32_t rest = get(kPower + PCI_PM_CTRL, 2) & ~std::uint32_t{PCI_PM_CTRL_STATE_MASK};
  set(kPower + PCI_PM_CTRL, 2, rest | state);
}

void PciConfig::set_sleep_loses_state(bool loses) {
  constexpr std::uint32_t kKept = PCI_PM_CTRL_NO_SOFT_RESET;
  set(kPower + PCI_PM_CTRL, 2, (get(kPower + PCI_PM_CTRL, 2) & ~kKept) | (loses ? 0 : kKept));
}

bool PciConfig::asleep() const {
  return (get(kPower + PCI_PM_CTRL, 2) & PCI_PM_CTRL_STATE_MASK) == kD3Hot;
}

bool PciConfig::memory_enabled() const {
  return !asleep() && (get(PCI_COMMAND, 2) & PCI_COMMAND_MEMORY) != 0;
}

bool PciConfig::bus_master() const {
  return !asleep() && (get(PCI_COMMAND, 2) & PCI_COMMAND_MASTER) != 0;
}

bool PciConfig::intx_disabled() const {
  return (get(PCI_COMMAND, 2) & PCI_COMMAND_INTX_DISABLE) != 0;
}

std::uint32_t PciConfig::bar() const { return get(PCI_BASE_ADDRESS_0, 4); }

bool PciConfig::msi_enabled() const {
  return (get(kMsi + PCI_MSI_FLAGS, 2) & PCI_MSI_FLAGS_ENABLE) != 0;
}

std::uint64_t PciConfig::msi_address() const {
  return get(kMsi + PCI_MSI_ADDRESS_LO, 4) |
         static_cast<std::uint64_t>(get(kMsi + PCI_MSI_ADDRESS_HI, 4)) << 32;
}

std::uint32_t PciConfig::msi_data() const { return get(kMsi + PCI_MSI_DATA_64, 2); }

void PciConfig::set_interrupt_status(bool pending) {
  const std::uint32_t status = get(PCI_STATUS, 2) & ~std::uint32_t{PCI_STATUS_INTERRUPT};
  set(PCI_STATUS, 2, status | (pending ? PCI_STATUS_INTERRUPT : 0));
}

bool PciConfig::msi_masked() const { return (get(kMsi + PCI_MSI_MASK_64, 4) & 1) != 0; }

bool PciConfig::msi_pending() const { return (get(kMsi + PCI_MSI_PENDING_64, 4) & 1) != 0; }

void PciConfig::set_msi_pending(bool pending) {
  set(kMsi + PCI_MSI_PENDING_64, 4, pending ? 1 : 0);
}

void PciConfig::offer_reset(bool offered) {
  if (!with_reset_) return;
  set(kAf + PCI_AF_CAP, 1, PCI_AF_CAP_TP | (offered ? PCI_AF_CAP_FLR : 0));
  set_sleep_loses_state(offered);
}

std::uint32_t PciConfig::fault_register(std::uint32_t offset) const {
  return get(kFaults + offset, 4);
}

void PciConfig::set_fault_register(std::uint32_t offset, std::uint32_t value) {
  set(kFaults + offset, 4, value);
}

}  // namespace nvdla::emulator
