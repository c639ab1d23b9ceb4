// SPDX-License-Identifier: MIT
//
// Requests of a compiled network: what they share, what each has for itself, and how they run.
#include "nvdla/request.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/runtime/counting_device.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/manual_fence.hpp"
#include "common/runtime/reference.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::fence_of;
using test::ManualFence;

constexpr std::uint32_t kChannels = 64, kSide = 3;

// Two convolutions with far more weights than elements.
struct Weighty {
  Network network() const {
    Network net;
    Tensor t = net.input("in", {kChannels, kSide, kSide});
    for (const auto* w : {&first, &second}) {
      Convolution c{.name = w == &first ? "first" : "second", .kernels = kChannels};
      c.kernel_height = c.kernel_width = 3;
      c.pad_top = c.pad_bottom = c.pad_left = c.pad_right = 1;
      c.weights = *w;
      c.output = {.scale = 1, .shift = 10};
      t = net.convolution(t, c);
    }
    net.output(t, "out");
    return net;
  }
  static std::vector<std::int8_t> input(std::uint32_t seed) {
    return test::random_values<std::int8_t>(kChannels * kSide * kSide, seed, -128, 127);
  }
  static std::uint64_t weight_bytes() { return 2ULL * kChannels * kChannels * 9; }

  std::vector<std::int8_t> first =
      test::random_values<std::int8_t>(kChannels * kChannels * 9, 1, -128, 127);
  std::vector<std::int8_t> second =
      test::random_values<std::int8_t>(kChannels * kChannels * 9, 2, -128, 127);
};

template <typename Runner>
std::vector<std::int8_t> result(const Runner& runner) {
  std::vector<std::int8_t> found(kChannels * kSide * kSide);
  runner.read("out", Layout::kNchw, found);
  return found;
}

// Returns what a request of a network of its own makes of it.
std::vector<std::int8_t> expected(const Device& device, std::uint32_t seed) {
  Request request = Weighty().network().build(device);
  request.write("in", Layout::kNchw, Weighty::input(seed));
  request.run();
  return result(request);
}

// y = x + value, from "in" to "out".
CompiledNetwork adder(const Device& device, std::int16_t value) {
  const std::vector<std::int16_t> by = {value};
  Network net;
  net.output(net.pointwise(net.input("in", {8, 2, 2}), {.name = "more", .x1 = bias(by)}), "out");
  return net.compile(device);
}

std::vector<std::int8_t> cube_of(std::int8_t value) { return std::vector<std::int8_t>(32, value); }

std::vector<std::int8_t> sums(const Request& request) {
  std::vector<std::int8_t> found(32);
  request.read("out", Layout::kNchw, found);
  return found;
}

TEST(Requests, ShareConstants) {
  for (const char* const name : {"model:nv_small", "model:nv_full"}) {
    SCOPED_TRACE(name);
    const auto backend = std::make_shared<test::CountingBackend>(name);
    const auto device = detail::Handles::make<Device>(std::shared_ptr<detail::Backend>(backend));
    const CompiledNetwork compiled = Weighty().network().compile(device);
    const test::Allocations constants = backend->take();
    EXPECT_GE(constants.bytes, Weighty::weight_bytes());

    const Request a = compiled.create_request();
    const test::Allocations own = backend->take();
    EXPECT_EQ(own.buffers, 3U) << "input, output, and what lies between the convolutions";
    EXPECT_LT(own.bytes, Weighty::weight_bytes() / 8);
    const Request b = compiled.create_request();
    EXPECT_EQ(backend->take(), own);

    // What the report says is what was given.
    const MemoryUse use = compiled.memory();
    EXPECT_EQ(use.shared, constants.bytes);
    EXPECT_EQ(use.total, constants.bytes + own.bytes);
    test::Allocations shared, others;
    for (const BufferUse& buffer : use.buffers) {
      test::Allocations& sum = buffer.shared ? shared : others;
      ++sum.buffers;
      sum.bytes += buffer.bytes;
    }
    EXPECT_EQ(shared, constants);
    EXPECT_EQ(others, own);
  }
}

TEST(Requests, AllocateNothingWhenTheyRun) {
  const auto backend = std::make_shared<test::CountingBackend>("model:nv_small");
  const auto device = detail::Handles::make<Device>(std::shared_ptr<detail::Backend>(backend));
  Request request = Weighty().network().compile(device).create_request();
  backend->take();
  for (std::uint32_t i = 0; i < 3; ++i) {
    request.write("in", Layout::kNchw, Weighty::input(i));
    request.run();
  }
  EXPECT_EQ(backend->take(), test::Allocations());
}

