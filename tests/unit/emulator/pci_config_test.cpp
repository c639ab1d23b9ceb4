// SPDX-License-Identifier: MIT
//
// Configuration space as a host's enumeration and a driver see it.
#include "emulator/device/pci_config.hpp"

#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <map>

#include "emulator/device/fault_capability.h"

namespace nvdla::emulator {
namespace {

class PciConfigTest : public testing::Test {
 protected:
  // Capability id to where it is, found as a host finds them.
  static std::map<std::uint32_t, std::uint32_t> capabilities(const PciConfig& config) {
    std::map<std::uint32_t, std::uint32_t> found;
    if ((config.read(PCI_STATUS, 2) & PCI_STATUS_CAP_LIST) == 0) return found;
    std::uint32_t at = config.read(PCI_CAPABILITY_LIST, 1);
    for (int i = 0; at != 0 && i < 48; ++i) {
      EXPECT_EQ(at % 4, 0u);
      EXPECT_GE(at, 0x40u);
      found[config.read(at, 1)] = at;
      at = config.read(at + 1, 1);
    }
    EXPECT_EQ(at, 0u) << "the list has no end";
    return found;
  }

  PciConfig config_{0xd1a6, true};
};

TEST_F(PciConfigTest, IdentifiesTheFunction) {
  EXPECT_EQ(config_.read(PCI_VENDOR_ID, 4), 0xd1a61234u);
  EXPECT_EQ(config_.read(PCI_CLASS_REVISION, 4), 0x12000000u);
  EXPECT_EQ(config_.read(PCI_SUBSYSTEM_VENDOR_ID, 4), 0x00011234u);
  EXPECT_EQ(config_.read(PCI_HEADER_TYPE, 1), 0u);
  EXPECT_EQ(config_.read(PCI_INTERRUPT_PIN, 1), 1u);
  config_.write(PCI_VENDOR_ID, 0, 4);
  config_.write(PCI_INTERRUPT_PIN, 0, 1);
  EXPECT_EQ(config_.read(PCI_VENDOR_ID, 4), 0xd1a61234u);
  EXPECT_EQ(config_.read(PCI_INTERRUPT_PIN, 1), 1u);
}

// The probe of QEMU's proxy: one BAR of 256 KiB, memory, 32 bits; the word after the BARs is 0.
TEST_F(PciConfigTest, SizesOneBar) {
  for (std::uint32_t i = 0; i < 7; ++i) {
    const std::uint32_t address = PCI_BASE_ADDRESS_0 + 4 * i;
    const std::uint32_t before = config_.read(address, 4);
    config_.write(address, 0xffffffff, 4);
    EXPECT_EQ(config_.read(address, 4), i == 0 ? 0xfffc0000u : 0u) << i;
    config_.write(address, before, 4);
    EXPECT_EQ(config_.read(address, 4), before);
  }
}

TEST_F(PciConfigTest, PlacesTheBarByBytesToo) {
  config_.write(PCI_BASE_ADDRESS_0 + 3, 0xfe, 1);
  config_.write(PCI_BASE_ADDRESS_0 + 2, 0xbb, 1);
  EXPECT_EQ(config_.bar(), 0xfeb80000u);
}

TEST_F(PciConfigTest, CommandBits) {
  EXPECT_EQ(config_.read(PCI_COMMAND, 2), 0u);
  EXPECT_FALSE(config_.memory_enabled());
  EXPECT_FALSE(config_.bus_master());
  EXPECT_FALSE(config_.intx_disabled());
  config_.write(PCI_COMMAND, 0xffff, 2);
  EXPECT_EQ(config_.read(PCI_COMMAND, 2),
            static_cast<std::uint32_t>(PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
                                       PCI_COMMAND_INTX_DISABLE));
  EXPECT_TRUE(config_.memory_enabled());
  EXPECT_TRUE(config_.bus_master());
  EXPECT_TRUE(config_.intx_disabled());
}

TEST_F(PciConfigTest, StatusCannotBeWritten) {
  config_.set_interrupt_status(true);
  EXPECT_EQ(config_.read(PCI_STATUS, 2),
            static_cast<std::uint32_t>(PCI_STATUS_CAP_LIST | PCI_STATUS_INTERRUPT));
  config_.write(PCI_STATUS, 0xffff, 2);
  EXPECT_EQ(config_.read(PCI_STATUS, 2),
            static_cast<std::uint32_t>(PCI_STATUS_CAP_LIST | PCI_STATUS_INTERRUPT));
  config_.set_interrupt_status(false);
  EXPECT_EQ(config_.read(PCI_STATUS, 2), static_cast<std::uint32_t>(PCI_STATUS_CAP_LIST));
}

TEST_F(PciConfigTest, ListsCapabilities) {
  const auto found = capabilities(config_);
  EXPECT_EQ(found.size(), 4u);
  EXPECT_TRUE(found.count(PCI_CAP_ID_MSI));
  ASSERT_TRUE(found.count(PCI_CAP_ID_AF));
  ASSERT_TRUE(found.count(PCI_CAP_ID_VNDR));
  const std::uint32_t af = found.at(PCI_CAP_ID_AF);
  EXPECT_EQ(config_.read(af + PCI_AF_LENGTH, 1), static_cast<std::uint32_t>(PCI_CAP_AF_SIZEOF));
  EXPECT_EQ(config_.read(af + PCI_AF_CAP, 1),
            static_cast<std::uint32_t>(PCI_AF_CAP_TP | PCI_AF_CAP_FLR));
  EXPECT_EQ(found.at(PCI_CAP_ID_VNDR), static_cast<std::uint32_t>(NVDLA_FAULT_CAPABILITY));
  EXPECT_EQ(config_.read(NVDLA_FAULT_CAPABILITY + 2, 1),
            static_cast<std::uint32_t>(NVDLA_FAULT_LENGTH));
}

TEST_F(PciConfigTest, LeavesTheResetOut) {
  PciConfig config(0xd1a0, false);
  const auto found = capabilities(config);
  EXPECT_EQ(found.size(), 3u);
  EXPECT_FALSE(found.count(PCI_CAP_ID_AF));
  // Where it would be.
  const std::uint32_t af = capabilities(config_).at(PCI_CAP_ID_AF);
  EXPECT_FALSE(config.write(af + PCI_AF_CTRL, PCI_AF_CTRL_FLR, 1).function_reset);
}

TEST_F(PciConfigTest, ProgramsMsi) {
  const std::uint32_t msi = capabilities(config_).at(PCI_CAP_ID_MSI);
  constexpr std::uint32_t kFixed = PCI_MSI_FLAGS_64BIT | PCI_MSI_FLAGS_MASKBIT;
  EXPECT_EQ(config_.read(msi + PCI_MSI_FLAGS, 2), kFixed);
  config_.write(msi + PCI_MSI_ADDRESS_LO, 0xfee0100f, 4);
  config_.write(msi + PCI_MSI_ADDRESS_HI, 0x1, 4);
  config_.write(msi + PCI_MSI_DATA_64, 0x4022, 2);
  EXPECT_FALSE(config_.msi_enabled());
  config_.write(msi + PCI_MSI_FLAGS, 0xffff, 2);
  EXPECT_TRUE(config_.msi_enabled());
  // One vector, whatever the host would like to have.
  EXPECT_EQ(config_.read(msi + PCI_MSI_FLAGS, 2), kFixed | PCI_MSI_FLAGS_ENABLE);
  EXPECT_FALSE(config_.msi_masked());
  config_.write(msi + PCI_MSI_MASK_64, 0xffffffff, 4);
  EXPECT_EQ(config_.read(msi + PCI_MSI_MASK_64, 4), 1u);
  EXPECT_TRUE(config_.msi_masked());
  config_.write(msi + PCI_MSI_PENDING_64, 0xffffffff, 4);
  EXPECT_FALSE(config_.msi_pending()) << "read only";
  EXPECT_EQ(config_.msi_address(), 0x1fee0100cu);
  EXPECT_EQ(config_.msi_data(), 0x4022u);
}

TEST_F(PciConfigTest, AsksForAFunctionReset) {
  const std::uint32_t af = capabilities(config_).at(PCI_CAP_ID_AF);
  EXPECT_TRUE(config_.write(af + PCI_AF_CTRL, PCI_AF_CTRL_FLR, 1).function_reset);
  EXPECT_FALSE(config_.write(af + PCI_AF_CTRL, 0, 1).function_reset);
  EXPECT_EQ(config_.read(af + PCI_AF_CTRL, 2), 0u) << "reads back 0, no transaction pending";
}

TEST_F(PciConfigTest, TakesTheResetBack) {
  const std::uint32_t af = capabilities(config_).at(PCI_CAP_ID_AF);
  config_.offer_reset(false);
  EXPECT_EQ(config_.read(af + PCI_AF_CAP, 1), static_cast<std::uint32_t>(PCI_AF_CAP_TP));
  EXPECT_FALSE(config_.write(af + PCI_AF_CTRL, PCI_AF_CTRL_FLR, 1).function_reset);
  config_.offer_reset(true);
  EXPECT_TRUE(config_.write(af + PCI_AF_CTRL, PCI_AF_CTRL_FLR, 1).function_reset);
}

// One that overlaps another would be found twice.
TEST_F(PciConfigTest, CapabilitiesDoNotOverlap) {
  const auto found = capabilities(config_);
  EXPECT_LE(found.at(PCI_CAP_ID_MSI) + PCI_MSI_PENDING_64 + 4, found.at(PCI_CAP_ID_AF));
  EXPECT_LE(found.at(PCI_CAP_ID_AF) + PCI_CAP_AF_SIZEOF, found.at(PCI_CAP_ID_VNDR));
  EXPECT_LE(found.at(PCI_CAP_ID_VNDR) + NVDLA_FAULT_LENGTH, found.at(PCI_CAP_ID_PM));
}

TEST_F(PciConfigTest, SleepsWithoutItsState) {
  const std::uint32_t control = capabilities(config_).at(PCI_CAP_ID_PM) + PCI_PM_CTRL;
  config_.write(PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
  EXPECT_FALSE(config_.write(control, 3, 2).woken);
  EXPECT_TRUE(config_.asleep());
  EXPECT_FALSE(config_.memory_enabled());
  EXPECT_FALSE(config_.bus_master());
  EXPECT_FALSE(config_.write(control, 2, 2).woken) << "there is no D2";
  EXPECT_TRUE(config_.asleep());
  EXPECT_TRUE(config_.write(control, 0, 2).woken);
  EXPECT_FALSE(config_.asleep());
  EXPECT_TRUE(config_.memory_enabled());
  EXPECT_FALSE(config_.write(control, 1, 2).woken) << "nor a D1";
  EXPECT_FALSE(config_.asleep());
  EXPECT_FALSE(config_.write(control, 0, 2).woken) << "it was awake";
}

// What wakes up in its reset state can be reset.
TEST_F(PciConfigTest, KeepsItsStateWithoutAReset) {
  const std::uint32_t control = capabilities(config_).at(PCI_CAP_ID_PM) + PCI_PM_CTRL;
  config_.offer_reset(false);
  config_.write(control, 3, 2);
  EXPECT_FALSE(config_.write(control, 0, 2).woken);
  config_.offer_reset(true);
  config_.write(control, 3, 2);
  EXPECT_TRUE(config_.write(control, 0, 2).woken);

  PciConfig without(0xd1a0, false);
  without.write(control, 3, 2);
  EXPECT_TRUE(without.asleep());
  EXPECT_FALSE(without.write(control, 0, 2).woken);
}

TEST_F(PciConfigTest, ResetClearsWhatTheHostWrote) {
  const PciConfig fresh(0xd1a6, true);
  config_.set_interrupt_status(true);
  for (std::uint32_t at = 0; at < NVDLA_FAULT_CAPABILITY; at += 4) config_.write(at, 0xffffffff, 4);
  config_.write(NVDLA_FAULT_CAPABILITY + NVDLA_FAULT_BLOCK, 7, 4);
  config_.write(capabilities(fresh).at(PCI_CAP_ID_PM) + PCI_PM_CTRL, 3, 2);
  config_.reset();
  for (std::uint32_t at = 0; at < NVDLA_FAULT_CAPABILITY; at += 4)
    EXPECT_EQ(config_.read(at, 4), fresh.read(at, 4)) << at;
  const std::uint32_t control = capabilities(fresh).at(PCI_CAP_ID_PM) + PCI_PM_CTRL;
  EXPECT_EQ(config_.read(control, 4), fresh.read(control, 4));
  EXPECT_EQ(config_.fault_register(NVDLA_FAULT_BLOCK), 7u) << "test equipment stays";
}

TEST_F(PciConfigTest, NothingBeyond256Bytes) {
  EXPECT_EQ(config_.read(0x100, 4), 0u);
  EXPECT_EQ(config_.read(0xffffffff, 4), 0u);
  config_.write(0x100, 0xffffffff, 4);
  config_.write(0xfffffffe, 0xffffffff, 4);
  EXPECT_EQ(config_.read(0xfe, 4), 0u);
  EXPECT_EQ(config_.read(0, 4), 0xd1a61234u);
}

TEST_F(PciConfigTest, SaysWhenFaultsAreWritten) {
  EXPECT_FALSE(config_.write(PCI_COMMAND, 7, 2).faults);
  EXPECT_FALSE(config_.write(NVDLA_FAULT_CAPABILITY, 7, 4).faults);
  EXPECT_TRUE(config_.write(NVDLA_FAULT_CAPABILITY + NVDLA_FAULT_LATE_MS, 1500, 4).faults);
  EXPECT_EQ(config_.fault_register(NVDLA_FAULT_LATE_MS), 1500u);
  config_.write(NVDLA_FAULT_CAPABILITY + NVDLA_FAULT_STATE, 3, 4);
  EXPECT_EQ(config_.fault_register(NVDLA_FAULT_STATE), 0u) << "read only";
}

}  // namespace
}  // namespace nvdla::emulator
