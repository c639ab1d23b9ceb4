// SPDX-License-Identifier: MIT
//
// Requests of a compiled network through the kernel driver, in a guest, and how their runs end.
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <nvdla/nvdla.hpp>
#include <string>
#include <vector>

namespace {

using Elements = std::vector<std::int8_t>;

// A convolution of 3 x 3 with a border, whose output is as large as its input.
struct Layer {
  Layer(std::uint32_t c, std::uint32_t s) : channels(c), side(s), weights(c * c * 9) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = static_cast<std::int8_t>(i * 37 % 251 - 125);
  }
  nvdla::Network network() const {
    nvdla::Network net;
    nvdla::Convolution conv{.name = "conv", .kernels = channels};
    conv.kernel_height = conv.kernel_width = 3;
    conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
    conv.weights = weights;
    conv.output = nvdla::requantize(0.002);
    const nvdla::Tensor in = net.input("in", {.channels = channels, .height = side, .width = side});
    net.output(net.convolution(in, conv), "out");
    return net;
  }
  Elements input(std::uint32_t seed) const {
    Elements values(std::size_t{channels} * side * side);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::int8_t>((i + seed) * (2 * seed + 7) % 255 - 127);
    return values;
  }
  Elements output(const nvdla::Request& request) const {
    Elements found(std::size_t{channels} * side * side);
    request.read("out", nvdla::Layout::kNchw, std::span<std::int8_t>(found));
    return found;
  }
  void fill(nvdla::Request& request, std::uint32_t seed) const {
    request.write("in", nvdla::Layout::kNchw, std::span<const std::int8_t>(input(seed)));
  }

  std::uint32_t channels, side;
  Elements weights;
};

