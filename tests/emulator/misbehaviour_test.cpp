// SPDX-License-Identifier: MIT
//
// The driver with a device that misbehaves. Runs in the guest of an emulator run.
//
// WithReset wants a function that can be reset, WithoutReset one that cannot
// (nvdla-device-server --no-reset): each run names its suites.
#include <gtest/gtest.h>
#include <linux/sync_file.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <nvdla/nvdla.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../ioctl/node.hpp"
#include "fault_control.hpp"
#include "tools/emulator/fault_capability.h"

namespace nvdla::emulator_test {
namespace {

using ioctl_test::array_of;
using ioctl_test::CopyProgram;
using ioctl_test::Node;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kPage = 4096;
// A layer's deadline is at least two seconds.
constexpr double kAfterDeadline = 20;

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
    to_ = node_.map(bindings_[1].handle, kPage);
    from_ = from;
  }

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

  bool copied() const { return std::memcmp(from_, to_, copy_.bytes) == 0; }
  void forget() { std::memset(to_, 0, kPage); }
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

  FaultControl faults_;
  std::uint32_t refused_ = 0;
};

class WithReset : public Misbehaviour {
 protected:
  void SetUp() override {
    Misbehaviour::SetUp();
    ASSERT_TRUE(Client().can_reset()) << "this run is for a function that can be reset";
  }

  // One context hangs, the others notice nothing but the time.
  void expect_guilt() {
    Client guilty;
    Client innocent;
    const auto first = guilty.start();
    const auto second = guilty.start();
    const auto other = innocent.start();
    EXPECT_EQ(guilty.end(first), ETIME);
    EXPECT_EQ(guilty.end(second), ECANCELED) << "what waited in the guilty context";
    EXPECT_EQ(innocent.end(other), 0);
    EXPECT_TRUE(innocent.copied());

    EXPECT_EQ(guilty.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GUILTY});
    EXPECT_EQ(innocent.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_INNOCENT});
    EXPECT_EQ(innocent.state().resets, 1u);
    std::uint32_t unused = 0;
    EXPECT_EQ(guilty.try_start(unused), ECANCELED);
    guilty.renew_context();
    guilty.forget();
    EXPECT_EQ(guilty.run(), 0) << "a new context of the same file";
    EXPECT_TRUE(guilty.copied());
    EXPECT_EQ(guilty.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GOOD});
  }
};

TEST_F(WithReset, AnObedientDeviceCopies) {
  Client client;
  EXPECT_EQ(client.run(), 0);
  EXPECT_TRUE(client.copied());
  EXPECT_EQ(client.state().resets, 0u);
}

TEST_F(WithReset, ALostInterruptCostsOnlyTime) {
  Client client;
  faults_.set(NVDLA_FAULT_SWALLOW_INTERRUPTS, 1);
  EXPECT_EQ(client.run(), 0);
  EXPECT_EQ(faults_.get(NVDLA_FAULT_SWALLOW_INTERRUPTS), 0u) << "it was not lost";
  EXPECT_TRUE(client.copied());
  EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GOOD});
  EXPECT_EQ(client.run(), 0) << "the next one comes";
}

TEST_F(WithReset, ALostCompletionIsAHang) {
  faults_.set(NVDLA_FAULT_SWALLOW_COMPLETIONS, 1);
  expect_guilt();
}

TEST_F(WithReset, ALayerThatBlocksIsAHang) {
  faults_.set(NVDLA_FAULT_BLOCK, 1);
  expect_guilt();
  EXPECT_EQ(faults_.get(NVDLA_FAULT_STATE) & NVDLA_FAULT_STATE_BLOCKED, 0u);
}

TEST_F(WithReset, HangsCanRepeat) {
  for (int i = 0; i < 2; ++i) {
    Client client;
    faults_.set(NVDLA_FAULT_BLOCK, 1);
    EXPECT_EQ(client.run(), ETIME);
  }
  EXPECT_EQ(Client().run(), 0);
}

TEST_F(WithReset, AHangNamesItsLayer) {
  Client client(5);
  EXPECT_EQ(client.run(), 0);
  for (const std::uint32_t layer : {3u, 0u, 4u}) {
    faults_.set(NVDLA_FAULT_BLOCK, layer + 1);
    EXPECT_EQ(client.run(), ETIME);
    EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GUILTY});
    EXPECT_EQ(client.state().layer, layer);
    client.renew_context();
    EXPECT_EQ(client.state().layer, 0u);
    EXPECT_EQ(client.run(), 0);
  }
}

// The error of a job on a device of the runtime; none if it ends well.
std::optional<nvdla::Error> outcome(const nvdla::Fence& fence) {
  try {
    fence.wait();
    return std::nullopt;
  } catch (const nvdla::Error& error) {
    return error;
  }
}

TEST_F(WithReset, TheRuntimeTellsWhichLayerHung) {
  const auto device = nvdla::Device::open("auto");
  const CopyProgram copy(device.info().atom);
  const std::vector<nvdla_layer> layers(3, copy.layers[0]);
  const auto program = device.create_program({.layers = layers, .slots = copy.slots});
  const std::vector<nvdla::Binding> bindings = {{device.allocate(kPage), 0},
                                                {device.allocate(kPage), 0}};
  faults_.set(NVDLA_FAULT_BLOCK, 2);
  const auto hangs = device.submit(program, bindings);
  const auto canceled = outcome(device.submit(program, bindings));
  ASSERT_TRUE(canceled);
  EXPECT_EQ(canceled->code(), nvdla::make_error_code(nvdla::ErrorCode::kCanceled));
  // The queue goes on in another context before anybody asks what became of the first job.
  EXPECT_FALSE(outcome(device.submit(program, bindings)));
  const auto hang = outcome(hangs);
  ASSERT_TRUE(hang);
  EXPECT_EQ(hang->code(), nvdla::make_error_code(nvdla::ErrorCode::kHang));
  EXPECT_EQ(hang->layer(), 1);
  EXPECT_NE(std::string(hang->what()).find("layer 1 (sdp) does not end"), std::string::npos)
      << hang->what();
}

