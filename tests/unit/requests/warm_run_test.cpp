// SPDX-License-Identifier: MIT
//
// What a request's later runs cost: they take no memory from the heap, and no other thread wakes
// up. Apart from other tests, because this one counts every allocation of the process.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "common/runtime/reference.hpp"
#include "nvdla/nvdla.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

void* take(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void*)), size) != 0)
    throw std::bad_alloc();
  return memory;
}

}  // namespace

// Those of the library call these two. Inlined, the compiler takes their parts for a mistake.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return take(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return take(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace nvdla {
namespace {

constexpr std::uint32_t kChannels = 64, kSize = 28;

// A residual block with everything that networks are made of.
Tensor add_block(Network& net, Tensor input, const std::string& name) {
  const auto weights = test::random_values<std::int8_t>(kChannels * kChannels * 9, 1, -128, 127);
  const auto factors = test::random_values<std::int16_t>(kChannels, 2, 1, 3000);
  const auto biases = test::random_values<std::int32_t>(kChannels, 3, -30000, 30000);
  const auto convolution = [&](const std::string& what) {
    Convolution conv{.name = what, .kernels = kChannels, .kernel_height = 3, .kernel_width = 3};
    conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
    conv.weights = weights;
    conv.bias = biases;
    conv.x1 = scale(factors, 20);
    return conv;
  };
  const std::string names[] = {name + ".a",   name + ".b",   name + ".c",
                               name + ".max", name + ".sum", name + ".average"};
  Convolution a = convolution(names[0]), b = convolution(names[1]), c = convolution(names[2]);
  a.relu = true;
  b.x2 = elementwise(NVDLA_ALU_SUM, input, 4);
  b.output.shift = 4;
  c.y.alu = NVDLA_ALU_SUM;
  c.y.tensor = input;
  c.y.alu_converter = {.scale = 77, .shift = 5};
  Pooling pool{.name = names[3], .kernel_height = 3, .kernel_width = 3};
  pool.pad_top = pool.pad_bottom = pool.pad_left = pool.pad_right = 1;
  const Tensor first = net.pooling(net.convolution(input, a), pool);
  const Tensor second = net.convolution(first, b);
  Pointwise sum{.name = names[4]};
  sum.x1 = elementwise(NVDLA_ALU_SUM, second);
  const Tensor third = net.pointwise(net.convolution(second, c), sum);
  pool.name = names[5];
  pool.method = NVDLA_POOL_AVERAGE;
  return net.pooling(third, pool);
}

// A convolution that multiplies otherwise.
Tensor add_convolution(Network& net, Tensor input, const std::string& name, Rewrite winograd) {
  Convolution conv{.name = name, .kernels = kChannels, .kernel_height = 3, .kernel_width = 3};
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
  conv.tuning.winograd = winograd;
  const auto bytes = test::random_values<std::int8_t>(kChannels * kChannels * 9, 1, -7, 7);
  const std::vector<std::int16_t> words(bytes.begin(), bytes.end());
  const std::vector<float> floats(bytes.begin(), bytes.end());
  switch (net.precision(input)) {
    case Precision::kInt8:
      conv.weights = bytes;
      break;
    case Precision::kInt16:
      conv.weights = words;
      break;
    case Precision::kFp16:
      conv.weights = floats;
      break;
  }
  if (net.precision(input) != Precision::kFp16) conv.output = {.scale = 1, .shift = 10};
  return net.convolution(input, conv);
}
Tensor add_direct(Network& net, Tensor input, const std::string& name) {
  return add_convolution(net, input, name, Rewrite::kNever);
}
Tensor add_winograd(Network& net, Tensor input, const std::string& name) {
  return add_convolution(net, input, name, Rewrite::kAlways);
}

// Where there are NaNs fp16 goes another way.
Tensor add_nans(Network& net, Tensor input, const std::string& name) {
  Convolution conv{.name = name, .kernels = kChannels, .kernel_height = 1, .kernel_width = 3};
  conv.pad_left = conv.pad_right = 1;
  std::vector<float> weights(kChannels * kChannels * 3, 0.5F);
  weights[kChannels + 1] = std::numeric_limits<float>::quiet_NaN();
  conv.weights = weights;
  return net.convolution(input, conv);
}

using Add = Tensor (*)(Network& net, Tensor input, const std::string& name);

class WarmRuns : public testing::TestWithParam<const char*> {};

void expect_no_allocation(const Device& device, Precision precision, Add add,
                          const BuildOptions& options = {}, int runs = 3) {
  constexpr unsigned kBlocks = 3;
  Network net;
  Tensor at = net.input("in", {kChannels, kSize, kSize}, precision);
  for (unsigned i = 0; i < kBlocks; ++i) at = add(net, at, "block" + std::to_string(i));
  net.output(at, "out");
  Request request = net.build(device, options);
  const auto run = [&] {
    const std::uint64_t before = allocations;
    request.run();
    request.submit().wait();
    return allocations - before;
  };
  EXPECT_GT(run(), 0u) << "allocations are not counted";
  run();
  for (int i = 0; i < runs; ++i) ASSERT_EQ(run(), 0u) << "run " << i;
}

TEST_P(WarmRuns, AllocateNothing) {
  // A queue that keeps its jobs in pieces would need another one meanwhile.
  expect_no_allocation(Device::open(GetParam()), Precision::kInt8, add_block, {}, 100);
}

TEST_P(WarmRuns, AllocateNothingForStatistics) {
  expect_no_allocation(Device::open(GetParam()), Precision::kInt8, add_block, {.statistics = true});
}

// Of configurations that have all precisions, and Winograd.
class WarmRunsOfFull : public WarmRuns {};

TEST_P(WarmRunsOfFull, AllocateNothingInFp16) {
  for (const char* const how : {"", ",fp16=fast"}) {
    for (const Add add : {add_direct, add_nans}) {
      SCOPED_TRACE(std::string(how) + (add == add_nans ? " with NaNs" : ""));
      expect_no_allocation(Device::open(std::string(GetParam()) + how), Precision::kFp16, add);
    }
  }
}

TEST_P(WarmRunsOfFull, AllocateNothingForWinograd) {
  const Device device = Device::open(GetParam());
  for (const Precision precision : {Precision::kInt8, Precision::kInt16, Precision::kFp16}) {
    SCOPED_TRACE(static_cast<int>(precision));
    expect_no_allocation(device, precision, add_winograd);
  }
}

struct Others {
  unsigned awake = 0;
  std::uint64_t sleeps = 0;  // so far
};

// The other threads of the process.
Others other_threads() {
  Others others;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    if (thread.path().filename() == std::to_string(gettid())) continue;
    std::ifstream status(thread.path() / "status");
    for (std::string word; status >> word;) {
      std::uint64_t count = 0;
      if (word == "State:" && status >> word) others.awake += word == "S" ? 0 : 1;
      if (word == "voluntary_ctxt_switches:" && status >> count) others.sleeps += count;
    }
  }
  return others;
}

