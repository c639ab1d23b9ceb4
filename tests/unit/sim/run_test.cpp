// SPDX-License-Identifier: MIT
//
// The runtime on a simulator, whose logic is the device model: the same results and counters as on
// the model in this process, and failures that end and are told.
#include <array>
#include <chrono>
#include <thread>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/small_program.hpp"
#include "emulator/simulated_model.hpp"
#include "nvdla/nvdla.hpp"
#include "socket.hpp"
#include "support/handles.hpp"

namespace nvdla::sim_test {
namespace {

using test::break_layer;
using test::compiled;
using test::expect_error;
using test::SmallProgram;

struct OnSim {
  const char* configuration;
  bool only_messages;
};

// A simulator for one user, which leaves before this does.
class Simulator {
 public:
  explicit Simulator(const OnSim& how, const char* claim = nullptr)
      : simulator_(path_.name(), *nvdla_hw_find(how.configuration),
                   {.configuration = claim != nullptr ? claim : how.configuration,
                    .only_messages = how.only_messages,
                    .model = {.quirks = model::silicon_quirks(*nvdla_hw_find(how.configuration))}}),
        thread_([this] { error_ = simulator_.serve(); }) {}
  ~Simulator() {
    thread_.join();
    EXPECT_EQ(error_, "");
  }
  std::string name() const { return "sim:" + path_.name(); }

 private:
  SocketPath path_;
  emulator::SimulatedModel simulator_;
  std::string error_;
  std::thread thread_;
};

class Simulated : public testing::TestWithParam<OnSim> {
 protected:
  Simulator simulator_{GetParam()};
  Device device_ = Device::open(simulator_.name());
  Device model_ = Device::open(std::string("model:") + GetParam().configuration);
};

TEST_P(Simulated, IsWhatTheModelIs) {
  EXPECT_EQ(device_.info().backend, "sim");
  EXPECT_EQ(device_.info().configuration, GetParam().configuration);
  EXPECT_EQ(device_.info().has_weight_gating, model_.info().has_weight_gating);
}

// A convolution with more weights than fit at once, pooling behind it.
TEST_P(Simulated, RunsNetworksAsTheModelDoes) {
  std::vector<std::int8_t> weights(96 * 24 * 9), pixels(24 * 20 * 20);
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<std::int8_t>(i * 91 % 255 - 127);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::int8_t>(i * 37 % 255 - 127);
  Network network;
  const Tensor in = network.input("in", {.channels = 24, .height = 20, .width = 20});
  const Tensor conv = network.convolution(in, {.name = "conv",
                                               .kernels = 96,
                                               .kernel_height = 3,
                                               .kernel_width = 3,
                                               .weights = weights,
                                               .output = requantize(0.001)});
  network.output(network.pooling(conv, {.name = "pool",
                                        .kernel_height = 2,
                                        .kernel_width = 2,
                                        .stride_height = 2,
                                        .stride_width = 2}),
                 "out");
  const auto run = [&](const Device& device, std::vector<nvdla_layer_stats>& statistics) {
    Request request = network.build(device, {.statistics = true});
    request.write("in", Layout::kNchw, std::span<const std::int8_t>(pixels));
    std::vector<std::int8_t> out(96 * 9 * 9);
    for (int i = 0; i < 3; ++i) request.run();
    request.read("out", Layout::kNchw, std::span<std::int8_t>(out));
    const auto counted = request.statistics();
    statistics.assign(counted.begin(), counted.end());
    return out;
  };
  std::vector<nvdla_layer_stats> ours, theirs;
  EXPECT_EQ(run(device_, ours), run(model_, theirs));
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t layer = 0; layer < ours.size(); ++layer) {
    EXPECT_EQ(ours[layer].valid, theirs[layer].valid);
    EXPECT_TRUE(std::equal(std::begin(ours[layer].counter), std::end(ours[layer].counter),
                           std::begin(theirs[layer].counter)));
    EXPECT_LE(ours[layer].start_ns, ours[layer].end_ns);
  }
}

// Programs may take as many cycles as on silicon of 1 GHz.
TEST_P(Simulated, TakesLongLayers) {
  const SmallProgram small(device_, 1, {8, 4096, 4096});
  EXPECT_GT(small.create().cycles(0), 5'000'000U);
}

TEST_P(Simulated, HangsInSimulatedTimeAndRecovers) {
  const SmallProgram small(device_, 1, {8, 2, 2}, 3);
  const Program broken = small.create();
  break_layer(device_, broken, 1);
  const Buffer out = small.buffer();
  const std::vector<Binding> bindings = {small.buffer(1), out};
  const Fence fence = device_.submit(broken, bindings);
  const Fence next = device_.submit(small.create(), bindings);
  const auto error = expect_error(ErrorCode::kHang, "layer 1 (sdp) does not end: SDP_RDMA, SDP did",
                                  [&] { fence.wait(); });
  EXPECT_EQ(error->layer(), 1);
  next.wait();
  EXPECT_EQ(small.value(out), 2);
}

// Where the device's memory ends. One atom of the output is left out of its buffer.
TEST_P(Simulated, TellsOfAccessesBeyondMemory) {
  const SmallProgram small(device_, 1, {8, 4, 4});
  const Program program = small.create();
  const std::uint32_t atom = device_.info().atom;
  compiled(program).slots[1].size -= atom;
  const Buffer out = device_.allocate(tensor_bytes(small.tensor) - atom);
  const std::vector<Binding> bindings = {small.buffer(1), out};
  expect_error(ErrorCode::kBusFault,
               "the device touched memory outside of the job's buffers: DRAM at 0x",
               [&] { device_.submit(program, bindings).wait(); });
  // The next job is not blamed.
  const Buffer whole = small.buffer();
  const std::vector<Binding> good = {small.buffer(1), whole};
  device_.submit(small.create(), good).wait();
  EXPECT_EQ(small.value(whole), 2);
}

TEST_P(Simulated, MemoryComesAndGoesWhileJobsRun) {
  const SmallProgram small(device_, 1, {8, 2, 2}, 20);
  const Program program = small.create();
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) device_.allocate(4096);
  });
  for (int i = 0; i < 20; ++i) {
    const Buffer out = small.buffer();
    const std::vector<Binding> bindings = {small.buffer(1), out};
    device_.submit(program, bindings).wait();
    EXPECT_EQ(small.value(out), 2);
  }
  stop = true;
  other.join();
}

