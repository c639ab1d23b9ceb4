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

#include "../ioctl/client.hpp"
#include "emulator/guest/fault_control.hpp"

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

// A child that ends within the seconds: its exit status as of reap(). Otherwise it is killed, and
// left behind if even that does not end it: -ETIMEDOUT.
int reap_within(pid_t child, double seconds);

// A user without privileges, whose id nobody else has.
inline constexpr unsigned kNobody = 65534;

// Another user than root, in the initial namespace, for as long as this object lives: files of the
// device that are opened meanwhile belong to that user. Only one at a time.
class AsUser {
 public:
  explicit AsUser(unsigned uid);
  ~AsUser();
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;
};

// Lets every user open the nodes of the device.
void open_nodes_to_all();

// A user of buffers that others share: it copies from one to the other, as often as there are
// layers.
class Sharer {
 public:
  // Imports both dma-bufs; -1 stands for a page of its own.
  Sharer(int from, int to, std::uint32_t layers);

  int submit(const std::vector<drm_nvdla_sync>& syncs) { return submit(syncs, context_); }
  int submit(const std::vector<drm_nvdla_sync>& syncs, std::uint32_t context);
  // Adds a job; the sync object that signals at its end.
  std::uint32_t start();
  // The error of BO_WAIT that only looks; flags as of drm_nvdla_bo_wait.
  int look(std::uint32_t handle, std::uint32_t flags = 0) const;
  int sync_file(std::uint32_t done) const;
  const Node& node() const { return node_; }
  std::uint32_t from() const { return bindings_[0].handle; }
  std::uint32_t to() const { return bindings_[1].handle; }
  std::uint32_t context() const { return context_; }
  void renew_context() { context_ = node_.context(); }
  // Later jobs write to another page, so that they do not wait for those before them.
  void renew_to() { use_to(node_.buffer(ioctl_test::kPage)); }
  void use_to(std::uint32_t handle) { bindings_[1].handle = handle; }

 private:
  std::uint32_t page(int file) const;

  Node node_;
  std::uint32_t context_ = 0;
  std::uint32_t program_ = 0;
  std::vector<drm_nvdla_binding> bindings_;
};

// A sync object as a file, which another open file of the device takes as its own.
int export_syncobj(const Node& from, std::uint32_t syncobj);
std::uint32_t import_syncobj(const Node& to, int file);

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

  // Throws std::runtime_error where the device did not come back.
  emulator_test::FaultControl& faults();
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
  // Loads the module again after it was removed, as the first process of the guest had.
  static void load_driver();

  std::uint64_t seed_ = 0;

 private:
  std::unique_ptr<emulator_test::FaultControl> faults_;
};

}  // namespace nvdla::hostile

#endif  // NVDLA_TESTS_HOSTILE_HPP