std::uint64_t sleeps_of_sleeping_threads() {
  for (;;) {
    const Others others = other_threads();
    if (others.awake == 0) return others.sleeps;
    std::this_thread::yield();
  }
}

// Who waits for a run computes it.
TEST(WarmRun, WakesNoOtherThread) {
  const Device device = Device::open("model:nv_full,threads=1");
  Network net;
  net.output(add_block(net, net.input("in", {kChannels, kSize, kSize}), "block"), "out");
  Request request = net.build(device);
  request.run();
  const std::uint64_t before = sleeps_of_sleeping_threads();
  for (int i = 0; i < 50; ++i) request.run();
  const Others after = other_threads();
  EXPECT_EQ(after.awake, 0u);
  EXPECT_EQ(after.sleeps, before);
  // What nobody is known to wait for needs the device's own thread.
  const Fence fence = request.submit();
  while (sleeps_of_sleeping_threads() == before) continue;
  fence.wait();
}

INSTANTIATE_TEST_SUITE_P(Devices, WarmRuns,
                         testing::Values("model:nv_full,threads=1", "model:nv_full,threads=2",
                                         "model:nv_small_256_full,threads=1"),
                         [](const auto& which) { return "d" + std::to_string(which.index); });
INSTANTIATE_TEST_SUITE_P(Devices, WarmRunsOfFull,
                         testing::Values("model:nv_full,threads=1", "model:nv_full,threads=2"),
                         [](const auto& which) { return "d" + std::to_string(which.index); });

}  // namespace
}  // namespace nvdla
