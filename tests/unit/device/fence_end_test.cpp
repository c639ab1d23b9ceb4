// SPDX-License-Identifier: MIT
//
// How a submission ends before its time, and how one learns of its end without waiting.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/info.hpp"
#include "backend/inprocess/job.hpp"
#include "backend/model/runner.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/manual_fence.hpp"
#include "common/runtime/small_program.hpp"
#include "nvdla/device.hpp"
#include "nvdla/queue.hpp"

namespace nvdla {
namespace {

using namespace std::chrono_literals;
using test::expect_error;
using test::fence_of;
using test::ManualFence;
using test::SmallProgram;
using Clock = std::chrono::steady_clock;

constexpr const char* kCanceled = "the job was canceled";
constexpr const char* kLate = "the deadline passed before the job had ended";

bool readable(int file, int timeout_ms = 0) {
  pollfd one = {file, POLLIN, 0};
  return ::poll(&one, 1, timeout_ms) == 1 && (one.revents & POLLIN) != 0;
}

// Jobs that add 1, on a model, which wait for a gate if asked to.
class Ends : public testing::Test {
 protected:
  Ends() { waits_.push_back(fence_of(gate)); }
  ~Ends() override { gate->end(); }

  Fence submit_held(const Buffer& to) {
    return device.submit(program, std::vector<Binding>{in, to}, {.wait_fences = waits_});
  }
  Fence submit(const Buffer& to, const SubmitOptions& options = {}) {
    return device.submit(program, std::vector<Binding>{in, to}, options);
  }

  Device device = Device::open("model:nv_small");
  SmallProgram small{device, 1};
  Program program = small.create();
  Buffer in = small.buffer(3), out = small.buffer(), other = small.buffer();
  std::shared_ptr<ManualFence> gate = std::make_shared<ManualFence>();

