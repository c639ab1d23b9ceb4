// SPDX-License-Identifier: MIT
//
// Networks of several programs with the CPU between them, as one submission: what a request does
// with it, how it fails, and what is told of it.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/manual_fence.hpp"
#include "common/runtime/other_device.hpp"
#include "common/runtime/small_program.hpp"
#include "common/runtime/values.hpp"
#include "device/compiled_impl.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/request_pool.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/shape.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

constexpr Shape kShape = {.channels = 20, .height = 3, .width = 4};
constexpr Quantization kSixteenths = {1 / 16.0F, 0};
constexpr std::int16_t kTwice[] = {2}, kOne[] = {1};

// Twice "in", a softmax of it, and that plus one. The CPU is layer 1.
Network make_network() {
  Network net;
  const Tensor in = net.input("in", kShape, kSixteenths);
  const Tensor twice = net.pointwise(in, {.name = "twice", .x1 = scale(kTwice)});
  const Tensor weights = net.softmax(twice, {.name = "softmax", .input = kSixteenths});
  net.output(net.pointwise(weights, {.name = "more", .x1 = bias(kOne)}), "out");
  return net;
}

std::vector<std::int8_t> input(std::uint32_t seed) {
  return test::random_values<std::int8_t>(kShape.elements(), seed, -40, 40);
}

// What the network makes of it.
std::vector<std::int8_t> expected(std::uint32_t seed) {
  const std::vector<std::int8_t> in = input(seed);
  std::vector<std::int8_t> out(in.size());
  const std::size_t area = std::size_t{kShape.height} * kShape.width;
  for (std::size_t p = 0; p < area; ++p) {
    double sum = 0;
    for (std::size_t c = 0; c < kShape.channels; ++c) sum += std::exp(in[c * area + p] / 8.0);
    for (std::size_t c = 0; c < kShape.channels; ++c) {
      const double steps = std::round(std::exp(in[c * area + p] / 8.0) / sum * 256) - 128;
      out[c * area + p] = static_cast<std::int8_t>(std::min(std::min(steps, 127.0) + 1, 127.0));
    }
  }
  return out;
}

std::vector<std::int8_t> output(const Request& request) {
  std::vector<std::int8_t> out(kShape.elements());
  request.read("out", Layout::kNchw, std::span(out));
  return out;
}

void write(Request& request, std::uint32_t seed) {
  request.write("in", Layout::kNchw, std::span<const std::int8_t>(input(seed)));
}

TEST(Chains, TellTheirLayers) {
  const CompiledNetwork compiled =
      make_network().compile(Device::open("model:nv_small"), {.statistics = true});
  ASSERT_EQ(compiled.layers(), 3U);
  EXPECT_EQ(compiled.programs(), 2U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(compiled.layer_on_cpu(i), i == 1);
    EXPECT_EQ(compiled.layer_cycles(i) == 0, i == 1);
  }
  EXPECT_EQ(compiled.layer_name(1), "softmax");
  test::expect_error(ErrorCode::kInvalidArgument, "layer 3: the compiled network has 3",
                     [&] { compiled.layer_on_cpu(3); });
  Request request = compiled.create_request();
  write(request, 1);
  request.run();
  EXPECT_EQ(output(request), expected(1));
  const auto counted = request.statistics();
  ASSERT_EQ(counted.size(), 3U);
  EXPECT_NE(counted[0].end_ns, 0U);
  EXPECT_EQ(counted[1].end_ns, 0U);
  EXPECT_NE(counted[2].end_ns, 0U);
}

TEST(Chains, AnyNumberInFlight) {
  for (const char* device : {"model:nv_full", "model:nv_small"}) {
    std::vector<std::vector<std::int8_t>> found(12);
    RequestPool(make_network().compile(Device::open(device)), 4)
        .run(
            found.size(),
            [](Request& r, std::uint64_t i) { write(r, static_cast<std::uint32_t>(i)); },
            [&](Request& r, std::uint64_t i) { found[i] = output(r); });
    for (std::uint32_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], expected(i)) << i;
  }
}