template <typename Call>
std::string failure(nvdla::ErrorCode code, const Call& call) {
  try {
    call();
  } catch (const nvdla::Error& error) {
    EXPECT_EQ(error.code(), nvdla::make_error_code(code)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

class KernelRequests : public testing::Test {
 protected:
  const Layer layer{16, 12};
  const nvdla::Device device = nvdla::Device::open("auto");
  const nvdla::Device model =
      nvdla::Device::open("model:" + std::string(device.info().configuration));
  const nvdla::CompiledNetwork compiled = layer.network().compile(device);
};

TEST_F(KernelRequests, InFlightAtOnceAreThoseOfTheModel) {
  std::vector<nvdla::Request> requests;
  for (std::uint32_t i = 0; i < 8; ++i) {
    requests.push_back(i % 2 == 0 ? compiled.create_request()
                                  : compiled.create_request(device.create_queue()));
    layer.fill(requests.back(), i);
  }
  for (nvdla::Request& request : requests) request.submit();
  nvdla::Request on_model = layer.network().compile(model).create_request();
  for (std::uint32_t i = 0; i < 8; ++i) {
    requests[i].fence().wait();
    layer.fill(on_model, i);
    on_model.run();
    EXPECT_EQ(layer.output(requests[i]), layer.output(on_model)) << i;
  }
}

TEST_F(KernelRequests, PoolsGiveResultsInOrder) {
  nvdla::Request on_model = layer.network().compile(model).create_request();
  std::uint64_t taken = 0;
  nvdla::RequestPool(compiled, 3)
      .run(
          10,
          [&](nvdla::Request& r, std::uint64_t i) { layer.fill(r, static_cast<std::uint32_t>(i)); },
          [&](nvdla::Request& r, std::uint64_t i) {
            EXPECT_EQ(i, taken++);
            layer.fill(on_model, static_cast<std::uint32_t>(i));
            on_model.run();
            EXPECT_EQ(layer.output(r), layer.output(on_model)) << i;
          });
  EXPECT_EQ(taken, 10U);
}

TEST_F(KernelRequests, AFailureReachesTheWholeChain) {
  nvdla::Request chain[3] = {compiled.create_request(),
                             compiled.create_request(device.create_queue()),
                             compiled.create_request()};
  std::vector<nvdla::Fence> waits;
  for (int i = 0; i < 3; ++i) {
    if (i > 0) chain[i].bind("in", chain[i - 1].buffer("out"));
    nvdla::SubmitOptions options = {.wait_fences = waits};
    if (i == 0) options.deadline = std::chrono::steady_clock::now();
    const nvdla::Fence fence = chain[i].submit(options);
    waits = {fence};
  }
  const std::string late = failure(nvdla::ErrorCode::kDeadline, [&] { chain[0].fence().wait(); });
  for (int i = 1; i < 3; ++i) {
    const std::string text = failure(nvdla::ErrorCode::kCanceled, [&] { chain[i].fence().wait(); });
    EXPECT_NE(text.find(late), std::string::npos) << text;
  }
  // The queues are as good as new.
  for (nvdla::Request& request : chain) EXPECT_NO_THROW(request.run());
}

// What waits for another device the kernel does not have yet; what is behind it goes on.
TEST_F(KernelRequests, ACancelEndsWhatWaitsAtOnce) {
  // Takes the model long, here; but on a busy machine it may have ended before the cancel.
  const Layer large(64, 48);
  nvdla::Request slow = large.network().compile(model).create_request();
  nvdla::Request held = compiled.create_request(), behind = compiled.create_request();
  bool canceled = false;
  for (int attempt = 0; attempt < 50 && !canceled; ++attempt) {
    const std::vector<nvdla::Fence> waits = {slow.submit()};
    const nvdla::Fence fence = held.submit({.wait_fences = waits});
    const nvdla::Fence next = behind.submit();
    const int polled = fence.poll_fd();
    std::promise<bool> ended;
    fence.on_end([&] { ended.set_value(fence.done()); });
    const bool fails = fence.cancel();
    // What the kernel has already, it ends.
    canceled = fails && !waits[0].done();
    if (canceled) {
      EXPECT_TRUE(fence.done());
    }
    EXPECT_TRUE(ended.get_future().get());
    pollfd one = {polled, POLLIN, 0};
    EXPECT_EQ(::poll(&one, 1, -1), 1);
    if (fails) {
      EXPECT_EQ(failure(nvdla::ErrorCode::kCanceled, [&] { fence.wait(); }),
                "the job was canceled");
    } else {
      EXPECT_NO_THROW(fence.wait());
    }
    EXPECT_NO_THROW(next.wait());
    EXPECT_FALSE(fence.cancel());
    slow.fence().cancel();
  }
  EXPECT_TRUE(canceled);
}

// What the kernel has runs to its end, and is lost all the same.
TEST_F(KernelRequests, ACanceledRunFailsWhenItHasEnded) {
  const Layer large(64, 16);
  nvdla::Request request = large.network().compile(device).create_request();
  const nvdla::Fence fence = request.submit();
  if (fence.cancel()) {
    failure(nvdla::ErrorCode::kCanceled, [&] { fence.wait(); });
    failure(nvdla::ErrorCode::kCanceled, [&] { large.output(request); });
  } else {
    EXPECT_NO_THROW(fence.wait());
  }
  EXPECT_NO_THROW(request.run());
}

TEST_F(KernelRequests, FilesAndCallbacksTellOfTheEnd) {
  for (int i = 0; i < 5; ++i) {
    nvdla::Request request = compiled.create_request();
    const nvdla::Fence fence = request.submit();
    std::promise<bool> ended;
    fence.on_end([&] { ended.set_value(fence.done()); });
    pollfd one = {fence.poll_fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&one, 1, -1), 1);
    EXPECT_NE(one.revents & POLLIN, 0);
    EXPECT_TRUE(fence.done());
    EXPECT_TRUE(ended.get_future().get());
    EXPECT_EQ(::poll(&one, 1, 0), 1) << "for good";
  }
}

}  // namespace
