// SPDX-License-Identifier: MIT
//
// A whole network from a file, as the old compiler wrote them: LeNet in fp16 with an operation of
// the CPU before and one behind, three tasks that share the memory between them. Weights are few
// and small enough that every sum is an integer that fp16 holds, so that plain loops tell each bit.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "common/runtime/counting_device.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/manual_fence.hpp"
#include "common/runtime/other_device.hpp"
#include "common/runtime/small_program.hpp"
#include "host_ops/cube.hpp"
#include "loadable/format/container.hpp"
#include "loadable/read/emulate.hpp"
#include "loadable/read/loadable_impl.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/types/shape.hpp"
#include "unit/loadable/read/half_file.hpp"

namespace nvdla {
namespace {

using namespace loadable;
using test::HalfCube;
using test::HalfFile;
using test::HalfLayers;
using test::Kernels;

constexpr std::int64_t kPixels = 28 * 28;

// `few` weights of each kernel are 1 or -1.
Kernels make_kernels(std::mt19937& random, std::uint16_t count, std::uint16_t channels,
                     std::uint16_t size, int few) {
  Kernels k{count, channels, size, {}, {}};
  const std::size_t one = std::size_t{channels} * size * size;
  k.weights.resize(count * one);
  for (std::size_t i = 0; i < count; ++i) {
    for (int j = 0; j < few; ++j) k.weights[i * one + random() % one] = random() % 3 == 0 ? -1 : 1;
    k.bias.push_back(static_cast<int>(random() % 5) - 2);
  }
  return k;
}

using Values = std::vector<int>;  // CHW

Values convolve(const Values& in, const HalfCube& size, const Kernels& k) {
  const int oh = size.height - k.size + 1, ow = size.width - k.size + 1;
  Values out;
  for (int n = 0; n < k.count; ++n) {
    for (int y = 0; y < oh; ++y) {
      for (int x = 0; x < ow; ++x) {
        int sum = k.bias[static_cast<std::size_t>(n)];
        for (int c = 0; c < k.channels; ++c) {
          for (int r = 0; r < k.size; ++r) {
            for (int s = 0; s < k.size; ++s) {
              sum += k.at(n, c, r, s) *
                     in[static_cast<std::size_t>((c * size.height + y + r) * size.width + x + s)];
            }
          }
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

Values pool(const Values& in, const HalfCube& size) {
  Values out;
  for (int c = 0; c < size.channels; ++c) {
    for (int y = 0; y < size.height; y += 2) {
      for (int x = 0; x < size.width; x += 2) {
        const auto at = [&](int dy, int dx) {
          return in[static_cast<std::size_t>((c * size.height + y + dy) * size.width + x + dx)];
        };
        out.push_back(std::max({at(0, 0), at(0, 1), at(1, 0), at(1, 1)}));
      }
    }
  }
  return out;
}

class Lenet : public testing::TestWithParam<Revision> {
 protected:
  Lenet() {
    std::mt19937 random(11);
    conv1_ = make_kernels(random, 20, 1, 5, 4);
    conv2_ = make_kernels(random, 50, 20, 5, 5);
    ip1_ = make_kernels(random, 500, 50, 4, 6);
    ip2_ = make_kernels(random, 10, 500, 1, 8);

    HalfFile file(GetParam());
    const HalfCube picture = {1, 28, 28}, classes = {10, 1, 1};
    const std::uint16_t data = file.tensor("data", picture, true);
    const std::uint16_t scaled = file.memory(picture.bytes());
    const std::uint16_t prob = file.tensor("prob", classes, false);
    file.emu_task(kPower, 0.25F, data, scaled, picture);
    HalfLayers layers(file, scaled, picture);
    layers.convolution(conv1_, 8);
    layers.pooling();
    layers.convolution(conv2_, 8);
    layers.pooling();
    layers.convolution(ip1_, 2);
    layers.relu();
    layers.convolution(ip2_, 2);
    file.dla_task(layers.operations());
    file.emu_task(kSoftmax, 1, layers.memory(), prob, classes);
    file_ = file.bytes();
  }

  // Scores before the softmax, from a picture whose values are multiples of 4.
  Values scores(const Values& picture) const {
    Values v;
    for (const int p : picture) v.push_back(p / 4);
    v = pool(convolve(v, {1, 28, 28}, conv1_), {20, 24, 24});
    v = pool(convolve(v, {20, 12, 12}, conv2_), {50, 8, 8});
    v = convolve(v, {50, 4, 4}, ip1_);
    for (int& value : v) value = std::max(value, 0);
    return convolve(v, {500, 1, 1}, ip2_);
  }

  Kernels conv1_, conv2_, ip1_, ip2_;
  std::vector<std::byte> file_;
};

TEST_P(Lenet, ClassifiesAsPlainLoops) {
  Request request = Loadable::load(file_).open(Device::open("model:nv_full"));
  EXPECT_EQ(request.network().layers(), 7U);
  std::mt19937 random(3);
  for (int run = 0; run < 3; ++run) {
    Values picture;
    std::vector<std::uint16_t> halves;
    for (int i = 0; i < kPixels; ++i) {
      picture.push_back(run == 0 ? 0 : static_cast<int>(random() % 2) * 4);
      halves.push_back(cpu::half_or_infinity(static_cast<float>(picture.back())));
    }
    request.write("data", Layout::kNchw, halves);
    request.run();
    std::vector<std::uint16_t> prob(10);
    request.read("prob", Layout::kNchw, prob);

    const Values want = scores(picture);
    const int greatest = *std::max_element(want.begin(), want.end());
    EXPECT_LT(greatest, 2048);
    double sum = 0;
    for (const int s : want) sum += std::exp(static_cast<double>(s - greatest));
    for (std::size_t i = 0; i < 10; ++i) {
      const double p = std::exp(static_cast<double>(want[i] - greatest)) / sum;
      EXPECT_EQ(prob[i], cpu::half_or_infinity(static_cast<float>(p)))
          << "run " << run << ", class " << i;
    }
  }
}

// Operations of the CPU are seen between those of the device, and what comes out is what a run
// leaves.
TEST_P(Lenet, LayersOfDeviceAndCpu) {
  Request request = Loadable::load(file_).open(Device::open("model:nv_full"));
  std::vector<std::uint16_t> halves(kPixels);
  for (std::size_t i = 0; i < kPixels; ++i)
    halves[i] = cpu::half_or_infinity(static_cast<float>(i % 3 * 4));
  request.write("data", Layout::kNchw, halves);
  std::vector<std::string> seen;
  std::vector<std::uint16_t> last;
  const auto visit = [&](const LayerTensor& tensor) {
    EXPECT_EQ(tensor.layer == LayerTensor::kNoLayer, tensor.kind == "cpu");
    if (tensor.layer != LayerTensor::kNoLayer) {
      EXPECT_EQ(tensor.layer_name, request.network().layer_name(tensor.layer));
    }
    seen.emplace_back(tensor.kind);
    last.assign(static_cast<std::size_t>(tensor.desc.shape.elements()), 0);
    unpack(tensor.desc, Layout::kNchw, tensor.bytes, last);
  };
  EXPECT_FALSE(request.compare_layers(Device::open("model:nv_full,threads=1"), visit));
  ASSERT_EQ(seen.size(), 9U);
  EXPECT_EQ(seen.front(), "cpu");
  EXPECT_EQ(seen.back(), "cpu");
  EXPECT_EQ(std::count(seen.begin(), seen.end(), "cpu"), 2);
  request.run();
  std::vector<std::uint16_t> prob(10);
  request.read("prob", Layout::kNchw, prob);
  EXPECT_EQ(last, prob);
}

std::vector<std::uint16_t> picture_of(std::uint32_t seed) {
  std::vector<std::uint16_t> halves;
  for (std::uint32_t i = 0; i < kPixels; ++i)
    halves.push_back(cpu::half_or_infinity(static_cast<float>((i * (seed + 3) + seed) % 3 * 4)));
  return halves;
}

std::vector<std::uint16_t> probabilities(const Request& request) {
  std::vector<std::uint16_t> prob(10);
  request.read("prob", Layout::kNchw, prob);
  return prob;
}

// Weights are there once; CPU and device take turns for each request.
TEST_P(Lenet, RequestsShareConstantsAndRunAtOnce) {
  const auto backend = std::make_shared<test::CountingBackend>("model:nv_full");
  const auto device = detail::Handles::make<Device>(std::shared_ptr<detail::Backend>(backend));
  const Loadable loadable = Loadable::load(file_);
  const CompiledNetwork compiled = loadable.compile(device, {.statistics = true});
  const test::Allocations constants = backend->take();
  EXPECT_GT(constants.bytes, 500U * 800 * 2) << "the weights of one layer alone, in fp16";
  std::vector<Request> requests;
  test::Allocations own;
  for (std::uint32_t i = 0; i < 5; ++i) {
    requests.push_back(compiled.create_request());
    const test::Allocations more = backend->take();
    if (i == 0) own = more;
    EXPECT_EQ(more, own);
    EXPECT_LT(more.bytes, constants.bytes / 4);
  }
  EXPECT_EQ(compiled.memory().shared, constants.bytes);
  EXPECT_EQ(compiled.memory().total, constants.bytes + own.bytes);
  EXPECT_EQ(compiled.layers(), 7U);

  Request alone = loadable.open(Device::open("model:nv_full"));
  for (int run = 0; run < 2; ++run) {
    for (std::uint32_t i = 0; i < 5; ++i) {
      requests[i].write("data", Layout::kNchw, picture_of(10 * run + i));
      requests[i].submit();
    }
    for (std::uint32_t i = 0; i < 5; ++i) {
      requests[i].fence().wait();
      alone.write("data", Layout::kNchw, picture_of(10 * run + i));
      alone.run();
      std::vector<std::uint16_t> expected(10);
      alone.read("prob", Layout::kNchw, expected);
      EXPECT_EQ(probabilities(requests[i]), expected) << run << ", " << i;
      EXPECT_EQ(requests[i].statistics().size(), 7U);
    }
  }
}

// The first step is the CPU's: it waits, and is canceled, as a job of the device would be.
TEST_P(Lenet, RunsThatBeginOnTheCpuWaitAndEnd) {
  const Device device = Device::open("model:nv_full");
  const CompiledNetwork compiled = Loadable::load(file_).compile(device);
  Request first = compiled.create_request(), second = compiled.create_request();
  for (Request* request : {&first, &second}) request->write("data", Layout::kNchw, picture_of(1));
  const auto gate = std::make_shared<test::ManualFence>();
  const std::vector<Fence> gated = {test::fence_of(gate), Fence()};

  // Canceled, with all that waits for it.
  Fence fence = first.submit({.wait_fences = gated});
  std::vector<Fence> waits = {fence};
  Fence behind = second.submit({.wait_fences = waits});
  EXPECT_FALSE(fence.done());
  EXPECT_FALSE(fence.wait(std::chrono::nanoseconds(0)));
  EXPECT_TRUE(fence.cancel());
  EXPECT_TRUE(fence.done());
  EXPECT_FALSE(fence.cancel());
  test::expect_error(ErrorCode::kCanceled, "the job was canceled", [&] { fence.wait(); });
  test::expect_error(ErrorCode::kCanceled,
                     "a job that this one waits for failed: the job was canceled",
                     [&] { behind.wait(); });

  // Too late, or when it is too late.
  const auto now = std::chrono::steady_clock::now();
  test::expect_error(ErrorCode::kDeadline, "the deadline passed",
                     [&] { first.submit({.deadline = now}).wait(); });
  const auto other = std::make_shared<test::ManualFence>();
  const std::vector<Fence> still = {test::fence_of(other)};
  fence = first.submit({.wait_fences = still, .deadline = now + std::chrono::milliseconds(20)});
  test::expect_error(ErrorCode::kDeadline, "the deadline passed", [&] { fence.wait(); });

  // In time, in a chain.
  gate->end();
  other->end();
  fence = first.submit();
  waits = {fence};
  behind = second.submit({.wait_fences = waits});
  std::promise<bool> told;
  behind.on_end([&] { told.set_value(fence.done()); });
  pollfd polled = {behind.poll_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&polled, 1, -1), 1);
  EXPECT_TRUE(told.get_future().get());
  EXPECT_EQ(probabilities(first), probabilities(second));
}

TEST_P(Lenet, ARunGoesOnWithoutItsDevice) {
  for (int i = 0; i < 5; ++i) {
    Fence fence;
    Buffer out;
    {
      const CompiledNetwork compiled = Loadable::load(file_).compile(Device::open("model:nv_full"));
      Request request = compiled.create_request();
      request.write("data", Layout::kNchw, picture_of(1));
      out = request.buffer("prob");
      fence = request.submit();
    }
    EXPECT_NO_THROW(fence.wait());
    const Map map = out.map(MapMode::kRead);
    EXPECT_NE(std::count(map.bytes().begin(), map.bytes().end(), std::byte{0}),
              static_cast<std::ptrdiff_t>(map.size()));
  }
}

// A job of the device that does not end fails the run, with its layer by name.
TEST_P(Lenet, AFailureInTheMiddleEndsTheRun) {
  const auto broken = [](const Program& program) {
    test::break_layer(Device::open("model:nv_full"), program, 0);
  };
  const Device device = test::other_device(
      "model:nv_full", [](nvdla_layer&) {}, broken);
  Request request = Loadable::load(file_).compile(device).create_request();
  const Fence fence = request.submit();
  const auto error = test::expect_error(ErrorCode::kHang, "does not end", [&] { fence.wait(); });
  EXPECT_EQ(std::string(error->what()).find("'conv 0"), 0U) << error->what();
  test::expect_error(ErrorCode::kHang, "reading 'prob': the last run failed: 'conv 0",
                     [&] { probabilities(request); });
}

// What lists are made of tells how, not how large the memory is that they lie in.
TEST_P(Lenet, ListsLieInLargerMemories) {
  Container c = parse_container(file_);
  for (MemoryEntry& memory : c.memories) {
    if (!memory.contents.empty()) memory.size = whole_pages(memory.size);
  }
  for (AddressEntry& address : c.addresses) address.size = 0;
  const Loadable larger = Loadable::load(write_container(c));
  for (const Task& task : larger.impl().tasks) {
    if (const auto* emu = std::get_if<EmuTask>(&task.work)) {
      EXPECT_EQ(emu->revision, GetParam());
    }
  }
}

TEST_P(Lenet, IsRefusedElsewhere) {
  for (const char* device : {"model:nv_small", "model:nv_large"}) {
    const auto error = test::expect_error(ErrorCode::kNotAvailable, "nv_full", [&] {
      Loadable::load(file_).open(Device::open(device));
    });
    ASSERT_TRUE(error);
    EXPECT_NE(std::string(error->what()).find(device + 6), std::string::npos) << error->what();
  }
}

INSTANTIATE_TEST_SUITE_P(Revisions, Lenet, testing::Values(Revision::kOld, Revision::kNew),
                         [](const auto& test) {
                           return test.param == Revision::kOld ? "Old" : "New";
                         });

}  // namespace
}  // namespace nvdla