TEST(Requests, AnyNumberInFlight) {
  const Device device = Device::open("model:nv_small");
  const CompiledNetwork compiled = Weighty().network().compile(device);
  const auto gate = std::make_shared<ManualFence>();
  const std::vector<Fence> waits = {fence_of(gate)};
  std::vector<Request> requests;
  for (std::uint32_t i = 0; i < 20; ++i) {
    requests.push_back(compiled.create_request());
    requests.back().write("in", Layout::kNchw, Weighty::input(i));
    requests.back().submit({.wait_fences = waits});
  }
  for (const Request& request : requests) EXPECT_FALSE(request.fence().done());
  gate->end();
  for (std::uint32_t i = 0; i < 20; ++i) {
    requests[i].fence().wait();
    EXPECT_EQ(result(requests[i]), expected(device, i)) << i;
  }
}

TEST(Requests, OutliveEverythingElse) {
  std::optional<Device> device = Device::open("model:nv_small");
  std::optional<CompiledNetwork> compiled = adder(*device, 1);
  Request request = compiled->create_request();
  compiled.reset();
  device.reset();
  request.write("in", Layout::kNchw, cube_of(3));
  request.run();
  EXPECT_EQ(sums(request), cube_of(4));
  EXPECT_EQ(request.network().input_name(0), "in");
}

TEST(Requests, ARunGoesOnWithoutItsRequest) {
  const Device device = Device::open("model:nv_small");
  std::optional<CompiledNetwork> compiled = adder(device, 1);
  std::optional<Request> request = compiled->create_request();
  request->write("in", Layout::kNchw, cube_of(3));
  const Buffer out = request->buffer("out");
  const TensorDesc desc = compiled->desc("out");
  const auto gate = std::make_shared<ManualFence>();
  const std::vector<Fence> waits = {fence_of(gate)};
  const Fence fence = request->submit({.wait_fences = waits});
  request.reset();
  compiled.reset();
  gate->end();
  fence.wait();
  std::vector<std::int8_t> found(32);
  unpack(desc, Layout::kNchw, out.map(MapMode::kRead).bytes(), found);
  EXPECT_EQ(found, cube_of(4));
}

// What one request leaves is what another one takes, and nothing is copied.
// What run() submits in a callback, where it may not wait, runs all the same.
TEST(Requests, RunAndDoNotWaitInACallback) {
  const Device device = Device::open("model:nv_small");
  const CompiledNetwork compiled = Weighty().network().compile(device);
  Request first = compiled.create_request(), second = compiled.create_request();
  const auto held = std::make_shared<ManualFence>();
  second.write("in", Layout::kNchw, Weighty::input(3));
  const std::vector<Fence> waits = {fence_of(held)};
  std::promise<std::string> refused;
  first.submit({.wait_fences = waits}).on_end([&] {
    try {
      second.run();
      refused.set_value("");
    } catch (const Error& error) {
      refused.set_value(error.what());
    }
  });
  held->end();
  const std::string why = refused.get_future().get();
  while (!second.fence().done()) std::this_thread::yield();
  EXPECT_EQ(result(second), expected(device, 3));
  // It may have ended before it could be waited for.
  EXPECT_TRUE(why.empty() || why.find("waiting in a callback") != std::string::npos) << why;
}

TEST(Requests, MakeAChainThroughABuffer) {
  const Device device = Device::open("model:nv_small");
  const CompiledNetwork one = adder(device, 1), ten = adder(device, 10);
  Request first = one.create_request(), second = ten.create_request();
  second.bind("in", first.buffer("out"));
  first.write("in", Layout::kNchw, cube_of(3));
  const std::vector<Fence> waits = {first.submit()};
  second.submit({.wait_fences = waits}).wait();
  EXPECT_EQ(sums(second), cube_of(14));
}

// A deadline that is too short ends the first; nothing of the chain is taken for a result.
TEST(Requests, AFailureReachesTheWholeChain) {
  const Device device = Device::open("model:nv_small");
  const CompiledNetwork compiled = adder(device, 1);
  Request chain[3] = {compiled.create_request(), compiled.create_request(device.create_queue()),
                      compiled.create_request()};
  Request apart = compiled.create_request();
  chain[0].write("in", Layout::kNchw, cube_of(3));
  apart.write("in", Layout::kNchw, cube_of(5));
  std::vector<Fence> waits;
  for (int i = 0; i < 3; ++i) {
    if (i > 0) chain[i].bind("in", chain[i - 1].buffer("out"));
    SubmitOptions options = {.wait_fences = waits};
    if (i == 0) options.deadline = std::chrono::steady_clock::now();
    const Fence fence = chain[i].submit(options);
    waits = {fence};
  }
  apart.run();
  EXPECT_EQ(sums(apart), cube_of(6));
  const std::string late = "the deadline passed before the job had ended";
  expect_error(ErrorCode::kDeadline, late, [&] { chain[0].fence().wait(); });
  expect_error(ErrorCode::kDeadline, "reading 'out': the last run failed: " + late,
               [&] { sums(chain[0]); });
  for (int i = 1; i < 3; ++i) {
    expect_error(ErrorCode::kCanceled,
                 "a job that this one waits for failed: ", [&] { chain[i].fence().wait(); });
    expect_error(ErrorCode::kCanceled, late, [&] { sums(chain[i]); });
  }
  // They are as good as new.
  waits.clear();
  for (Request& request : chain) {
    const Fence fence = request.submit({.wait_fences = waits});
    waits = {fence};
  }
  waits[0].wait();
  EXPECT_EQ(sums(chain[2]), cube_of(6));
}

