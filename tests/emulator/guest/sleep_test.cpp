// SPDX-License-Identifier: MIT
//
// A system on chip that sleeps: the power domain of the device, switched by nvdla_domain.ko, and
// a sleep of the system that nothing but the alarm of its clock ends. Runs in the guest of an
// emulator run with device-tree/soc.dts and device-tree/domain.dts.
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
#include <system_error>

#include "power.hpp"

namespace nvdla::emulator_test {
namespace {

std::uint64_t number(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  file >> value;
  return value;
}

class Domain : public Power {
 protected:
  // The machine's word, not the driver's.
  bool powered() const { return (faults_.get(NVDLA_FAULT_STATE) & NVDLA_FAULT_STATE_CUT_OFF) == 0; }
  static std::uint64_t switched_off() {
    return number("/sys/module/nvdla_domain/parameters/switched_off");
  }
  void expect_off() const {
    EXPECT_TRUE(eventually([this] { return !powered(); })) << "the domain stays on";
  }
};

TEST_F(Domain, IsOnWhileTheDeviceWorksAndElseOff) {
  may_sleep(true);
  expect_off();
  faults_.set(NVDLA_FAULT_DELAY_US, 300000);
  for (int i = 0; i < 3; ++i) {
    Client client(2);
    client.forget();
    const auto done = client.start();
    // What it was before the job ended counts.
    do {
      const bool on = powered();
      if (client.node().wait(done, 0) != 0) {
        ASSERT_TRUE(on);
      }
    } while (client.node().wait(done, 0.02) != 0);
    EXPECT_EQ(client.end(done), 0);
    EXPECT_TRUE(client.copied());
    expect_off();
    EXPECT_EQ(client.state().resets, 0u);
    EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GOOD});
  }
}

// The tables of a unit are lost with the power.
TEST_F(Domain, NothingIsExpectedToOutliveIt) {
  may_sleep(true);
  for (int i = 0; i < 2; ++i) {
    expect_tables();
    expect_off();
  }
}

TEST_F(Domain, StaysOnForADeviceThatMayNotSleep) {
  may_sleep(false);
  Client client;
  expect_run(client);
  EXPECT_TRUE(powered());
}

TEST_F(Domain, IsOffWithoutTheDriver) {
  for (const bool may : {false, true}) {
    may_sleep(may);
    if (may) expect_off();
    faults_.unbind();
    expect_off();
    faults_.bind();
    Client client;
    expect_run(client);
    expect_tables();
  }
}

// While the job is at work that the driver takes away.
TEST_F(Domain, IsOffWithoutTheDriverThatWasAtWork) {
  {
    Client client;
    const int file = client.sync_file(start_blocked(client));
    faults_.unbind();
    EXPECT_EQ(ioctl_test::fence_error(file), ENODEV);
    ::close(file);
    expect_off();
  }
  faults_.bind();
  Client client;
  expect_run(client);
}

// Also that of a device that does not sleep on its own.
TEST_F(Domain, IsOffWhileTheSystemSleeps) {
  faults_.set(NVDLA_FAULT_DELAY_US, 300000);
  for (const bool may : {false, true}) {
    may_sleep(may);
    Client client(5);
    const auto done = client.start();
    const std::uint64_t before = switched_off();
    ASSERT_EQ(suspend(), 0);
    EXPECT_GT(switched_off(), before);
    EXPECT_EQ(client.end(done), 0);
    EXPECT_TRUE(client.copied());
  }
  faults_.set(NVDLA_FAULT_DELAY_US, 0);
  expect_tables();
}

class Alarm : public Power {
 protected:
  static constexpr const char* kClock = "/sys/class/rtc/rtc0/";

  void SetUp() override {
    Power::SetUp();
    FaultControl::put("/sys/power/pm_test", "none");
    FaultControl::put(std::string(kClock) + "device/power/wakeup", "enabled");
  }
  void TearDown() override {
    FaultControl::put(std::string(kClock) + "wakealarm", "0");
    Power::TearDown();
  }

  static std::uint64_t now() { return number(std::string(kClock) + "since_epoch"); }
  static std::uint64_t sleeps() { return number("/sys/power/suspend_stats/success"); }

  // The system sleeps, once, and an alarm wakes it up. On a host that has little time for the
  // guest the alarm may come before the system sleeps, and it does not: then it is tried again.
  static void sleep_until_alarm() {
    const std::uint64_t before = sleeps();
    for (unsigned seconds = 3; seconds < 100; seconds *= 2) {
      FaultControl::put(std::string(kClock) + "wakealarm", "0");
      const std::uint64_t alarm = now() + seconds;
      FaultControl::put(std::string(kClock) + "wakealarm", std::to_string(alarm));
      const int error = suspend();
      EXPECT_TRUE(error == 0 || error == EBUSY) << error;
      if (error != 0) continue;
      EXPECT_GE(now(), alarm) << "something else has woken it up";
      EXPECT_EQ(sleeps(), before + 1);
      return;
    }
    FAIL() << "the system does not fall asleep";
  }
};

TEST_F(Alarm, AJobAtWorkAndOneQueuedEndAfterIt) {
  faults_.set(NVDLA_FAULT_DELAY_US, 200000);
  for (const bool may : {false, true}) {
    may_sleep(may);
    // What is left of them takes longer than it takes to fall asleep.
    Client client(60);
    client.forget();
    const auto done = client.start();
    const auto next = client.start();
    sleep_until_alarm();
    faults_.set(NVDLA_FAULT_DELAY_US, 20000);
    EXPECT_EQ(client.node().wait(next, 0), ETIME) << "it was too fast to be cut";
    EXPECT_EQ(client.end(done), 0);
    EXPECT_EQ(client.end(next), 0);
    EXPECT_TRUE(client.copied());
    EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GOOD});
    EXPECT_EQ(client.state().resets, 0u);
  }
}

TEST_F(Alarm, ADeviceWithoutWorkSleepsOn) {
  fall_asleep();
  sleep_until_alarm();
  EXPECT_TRUE(asleep()) << "nobody had work for it";
  Client client;
  expect_run(client);
  expect_tables();
}

}  // namespace
}  // namespace nvdla::emulator_test