 private:
  std::vector<Fence> waits_;
};

// ---- cancel

TEST_F(Ends, ACanceledJobThatWaitsEndsAtOnce) {
  const Fence held = submit_held(out), behind = submit(other);
  EXPECT_FALSE(held.done());
  EXPECT_TRUE(held.cancel());
  EXPECT_TRUE(held.done());
  expect_error(ErrorCode::kCanceled, kCanceled, [&] { held.wait(); });
  expect_error(ErrorCode::kCanceled, kCanceled, [&] { held.wait(0ns); });
  // It holds up nobody, and never runs.
  behind.wait();
  EXPECT_EQ(small.value(other), 4);
  gate->end();
  EXPECT_EQ(small.value(out), 0);
}

TEST_F(Ends, WhatHasEndedIsNotCanceled) {
  const Fence well = submit(out);
  well.wait();
  EXPECT_FALSE(well.cancel());
  EXPECT_NO_THROW(well.wait());
  const Fence failed = submit_held(out);
  EXPECT_TRUE(failed.cancel());
  EXPECT_FALSE(failed.cancel());
  EXPECT_FALSE(Fence().cancel());
}

TEST_F(Ends, ACancelReachesAllThatWait) {
  const Device full = Device::open("model:nv_full");
  const SmallProgram there(full, 1);
  const Fence first = submit_held(out);
  const std::vector<Fence> for_first = {first};
  const Fence second =
      full.submit(there.create(), std::vector{Binding(there.buffer(3)), Binding(there.buffer())},
                  {.wait_fences = for_first});
  const std::vector<Fence> for_second = {second};
  const Fence third = device.create_queue().submit(
      program, std::vector<Binding>{in, small.buffer()}, {.wait_fences = for_second});
  const Fence apart = submit(other);
  first.cancel();
  const std::string waited = "a job that this one waits for failed: ";
  expect_error(ErrorCode::kCanceled, waited + kCanceled, [&] { second.wait(); });
  expect_error(ErrorCode::kCanceled, waited + waited + kCanceled, [&] { third.wait(); });
  EXPECT_NO_THROW(apart.wait());
}

// A job of the model stops after the layers that it is at, and the device goes on with the next.
TEST_F(Ends, ACanceledJobThatRunsStopsBetweenLayers) {
  constexpr std::uint32_t kLayers = 40;
  SmallProgram chain(device, 1, {8, 2, 2}, kLayers);
  const std::uint64_t bytes = tensor_bytes(chain.tensor);
  for (std::uint32_t i = 0; i < kLayers; ++i) {
    chain.layers[i].sdp.output.offset = i * bytes;
    if (i != 0) add_wait(chain.layers[i], i - 1);
  }
  chain.slots[1].size = kLayers * bytes;
  const Program many = chain.create();
  const Buffer from = chain.buffer(3), to = device.allocate(kLayers * bytes);

  const nvdla_hw& hw = *detail::find_configuration(device.info().configuration);
  detail::ModelRunner runner(hw, {});
  const auto run = [&](bool canceled) {
    std::pmr::vector<detail::LocalBinding> bound;
    for (const Buffer* buffer : {&from, &to}) {
      bound.push_back(
          {std::static_pointer_cast<detail::LocalBuffer>(detail::Handles::impl(*buffer)), 0});
    }
    detail::Job job(
        std::static_pointer_cast<const detail::CompiledProgram>(detail::Handles::impl(many)),
        std::move(bound), {});
    if (canceled) job.cancel(Error(ErrorCode::kCanceled, kCanceled));
    EXPECT_FALSE(runner.run(job).has_value());
    std::uint32_t ran = 0;
    const Map map = to.map(MapMode::kRead);
    for (std::uint32_t i = 0; i < kLayers; ++i) ran += map.bytes()[i * bytes] == std::byte{4};
    return ran;
  };
  const std::uint32_t stopped = run(true);
  EXPECT_GE(stopped, 1U);
  EXPECT_LT(stopped, kLayers / 2);
  EXPECT_EQ(run(false), kLayers);
}

// ---- deadlines

TEST_F(Ends, AfterItsDeadlineAJobDoesNotStart) {
  const Fence fence = submit(out, {.deadline = Clock::now()});
  const auto error = expect_error(ErrorCode::kDeadline, kLate, [&] { fence.wait(); });
  EXPECT_EQ(error->code(), std::errc::timed_out);
  EXPECT_EQ(small.value(out), 0);
}

TEST_F(Ends, AtItsDeadlineAJobThatWaitsEnds) {
  const std::vector<Fence> waits = {fence_of(gate)};
  // In the order of the deadlines, not of the submissions; one that is gone is not missed.
  const Fence later = submit(out, {.wait_fences = waits, .deadline = Clock::now() + 40ms});
  const Fence sooner = submit(out, {.wait_fences = waits, .deadline = Clock::now() + 10ms});
  submit(out, {.wait_fences = waits, .deadline = Clock::now() + 20ms}).cancel();
  const Fence behind = submit(other);
  expect_error(ErrorCode::kDeadline, kLate, [&] { later.wait(); });
  EXPECT_TRUE(sooner.done());
  expect_error(ErrorCode::kDeadline, kLate, [&] { sooner.wait(); });
  EXPECT_NO_THROW(behind.wait());
  EXPECT_EQ(small.value(out), 0);
}

TEST_F(Ends, InTimeADeadlineChangesNothing) {
  for (const auto deadline : {Clock::now() + 24h, Clock::time_point::max()}) {
    EXPECT_NO_THROW(submit(out, {.deadline = deadline}).wait());
    EXPECT_EQ(small.value(out), 4);
    small.fill(out, 0);
  }
}

// ---- polling

TEST_F(Ends, APolledFileIsReadableFromTheEndOn) {
  const Fence fence = submit_held(out);
  const int file = fence.poll_fd();
  EXPECT_FALSE(readable(file));
  EXPECT_EQ(fence.poll_fd(), file);
  gate->end();
  EXPECT_TRUE(readable(file, -1));
  EXPECT_TRUE(fence.done());
  EXPECT_TRUE(readable(file));
}

TEST_F(Ends, APolledFileTellsOfAnyEnd) {
  const Fence well = submit(out);
  well.wait();
  EXPECT_TRUE(readable(well.poll_fd()));
  const Fence canceled = submit_held(out);
  EXPECT_FALSE(readable(canceled.poll_fd()));
  canceled.cancel();
  EXPECT_TRUE(readable(canceled.poll_fd()));
  expect_error(ErrorCode::kInvalidArgument, "the fence handle is empty: there is nothing to poll",
               [] { Fence().poll_fd(); });
}

TEST_F(Ends, APolledFileIsClosedWithItsFence) {
  int file = -1;
  {
    const Fence fence = submit_held(out);
    file = fence.poll_fd();
    fence.cancel();
  }
  pollfd one = {file, POLLIN, 0};
  EXPECT_EQ(::poll(&one, 1, 0), 1);
  EXPECT_NE(one.revents & POLLNVAL, 0);
}

// ---- callbacks

TEST_F(Ends, CallbacksComeAfterTheEnd) {
  const Fence held = submit_held(out);
  std::promise<std::thread::id> called;
  std::atomic<int> calls{0};
  held.on_end([&] {
    EXPECT_TRUE(held.done());
    ++calls;
    called.set_value(std::this_thread::get_id());
  });
  EXPECT_EQ(calls, 0);
  gate->end();
  EXPECT_NE(called.get_future().get(), std::this_thread::get_id());
  // Of what has ended, or of nothing, they come as well.
  for (const Fence& fence : {held, Fence()}) {
    std::promise<void> again;
    fence.on_end([&] { again.set_value(); });
    again.get_future().get();
  }
  EXPECT_EQ(calls, 1);
  expect_error(ErrorCode::kInvalidArgument, "the function to call at the end is empty",
               [&] { held.on_end({}); });
}

TEST_F(Ends, CallbacksSeeHowItEnded) {
  const Fence held = submit_held(out);
  std::promise<std::string> told;
  held.on_end([&] {
    try {
      held.wait();
      told.set_value("well");
    } catch (const Error& error) {
      told.set_value(error.what());
    }
  });
  held.cancel();
  EXPECT_EQ(told.get_future().get(), kCanceled);
}

TEST_F(Ends, CallbacksSubmitAndDoNotWait) {
  const Fence held = submit_held(out);
  std::promise<Fence> next;
  std::promise<std::string> refused;
  const auto second = std::make_shared<ManualFence>();
  held.on_end([&] {
    const std::vector<Fence> waits = {fence_of(second)};
    const Fence fence = submit(other, {.wait_fences = waits});
    try {
      fence.wait();
    } catch (const Error& error) {
      refused.set_value(error.what());
    }
    EXPECT_THROW(fence.wait(1h), Error);
    next.set_value(fence);
  });
  gate->end();
  EXPECT_NE(refused.get_future().get().find("waiting in a callback"), std::string::npos);
  const Fence fence = next.get_future().get();
  second->end();
  fence.wait();
  EXPECT_EQ(small.value(other), 4);
}

// A device may close there: no thread that it joins runs callbacks.
TEST(EndsOfDevices, TheLastHandleMayGoInACallback) {
  for (int i = 0; i < 20; ++i) {
    std::promise<void> dropped;
    {
      const Device device = Device::open("model:nv_small");
      const SmallProgram small(device, 1);
      const Fence fence = device.submit(
          small.create(), std::vector{Binding(small.buffer(3)), Binding(small.buffer())});
      struct Last {
        ~Last() {
          device.reset();
          done->set_value();
        }
        std::optional<Device> device;
        std::promise<void>* done = nullptr;
      };
      auto last = std::make_shared<Last>();
      last->device = device;
      last->done = &dropped;
      fence.on_end([last] {});
    }
    dropped.get_future().get();
  }
}

}  // namespace
}  // namespace nvdla
