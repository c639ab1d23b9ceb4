// SPDX-License-Identifier: MIT
//
// Processes that end, or call fork(), while the device works; systems without threads or memory.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/request.hpp"
#include "nvdla/types/quantization.hpp"

namespace {

// Threads of the process that may be made, and allocations that may succeed on other threads than
// the test's own.
std::atomic<int> g_threads{1 << 30};
std::atomic<long> g_allocations{-1};
thread_local bool t_own = false;

bool may_allocate() {
  if (t_own || g_allocations.load(std::memory_order_relaxed) < 0) return true;
  return g_allocations.fetch_sub(1, std::memory_order_relaxed) > 0 ||
         (g_allocations.store(0, std::memory_order_relaxed), false);
}

}  // namespace

// The C++ library finds these in place of its own.
#pragma GCC visibility push(default)

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto kCreate = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (g_threads.fetch_sub(1) <= 0) return EAGAIN;
  return kCreate(thread, attributes, body, argument);
}

// Inlined into a caller, the two would look like a mismatched pair to the compiler.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (may_allocate())
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}

#pragma GCC visibility pop

namespace nvdla {
namespace {

const std::vector<std::int8_t> kWeights(64 * 64 * 9, 1);

// Convolutions before and behind a layer of the CPU.
Network chain() {
  Network net;
  Convolution c{.name = "before", .kernels = 64, .kernel_height = 3, .kernel_width = 3};
  c.weights = kWeights;
  c.pad_top = c.pad_bottom = c.pad_left = c.pad_right = 1;
  const Quantization one{1.0F, 0};
  const Tensor before = net.convolution(net.input("in", {64, 40, 40}, one), c);
  const Tensor softmax = net.softmax(before, {.name = "softmax", .input = one});
  c.name = "behind";
  net.output(net.convolution(softmax, c), "out");
  return net;
}

// Takes its time at the end of the process, when the library's static objects are gone already.
struct SlowEnd {
  ~SlowEnd() { std::this_thread::sleep_for(std::chrono::milliseconds(150)); }
};

// Ends the process while a run is in flight that alone holds the device.
[[noreturn]] void exit_in_flight(int microseconds) {
  static const SlowEnd kSlowEnd;
  {
    Request request = chain().compile(Device::open("model:nv_small")).create_request();
    request.submit();
  }
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  std::exit(0);
}

TEST(Processes, EndWithARunInFlight) {
  for (int i = 0; i < 24; ++i)
    EXPECT_EXIT(exit_in_flight(i * i * 150), ::testing::ExitedWithCode(0), "") << i;
}

// Objects with static storage outlive the library's own threads.
[[noreturn]] void exit_with_static_objects() {
  static Device device = Device::open("model:nv_small");
  static Request request = chain().compile(device).create_request();
  static Fence fence = request.submit();
  std::exit(0);
}

TEST(Processes, EndWithStaticObjects) {
  for (int i = 0; i < 8; ++i)
    EXPECT_EXIT(exit_with_static_objects(), ::testing::ExitedWithCode(0), "");
}

[[noreturn]] void exit_in_callback() {
  Request request = chain().compile(Device::open("model:nv_small")).create_request();
  const Fence fence = request.submit();
  fence.on_end([] { std::exit(0); });
  for (;;) ::pause();
}

TEST(Processes, EndInACallback) {
  for (int i = 0; i < 4; ++i) EXPECT_EXIT(exit_in_callback(), ::testing::ExitedWithCode(0), "");
}

// In a child, which has no other thread: 0 if `call` ends well, 1 if it does not; alarm() ends one
// that hangs.
template <typename Call>
int status_of_child(const Call& call) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    call();
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(Processes, ForkLeavesDevicesToTheParent) {
  const Device device = Device::open("model:nv_small");
  Request request = chain().compile(device).create_request();
  request.submit().wait();
  const Fence flying = request.submit();
  const int status = status_of_child([&] {
    const auto refused = [](const auto& use) {
      test::expect_error(ErrorCode::kNotAvailable, "open the device in the child", use);
    };
    refused([&] { (void)device.allocate(64); });
    refused([&] { (void)device.create_queue(); });
    refused([&] { (void)chain().compile(device).create_request(); });
    if (!flying.done()) refused([&] { flying.wait(); });
    // A device of its own has all of its threads.
    Request own = chain().compile(Device::open("model:nv_small")).create_request();
    own.submit().wait();
    own.submit({.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1)}).wait();
  });
  EXPECT_EQ(status, 0);
  flying.wait();
  request.submit().wait();
}

TEST(Processes, WithoutThreadsSaySo) {
  const auto refused = [](const auto& use) {
    const int status = status_of_child([&] {
      test::expect_error(ErrorCode::kNoMemory, "no thread that ", use);
      g_threads = 1 << 30;
    });
    EXPECT_EQ(status, 0);
  };
  refused([] {
    g_threads = 0;
    (void)Device::open("model:nv_small");
  });
  refused([] {
    Request request = chain().compile(Device::open("model:nv_small")).create_request();
    g_threads = 0;
    (void)request.submit();
  });
  refused([] {
    Request request = chain().compile(Device::open("model:nv_small")).create_request();
    request.submit().wait();
    g_threads = 0;
    (void)request.submit({.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1)});
  });
  refused([] {
    const Fence none;
    g_threads = 0;
    none.on_end([] {});
  });
}

// Whichever allocation of the library's threads fails first: the run ends, well or with an error.
TEST(Processes, WithoutMemoryEndTheirRuns) {
  t_own = true;
  const Device device = Device::open("model:nv_small");
  const CompiledNetwork net = chain().compile(device, {.statistics = true});
  std::size_t failed = 0;
  for (long allocations = 0; allocations < 60; ++allocations) {
    Request request = net.create_request();
    g_allocations = allocations;
    const Fence fence = request.submit();
    // The thread that waits runs jobs of the model itself.
    while (!fence.done()) std::this_thread::sleep_for(std::chrono::microseconds(50));
    g_allocations = -1;
    try {
      fence.wait();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), make_error_code(ErrorCode::kNoMemory)) << error.what();
      ++failed;
    }
  }
  EXPECT_GT(failed, 0U);
}

}  // namespace
}  // namespace nvdla