TEST_F(WithReset, AResetComesBeforeTheLateWrite) {
  const auto late = faults_.get(NVDLA_FAULT_STATE) & NVDLA_FAULT_STATE_LATE;
  faults_.set(NVDLA_FAULT_LATE_MS, 8000);
  faults_.set(NVDLA_FAULT_BLOCK, 1);
  const auto before = Clock::now();
  Client client;
  ASSERT_EQ(client.run(7.5), ETIME) << "the deadline is to come first in this test";
  client.forget();
  std::this_thread::sleep_until(before + std::chrono::seconds(9));
  EXPECT_EQ(faults_.get(NVDLA_FAULT_STATE) & NVDLA_FAULT_STATE_LATE, late);
  EXPECT_FALSE(client.copied());
}

TEST_F(WithReset, ASlowDeviceIsWaitedFor) {
  Client client;
  faults_.set(NVDLA_FAULT_DELAY_US, 300000);
  const auto done = client.start();
  EXPECT_EQ(client.end(done, 0.05), ETIMEDOUT);
  EXPECT_EQ(client.end(done), 0);
  EXPECT_TRUE(client.copied());
}

TEST_F(WithReset, AProcessKilledAtWorkHarmsNobody) {
  faults_.set(NVDLA_FAULT_DELAY_US, 400000);
  const pid_t victim = ::fork();
  if (victim == 0) {
    Client client;
    client.start();
    ::pause();
    ::_exit(0);
  }
  ::usleep(200000);
  ASSERT_EQ(::kill(victim, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(victim, &status, 0), victim);
  EXPECT_TRUE(WIFSIGNALED(status));
  Client client;
  EXPECT_EQ(client.run(), 0);
  EXPECT_TRUE(client.copied());
  EXPECT_EQ(client.state().resets, 0u);
}

// As if it were unplugged and plugged in again.
TEST_F(WithReset, AGoneDeviceEndsEverything) {
  {
    Client client;
    faults_.set(NVDLA_FAULT_DELAY_US, 200000);
    const auto done = client.start();
    faults_.set(NVDLA_FAULT_GONE, 1);
    EXPECT_EQ(client.end(done), ENODEV);
    // What comes while the driver tries to reset it waits, then ends as well.
    for (int error = 0; error == 0;) {
      std::uint32_t next = 0;
      error = client.try_start(next);
      EXPECT_EQ(error == 0 ? client.end(next, 20) : error, ENODEV);
    }
  }
  faults_.clear();
  faults_.rebind();
  Client client;
  EXPECT_EQ(client.run(), 0);
  EXPECT_TRUE(client.copied());
}

class WithoutReset : public Misbehaviour {
 protected:
  void SetUp() override {
    Misbehaviour::SetUp();
    ASSERT_FALSE(Client().can_reset()) << "this run is for a function that cannot be reset";
  }
};

// All that is free of it, in pages.
std::vector<std::uint32_t> take_sram(const Node& node) {
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
    for (int i = 0; i < 256; ++i) fill(node.map(node.buffer(16 * kPage), 16 * kPage), 16 * kPage);
    for (const std::uint32_t handle : take_sram(node)) fill(node.map(handle, kPage), kPage);
    constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;
    for (int i = 0; i < 160; ++i) {
      void* chunk = ::mmap(nullptr, kChunk, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      if (chunk != MAP_FAILED) fill(static_cast<std::uint8_t*>(chunk), kChunk);
    }
  }
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

// One test, because it costs the device.
TEST_F(WithoutReset, AHangWedgesAndALateWriteHitsNobody) {
  const std::size_t sram_pages = take_sram(Node()).size();
  auto guilty = std::make_unique<Client>(1, Target::kDramAndSram);
  Client innocent;
  EXPECT_EQ(innocent.run(), 0);
  faults_.set(NVDLA_FAULT_LATE_MS, 12000);
  faults_.set(NVDLA_FAULT_BLOCK, 1);
  const auto before = Clock::now();
  const auto first = guilty->start();
  const auto other = innocent.start();
  EXPECT_EQ(guilty->end(first), ETIME);
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
  EXPECT_GT(sram_pages, 1u);
  EXPECT_EQ(take_sram(node).size(), 0u) << "all of it is watched";
  faults_.set_bus_master(true);
  ASSERT_LT(Clock::now() - before, std::chrono::seconds(12)) << "too slow a machine for this test";
  EXPECT_EQ(faults_.get(NVDLA_FAULT_STATE), std::uint32_t{NVDLA_FAULT_STATE_BLOCKED});
  while ((faults_.get(NVDLA_FAULT_STATE) & NVDLA_FAULT_STATE_LATE) == 0 &&
         Clock::now() - before < std::chrono::seconds(20))
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(faults_.get(NVDLA_FAULT_STATE), std::uint32_t{NVDLA_FAULT_STATE_LATE});
  EXPECT_TRUE(watch.untouched());
}

}  // namespace
}  // namespace nvdla::emulator_test
