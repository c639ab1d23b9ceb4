// SPDX-License-Identifier: MIT
//
// Convolutions that are cut reuse what their parts have in common, but not for longer than a layer
// may take: others wait for the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/runtime/only_program.hpp"
#include "common/runtime/reference.hpp"
#include "common/runtime/request_bindings.hpp"
#include "device/compiled_impl.hpp"
#include "nvdla/nvdla.hpp"
#include "packing/cbuf.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

constexpr std::uint32_t kReuse = NVDLA_CONV_REUSE_DATA | NVDLA_CONV_REUSE_WEIGHTS;
constexpr std::uint32_t kKeep = NVDLA_CONV_KEEP_DATA | NVDLA_CONV_KEEP_WEIGHTS;
// Five seconds of 1 GHz, which is what the model counts by.
constexpr std::uint64_t kMostCycles = 5'000'000'000;

class Net {
 public:
  Net(const Shape& input, std::uint32_t kernels, std::uint32_t size)
      : input_(input),
        weights_(test::random_values<std::int8_t>(
            std::size_t{kernels} * input.channels * size * size, 5, -128, 127)) {
    Convolution conv{
        .name = "conv", .kernels = kernels, .kernel_height = size, .kernel_width = size};
    conv.weights = weights_;
    conv.output = {.scale = 1, .shift = 12};
    net_.output(net_.convolution(net_.input("in", input), conv), "out");
  }
  Request build(const std::string& device) const { return net_.build(Device::open(device)); }
  std::vector<std::int8_t> input() const {
    return test::random_values<std::int8_t>(
        std::size_t{input_.batch} * input_.channels * input_.height * input_.width, 7, -128, 127);
  }

 private:
  Shape input_;
  std::vector<std::int8_t> weights_;
  Network net_;
};

std::vector<std::int8_t> output(const Request& request) {
  const Shape out = request.network().desc("out").shape;
  std::vector<std::int8_t> result(std::size_t{out.batch} * out.channels * out.height * out.width);
  request.read("out", Layout::kNchw, result);
  return result;
}

// Twenty cubes, each in bands, all with the same weights: the first cut is where it has to be, and
// what is not reused is not kept.
TEST(TiedNetwork, RunsAreCutBeforeTheyAreTooLong) {
  const Net net({8, 4000, 100, 20}, 8, 32);
  const Request request = net.build("model:nv_small");
  const auto& part = test::only_program(request);
  std::uint64_t run = 0, all = 0;
  unsigned cuts = 0;
  for (std::uint32_t i = 0; i < request.network().layers(); ++i) {
    const std::uint64_t cycles = part.program.cycles(i);
    const bool reuses = (part.layers[i].conv.flags & kReuse) != 0;
    if (i != 0) {
      const nvdla_conv& before = part.layers[i - 1].conv;
      EXPECT_EQ((before.flags & kKeep) != 0 || before.release != 0, reuses) << i;
    }
    if (i != 0 && !reuses) {
      ++cuts;
      EXPECT_GT(run + cycles, kMostCycles) << "cut too early, before layer " << i;
    }
    run = reuses ? run + cycles : cycles;
    ASSERT_LE(run, kMostCycles) << i;
    all += cycles;
  }
  EXPECT_GT(all, kMostCycles) << "there was nothing to cut";
  EXPECT_EQ(cuts, all / kMostCycles);
}

// Wherever a run is cut, the result is the same.
TEST(TiedNetwork, ResultsAreThoseOfWhatWasReused) {
  const Net parts({512, 20, 18}, 44, 3), lines({64, 60, 30}, 16, 5), cubes({16, 9, 9, 3}, 24, 3);
  for (const Net* net : {&parts, &lines, &cubes}) {
    for (const char* device : {"model:nv_small", "model:nv_small,gating=off", "model:nv_full"}) {
      Request request = net->build(device);
      request.write("in", Layout::kNchw, net->input());
      request.run();
      const std::vector<std::int8_t> expected = output(request);
      const CompiledNetwork::Impl& impl = *detail::Handles::impl(request.network());
      const auto& part = test::only_program(impl);
      for (std::size_t cut = 0; cut < part.layers.size(); ++cut) {
        std::vector<nvdla_layer> layers = part.layers;
        const bool reused = (layers[cut].conv.flags & kReuse) != 0;
        ASSERT_EQ(detail::fetch_again(layers, cut), reused);
        ASSERT_FALSE(detail::fetch_again(layers, cut));
        if (!reused) continue;
        ProgramDesc desc;
        desc.layers = layers;
        desc.slots = part.slots;
        std::vector<Binding> bindings = test::request_bindings(request);
        const Map out = bindings[impl.outputs[0].slot].buffer.map(MapMode::kReadWrite);
        std::fill(out.bytes().begin(), out.bytes().end(), std::byte{0x55});
        impl.device.submit(impl.device.create_program(desc), bindings).wait();
        ASSERT_EQ(output(request), expected) << device << ", cut before layer " << cut;
      }
    }
  }
}

// Other layers may lie in between, which keep nothing and reuse nothing.
TEST(FetchAgain, FindsTheConvolutionBefore) {
  std::vector<nvdla_layer> layers(5);
  for (const std::size_t conv : {0, 1, 4}) {
    layers[conv].conv.kernels = 8;
    layers[conv].conv.flags = kReuse | kKeep | NVDLA_CONV_NAN_TO_ZERO;
    layers[conv].conv.release = 3;
  }
  EXPECT_FALSE(detail::fetch_again(layers, 2));
  EXPECT_TRUE(detail::fetch_again(layers, 4));
  EXPECT_EQ(layers[4].conv.flags, kKeep | NVDLA_CONV_NAN_TO_ZERO);
  EXPECT_EQ(layers[4].conv.release, 3u);
  EXPECT_EQ(layers[1].conv.flags, kReuse | NVDLA_CONV_NAN_TO_ZERO);
  EXPECT_EQ(layers[1].conv.release, 0u);
  EXPECT_EQ(layers[0].conv.flags, kReuse | kKeep | NVDLA_CONV_NAN_TO_ZERO);
}

}  // namespace
}  // namespace nvdla
