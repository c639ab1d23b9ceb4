// SPDX-License-Identifier: MIT
//
// The card as a driver sees it: registers behind the BAR, layers that run by themselves, resets and
// misbehaviour.
#include "emulator/device/function.hpp"

#include <linux/pci_regs.h>

#include "emulator/device/fault_capability.h"
#include "fakes.hpp"

namespace nvdla::emulator {
namespace {

using Seen = std::vector<std::string>;

constexpr std::uint32_t kBar = 0xfeb80000;
constexpr std::uint32_t kAf = 0x58;

class FunctionTest : public testing::Test {
 protected:
  FunctionTest() {
    function_.start(std::unique_ptr<Accelerator>(&accelerator_));
    set_up();
    std::vector<MemoryRange> ranges;
    ranges.push_back(memory_.range(0x100000, 0x2000));
    function_.replace_memory(std::move(ranges));
  }

  void set_up() {
    function_.config_write(PCI_BASE_ADDRESS_0, kBar, 4);
    function_.config_write(PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
  }
  std::uint32_t read(std::uint32_t offset) {
    return static_cast<std::uint32_t>(function_.bar_read(kBar + offset, 4));
  }
  void write(std::uint32_t offset, std::uint32_t value) {
    function_.bar_write(kBar + offset, value, 4);
  }
  void start(std::uint32_t address) { write(FakeAccelerator::kStart, address); }
  bool completed() {
    return eventually([this] { return read(FakeAccelerator::kStatus) != 0; });
  }
  void clear() { write(FakeAccelerator::kStatus, 0xffffffff); }
  void fault(std::uint32_t offset, std::uint32_t value) {
    function_.config_write(NVDLA_FAULT_CAPABILITY + offset, value, 4);
  }
  std::uint32_t fault(std::uint32_t offset) {
    return function_.config_read(NVDLA_FAULT_CAPABILITY + offset, 4);
  }
  bool blocked() {
    return eventually([this] { return fault(NVDLA_FAULT_STATE) == NVDLA_FAULT_STATE_BLOCKED; });
  }
  // A byte of guest memory. Read only when a completion, seen under the lock, came after it.
  int byte(std::size_t offset) { return std::to_integer<int>(memory_.data()[offset]); }

  SharedMemory memory_{0x2000};
  FakePort port_;
  Function function_{*nvdla_hw_find("nv_small"), port_, Function::Options{}};
  FakeAccelerator& accelerator_ = *new FakeAccelerator(function_.bus());  // of the function
};

TEST_F(FunctionTest, TellsItsConfigurationByItsId) {
  for (std::uint32_t i = 0; const nvdla_hw* hw = nvdla_hw_get(i); ++i) {
    Function function(*hw, port_, {});
    EXPECT_EQ(function.config_read(PCI_VENDOR_ID, 4), 0xd1a01234u + (i << 16)) << hw->name;
  }
}

TEST_F(FunctionTest, PassesRegistersThrough) {
  EXPECT_EQ(read(FakeAccelerator::kGlb), FakeAccelerator::kVersion);
  EXPECT_EQ(read(0x3fffc), 0x3fffcu);
  write(0x3004, 0x11223344);
  EXPECT_EQ(accelerator_.written.back(), std::make_pair(0x3004u, 0x11223344u));
}

TEST_F(FunctionTest, SplitsAndWidensAccesses) {
  EXPECT_EQ(function_.bar_read(kBar + FakeAccelerator::kGlb + 1, 1), 0x56u);
  EXPECT_EQ(function_.bar_read(kBar + FakeAccelerator::kGlb + 2, 2), 0x1234u);
  EXPECT_EQ(function_.bar_read(kBar + 0x2000, 8), 0x0000200400002000u);
  function_.bar_write(kBar + 0x3000, 0x5566778811223344, 8);
  ASSERT_GE(accelerator_.written.size(), 2u);
  EXPECT_EQ(accelerator_.written.end()[-2], std::make_pair(0x3000u, 0x11223344u));
  EXPECT_EQ(accelerator_.written.end()[-1], std::make_pair(0x3004u, 0x55667788u));
  function_.bar_write(kBar + 0x3002, 0xaabbccdd, 2);
  EXPECT_EQ(accelerator_.written.back(), std::make_pair(0x3000u, 0xccdd0000u));
}

TEST_F(FunctionTest, RefusesAccessesOutside) {
  const std::size_t before = accelerator_.written.size();
  EXPECT_EQ(function_.bar_read(kBar - 4, 4), 0xffffffffu);
  EXPECT_EQ(function_.bar_read(kBar + kBarBytes, 4), 0xffffffffu);
  EXPECT_EQ(function_.bar_read(kBar + kBarBytes - 4, 8), ~std::uint64_t{0});
  EXPECT_EQ(function_.bar_read(~std::uint64_t{0}, 1), 0xffu);
  EXPECT_EQ(function_.bar_read(0, 2), 0xffffu);
  EXPECT_EQ(function_.bar_read(kBar + 0x1002, 4), 0xffffffffu) << "not aligned";
  function_.bar_write(kBar + kBarBytes, 1, 4);
  function_.bar_write(kBar - 4, 1, 4);
  function_.bar_write(kBar + 1, 1, 4);
  EXPECT_EQ(accelerator_.written.size(), before);
}

TEST_F(FunctionTest, HonoursMemoryEnable) {
  function_.config_write(PCI_COMMAND, 0, 2);
  EXPECT_EQ(read(FakeAccelerator::kGlb), 0xffffffffu);
  function_.config_write(PCI_COMMAND, PCI_COMMAND_MEMORY, 2);
  EXPECT_EQ(read(FakeAccelerator::kGlb), FakeAccelerator::kVersion);
}

TEST_F(FunctionTest, RunsALayerAndInterrupts) {
  start(0x100100);
  ASSERT_TRUE(completed());
  EXPECT_EQ(byte(0xff), 0);
  EXPECT_EQ(byte(0x100), 0x5a);
  EXPECT_EQ(byte(0x10f), 0x5a);
  EXPECT_EQ(byte(0x110), 0);
  EXPECT_EQ(port_.seen(), Seen{"high"});
  clear();
  EXPECT_EQ(port_.seen(), (Seen{"high", "low"}));
  EXPECT_EQ(fault(NVDLA_FAULT_COMPLETIONS), 1u);
  EXPECT_EQ(fault(NVDLA_FAULT_INTERRUPTS), 1u);
  EXPECT_EQ(fault(NVDLA_FAULT_DMA_REFUSED), 0u);
}

TEST_F(FunctionTest, RefusesDmaWithoutBusMastering) {
  function_.config_write(PCI_COMMAND, PCI_COMMAND_MEMORY, 2);
  start(0x100100);
  ASSERT_TRUE(completed()) << "NVDLA sees no bus errors";
  EXPECT_EQ(byte(0x100), 0);
  EXPECT_EQ(fault(NVDLA_FAULT_DMA_REFUSED), 1u);
}

TEST_F(FunctionTest, SendsMessages) {
  function_.config_write(0x44, 0xfee00000, 4);
  function_.config_write(0x4c, 0x4021, 2);
  function_.config_write(0x42, PCI_MSI_FLAGS_ENABLE, 2);
  write(FakeAccelerator::kSet, 1);
  EXPECT_EQ(port_.seen(), Seen{"msi 0xfee00000 0x4021"});
}

TEST_F(FunctionTest, FunctionResetClearsBoth) {
  write(FakeAccelerator::kMask, 0xff);
  write(FakeAccelerator::kSet, 0x100);
  EXPECT_EQ(port_.seen(), Seen{"high"});
  function_.config_write(kAf + PCI_AF_CTRL, PCI_AF_CTRL_FLR, 1);
  EXPECT_EQ(port_.seen(), (Seen{"high", "low"}));
  EXPECT_EQ(function_.config_read(PCI_COMMAND, 2), 0u);
  EXPECT_EQ(function_.config_read(PCI_BASE_ADDRESS_0, 4), 0u);
  set_up();
  EXPECT_EQ(read(FakeAccelerator::kMask), 0u);
  EXPECT_EQ(read(FakeAccelerator::kStatus), 0u);
}

TEST_F(FunctionTest, SleepsDeafAndDumb) {
  const std::uint32_t control = NVDLA_FAULT_CAPABILITY + NVDLA_FAULT_LENGTH + PCI_PM_CTRL;
  write(FakeAccelerator::kMask, 0xff);
  write(FakeAccelerator::kSet, 0x100);
  EXPECT_EQ(port_.seen(), Seen{"high"});
  function_.config_write(control, 3, 2);
  EXPECT_EQ(port_.seen(), (Seen{"high", "low"}));
  EXPECT_EQ(fault(NVDLA_FAULT_STATE), std::uint32_t{NVDLA_FAULT_STATE_CUT_OFF});
  EXPECT_EQ(fault(NVDLA_FAULT_UNREACHED), 0u);
  EXPECT_EQ(read(FakeAccelerator::kGlb), 0xffffffffu);
  EXPECT_EQ(fault(NVDLA_FAULT_UNREACHED), 1u);
  function_.config_write(control, 0, 2);
  EXPECT_EQ(function_.config_read(PCI_COMMAND, 2), 0u);
  set_up();
  EXPECT_EQ(fault(NVDLA_FAULT_STATE), 0u);
  EXPECT_EQ(read(FakeAccelerator::kGlb), FakeAccelerator::kVersion);
  EXPECT_EQ(read(FakeAccelerator::kMask), 0u);
  EXPECT_EQ(read(FakeAccelerator::kStatus), 0u);
  EXPECT_EQ(fault(NVDLA_FAULT_UNREACHED), 1u);
}

TEST_F(FunctionTest, BlocksUntilReset) {
  fault(NVDLA_FAULT_BLOCK, 1);
  start(0x100100);
  ASSERT_TRUE(blocked());
  EXPECT_EQ(read(FakeAccelerator::kStatus), 0u) << "registers still answer";
  function_.config_write(kAf + PCI_AF_CTRL, PCI_AF_CTRL_FLR, 1);
  set_up();
  EXPECT_EQ(fault(NVDLA_FAULT_STATE), 0u);
  EXPECT_EQ(fault(NVDLA_FAULT_BLOCK), 0u);
  EXPECT_EQ(byte(0x100), 0);
  start(0x100200);
  ASSERT_TRUE(completed());
  EXPECT_EQ(byte(0x100), 0) << "the reset has forgotten the first layer";
  EXPECT_EQ(byte(0x200), 0x5a);
}

TEST_F(FunctionTest, BlocksTheNthLayer) {
  fault(NVDLA_FAULT_BLOCK, 3);
  for (std::uint32_t layer = 0; layer < 2; ++layer) {
    start(0x100000 + 0x100 * layer);
    ASSERT_TRUE(completed());
    clear();
  }
  start(0x100200);
  ASSERT_TRUE(blocked());
  EXPECT_EQ(byte(0x200), 0);
}

TEST_F(FunctionTest, ABlockCanBeTakenBack) {
  fault(NVDLA_FAULT_BLOCK, 1);
  start(0x100100);
  ASSERT_TRUE(blocked());
  fault(NVDLA_FAULT_BLOCK, 0);
  ASSERT_TRUE(completed());
  EXPECT_EQ(byte(0x100), 0x5a);
  EXPECT_EQ(fault(NVDLA_FAULT_STATE), 0u);
}

TEST_F(FunctionTest, WritesLate) {
  fault(NVDLA_FAULT_LATE_MS, 30);
  fault(NVDLA_FAULT_PATTERN, 0xc3);
  fault(NVDLA_FAULT_BLOCK, 1);
  const auto before = std::chrono::steady_clock::now();
  start(0x100100);
  ASSERT_TRUE(completed());
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(30));
  EXPECT_EQ(byte(0xff), 0);
  EXPECT_EQ(byte(0x100), 0xc3);
  EXPECT_EQ(byte(0x10f), 0xc3);
  EXPECT_EQ(byte(0x110), 0);
  EXPECT_EQ(fault(NVDLA_FAULT_STATE), static_cast<std::uint32_t>(NVDLA_FAULT_STATE_LATE));
  clear();
  start(0x100200);
  ASSERT_TRUE(completed());
  EXPECT_EQ(byte(0x200), 0x5a) << "the next layer is as it should be";
  clear();
  fault(NVDLA_FAULT_LATE_MS, 0);
  fault(NVDLA_FAULT_BLOCK, 1);
  start(0x100300);
  EXPECT_TRUE(blocked()) << "and the next block not late yet";
}

TEST_F(FunctionTest, AResetStopsALateWrite) {
  fault(NVDLA_FAULT_BLOCK, 1);
  start(0x100100);
  ASSERT_TRUE(blocked());
  fault(NVDLA_FAULT_LATE_MS, 1000000000);
  function_.reset();
  EXPECT_EQ(fault(NVDLA_FAULT_STATE), std::uint32_t{NVDLA_FAULT_STATE_CUT_OFF});
  // It would come now, before the next layer.
  set_up();
  fault(NVDLA_FAULT_LATE_MS, 1);
  start(0x100200);
  ASSERT_TRUE(completed());
  EXPECT_EQ(fault(NVDLA_FAULT_STATE), 0u);
  EXPECT_EQ(byte(0x100), 0);
  EXPECT_EQ(byte(0x200), 0x5a);
}

TEST_F(FunctionTest, SwallowsACompletion) {
  fault(NVDLA_FAULT_SWALLOW_COMPLETIONS, 1);
  start(0x100100);
  ASSERT_TRUE(eventually([this] { return fault(NVDLA_FAULT_COMPLETIONS) == 1; }));
  EXPECT_EQ(read(FakeAccelerator::kStatus), 0u);
  EXPECT_TRUE(port_.seen().empty());
  start(0x100200);
  EXPECT_TRUE(completed());
}

TEST_F(FunctionTest, MaskedBitsAreNoCompletions) {
  write(FakeAccelerator::kMask, 1);
  fault(NVDLA_FAULT_SWALLOW_COMPLETIONS, 1);
  start(0x100100);
  ASSERT_TRUE(completed());
  EXPECT_EQ(fault(NVDLA_FAULT_COMPLETIONS), 0u);
  EXPECT_EQ(fault(NVDLA_FAULT_SWALLOW_COMPLETIONS), 1u);
}

TEST_F(FunctionTest, SwallowsAnInterrupt) {
  fault(NVDLA_FAULT_SWALLOW_INTERRUPTS, 1);
  start(0x100100);
  ASSERT_TRUE(completed());
  EXPECT_TRUE(port_.seen().empty());
  EXPECT_EQ(fault(NVDLA_FAULT_SWALLOW_INTERRUPTS), 0u);
}

TEST_F(FunctionTest, Delays) {
  fault(NVDLA_FAULT_DELAY_US, 20000);
  const auto before = std::chrono::steady_clock::now();
  start(0x100100);
  ASSERT_TRUE(completed());
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(20));
  clear();
  fault(NVDLA_FAULT_DELAY_US, 1000000000);
  start(0x100200);
  function_.reset();
  set_up();
  fault(NVDLA_FAULT_DELAY_US, 0);
  start(0x100300);
  ASSERT_TRUE(completed()) << "a reset ends the delay";
  EXPECT_EQ(byte(0x200), 0);
}

TEST_F(FunctionTest, IsGone) {
  write(FakeAccelerator::kSet, 1);
  fault(NVDLA_FAULT_GONE, 1);
  EXPECT_EQ(port_.seen(), (Seen{"high", "low"}));
  EXPECT_EQ(read(FakeAccelerator::kGlb), 0xffffffffu);
  start(0x100100);
  EXPECT_EQ(function_.config_read(PCI_VENDOR_ID, 2), 0x1234u);
  fault(NVDLA_FAULT_GONE, 2);
  EXPECT_EQ(function_.config_read(PCI_VENDOR_ID, 4), 0xffffffffu);
  EXPECT_EQ(function_.config_read(PCI_VENDOR_ID, 2), 0xffffu);
  fault(NVDLA_FAULT_GONE, 0);
  EXPECT_EQ(read(FakeAccelerator::kGlb), FakeAccelerator::kVersion);
  EXPECT_EQ(byte(0x100), 0);
}

TEST_F(FunctionTest, GivesOnesForSoManyReads) {
  fault(NVDLA_FAULT_ONES_READS, 2);
  EXPECT_EQ(read(FakeAccelerator::kGlb), 0xffffffffu);
  write(FakeAccelerator::kMask, 1);
  EXPECT_EQ(function_.bar_read(kBar + FakeAccelerator::kGlb, 1), 0xffu);
  EXPECT_EQ(read(FakeAccelerator::kGlb), FakeAccelerator::kVersion);
  EXPECT_EQ(read(FakeAccelerator::kMask), 1u) << "writes arrive";
  EXPECT_EQ(fault(NVDLA_FAULT_ONES_READS), 0u);
}

TEST_F(FunctionTest, GivesOnesForATimeInWhichItWorksOn) {
  fault(NVDLA_FAULT_BLOCK, 1);
  start(0x100100);
  ASSERT_TRUE(blocked());
  fault(NVDLA_FAULT_ONES_MS, 1000000000);
  EXPECT_EQ(read(FakeAccelerator::kGlb), 0xffffffffu);
  write(FakeAccelerator::kMask, 1);
  EXPECT_EQ(function_.config_read(PCI_VENDOR_ID, 2), 0x1234u);
  fault(NVDLA_FAULT_BLOCK, 0);
  ASSERT_TRUE(eventually([this] { return fault(NVDLA_FAULT_COMPLETIONS) == 1; }));
  EXPECT_EQ(byte(0x100), 0x5a);
  fault(NVDLA_FAULT_ONES_MS, 0);
  EXPECT_EQ(read(FakeAccelerator::kStatus), 1u);
  EXPECT_EQ(read(FakeAccelerator::kMask), 0u) << "the write is lost";
  fault(NVDLA_FAULT_ONES_MS, 1);
  EXPECT_TRUE(eventually([this] { return read(FakeAccelerator::kStatus) == 1; })) << "it ends";
}

TEST_F(FunctionTest, ALateWriteTakesBusMastering) {
  fault(NVDLA_FAULT_BLOCK, 1);
  start(0x100100);
  ASSERT_TRUE(blocked());
  function_.config_write(PCI_COMMAND, PCI_COMMAND_MEMORY, 2);
  fault(NVDLA_FAULT_LATE_MS, 1);
  ASSERT_TRUE(completed());
  EXPECT_EQ(byte(0x100), 0);
  EXPECT_EQ(fault(NVDLA_FAULT_DMA_REFUSED), 1u);
}

TEST_F(FunctionTest, GivesTheSameGarbageForTheSameSeed) {
  fault(NVDLA_FAULT_GARBAGE_SEED, 7);
  fault(NVDLA_FAULT_GARBAGE_READS, 2);
  const std::uint32_t first = read(FakeAccelerator::kGlb);
  const std::uint32_t second = read(FakeAccelerator::kGlb);
  EXPECT_NE(first, second);
  EXPECT_EQ(read(FakeAccelerator::kGlb), FakeAccelerator::kVersion);
  fault(NVDLA_FAULT_GARBAGE_SEED, 8);
  fault(NVDLA_FAULT_GARBAGE_READS, 1);
  EXPECT_NE(read(FakeAccelerator::kGlb), first);
  fault(NVDLA_FAULT_GARBAGE_SEED, 7);
  fault(NVDLA_FAULT_GARBAGE_READS, 1);
  EXPECT_EQ(read(FakeAccelerator::kGlb), first);
}

TEST_F(FunctionTest, RaisesStatusBits) {
  fault(NVDLA_FAULT_RAISE, 0x30);
  EXPECT_EQ(read(FakeAccelerator::kStatus), 0x30u);
  EXPECT_EQ(port_.seen(), Seen{"high"});
  EXPECT_EQ(fault(NVDLA_FAULT_RAISE), 0u);
  EXPECT_EQ(fault(NVDLA_FAULT_COMPLETIONS), 0u) << "nothing has ended";
  clear();
  fault(NVDLA_FAULT_RAISE, 0x30);
  EXPECT_EQ(read(FakeAccelerator::kStatus), 0x30u) << "again";
}

TEST_F(FunctionTest, StormsWithoutReason) {
  fault(NVDLA_FAULT_STORM_HZ, 10000);
  ASSERT_TRUE(eventually([this] { return fault(NVDLA_FAULT_INTERRUPTS) >= 3; }));
  EXPECT_EQ(read(FakeAccelerator::kStatus), 0u);
  fault(NVDLA_FAULT_STORM_HZ, 0);
  const std::uint32_t count = fault(NVDLA_FAULT_INTERRUPTS);
  const Seen seen = port_.seen();
  ASSERT_EQ(seen.size(), 2 * count);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i % 2 == 0 ? "high" : "low");
  EXPECT_EQ(fault(NVDLA_FAULT_INTERRUPTS), count);
}