TEST(Chains, AreSeenLayerByLayer) {
  const Device device = Device::open("model:nv_small");
  Request built = make_network().build(device);
  built.write("in", Layout::kNchw, std::span<const std::int8_t>(input(5)));
  std::vector<std::string> seen;
  EXPECT_FALSE(built
                   .compare_layers(Device::open("model:nv_small"),
                                   [&](const LayerTensor& t) {
                                     seen.push_back(
                                         std::to_string(t.layer) + " " + std::string(t.layer_name) +
                                         " " + std::string(t.kind) + " of " + std::string(t.name));
                                   })
                   .has_value());
  const std::vector<std::string> all = {"0 twice sdp of the output of layer 0 'twice'",
                                        "1 softmax cpu of the output of layer 1 'softmax'",
                                        "2 more sdp of output 'out'"};
  EXPECT_EQ(seen, all);
}

// The device of the second program that was made hangs in its first layer.
Device broken_device() {
  const auto made = std::make_shared<int>(0);
  return test::other_device(
      "model:nv_small", [](nvdla_layer&) {},
      [made](const Program& program) {
        if (++*made == 2) test::break_layer(Device::open("model:nv_small"), program, 0);
      });
}

TEST(Chains, AFailureInTheMiddleReachesAllThatWaits) {
  const CompiledNetwork compiled = make_network().compile(broken_device());
  Request first = compiled.create_request(), second = compiled.create_request();
  write(first, 1);
  write(second, 2);
  const Fence fence = first.submit();
  const std::vector<Fence> waits = {fence};
  const Fence behind = second.submit({.wait_fences = waits});
  const auto error = test::expect_error(ErrorCode::kHang, "in the program from layer 2 on: 'more'",
                                        [&] { fence.wait(); });
  EXPECT_EQ(error->layer(), 2);
  test::expect_error(ErrorCode::kCanceled, "a job that this one waits for failed",
                     [&] { behind.wait(); });
  test::expect_error(ErrorCode::kHang, "reading 'out': the last run failed",
                     [&] { output(first); });
}

TEST(Chains, ACancelReachesAllThatWaits) {
  const CompiledNetwork compiled = make_network().compile(Device::open("model:nv_small"));
  Request first = compiled.create_request(), second = compiled.create_request();
  write(first, 1);
  write(second, 2);
  const auto gate = std::make_shared<test::ManualFence>();
  const std::vector<Fence> gated = {test::fence_of(gate)};
  const Fence fence = first.submit({.wait_fences = gated});
  const std::vector<Fence> waits = {fence};
  const Fence behind = second.submit({.wait_fences = waits});
  EXPECT_TRUE(fence.cancel());
  test::expect_error(ErrorCode::kCanceled, "the job was canceled", [&] { fence.wait(); });
  test::expect_error(ErrorCode::kCanceled, "a job that this one waits for failed",
                     [&] { behind.wait(); });
  gate->end();
  // And again, well.
  first.submit().wait();
  EXPECT_EQ(output(first), expected(1));
}

TEST(Chains, DeadlinesPollingAndCallbacks) {
  Request request = make_network().compile(Device::open("model:nv_small")).create_request();
  write(request, 3);
  const auto now = std::chrono::steady_clock::now();
  test::expect_error(ErrorCode::kDeadline, "the deadline passed",
                     [&] { request.submit({.deadline = now}).wait(); });
  const auto gate = std::make_shared<test::ManualFence>();
  const std::vector<Fence> gated = {test::fence_of(gate)};
  const Fence fence = request.submit({.wait_fences = gated});
  pollfd polled = {fence.poll_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&polled, 1, 0), 0);
  EXPECT_FALSE(fence.done());
  std::promise<bool> told;
  fence.on_end([&] { told.set_value(fence.done()); });
  gate->end();
  EXPECT_EQ(::poll(&polled, 1, -1), 1);
  EXPECT_TRUE(told.get_future().get());
  EXPECT_EQ(output(request), expected(3));
}

TEST(Chains, ARunGoesOnWithoutItsHandles) {
  Fence fence;
  Buffer out;
  {
    Request request = make_network().compile(Device::open("model:nv_small")).create_request();
    write(request, 7);
    out = request.buffer("out");
    fence = request.submit();
  }
  fence.wait();
  std::vector<std::int8_t> found(kShape.elements());
  unpack(packed_tensor(Device::open("model:nv_small").info(), kShape), Layout::kNchw,
         out.map(MapMode::kRead).bytes(), std::span(found));
  EXPECT_EQ(found, expected(7));
}

