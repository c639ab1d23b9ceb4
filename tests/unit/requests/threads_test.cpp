// SPDX-License-Identifier: MIT
//
// Several threads and several devices in one process; run under TSan.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "common/runtime/reference.hpp"
#include "common/runtime/small_program.hpp"

namespace nvdla {
namespace {

using test::SmallProgram;

void run_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, ShareAProgramAndAQueue) {
  const Device device = Device::open("model:nv_small");
  const SmallProgram small(device, 1);
  const Program program = small.create();
  run_threads(4, [&](int t) {
    const Buffer in = small.buffer(static_cast<std::int8_t>(10 * t)), out = small.buffer();
    const std::vector<Binding> bindings = {in, out};
    for (int i = 0; i < 20; ++i) {
      small.fill(in, static_cast<std::int8_t>(10 * t + i % 10));
      device.submit(program, bindings).wait();
      ASSERT_EQ(small.value(out), 10 * t + i % 10 + 1);
    }
  });
}

TEST(Threads, HaveDevicesOfTheirOwn) {
  const char* const names[] = {"model:nv_small", "model:nv_full", "model:nv_small",
                               "model:nv_large"};
  run_threads(4, [&](int t) {
    for (int i = 0; i < 3; ++i) {
      const Device device = Device::open(names[t]);
      const SmallProgram small(device, t);
      const Buffer out = small.buffer();
      const std::vector<Binding> bindings = {small.buffer(7), out};
      device.submit(small.create(), bindings).wait();
      ASSERT_EQ(small.value(out), 7 + t);
    }
  });
}

TEST(Threads, RunRequestsOfOneNetwork) {
  const auto weights = test::random_values<std::int8_t>(8 * 8 * 9, 1, -128, 127);
  Network net;
  Convolution c{.name = "conv", .kernels = 8, .kernel_height = 3, .kernel_width = 3};
  c.weights = weights;
  c.output = requantize(0.002);
  net.output(net.convolution(net.input("in", {8, 6, 6}), c), "out");
  const Device one = Device::open("model:nv_small"), two = Device::open("model:nv_full");
  run_threads(4, [&](int t) {
    Request request = net.build(t % 2 == 0 ? one : two);
    for (std::uint32_t i = 0; i < 4; ++i) {
      const test::Int8 in = test::random_cube(8, 6, 6, t * 10 + i);
      request.write("in", Layout::kNchw, in.data);
      request.run();
      std::vector<std::int8_t> found(8 * 16);
      request.read("out", Layout::kNchw, found);
      ASSERT_EQ(found, test::convert(test::convolve(in, weights, 8, 3, 3, {}), c.output.offset,
                                     c.output.scale, c.output.shift)
                           .data);
    }
  });
}

TEST(Threads, RunRequestsOfOneCompiledNetwork) {
  const auto weights = test::random_values<std::int8_t>(8 * 8 * 9, 1, -128, 127);
  Network net;
  Convolution c{.name = "conv", .kernels = 8, .kernel_height = 3, .kernel_width = 3};
  c.weights = weights;
  c.output = requantize(0.002);
  net.output(net.convolution(net.input("in", {8, 6, 6}), c), "out");
  const Device device = Device::open("model:nv_small");
  const CompiledNetwork shared = net.compile(device);
  run_threads(4, [&](int t) {
    const CompiledNetwork compiled = shared;
    Request requests[2] = {
        compiled.create_request(),
        compiled.create_request(t % 2 == 0 ? device.create_queue() : device.queue())};
    for (std::uint32_t i = 0; i < 4; ++i) {
      const test::Int8 in[2] = {test::random_cube(8, 6, 6, t * 10 + i),
                                test::random_cube(8, 6, 6, t * 10 + i + 100)};
      for (int r = 0; r < 2; ++r) {
        requests[r].write("in", Layout::kNchw, in[r].data);
        requests[r].submit();
      }
      for (int r = 0; r < 2; ++r) {
        requests[r].fence().wait();
        std::vector<std::int8_t> found(8 * 16);
        requests[r].read("out", Layout::kNchw, found);
        ASSERT_EQ(found, test::convert(test::convolve(in[r], weights, 8, 3, 3, {}), c.output.offset,
                                       c.output.scale, c.output.shift)
                             .data);
      }
    }
  });
}

TEST(Threads, WaitForOneFence) {
  const Device device = Device::open("model:nv_small");
  const SmallProgram small(device, 1, Shape{64, 16, 16}, 20, true);
  const std::vector<Binding> bindings = {small.buffer(1), small.buffer()};
  const Fence fence = device.submit(small.create(), bindings);
  std::atomic<int> woken{0};
  run_threads(4, [&](int t) {
    if (t % 2 == 0) {
      fence.wait();
    } else {
      while (!fence.wait(std::chrono::milliseconds(1))) continue;
    }
    EXPECT_EQ(fence.statistics().size(), 20U);
    ++woken;
  });
  EXPECT_EQ(woken, 4);
}

// One request, used by several threads: what touches buffers is refused while a run is under way
// and works between runs, whoever asks, and each run has all of one binding.
TEST(Threads, ShareARequest) {
  const Device device = Device::open("model:nv_small");
  static const std::vector<std::int16_t> kOne = {1};
  Network net;
  net.output(net.pointwise(net.input("in", {8, 2, 2}), {.name = "more", .x1 = bias(kOne)}), "out");
  Request request = net.build(device);
  // Inputs of 10 and 20, each in a buffer of its own.
  std::vector<Buffer> inputs;
  for (const int value : {10, 20}) {
    inputs.push_back(device.allocate(4096));
    const std::vector<std::int8_t> values(32, static_cast<std::int8_t>(value));
    pack(request.network().desc("in"), Layout::kNchw, values,
         inputs.back().map(MapMode::kWrite).bytes());
  }
  request.bind("in", inputs[0]);
  request.run();
  const auto unless_busy = [](const auto& call) {
    try {
      call();
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), make_error_code(ErrorCode::kBusy)) << error.what();
      return false;
    }
  };
  run_threads(4, [&](int t) {
    // Each comes to its turns, however long another keeps the request.
    for (int turns = 0; turns < 50; std::this_thread::yield()) {
      if (t < 2) {
        turns += unless_busy([&] { request.bind("in", inputs[static_cast<std::size_t>(t)]); });
      } else {
        turns += unless_busy([&] { request.run(); });
        std::vector<std::int8_t> found(32);
        if (!unless_busy([&] { request.read("out", Layout::kNchw, found); })) continue;
        EXPECT_TRUE(found[0] == 11 || found[0] == 21) << static_cast<int>(found[0]);
        EXPECT_EQ(found, std::vector<std::int8_t>(32, found[0]));
      }
    }
  });
  EXPECT_TRUE(static_cast<bool>(request.buffer("in")));
}