INSTANTIATE_TEST_SUITE_P(Both, Simulated,
                         testing::Values(OnSim{"nv_small", false}, OnSim{"nv_small", true},
                                         OnSim{"nv_full", false}, OnSim{"nv_full", true},
                                         OnSim{"nv_medium_512", false}, OnSim{"nv_large", true}),
                         [](const auto& test) {
                           return std::string(test.param.configuration) +
                                  (test.param.only_messages ? "_messages" : "_shared");
                         });

TEST(SimulatorNames, ThatSaysTheWrongConfigurationIsFound) {
  {
    const Simulator simulator({"nv_medium_512", false}, "nv_large");
    expect_error(ErrorCode::kNoDevice,
                 ": writes atoms of 16 bytes, nv_large has 32: is no nv_large",
                 [&] { Device::open(simulator.name()); });
  }
  // Addresses of 32 bits are not where those of 64 would be.
  const Simulator simulator({"nv_small", false}, "nv_large");
  expect_error(ErrorCode::kNoDevice,
               "DRAM at 0x0, reading; 2 accesses were refused: is it no nv_large?",
               [&] { Device::open(simulator.name()); });
}

TEST(SimulatorNames, ThatSaysNothingNeedsAName) {
  {
    const Simulator simulator({"nv_small", false}, "");
    expect_error(ErrorCode::kNoDevice,
                 "add ',config=<configuration>' with one of nv_medium_512, nv_small_256, nv_small",
                 [&] { Device::open(simulator.name()); });
  }
  const Simulator simulator({"nv_small", false}, "");
  const Device device = Device::open(simulator.name() + ",config=nv_small,gating=off");
  EXPECT_EQ(device.info().configuration, "nv_small");
  EXPECT_FALSE(device.info().has_weight_gating);
}

}  // namespace
}  // namespace nvdla::sim_test
