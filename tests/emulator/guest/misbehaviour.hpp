// SPDX-License-Identifier: MIT
//
// What tests of a misbehaving device share: memory that a late write must not
// hit, the fixture. Runs in the guest of an emulator run.
#ifndef NVDLA_TESTS_EMULATOR_GUEST_MISBEHAVIOUR_HPP
#define NVDLA_TESTS_EMULATOR_GUEST_MISBEHAVIOUR_HPP

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "emulator/device/fault_capability.h"
#include "fault_control.hpp"
#include "ioctl/client.hpp"

namespace nvdla::emulator_test {

using ioctl_test::array_of;
using ioctl_test::Client;
using ioctl_test::CopyProgram;
using ioctl_test::kAfterDeadline;
using ioctl_test::kPage;
using ioctl_test::LoweredParameter;
using ioctl_test::Node;
using ioctl_test::Target;
using Clock = std::chrono::steady_clock;

// Much longer than anything takes here that is not waited for by its own deadline.
template <typename Condition>
bool eventually(Condition condition) {
  const auto until = Clock::now() + std::chrono::minutes(2);
  while (!condition()) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// All that is free of it, in pages.
inline std::vector<std::uint32_t> take_sram(const Node& node) {
  std::vector<std::uint32_t> handles;
  for (;;) {
    drm_nvdla_bo_create create{kPage, NVDLA_MEMORY_SRAM, 0, 0, 0};
    if (node.call(DRM_IOCTL_NVDLA_BO_CREATE, &create) != 0) return handles;
    handles.push_back(create.handle);
  }
}

// The memory of a machine that a late write must not hit: buffers of the driver and of a process.
class Watch {
 public:
  explicit Watch(const Node& node) {
    // What the driver gives back it gets again first, for a buffer of the same size.
    for (int i = 0; i < 1024; ++i) fill(node.map(node.buffer(kPage), kPage), kPage);
    for (int i = 0; i < 256; ++i) fill(node.map(node.buffer(16 * kPage), 16 * kPage), 16 * kPage);
    for (const std::uint32_t handle : take_sram(node)) fill(node.map(handle, kPage), kPage);
    constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;
    for (int i = 0; i < 160; ++i) {
      void* chunk = ::mmap(nullptr, kChunk, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      if (chunk != MAP_FAILED) fill(static_cast<std::uint8_t*>(chunk), kChunk);
    }
  }
  ~Watch() {
    for (const Area& area : areas_) ::munmap(area.data, area.size);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  bool untouched() const {
    return std::all_of(areas_.begin(), areas_.end(), [](const Area& area) {
      return std::all_of(area.data, area.data + area.size, [](auto byte) { return byte == 0x11; });
    });
  }

 private:
  struct Area {
    std::uint8_t* data;
    std::uint64_t size;
  };
  void fill(std::uint8_t* data, std::uint64_t size) {
    std::memset(data, 0x11, size);
    areas_.push_back({data, size});
  }
  std::vector<Area> areas_;
};

class Misbehaviour : public testing::Test {
 protected:
  void SetUp() override {
    faults_.clear();
    ASSERT_GE(Node().fd(), 0) << "no node of the driver nvdla";
    refused_ = faults_.get(NVDLA_FAULT_DMA_REFUSED);
  }
  // Whatever happened, the device never reached for what it may not.
  void TearDown() override {
    faults_.clear();
    EXPECT_EQ(faults_.get(NVDLA_FAULT_DMA_REFUSED), refused_);
  }

  bool blocked() const { return (faults_.get(NVDLA_FAULT_STATE) & NVDLA_FAULT_STATE_BLOCKED) != 0; }
  // Starts a job that a fault stops. It is at work when this returns: nobody who comes later is
  // before it, although the scheduler may take its time.
  template <typename Condition>
  std::uint32_t start_until(Client& client, Condition stopped) const {
    const std::uint32_t done = client.start();
    if (!eventually(stopped)) throw std::runtime_error("the fault stops no layer");
    return done;
  }
  std::uint32_t start_blocked(Client& client) const {
    faults_.block(1);
    return start_until(client, [this] { return blocked(); });
  }

  // How many layers have ended; waits until so many have since `before`.
  std::uint32_t completions() const { return faults_.get(NVDLA_FAULT_COMPLETIONS); }
  void wait_for_layers(std::uint32_t count, std::uint32_t before) const {
    if (!eventually([&] { return completions() - before >= count; }))
      throw std::runtime_error("the layers do not end");
  }

  // A layer hangs and writes late; the device cannot be reset, or not for good.
  void expect_quarantine(int error, Target target) {
    const std::size_t sram_pages = take_sram(Node()).size();
    auto guilty = std::make_unique<Client>(1, target);
    Client innocent;
    EXPECT_EQ(innocent.run(), 0);
    const auto first = start_blocked(*guilty);
    const auto other = innocent.start();
    EXPECT_EQ(guilty->end(first), error);
    EXPECT_EQ(guilty->state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GUILTY});
    EXPECT_EQ(innocent.end(other), ENODEV);
    std::uint32_t unused = 0;
    EXPECT_EQ(innocent.try_start(unused), ENODEV);
    EXPECT_EQ(faults_.bus_master(), !faults_.on_pci()) << "a wedged device is kept off the bus";

    // Give everything back, take as much memory as there is, and let the device onto the bus: only
    // the quarantine is in the way now.
    guilty.reset();
    const Node node;
    const Watch watch(node);
    EXPECT_EQ(sram_pages > 1, target == Target::kDramAndSram);
    EXPECT_EQ(take_sram(node).size(), 0u) << "all of it is watched";
    faults_.set_bus_master(true);
    EXPECT_EQ(faults_.get(NVDLA_FAULT_STATE), std::uint32_t{NVDLA_FAULT_STATE_BLOCKED});
    run_late();
    EXPECT_EQ(faults_.get(NVDLA_FAULT_STATE), std::uint32_t{NVDLA_FAULT_STATE_LATE});
    EXPECT_TRUE(watch.untouched());
  }

  // The layer that is blocked runs now, and writes, unless a reset took it away.
  void run_late() const {
    faults_.set(NVDLA_FAULT_LATE_MS, 1);
    EXPECT_TRUE(eventually([this] { return !blocked(); }));
  }

  FaultControl faults_;
  std::uint32_t refused_ = 0;
};

}  // namespace nvdla::emulator_test

#endif  // NVDLA_TESTS_EMULATOR_GUEST_MISBEHAVIOUR_HPP
