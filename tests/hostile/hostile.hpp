// SPDX-License-Identifier: MIT
//
// What the hostile tests share: what the environment says about a run, and what is to hold after
// whatever they did.
#ifndef NVDLA_TESTS_HOSTILE_HPP
#define NVDLA_TESTS_HOSTILE_HPP

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "../emulator/fault_control.hpp"
#include "../ioctl/client.hpp"

namespace nvdla::hostile {

using Clock = std::chrono::steady_clock;
using ioctl_test::Client;
using ioctl_test::Node;

// Of tests that go on for a while: NVDLA_HOSTILE_SECONDS, else one of these numbers, the second if
// there is an NVDLA_HOSTILE_LONG.
Clock::duration duration(unsigned seconds, unsigned long_seconds);
// Of tests that count: NVDLA_HOSTILE_ROUNDS, else likewise.
unsigned rounds(unsigned count, unsigned long_count);
// NVDLA_HOSTILE_SEED, else another one each time.
std::uint64_t seed();

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  // In [0, end).
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(engine_() % end); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  std::uint64_t word() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

// Of sync_files, which it closes: what became of each, in `errors`. EBUSY when one is not signalled
// within the seconds since the one before it, else 0.
int collect(std::vector<int>& files, std::vector<int>& errors, double seconds = 120);

// A process that runs `work`, whose result is its exit status.
pid_t spawn(const std::function<int()>& work);
// The exit status, 128 and the signal if it was killed.
int reap(pid_t child);

// That another process has come so far.
class Milestone {
 public:
  Milestone();
  ~Milestone();
  Milestone(const Milestone&) = delete;
  Milestone& operator=(const Milestone&) = delete;
  void reach() const;
  // Throws std::runtime_error if nobody is left who could reach it.
  void wait();

 private:
  int pipe_[2] = {-1, -1};
};

// An obedient device before and after, with no reset in between: users must not be able to make
// the driver need one.
class Hostile : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // The driver serves a new user as ever.
  static void expect_service();

  emulator_test::FaultControl& faults() { return *faults_; }
  // At the layer that faults().block() said, unless a reset was quicker: what a test does from then
  // on until go_on() is not a matter of its pace, if it is done within the deadline of a layer.
  void wait_until_blocked();
  // A job of the client waits for nothing but the device: the scheduler's thread takes its time. Or
  // the device was reset.
  static void wait_until_ready(Client& client);
  // Until so many layers have ended, or for good.
  void go_on(std::uint32_t layers = 0);
  // After the function was away.
  void find_device();

  std::uint64_t seed_ = 0;

 private:
  std::unique_ptr<emulator_test::FaultControl> faults_;
};

}  // namespace nvdla::hostile

#endif  // NVDLA_TESTS_HOSTILE_HPP