TEST_F(FunctionTest, AGoneFunctionDoesNotStorm) {
  fault(NVDLA_FAULT_GONE, 1);
  fault(NVDLA_FAULT_STORM_HZ, 10000);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(port_.seen().empty());
}

TEST_F(FunctionTest, AResetCanFail) {
  fault(NVDLA_FAULT_RESET, NVDLA_FAULT_RESET_FAILS);
  EXPECT_EQ(function_.config_read(kAf + PCI_AF_CAP, 1), static_cast<std::uint32_t>(PCI_AF_CAP_TP));
  write(FakeAccelerator::kMask, 1);
  function_.config_write(kAf + PCI_AF_CTRL, PCI_AF_CTRL_FLR, 1);
  EXPECT_EQ(read(FakeAccelerator::kMask), 1u);
  fault(NVDLA_FAULT_RESET, NVDLA_FAULT_RESET_WORKS);
  function_.config_write(kAf + PCI_AF_CTRL, PCI_AF_CTRL_FLR, 1);
  set_up();
  EXPECT_EQ(read(FakeAccelerator::kMask), 0u);
}

TEST_F(FunctionTest, AResetCanLeaveTheDeviceBusy) {
  fault(NVDLA_FAULT_RESET, NVDLA_FAULT_RESET_BARELY);
  fault(NVDLA_FAULT_BLOCK, 1);
  start(0x100100);
  ASSERT_TRUE(blocked());
  function_.config_write(kAf + PCI_AF_CTRL, PCI_AF_CTRL_FLR, 1);
  EXPECT_EQ(function_.config_read(PCI_COMMAND, 2), 0u);
  EXPECT_EQ(fault(NVDLA_FAULT_STATE),
            std::uint32_t{NVDLA_FAULT_STATE_BLOCKED | NVDLA_FAULT_STATE_CUT_OFF});
  set_up();
  fault(NVDLA_FAULT_BLOCK, 0);
  ASSERT_TRUE(completed());
  EXPECT_EQ(byte(0x100), 0x5a) << "what was running before";
}