TEST(Requests, OfAQueueOfTheirOwnPassOthers) {
  const Device device = Device::open("model:nv_small");
  const CompiledNetwork compiled = adder(device, 1);
  Request held = compiled.create_request(),
          passing = compiled.create_request(device.create_queue());
  held.write("in", Layout::kNchw, cube_of(3));
  passing.write("in", Layout::kNchw, cube_of(5));
  const auto gate = std::make_shared<ManualFence>();
  const std::vector<Fence> waits = {fence_of(gate)};
  held.submit({.wait_fences = waits});
  passing.run();
  EXPECT_EQ(sums(passing), cube_of(6));
  EXPECT_FALSE(held.fence().done());
  gate->end();
  held.fence().wait();
  EXPECT_EQ(sums(held), cube_of(4));
}

TEST(Requests, RefuseWhatIsNotTheirs) {
  const Device device = Device::open("model:nv_small"), other = Device::open("model:nv_small");
  const CompiledNetwork compiled = adder(device, 1);
  expect_error(ErrorCode::kInvalidArgument,
               "the queue belongs to another device than the compiled network",
               [&] { compiled.create_request(other.queue()); });
  expect_error(ErrorCode::kInvalidArgument, "the queue handle is empty",
               [&] { compiled.create_request(Queue()); });
  Request request = compiled.create_request();
  expect_error(ErrorCode::kInvalidArgument, "the buffer for 'in' belongs to another device",
               [&] { request.bind("in", other.allocate(4096)); });
  expect_error(ErrorCode::kInvalidArgument, "no input is called 'x'; there is 'in'",
               [&] { request.write("x", Layout::kNchw, cube_of(1)); });
  expect_error(ErrorCode::kInvalidArgument, "'in' is a tensor, not an image",
               [&] { request.write_pixels("in", std::vector<std::byte>(16)); });
  expect_error(ErrorCode::kInvalidArgument, "layer 1: the compiled network has 1",
               [&] { compiled.layer_name(1); });
}

TEST(Requests, SayThatTheyAreRequests) {
  const Device device = Device::open("model:nv_small");
  Request request = adder(device, 1).create_request();
  EXPECT_FALSE(static_cast<bool>(request.fence()));
  expect_error(ErrorCode::kInvalidArgument, "reading 'out': the request has not run yet",
               [&] { sums(request); });
  const auto gate = std::make_shared<ManualFence>();
  const std::vector<Fence> waits = {fence_of(gate)};
  const Fence fence = request.submit({.wait_fences = waits});
  expect_error(ErrorCode::kBusy, "writing 'in': the request is running: wait for its fence first",
               [&] { request.write("in", Layout::kNchw, cube_of(1)); });
  gate->end();
  fence.wait();
  const Request moved = std::move(request);
  // NOLINTBEGIN(bugprone-use-after-move): what is left is refused.
  expect_error(ErrorCode::kInvalidArgument, "the request is empty: it was moved from",
               [&] { request.run(); });
  expect_error(ErrorCode::kInvalidArgument, "the request is empty: it was moved from",
               [&] { request.network(); });
  // NOLINTEND(bugprone-use-after-move)
}

TEST(CompiledNetworks, EmptyHandlesAreRefused) {
  const CompiledNetwork none;
  EXPECT_FALSE(static_cast<bool>(none));
  EXPECT_EQ(none.inputs() + none.outputs() + none.layers(), 0U);
  const auto refused = [](const auto& call) {
    expect_error(ErrorCode::kInvalidArgument, "the handle of the compiled network is empty", call);
  };
  refused([&] { none.create_request(); });
  refused([&] { none.create_request(Queue()); });
  refused([&] { none.device(); });
  refused([&] { none.input_name(0); });
  refused([&] { none.output_name(0); });
  refused([&] { none.desc("in"); });
  refused([&] { none.image("in"); });
  refused([&] { none.layer_name(0); });
  refused([&] { none.layer_cycles(0); });
  refused([&] { none.layer_macs(0); });
  refused([&] { none.memory(); });
}

}  // namespace
}  // namespace nvdla