// The last handle goes away while other threads wait, and perhaps run the jobs themselves.
TEST(Threads, CloseADeviceWhileOthersWait) {
  for (int i = 0; i < 10; ++i) {
    std::vector<std::thread> threads;
    {
      const Device device = Device::open("model:nv_small");
      const SmallProgram small(device, 1, Shape{16, 8, 8}, 5);
      const Program program = small.create();
      for (int t = 0; t < 3; ++t) {
        const std::vector<Binding> bindings = {small.buffer(1), small.buffer()};
        const Fence fence = device.create_queue().submit(program, bindings);
        threads.emplace_back([fence] {
          fence.wait();
          EXPECT_TRUE(fence.done());
        });
      }
    }
    for (std::thread& thread : threads) thread.join();
  }
}

// Some cancel what others have submitted and wait for, with deadlines that pass meanwhile: each
// ends once, well or not, and what waits for it learns it.
TEST(Threads, CancelWhileJobsRun) {
  const Device device = Device::open("model:nv_small");
  const SmallProgram small(device, 1, Shape{16, 8, 8}, 6);
  const Program program = small.create();
  std::atomic<int> ended{0}, called{0};
  std::promise<void> all;
  constexpr int kRounds = 40, kJobs = 4 * 2 * kRounds;
  run_threads(4, [&](int t) {
    for (int i = 0; i < kRounds; ++i) {
      const std::vector<Binding> bindings = {small.buffer(1), small.buffer()};
      SubmitOptions options;
      if (t == 3)
        options.deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(i);
      const Fence first = device.submit(program, bindings, options);
      const std::vector<Fence> waits = {first};
      const Fence second = device.create_queue().submit(
          program, std::vector{Binding(small.buffer(1)), Binding(small.buffer())},
          {.wait_fences = waits});
      const auto count = [&] {
        if (++called == kJobs) all.set_value();
      };
      first.on_end(count);
      second.on_end(count);
      std::thread canceler([&] {
        if (t < 2) (t == 0 ? first : second).cancel();
      });
      bool first_well = true;
      for (const Fence* fence : {&first, &second}) {
        try {
          fence->wait();
          EXPECT_TRUE(first_well);
        } catch (const Error& error) {
          EXPECT_NE(t, 2) << error.what();
          if (fence == &first) first_well = false;
        }
        ++ended;
      }
      canceler.join();
      pollfd polled = {second.poll_fd(), POLLIN, 0};
      EXPECT_EQ(::poll(&polled, 1, -1), 1);
    }
  });
  EXPECT_EQ(ended, kJobs);
  // Who waits for a job may be back before its callback is called.
  all.get_future().get();
  // Callbacks come in their order: none is behind the last.
  std::promise<void> last;
  Fence().on_end([&] { last.set_value(); });
  last.get_future().get();
  EXPECT_EQ(called, kJobs);
}

// Chains that go to and fro between devices, made by several threads.
TEST(Threads, ChainsAcrossDevices) {
  const Device devices[] = {Device::open("model:nv_small"), Device::open("model:nv_full")};
  const SmallProgram small[] = {SmallProgram(devices[0], 1), SmallProgram(devices[1], 1)};
  const Program programs[] = {small[0].create(), small[1].create()};
  run_threads(3, [&](int) {
    Fence last;
    const Buffer buffers[2][2] = {{small[0].buffer(3), small[0].buffer()},
                                  {small[1].buffer(5), small[1].buffer()}};
    for (int i = 0; i < 20; ++i) {
      const int d = i % 2;
      const std::vector<Binding> bindings = {buffers[d][0], buffers[d][1]};
      const std::vector<Fence> waits = {last};
      last = devices[d].submit(programs[d], bindings, {.wait_fences = waits});
    }
    last.wait();
    EXPECT_EQ(small[0].value(buffers[0][1]), 4);
    EXPECT_EQ(small[1].value(buffers[1][1]), 6);
  });
}

TEST(Threads, AllocateAndFreeWhileJobsRun) {
  const Device device = Device::open("model:nv_small");
  const SmallProgram small(device, 1);
  const Program program = small.create();
  run_threads(4, [&](int t) {
    for (int i = 0; i < 25; ++i) {
      if (t < 2) {
        const Buffer buffer = device.allocate(1 + static_cast<std::uint64_t>(i) * 1000);
        buffer.map(MapMode::kWrite).bytes()[0] = std::byte{1};
      } else {
        const std::vector<Binding> bindings = {small.buffer(1), small.buffer()};
        const Fence fence = device.create_queue().submit(program, bindings);
        if (i % 2 == 0) fence.wait();
      }
    }
  });
}

}  // namespace
}  // namespace nvdla