// No program sees both.
TEST(Chains, ABufferThatIsReadAndWrittenIsRefused) {
  const Device device = Device::open("model:nv_small");
  Request request = make_network().compile(device).create_request();
  write(request, 1);
  const Buffer both = device.allocate(4096);
  request.bind("in", both);
  request.bind("out", both);
  test::expect_error(ErrorCode::kInvalidBinding,
                     "input 'in': it shares its buffer with output 'out', and one of them is "
                     "written",
                     [&] { request.submit(); });
  request.bind("out", device.allocate(4096));
  write(request, 1);
  request.run();
  EXPECT_EQ(output(request), expected(1));
}

// The tensors on both sides of an operator live at once, others take their memory later.
TEST(Chains, ShareMemoryOverTheWholeChain) {
  Network net;
  Tensor tensor = net.input("in", kShape, kSixteenths);
  for (int i = 0; i < 12; ++i) {
    const std::string name = "layer" + std::to_string(i);
    tensor = i % 2 == 0 ? net.pointwise(tensor, {.name = name, .x1 = bias(kOne)})
                        : net.softmax(tensor, {.name = name, .input = kSixteenths});
  }
  net.output(tensor, "out");
  const CompiledNetwork compiled = net.compile(Device::open("model:nv_small"));
  EXPECT_EQ(compiled.programs(), 6U);
  EXPECT_EQ(compiled.memory().buffers.size(), 4U) << to_text(compiled.memory());
  const auto apart = net.compile(Device::open("model:nv_small"), {.share_memory = false}).memory();
  EXPECT_EQ(apart.buffers.size(), 13U);
}

// Heads of a tensor are read where they are and written where they belong.
TEST(Chains, ReadSlicesAndWriteParts) {
  Network net;
  const Shape shape = {.channels = 64, .height = 2, .width = 3};
  const Tensor in = net.input("in", shape, kSixteenths);
  const Tensor same = net.pointwise(in, {.name = "same"});
  std::vector<Tensor> parts;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::string n = std::to_string(i);
    const std::string head = "head" + n, soft = "softmax" + n;
    const Tensor slice = net.slice(same, {.name = head, .start = 32 * i, .size = 32});
    parts.push_back(net.softmax(slice, {.name = soft, .input = kSixteenths}));
  }
  net.output(net.pointwise(net.concatenate(parts, {.name = "all"}), {.name = "out"}), "out");
  Request built = net.build(Device::open("model:nv_full"));
  EXPECT_EQ(built.network().layers(), 4U) << "nothing is copied";
  const auto data = test::random_values<std::int8_t>(shape.elements(), 3, -50, 50);
  built.write("in", Layout::kNchw, std::span<const std::int8_t>(data));
  built.run();
  std::vector<std::int8_t> found(data.size());
  built.read("out", Layout::kNchw, std::span(found));
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::size_t position = i % 6, half = i / 6 / 32;
    double sum = 0;
    for (std::size_t c = 0; c < 32; ++c)
      sum += std::exp(data[(half * 32 + c) * 6 + position] / 16.0);
    const double steps = std::round(std::exp(data[i] / 16.0) / sum * 256) - 128;
    ASSERT_EQ(found[i], std::min(steps, 127.0)) << i;
  }
}

// A network that the device has nothing to do for.
TEST(Chains, OfTheCpuAlone) {
  Network net;
  net.output(net.argmax(net.input("in", kShape), {.name = "class"}), "out");
  Request built = net.build(Device::open("model:nv_small"));
  EXPECT_EQ(built.network().programs(), 0U);
  const auto data = input(9);
  built.write("in", Layout::kNchw, std::span<const std::int8_t>(data));
  built.run();
  std::vector<std::int16_t> found(12);
  built.read("out", Layout::kNchw, std::span(found));
  for (std::size_t p = 0; p < 12; ++p)
    for (std::size_t c = 0; c < kShape.channels; ++c)
      EXPECT_LE(data[c * 12 + p], data[static_cast<std::size_t>(found[p]) * 12 + p]);
}

}  // namespace
}  // namespace nvdla
