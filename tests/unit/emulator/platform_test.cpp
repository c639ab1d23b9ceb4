// SPDX-License-Identifier: MIT
//
// The device without PCI: its window, its reset line, its messages.
#include "emulator/device/platform.hpp"

#include <linux/pci_regs.h>

#include "emulator/device/fault_capability.h"
#include "fakes.hpp"

namespace nvdla::emulator {
namespace {

class PlatformTest : public testing::Test {
 protected:
  PlatformTest() {
    function_.start(std::make_unique<FakeAccelerator>(function_.bus()));
    std::vector<MemoryRange> ranges;
    ranges.push_back(memory_.range(0x40000000, 0x2000));
    function_.replace_memory(std::move(ranges));
    platform_.emplace(function_);
  }

  static constexpr std::uint64_t kFaults = kPlatformConfig + NVDLA_FAULT_CAPABILITY;

  SharedMemory memory_{0x2000};
  FakePort port_;
  Function function_{*nvdla_hw_find("nv_small"), port_, Function::Options{}};
  std::optional<Platform> platform_;
};

TEST_F(PlatformTest, NeedsNobodyToEnableIt) {
  EXPECT_EQ(platform_->read(FakeAccelerator::kGlb, 4), FakeAccelerator::kVersion);
  platform_->write(FakeAccelerator::kStart, 0x40000800, 4);
  ASSERT_TRUE(eventually([&] { return platform_->read(FakeAccelerator::kStatus, 4) != 0; }));
  EXPECT_EQ(memory_.data()[0x800], std::byte{0x5a});
  EXPECT_EQ(port_.seen(), std::vector<std::string>{"high"});
}

TEST_F(PlatformTest, HasAResetLine) {
  platform_->write(FakeAccelerator::kSet, 1, 4);
  platform_->write(kPlatformReset, 1, 4);
  EXPECT_EQ(port_.seen(), (std::vector<std::string>{"high", "low"}));
  EXPECT_EQ(platform_->read(kPlatformReset, 4), 1u);
  EXPECT_EQ(platform_->read(FakeAccelerator::kGlb, 4), 0xffffffffu) << "held in reset";
  platform_->write(kPlatformReset, 0, 4);
  EXPECT_EQ(platform_->read(FakeAccelerator::kGlb, 4), FakeAccelerator::kVersion);
  EXPECT_EQ(platform_->read(FakeAccelerator::kStatus, 4), 0u);
}

TEST_F(PlatformTest, HasAPowerSwitch) {
  const auto state = [this] { return platform_->read(kFaults + NVDLA_FAULT_STATE, 4); };
  EXPECT_EQ(platform_->read(kPlatformPower, 4), 1u) << "nobody has to switch it on";
  EXPECT_EQ(state(), 0u);
  platform_->write(FakeAccelerator::kSet, 1, 4);
  platform_->write(kPlatformPower, 0, 4);
  EXPECT_EQ(port_.seen(), (std::vector<std::string>{"high", "low"}));
  EXPECT_EQ(platform_->read(kPlatformPower, 4), 0u);
  EXPECT_EQ(state(), std::uint32_t{NVDLA_FAULT_STATE_CUT_OFF});
  EXPECT_EQ(platform_->read(kFaults + NVDLA_FAULT_UNREACHED, 4), 0u);
  EXPECT_EQ(platform_->read(FakeAccelerator::kGlb, 4), 0xffffffffu) << "off";
  platform_->write(FakeAccelerator::kSet, 2, 4);
  EXPECT_EQ(platform_->read(kFaults + NVDLA_FAULT_UNREACHED, 4), 2u);

  // Neither of the two lets it go while the other holds it.
  platform_->write(kPlatformReset, 1, 4);
  platform_->write(kPlatformPower, 1, 4);
  EXPECT_EQ(state(), std::uint32_t{NVDLA_FAULT_STATE_CUT_OFF});
  platform_->write(kPlatformReset, 0, 4);
  EXPECT_EQ(state(), 0u);
  EXPECT_EQ(platform_->read(FakeAccelerator::kGlb, 4), FakeAccelerator::kVersion);
  EXPECT_EQ(platform_->read(FakeAccelerator::kStatus, 4), 0u) << "it has forgotten everything";
  EXPECT_EQ(platform_->read(kFaults + NVDLA_FAULT_UNREACHED, 4), 2u);
}

TEST_F(PlatformTest, MisbehavesOnDemand) {
  platform_->write(kFaults + NVDLA_FAULT_SWALLOW_INTERRUPTS, 1, 4);
  platform_->write(FakeAccelerator::kSet, 1, 4);
  EXPECT_TRUE(port_.seen().empty());
  platform_->write(kFaults + NVDLA_FAULT_GONE, 1, 4);
  EXPECT_EQ(platform_->read(FakeAccelerator::kGlb, 4), 0xffffffffu);
}

TEST_F(PlatformTest, HasNothingElse) {
  EXPECT_EQ(platform_->read(kPlatformPower + 4, 4), 0xffffffffffffffffu);
  EXPECT_EQ(platform_->read(kPlatformConfig, 8), 0xffffffffffffffffu);
  platform_->write(kPlatformPower + 4, 1, 4);
  EXPECT_EQ(platform_->read(kPlatformReset, 4), 0u);
}

TEST_F(PlatformTest, AnswersMessagesOfTheWindow) {
  SocketPair sockets;
  std::string end = "end of stream";
  std::thread server([&] {
    try {
      serve(sockets.server.get(), *platform_);
    } catch (const ProtocolError& problem) {
      end = problem.what();
    }
  });
  const int qemu = sockets.qemu.get();
  std::uint64_t words[3] = {};
  Wire::bar(Command::kBarWrite, FakeAccelerator::kSet, 4, 4).send(qemu);
  EXPECT_EQ(::recv(qemu, words, sizeof(words), MSG_WAITALL), 24);
  Wire::bar(Command::kBarRead, FakeAccelerator::kStatus, 0, 4).send(qemu);
  EXPECT_EQ(::recv(qemu, words, sizeof(words), MSG_WAITALL), 24);
  EXPECT_EQ(words[2], 4u);
  Wire::header(7, 0).send(qemu);
  server.join();
  EXPECT_EQ(end, "the window's plugin sends register accesses only");
}

}  // namespace
}  // namespace nvdla::emulator
