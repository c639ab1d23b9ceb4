// SPDX-License-Identifier: MIT
//
// The driver with a device that lies: registers that give ones or garbage, interrupts without a
// reason, resets that do not work. What is asked of a driver is the same each time: jobs end with
// the right error, what the device may still write is nobody else's memory, and where a reset works
// everybody goes on.
//
// Lies wants a function that can be reset, SharedLine INTx as well, with a neighbour on the line
// (nvdla_machine.ko), SharedLineWithoutReset the same of any function, Noncoherent a device with a
// view of memory of its own (--stale): each run names its suites.
#include <fstream>
#include <system_error>

#include "misbehaviour.hpp"

namespace nvdla::emulator_test {
namespace {

class Lies : public Misbehaviour {
 protected:
  void SetUp() override {
    Misbehaviour::SetUp();
    ASSERT_TRUE(Client().can_reset()) << "this run is for a function that can be reset";
    // What a test before has left is no matter of this one.
    if (!works()) faults_.rebind();
  }
  // A device that is kept off the bus is refused what it reaches for, as it should be.
  void TearDown() override { faults_.clear(); }

  static bool works() {
    Client client;
    std::uint32_t done = 0;
    return client.try_start(done) == 0 && client.end(done) == 0 && client.copied();
  }
  // A reset may still be under way.
  static bool recovers() {
    for (int i = 0; i < 200; ++i) {
      if (works()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  // The device is out of use until it is probed again.
  void expect_recovery_by_rebind() {
    faults_.clear();
    faults_.rebind();
    EXPECT_TRUE(recovers());
  }
  // Whatever the driver makes of ones, the layer that was pending still writes.
  void expect_no_stray_write(std::unique_ptr<Client> victim) const {
    victim.reset();
    const Node node;
    const Watch watch(node);
    run_late();
    EXPECT_TRUE(watch.untouched());
  }
  // Makes the driver look at registers before a deadline does.
  void raise_another_unit() const { faults_.set(NVDLA_FAULT_RAISE, kCdpDone); }

  // The first bit of a unit that no test here uses.
  static constexpr std::uint32_t kCdpDone = 0x4;
};

TEST_F(Lies, OneReadOfOnesCostsOneJob) {
  auto victim = std::make_unique<Client>();
  Client innocent;
  const auto first = start_blocked(*victim);
  const auto other = innocent.start();
  faults_.set(NVDLA_FAULT_ONES_READS, 1);
  raise_another_unit();
  EXPECT_EQ(victim->end(first), ENODEV);
  EXPECT_EQ(innocent.end(other), 0);
  EXPECT_TRUE(innocent.copied());
  expect_no_stray_write(std::move(victim));
  EXPECT_TRUE(recovers());
}

TEST_F(Lies, ALinkThatFlapsLeavesForeignMemoryAlone) {
  auto victim = std::make_unique<Client>();
  const auto first = start_blocked(*victim);
  raise_another_unit();
  faults_.set(NVDLA_FAULT_ONES_MS, 60000);
  EXPECT_EQ(victim->end(first), ENODEV);
  faults_.set(NVDLA_FAULT_ONES_MS, 0);
  expect_no_stray_write(std::move(victim));
  expect_recovery_by_rebind();
}

TEST_F(Lies, GarbageEndsInAnErrorOrNot) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    Client client(4);
    faults_.set(NVDLA_FAULT_DELAY_US, 100000);
    faults_.set(NVDLA_FAULT_GARBAGE_SEED, seed);
    const auto done = client.start();
    faults_.set(NVDLA_FAULT_GARBAGE_READS, 5);
    raise_another_unit();
    EXPECT_NE(client.end(done), ETIMEDOUT) << "the fence is signalled";
    faults_.clear();
    if (!recovers()) expect_recovery_by_rebind();
  }
}

TEST_F(Lies, AStormOfInterruptsHarmsNoJob) {
  const std::uint32_t before = faults_.get(NVDLA_FAULT_INTERRUPTS);
  faults_.set(NVDLA_FAULT_STORM_HZ, 2000);
  Client client(8);
  for (int i = 0; i < 20; ++i) {
    client.forget();
    EXPECT_EQ(client.run(), 0);
    EXPECT_TRUE(client.copied());
  }
  EXPECT_GT(faults_.get(NVDLA_FAULT_INTERRUPTS), before + 20 * 8) << "there was no storm";
  EXPECT_EQ(client.state().resets, 0u);
}

// The bit of a unit that has nothing to do ends nobody's layer.
TEST_F(Lies, BitsOfOtherUnitsEndNothing) {
  Client client;
  const auto done = start_blocked(client);
  for (int i = 0; i < 10; ++i) raise_another_unit();
  EXPECT_EQ(client.end(done, 0.05), ETIMEDOUT) << "the layer has not run";
  faults_.set(NVDLA_FAULT_BLOCK, 0);
  EXPECT_EQ(client.end(done), 0);
  EXPECT_TRUE(client.copied());
  EXPECT_EQ(client.state().resets, 0u);
}

TEST_F(Lies, AResetThatFailsIsNone) {
  faults_.set(NVDLA_FAULT_RESET, NVDLA_FAULT_RESET_FAILS);
  expect_quarantine(ETIME, Target::kDram);
  expect_recovery_by_rebind();
}

TEST_F(Lies, AResetThatLeavesTheDeviceAtWorkIsNone) {
  faults_.set(NVDLA_FAULT_RESET, NVDLA_FAULT_RESET_BARELY);
  expect_quarantine(ETIME, Target::kDram);
  expect_recovery_by_rebind();
}

TEST_F(Lies, AResetMayTakeItsTime) {
  Client guilty;
  Client innocent;
  faults_.set(NVDLA_FAULT_RESET_MS, 2000);
  const auto first = start_blocked(guilty);
  const auto other = innocent.start();
  EXPECT_EQ(guilty.end(first), ETIME);
  EXPECT_EQ(innocent.end(other), 0);
  EXPECT_TRUE(innocent.copied());
  EXPECT_EQ(innocent.state().resets, 1u);
}

TEST_F(Lies, AFunctionThatIsGoneForGoodEndsEverything) {
  {
    Client client;
    Client other;
    const auto first = start_blocked(client);
    const auto second = other.start();
    faults_.set(NVDLA_FAULT_GONE, 2);
    EXPECT_EQ(client.end(first), ENODEV);
    // No reset brings it back; the kernel waits a minute for it, which is not the point here.
    faults_.set(NVDLA_FAULT_GONE, 1);
    EXPECT_EQ(other.end(second), ENODEV);
    std::uint32_t unused = 0;
    EXPECT_EQ(other.try_start(unused), ENODEV);
  }
  expect_recovery_by_rebind();
}

// How many interrupts the neighbour on the line was asked about.
unsigned long neighbour_calls() {
  std::ifstream file("/sys/module/nvdla_machine/parameters/neighbour_calls");
  unsigned long count = 0;
  if (!(file >> count)) throw std::runtime_error("nvdla_machine.ko is not loaded");
  return count;
}

class SharedLine : public Lies {
 protected:
  // The device says nothing to a driver that does not want it: the copy by which that finds out
  // what the device is does not end.
  void expect_survival_of_a_failed_probe() {
    const unsigned long before = neighbour_calls();
    EXPECT_TRUE(recovers());
    EXPECT_GT(neighbour_calls(), before) << "it is another line";
    faults_.unbind();
    faults_.block(1);
    EXPECT_FALSE(binds());
    raise_another_unit();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    EXPECT_LT(neighbour_calls(), before + 1000);
    faults_.clear();
    // Without a reset the copy ends now.
    EXPECT_TRUE(eventually([this] { return !blocked() && binds(); }));
    EXPECT_TRUE(recovers());
  }

