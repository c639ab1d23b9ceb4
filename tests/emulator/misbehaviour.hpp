// SPDX-License-Identifier: MIT
//
// What tests of a misbehaving device share: a user of the driver, memory that a late write must not
// hit, the fixture. Runs in the guest of an emulator run.
#ifndef NVDLA_TESTS_EMULATOR_MISBEHAVIOUR_HPP
#define NVDLA_TESTS_EMULATOR_MISBEHAVIOUR_HPP

#include <gtest/gtest.h>
#include <linux/sync_file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../ioctl/node.hpp"
#include "fault_control.hpp"
#include "tools/emulator/fault_capability.h"

namespace nvdla::emulator_test {

using ioctl_test::array_of;
using ioctl_test::CopyProgram;
using ioctl_test::kPage;
using ioctl_test::Node;
using Clock = std::chrono::steady_clock;

// A layer's deadline is at least two seconds.
inline constexpr double kAfterDeadline = 20;
// Later than that, and than all of memory is taken.
inline constexpr std::uint32_t kLateMs = 12000;

enum class Target { kDram, kDramAndSram };

// A file of the driver with a context, in which a cube is copied from one page to another, as often
// as there are layers; or to a page in each memory, by a layer each.
class Client {
 public:
  explicit Client(std::uint32_t layers = 1, Target target = Target::kDram)
      : copy_(node_.info().atom_bytes), context_(node_.context()) {
    copy_.layers.resize(layers, copy_.layers[0]);
    if (target == Target::kDramAndSram) {
      nvdla_slot slot = copy_.slots[1];
      slot.memory = NVDLA_MEMORY_SRAM;
      copy_.slots.push_back(slot);
      copy_.layers.push_back(copy_.layers[0]);
      copy_.layers.back().sdp.output.slot = 2;
    }
    auto args = copy_.args();
    must(node_.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), "PROGRAM_CREATE");
    program_ = args.program;
    for (const nvdla_slot& slot : copy_.slots) {
      drm_nvdla_bo_create create{kPage, slot.memory, 0, 0, 0};
      must(node_.call(DRM_IOCTL_NVDLA_BO_CREATE, &create), "BO_CREATE");
      bindings_.push_back({0, create.handle, 0});
    }
    auto* from = node_.map(bindings_[0].handle, kPage);
    for (std::uint64_t i = 0; i < kPage; ++i) from[i] = static_cast<std::uint8_t>(i * 7 + 1);
    node_.sync(bindings_[0].handle, DRM_NVDLA_BO_SYNC_TO_DEVICE, kPage);
    to_ = node_.map(bindings_[1].handle, kPage);
    from_ = from;
  }