TEST_F(FunctionTest, AResetCanTakeLong) {
  fault(NVDLA_FAULT_RESET_MS, 30);
  const auto before = std::chrono::steady_clock::now();
  function_.config_write(kAf + PCI_AF_CTRL, PCI_AF_CTRL_FLR, 1);
  ASSERT_TRUE(eventually([this] { return function_.config_read(PCI_COMMAND, 2) == 0; }));
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(30));
}

TEST_F(FunctionTest, AResetInProgressReadsAsOnes) {
  fault(NVDLA_FAULT_RESET_MS, 1000000000);
  function_.config_write(kAf + PCI_AF_CTRL, PCI_AF_CTRL_FLR, 1);
  set_up();
  EXPECT_EQ(function_.config_read(PCI_COMMAND, 2), 0xffffu);
  EXPECT_EQ(read(FakeAccelerator::kGlb), 0xffffffffu);
}

TEST(FunctionOptionsTest, SyncsThroughConfigurationSpace) {
  FakePort port;
  SharedMemory memory(0x2000);
  Function::Options options;
  options.stale = true;
  Function function(*nvdla_hw_find("nv_small"), port, options);
  function.start(std::make_unique<FakeAccelerator>(function.bus()));
  std::vector<MemoryRange> ranges;
  ranges.push_back(memory.range(0x100000000, 0x2000));
  function.replace_memory(std::move(ranges));
  function.config_write(PCI_COMMAND, PCI_COMMAND_MASTER, 2);
  const auto sync = [&](std::uint32_t operation) {
    for (const auto& [offset, value] :
         std::vector<std::pair<std::uint32_t, std::uint32_t>>{{NVDLA_FAULT_SYNC_ADDRESS, 0x10},
                                                              {NVDLA_FAULT_SYNC_ADDRESS_HIGH, 1},
                                                              {NVDLA_FAULT_SYNC_BYTES, 4},
                                                              {NVDLA_FAULT_SYNC, operation}})
      function.config_write(NVDLA_FAULT_CAPABILITY + offset, value, 4);
  };
  const auto device = [&] {
    return function.bus().map(model::Ram::kPrimary, 0x100000010, 1, true).data;
  };
  std::memset(memory.data(), 0x11, 0x2000);
  EXPECT_EQ(*device(), StaleView::kNeverCleaned);
  sync(NVDLA_FAULT_SYNC_CLEAN);
  EXPECT_EQ(*device(), std::byte{0x11});
  *device() = std::byte{0x22};
  EXPECT_EQ(memory.data()[0x10], std::byte{0x11});
  sync(NVDLA_FAULT_SYNC_INVALIDATE);
  EXPECT_EQ(memory.data()[0x10], std::byte{0x22});
}