 private:
  bool binds() const {
    try {
      faults_.bind();
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }
};

// An interrupt that is left high costs the kernel 100,000 calls of the handlers, and the neighbour
// its line.
TEST_F(SharedLine, StaysUsableForItsNeighbour) {
  const unsigned long before = neighbour_calls();
  EXPECT_TRUE(recovers());
  EXPECT_GT(neighbour_calls(), before) << "it is another line";
  {
    Client client;
    faults_.set(NVDLA_FAULT_DELAY_US, 300000);
    client.start();
    faults_.unbind();
    raise_another_unit();
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  EXPECT_LT(neighbour_calls(), before + 1000);
  faults_.clear();
  faults_.bind();
  EXPECT_TRUE(recovers());
}

// Neither does the copy by which the driver finds out what the device is.
TEST_F(SharedLine, ServesItsNeighbourWhileTheDeviceIsProbed) {
  const unsigned long before = neighbour_calls();
  faults_.rebind();
  EXPECT_LT(neighbour_calls(), before + 1000);
  EXPECT_TRUE(recovers());
}

// The reset took its mask of interrupts away.
TEST_F(SharedLine, OutlivesAProbeThatFails) { expect_survival_of_a_failed_probe(); }

TEST_F(SharedLine, SurvivesAHang) {
  const unsigned long before = neighbour_calls();
  faults_.set(NVDLA_FAULT_RESET, NVDLA_FAULT_RESET_FAILS);
  Client client;
  Client innocent;
  const auto first = start_blocked(client);
  const auto other = innocent.start();
  EXPECT_EQ(client.end(first), ETIME);
  EXPECT_EQ(innocent.end(other), ENODEV);
  raise_another_unit();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_LT(neighbour_calls(), before + 1000);
  expect_recovery_by_rebind();
}

// What the device may write to stays allocated for good.
class SharedLineWithoutReset : public SharedLine {
 protected:
  void SetUp() override {
    Misbehaviour::SetUp();
    faults_.set(NVDLA_FAULT_RESET, NVDLA_FAULT_RESET_FAILS);
  }
};

TEST_F(SharedLineWithoutReset, OutlivesAProbeThatFails) { expect_survival_of_a_failed_probe(); }

// A copy from and to buffers that only the driver has touched.
TEST(Noncoherent, AFreshBufferIsZeroForTheDeviceToo) {
  const Node node;
  CopyProgram copy(node.info().atom_bytes);
  auto args = copy.args();
  ASSERT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), 0);
  const std::uint32_t fresh = node.buffer(kPage);
  const std::uint32_t target = node.buffer(kPage);
  auto* to = node.map(target, kPage);
  std::memset(to, 0x77, kPage);
  node.sync(target, DRM_NVDLA_BO_SYNC_TO_DEVICE, kPage);
  const std::vector<drm_nvdla_binding> bindings = {{0, fresh, 0}, {0, target, 0}};
  const std::uint32_t done = node.syncobj();
  const std::vector<drm_nvdla_sync> syncs = {{done, DRM_NVDLA_SYNC_SIGNAL, 0}};
  drm_nvdla_submit submit{};
  submit.bindings = array_of(bindings);
  submit.syncs = array_of(syncs);
  submit.context = node.context();
  submit.program = args.program;
  ASSERT_EQ(node.call(DRM_IOCTL_NVDLA_SUBMIT, &submit), 0);
  ASSERT_EQ(node.wait(done, kAfterDeadline), 0);
  node.sync(target, DRM_NVDLA_BO_SYNC_FROM_DEVICE, kPage);
  EXPECT_TRUE(std::all_of(to, to + copy.bytes, [](auto byte) { return byte == 0; }));
  EXPECT_TRUE(std::all_of(to + copy.bytes, to + kPage, [](auto byte) { return byte == 0x77; }));
}

// What the device wrote is there after a sync and, where it has a view of its own, not before.
TEST(Noncoherent, TheDeviceHasAViewOfItsOwn) {
  Client client;
  client.forget();
  EXPECT_EQ(client.run(), 0);
  EXPECT_FALSE(client.arrived()) << "this run is for a device with a view of its own";
  EXPECT_TRUE(client.copied());
}

}  // namespace
}  // namespace nvdla::emulator_test
