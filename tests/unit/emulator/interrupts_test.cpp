// SPDX-License-Identifier: MIT
//
// From the line to messages and INTA.
#include "emulator/device/interrupts.hpp"

#include <linux/pci_regs.h>

#include "fakes.hpp"

namespace nvdla::emulator {
namespace {

using Seen = std::vector<std::string>;

constexpr std::uint32_t kMsi = 0x40;

class InterruptsTest : public testing::Test {
 protected:
  void line(bool high) { interrupts_.update(high, config_); }
  void enable_msi(bool on) {
    config_.write(kMsi + PCI_MSI_ADDRESS_LO, 0xfee00000, 4);
    config_.write(kMsi + PCI_MSI_DATA_64, 0x4021, 2);
    config_.write(kMsi + PCI_MSI_FLAGS, on ? PCI_MSI_FLAGS_ENABLE : 0, 2);
  }
  bool status() const { return (config_.read(PCI_STATUS, 2) & PCI_STATUS_INTERRUPT) != 0; }

  FakePort port_;
  Faults faults_;
  Counters counters_;
  PciConfig config_{kDeviceId, true};
  Interrupts interrupts_{port_, faults_, counters_};
};

TEST_F(InterruptsTest, IntaFollowsTheLine) {
  line(false);
  line(true);
  EXPECT_TRUE(status());
  line(true);
  line(false);
  EXPECT_FALSE(status());
  EXPECT_EQ(port_.seen(), (Seen{"high", "low"}));
  EXPECT_EQ(counters_.interrupts, 1u);
}

TEST_F(InterruptsTest, IntaCanBeDisabled) {
  config_.write(PCI_COMMAND, PCI_COMMAND_INTX_DISABLE, 2);
  line(true);
  EXPECT_TRUE(port_.seen().empty());
  EXPECT_TRUE(status()) << "the status bit does not depend on the disable bit";
  config_.write(PCI_COMMAND, 0, 2);
  line(true);
  config_.write(PCI_COMMAND, PCI_COMMAND_INTX_DISABLE, 2);
  line(true);
  EXPECT_EQ(port_.seen(), (Seen{"high", "low"}));
}

TEST_F(InterruptsTest, MessageOnEachRisingEdge) {
  config_.write(PCI_COMMAND, PCI_COMMAND_MASTER, 2);
  enable_msi(true);
  line(true);
  line(true);  // another bit while the first is pending: the line does not move
  line(false);
  line(true);
  EXPECT_EQ(port_.seen(), (Seen{"msi 0xfee00000 0x4021", "msi 0xfee00000 0x4021"}));
  EXPECT_FALSE(status()) << "INTA is not used";
  EXPECT_EQ(counters_.interrupts, 2u);
}

TEST_F(InterruptsTest, MessageTakesBusMastering) {
  enable_msi(true);
  line(true);
  EXPECT_TRUE(port_.seen().empty());
  config_.write(PCI_COMMAND, PCI_COMMAND_MASTER, 2);
  line(true);
  EXPECT_TRUE(port_.seen().empty()) << "the edge is gone";
}

TEST_F(InterruptsTest, AMaskedMessageWaits) {
  config_.write(PCI_COMMAND, PCI_COMMAND_MASTER, 2);
  enable_msi(true);
  config_.write(kMsi + PCI_MSI_MASK_64, 1, 4);
  line(true);
  EXPECT_TRUE(port_.seen().empty());
  EXPECT_EQ(config_.read(kMsi + PCI_MSI_PENDING_64, 4), 1u);
  line(false);
  config_.write(kMsi + PCI_MSI_MASK_64, 0, 4);
  line(false);
  EXPECT_EQ(port_.seen(), (Seen{"msi 0xfee00000 0x4021"}));
  EXPECT_EQ(config_.read(kMsi + PCI_MSI_PENDING_64, 4), 0u);
  line(false);
  EXPECT_EQ(counters_.interrupts, 1u);
}

TEST_F(InterruptsTest, SpuriousOnesTakeTheSameWay) {
  interrupts_.spurious(config_);
  EXPECT_EQ(port_.seen(), (Seen{"high", "low"}));
  EXPECT_FALSE(status());
  config_.write(PCI_COMMAND, PCI_COMMAND_INTX_DISABLE, 2);
  interrupts_.spurious(config_);
  EXPECT_EQ(counters_.interrupts, 1u) << "INTA is disabled";
  config_.write(PCI_COMMAND, PCI_COMMAND_MASTER, 2);
  line(true);
  interrupts_.spurious(config_);
  EXPECT_EQ(port_.seen(), (Seen{"high", "low", "high"})) << "INTA is up already";
  line(false);
  enable_msi(true);
  interrupts_.spurious(config_);
  EXPECT_EQ(port_.seen().back(), "msi 0xfee00000 0x4021");
  config_.write(kMsi + PCI_MSI_MASK_64, 1, 4);
  interrupts_.spurious(config_);
  EXPECT_EQ(counters_.interrupts, 3u) << "masked";
}

TEST_F(InterruptsTest, EnablingMessagesReleasesInta) {
  line(true);
  enable_msi(true);
  line(true);
  EXPECT_EQ(port_.seen(), (Seen{"high", "low"})) << "and no message: there was no edge";
  enable_msi(false);
  line(true);
  EXPECT_EQ(port_.seen(), (Seen{"high", "low", "high"}));
}

TEST_F(InterruptsTest, SwallowsMessages) {
  config_.write(PCI_COMMAND, PCI_COMMAND_MASTER, 2);
  enable_msi(true);
  faults_.swallow_interrupts = 1;
  line(true);
  line(false);
  EXPECT_TRUE(port_.seen().empty());
  EXPECT_EQ(faults_.swallow_interrupts, 0u);
  line(true);
  EXPECT_EQ(port_.seen(), (Seen{"msi 0xfee00000 0x4021"}));
}

TEST_F(InterruptsTest, SwallowsALevelUntilItFalls) {
  faults_.swallow_interrupts = 1;
  line(true);
  line(true);
  EXPECT_TRUE(port_.seen().empty());
  line(false);
  line(true);
  EXPECT_EQ(port_.seen(), (Seen{"high"}));
}

}  // namespace
}  // namespace nvdla::emulator
