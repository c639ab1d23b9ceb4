// SPDX-License-Identifier: MIT
//
// The driver beside others that take the device away and give it back: its own sleep, the system's,
// and resets that user space asks for. Runs in the guest of an emulator run whose function can be
// reset and loses its state in sleep.
#include "power.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

namespace nvdla::emulator_test {
namespace {

// Layers of a job that, slowed down, is not over before a test has done what it does meanwhile.
constexpr std::uint32_t kLongJob = 60;

TEST_F(Power, ADeviceWithoutWorkSleepsAndWakesUpForSome) {
  expect_tables();
  Client client;
  for (int i = 0; i < 3; ++i) {
    fall_asleep();
    expect_run(client);
    fall_asleep();
    expect_tables();
  }
  EXPECT_EQ(client.state().resets, 0u);
  EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GOOD});
}

// Its sleep comes after a tenth of a second without work.
TEST_F(Power, ADeviceAtWorkDoesNotSleep) {
  may_sleep(true);
  faults_.set(NVDLA_FAULT_DELAY_US, 400000);
  Client client(3);
  const auto done = client.start();
  while (client.node().wait(done, 0.02) != 0) {
    // What it was before the job ended counts.
    const bool slept = asleep();
    if (client.node().wait(done, 0) != 0) {
      ASSERT_FALSE(slept);
    }
  }
  EXPECT_EQ(client.end(done), 0);
  EXPECT_TRUE(client.copied());
  EXPECT_TRUE(eventually([this] { return asleep(); })) << "a job that has ended keeps it awake";
}

TEST_F(Power, ASleepingDeviceCanBeUnbound) {
  fall_asleep();
  faults_.rebind();
  Client client;
  expect_run(client);
  fall_asleep();
  expect_run(client);
}

TEST_F(Power, ASleepingDeviceCanBeReset) {
  Client client;
  for (int i = 0; i < 3; ++i) {
    fall_asleep();
    reset();
    expect_run(client);
    expect_tables();
  }
  EXPECT_EQ(client.state().resets, 3u);
  EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_INNOCENT});
}

// As if it were unplugged in its sleep, and plugged in again.
TEST_F(Power, ADeviceThatDoesNotWakeUpIsGone) {
  {
    Client client;
    fall_asleep();
    faults_.set(NVDLA_FAULT_GONE, 1);
    for (int error = 0; error == 0;) {
      std::uint32_t done = 0;
      error = client.try_start(done);
      EXPECT_EQ(error == 0 ? client.end(done) : error, ENODEV);
    }
  }
  faults_.clear();
  faults_.rebind();
  Client client;
  expect_run(client);
  fall_asleep();
  expect_run(client);
}

TEST_F(Power, AResetOfAnIdleDeviceIsNotNoticed) {
  expect_tables();
  Client client;
  reset();
  expect_run(client);
  expect_tables();
  EXPECT_EQ(client.state().resets, 1u);
  EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_INNOCENT});
  client.renew_context();
  EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GOOD});
}

TEST_F(Power, AResetComesBetweenTwoLayers) {
  faults_.set(NVDLA_FAULT_DELAY_US, 300000);
  Client client(kLongJob);
  client.forget();
  const std::uint32_t before = completions();
  const auto done = client.start();
  const auto next = client.start();
  wait_for_layers(1, before);
  reset();
  faults_.set(NVDLA_FAULT_DELAY_US, 0);
  EXPECT_EQ(client.end(done), 0);
  EXPECT_EQ(client.end(next), 0);
  EXPECT_TRUE(client.copied());
  EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_INNOCENT});
  EXPECT_EQ(client.state().resets, 1u);
}

// The layer would never end, which nobody knows yet: its deadline is two seconds away.
TEST_F(Power, AResetCancelsALayerThatTakesTooLong) {
  Client client;
  Client other;
  const auto done = start_blocked(client);
  const auto next = client.start();
  const auto others = other.start();
  reset();
  EXPECT_EQ(client.end(done), ECANCELED);
  EXPECT_EQ(client.end(next), 0) << "what had not begun";
  EXPECT_TRUE(client.copied());
  EXPECT_EQ(other.end(others), 0);
  EXPECT_TRUE(other.copied());
  EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_INNOCENT});
  expect_run(client);
  expect_tables();
}