  // A mapping would keep its buffer.
  ~Client() {
    ::munmap(const_cast<std::uint8_t*>(from_), kPage);
    ::munmap(to_, kPage);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // A sync object that is signalled at the end.
  std::uint32_t start() {
    std::uint32_t done = 0;
    must(try_start(done), "SUBMIT");
    return done;
  }
  int try_start(std::uint32_t& done) {
    done = node_.syncobj();
    const std::vector<drm_nvdla_sync> syncs = {{done, DRM_NVDLA_SYNC_SIGNAL, 0}};
    drm_nvdla_submit submit{};
    submit.bindings = array_of(bindings_);
    submit.syncs = array_of(syncs);
    submit.context = context_;
    submit.program = program_;
    return node_.call(DRM_IOCTL_NVDLA_SUBMIT, &submit);
  }
  // The error of the fence, 0 for success, ETIMEDOUT when it is not signalled within the seconds.
  int end(std::uint32_t done, double seconds = kAfterDeadline) {
    if (node_.wait(done, seconds) != 0) return ETIMEDOUT;
    int file = -1;
    must(drmSyncobjExportSyncFile(node_.fd(), done, &file) == 0 ? 0 : errno, "export");
    sync_file_info info{};
    const int failed = ::ioctl(file, SYNC_IOC_FILE_INFO, &info);
    ::close(file);
    must(failed == 0 ? 0 : errno, "SYNC_IOC_FILE_INFO");
    return info.status == 1 ? 0 : -info.status;
  }
  int run(double seconds = kAfterDeadline) { return end(start(), seconds); }

  bool copied() const {
    node_.sync(bindings_[1].handle, DRM_NVDLA_BO_SYNC_FROM_DEVICE, kPage);
    return arrived();
  }
  // Without asking for what a cache hides.
  bool arrived() const { return std::memcmp(from_, to_, copy_.bytes) == 0; }
  void forget() {
    std::memset(to_, 0, kPage);
    node_.sync(bindings_[1].handle, DRM_NVDLA_BO_SYNC_TO_DEVICE, kPage);
  }
  drm_nvdla_context_query state() {
    drm_nvdla_context_query query{context_, 0, 0, 0};
    must(node_.call(DRM_IOCTL_NVDLA_CONTEXT_QUERY, &query), "CONTEXT_QUERY");
    return query;
  }
  void renew_context() { context_ = node_.context(); }
  bool can_reset() { return (node_.info().flags & DRM_NVDLA_DEVICE_CAN_RESET) != 0; }
  const Node& node() const { return node_; }

 private:
  static void must(int error, const char* what) {
    if (error != 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(error));
  }

  Node node_;
  CopyProgram copy_;
  std::uint32_t context_ = 0;
  std::uint32_t program_ = 0;
  std::vector<drm_nvdla_binding> bindings_;
  const std::uint8_t* from_ = nullptr;
  std::uint8_t* to_ = nullptr;
};

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

  // A layer hangs and writes late; the device cannot be reset, or not for good.
  void expect_quarantine(int error, Target target) {
    const std::size_t sram_pages = take_sram(Node()).size();
    auto guilty = std::make_unique<Client>(1, target);
    Client innocent;
    EXPECT_EQ(innocent.run(), 0);
    faults_.set(NVDLA_FAULT_LATE_MS, kLateMs);
    faults_.set(NVDLA_FAULT_BLOCK, 1);
    const auto before = Clock::now();
    const auto first = guilty->start();
    const auto other = innocent.start();
    EXPECT_EQ(guilty->end(first), error);
    EXPECT_EQ(guilty->state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GUILTY});
    EXPECT_EQ(innocent.end(other), ENODEV);
    std::uint32_t unused = 0;
    EXPECT_EQ(innocent.try_start(unused), ENODEV);
    EXPECT_FALSE(faults_.bus_master()) << "a wedged device is kept off the bus";

    // Give everything back, take as much memory as there is, and let the device onto the bus: only
    // the quarantine is in the way now.
    guilty.reset();
    const Node node;
    const Watch watch(node);
    EXPECT_EQ(sram_pages > 1, target == Target::kDramAndSram);
    EXPECT_EQ(take_sram(node).size(), 0u) << "all of it is watched";
    faults_.set_bus_master(true);
    ASSERT_LT(Clock::now() - before, std::chrono::milliseconds(kLateMs))
        << "too slow a machine for this test";
    EXPECT_EQ(faults_.get(NVDLA_FAULT_STATE), std::uint32_t{NVDLA_FAULT_STATE_BLOCKED});
    wait_for_late_write(before);
    EXPECT_EQ(faults_.get(NVDLA_FAULT_STATE), std::uint32_t{NVDLA_FAULT_STATE_LATE});
    EXPECT_TRUE(watch.untouched());
  }

  // Until the layer that was blocked has run, or will not.
  void wait_for_late_write(Clock::time_point since) const {
    while ((faults_.get(NVDLA_FAULT_STATE) & NVDLA_FAULT_STATE_LATE) == 0 &&
           Clock::now() - since < std::chrono::milliseconds(kLateMs) + std::chrono::seconds(8))
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

  FaultControl faults_;
  std::uint32_t refused_ = 0;
};

}  // namespace nvdla::emulator_test

#endif  // NVDLA_TESTS_EMULATOR_MISBEHAVIOUR_HPP