TEST(FunctionOptionsTest, LiesFromTheStart) {
  FakePort port;
  Function::Options options;
  options.faults.ones_ms = 1000000000;
  options.faults.reset = NVDLA_FAULT_RESET_FAILS;
  Function function(*nvdla_hw_find("nv_small"), port, options);
  function.start(std::make_unique<FakeAccelerator>(function.bus()));
  function.config_write(PCI_BASE_ADDRESS_0, kBar, 4);
  function.config_write(PCI_COMMAND, PCI_COMMAND_MEMORY, 2);
  EXPECT_EQ(function.bar_read(kBar + FakeAccelerator::kGlb, 4), 0xffffffffu);
  EXPECT_EQ(function.config_read(kAf + PCI_AF_CAP, 1), static_cast<std::uint32_t>(PCI_AF_CAP_TP));
}

TEST(FunctionOptionsTest, FaultsFromTheStartOutliveResets) {
  FakePort port;
  Function::Options options;
  options.faults.block = 1;
  options.with_reset = false;
  Function function(*nvdla_hw_find("nv_full"), port, options);
  function.start(std::make_unique<FakeAccelerator>(function.bus()));
  function.reset();
  EXPECT_EQ(function.config_read(NVDLA_FAULT_CAPABILITY + NVDLA_FAULT_BLOCK, 4), 1u);
  function.config_write(PCI_COMMAND, PCI_COMMAND_MEMORY, 2);
  function.config_write(kAf + PCI_AF_CTRL, PCI_AF_CTRL_FLR, 1);
  EXPECT_EQ(function.config_read(PCI_COMMAND, 2), 2u) << "there is no function reset";
}

}  // namespace
}  // namespace nvdla::emulator