TEST_F(Power, ADeviceThatIsGoneAfterAResetIsGone) {
  {
    Client client;
    faults_.set(NVDLA_FAULT_GONE, 1);
    reset();
    for (int error = 0; error == 0;) {
      std::uint32_t done = 0;
      error = client.try_start(done);
      EXPECT_EQ(error == 0 ? client.end(done) : error, ENODEV);
    }
  }
  faults_.clear();
  faults_.rebind();
  Client client;
  expect_run(client);
}

TEST_F(Power, TheSystemSleepsBesideAnIdleDevice) {
  Client client;
  for (const bool may : {false, true, true}) {
    may_sleep(may);
    expect_tables();
    ASSERT_EQ(suspend(), 0);
    expect_run(client);
    expect_tables();
  }
  fall_asleep();
  ASSERT_EQ(suspend(), 0);
  EXPECT_TRUE(asleep()) << "nobody had work for it";
  expect_run(client);
  expect_tables();
  EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GOOD});
}

TEST_F(Power, TheSystemSleepsBetweenTwoLayers) {
  for (const bool may : {false, true}) {
    may_sleep(may);
    faults_.set(NVDLA_FAULT_DELAY_US, 500000);
    Client client(kLongJob);
    const std::uint32_t before = completions();
    const auto done = client.start();
    const auto next = client.start();
    wait_for_layers(1, before);
    ASSERT_EQ(suspend(), 0);
    faults_.set(NVDLA_FAULT_DELAY_US, 0);
    EXPECT_EQ(client.node().wait(next, 0), ETIME) << "it was too fast to be cut";
    EXPECT_EQ(client.end(done), 0);
    EXPECT_EQ(client.end(next), 0);
    EXPECT_TRUE(client.copied());
    EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GOOD});
  }
}

// The system may have to stay awake for it, but not for good.
TEST_F(Power, AHangWhileTheSystemIsToSleep) {
  Client client;
  Client other;
  const auto done = start_blocked(client);
  const auto others = other.start();
  const int error = suspend();
  EXPECT_TRUE(error == 0 || error == EBUSY) << error;
  EXPECT_EQ(client.end(done), ETIME);
  EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GUILTY});
  EXPECT_EQ(other.end(others), 0);
  EXPECT_TRUE(other.copied());
  EXPECT_EQ(suspend(), 0);
  expect_run(other);
}

// Copies until it is told to stop, and looks at each result.
class Submitter {
 public:
  Submitter() : thread_([this] { run(); }) {}
  ~Submitter() { stop(); }
  Submitter(const Submitter&) = delete;
  Submitter& operator=(const Submitter&) = delete;

  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  unsigned done() const { return done_; }
  int error() const { return error_; }
  bool wrong() const { return wrong_; }

 private:
  void run() {
    Client client(3);
    while (!stopping_ && error_ == 0 && !wrong_) {
      error_ = copy(client);
      ++done_;
    }
  }
  int copy(Client& client) {
    int error = 0;
    try {
      client.forget();
      error = client.run();
      wrong_ = error == 0 && !client.copied();
    } catch (const std::runtime_error&) {
      error = EIO;
    }
    return error != 0 && unbound(client.node()) ? ENODEV : error;
  }
  // Then the file says nothing else, not even what became of a job.
  static bool unbound(const Node& node) {
    drm_nvdla_device_info info{};
    drm_nvdla_query query{reinterpret_cast<std::uintptr_t>(&info), sizeof(info),
                          DRM_NVDLA_QUERY_DEVICE};
    return node.call(DRM_IOCTL_NVDLA_QUERY, &query) == ENODEV;
  }

  std::atomic<bool> stopping_{false};
  std::atomic<bool> wrong_{false};
  std::atomic<int> error_{0};
  std::atomic<unsigned> done_{0};
  std::thread thread_;
};

class Storm : public Power {
 protected:
  // Each of them falls into a job of one of two contexts.
  void expect_all_survive(unsigned resets) {
    Client witness;
    Submitter one, two;
    for (unsigned i = 0; i < resets; ++i) {
      const unsigned before = one.done() + two.done();
      reset();
      ASSERT_TRUE(eventually([&] {
        return one.done() + two.done() != before || one.error() != 0 || two.error() != 0;
      }));
    }
    for (Submitter* submitter : {&one, &two}) {
      submitter->stop();
      EXPECT_EQ(submitter->error(), 0);
      EXPECT_FALSE(submitter->wrong());
      EXPECT_GT(submitter->done(), 0u);
    }
    EXPECT_EQ(witness.state().resets, resets);
    expect_run(witness);
    expect_tables();
  }
};

TEST_F(Storm, OfResets) { expect_all_survive(20); }

TEST_F(Storm, OfResetsOnADeviceThatMaySleep) {
  may_sleep(true);
  expect_all_survive(20);
}

TEST_F(Storm, OfResetsAndUnbinds) {
  std::atomic<bool> stopping{false};
  std::thread resetter([&] {
    while (!stopping) reset();
  });
  for (int i = 0; i < 5; ++i) {
    Submitter submitter;
    EXPECT_TRUE(eventually([&] { return submitter.done() > 1; }));
    faults_.rebind();
    submitter.stop();
    EXPECT_TRUE(submitter.error() == 0 || submitter.error() == ENODEV) << submitter.error();
    EXPECT_FALSE(submitter.wrong());
  }
  stopping = true;
  resetter.join();
  // What was at work when its driver went was kept off the bus.
  refused_ = faults_.get(NVDLA_FAULT_DMA_REFUSED);
  Client client;
  expect_run(client);
  expect_tables();
}

class LongStorm : public Storm {};

TEST_F(LongStorm, OfResets) {
  may_sleep(true);
  expect_all_survive(200);
}

// These need nvdla_clocks.ko and a platform device, whose clocks the driver switches and follows.
class Clocks : public Power {
 protected:
  void TearDown() override {
    fail_next(0);
    set_core_khz(500000);
    Power::TearDown();
  }
  static void fail_next(int count) { FaultControl::put(kFailures, std::to_string(count)); }
  static bool have_failed() {
    std::ifstream file(kFailures);
    int left = -1;
    file >> left;
    return left == 0;
  }

  static void set_core_khz(std::uint32_t khz) {
    FaultControl::put("/sys/module/nvdla_clocks/parameters/core_hz", std::to_string(khz) + "000");
  }

  static constexpr const char* kFailures = "/sys/module/nvdla_clocks/parameters/failures";
};

// Jobs go on meanwhile, and a device that sleeps has a clock, too.
TEST_F(Clocks, ARateThatChangesIsKnown) {
  Client client(kLongJob);
  faults_.set(NVDLA_FAULT_DELAY_US, 10000);
  const auto done = client.start();
  for (const std::uint32_t khz : {250000u, 800000u, 1u, 500000u}) {
    set_core_khz(khz);
    EXPECT_EQ(client.node().info().clock_khz, khz);
  }
  EXPECT_EQ(client.end(done), 0);
  faults_.set(NVDLA_FAULT_DELAY_US, 0);
  fall_asleep();
  set_core_khz(400000);
  EXPECT_EQ(client.node().info().clock_khz, 400000u);
  expect_run(client);
  faults_.rebind();
  EXPECT_EQ(Client().node().info().clock_khz, 400000u);
  EXPECT_EQ(Client().state().resets, 0u);
}

TEST_F(Clocks, AFailureCostsOneSubmit) {
  Client client;
  for (int i = 0; i < 3; ++i) {
    fall_asleep();
    fail_next(2);
    std::uint32_t done = 0;
    EXPECT_EQ(client.try_start(done), EIO);
    EXPECT_EQ(client.try_start(done), EIO) << "the errno of the clocks, not of the core";
    EXPECT_TRUE(have_failed());
    expect_run(client);
  }
  EXPECT_EQ(client.state().resets, 0u);
}

TEST_F(Clocks, ADeviceWithoutThemCanBeUnbound) {
  fall_asleep();
  fail_next(1);
  faults_.unbind();
  EXPECT_TRUE(have_failed());
  faults_.bind();
  Client client;
  expect_run(client);
}

// The job was cut before the system slept; nobody else would wake the device up for it.
TEST_F(Clocks, AJobEndsThoughTheDeviceDoesNotWakeUpWithTheSystem) {
  Client client(kLongJob);
  faults_.set(NVDLA_FAULT_DELAY_US, 300000);
  const std::uint32_t before = completions();
  const auto done = client.start();
  wait_for_layers(1, before);
  fail_next(1);
  EXPECT_EQ(suspend(), 0);
  EXPECT_TRUE(have_failed());
  EXPECT_EQ(client.end(done), ENODEV);
  faults_.set(NVDLA_FAULT_DELAY_US, 0);
  expect_run(client);
}

}  // namespace
}  // namespace nvdla::emulator_test
