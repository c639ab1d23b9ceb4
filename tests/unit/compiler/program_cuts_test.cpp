// SPDX-License-Identifier: MIT
//
// Networks that are too much for one program: where they are cut, and that nobody sees it.
#include "compiler/passes/program_cuts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/random_graph.hpp"
#include "common/runtime/random_layers.hpp"
#include "compiler/compile.hpp"
#include "device/compiled_impl.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/shape.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

constexpr Shape kShape = {.channels = 8, .height = 4, .width = 4};

std::vector<std::int8_t> input() {
  return test::random_values<std::int8_t>(kShape.elements(), 3, -100, 100);
}

std::vector<std::int8_t> run(const CompiledNetwork& compiled) {
  Request request = compiled.create_request();
  request.write("in", Layout::kNchw, std::span<const std::int8_t>(input()));
  request.run();
  std::vector<std::int8_t> out(request.network().desc("out").shape.elements());
  request.read("out", Layout::kNchw, std::span(out));
  return out;
}

// Each limit for itself, as low as it may be, and all of them.
TEST(ProgramCuts, RandomGraphsAreTheSameInAnyNumberOfPrograms) {
  std::uint32_t most = 0;
  test::for_all(300, [&](test::Random& random) -> std::string {
    const std::string configuration = test::any_configuration(random);
    const Device device = Device::open("model:" + configuration);
    const test::RandomGraph graph(random, device.info());
    detail::ProgramLimits limits;
    if (random.pick(0, 1) == 0) limits.layers = static_cast<std::uint32_t>(random.pick(1, 9));
    if (random.pick(0, 1) == 0) limits.slots = static_cast<std::uint32_t>(random.pick(6, 12));
    if (random.pick(0, 1) == 0) limits.transfers = 1;
    const CompiledNetwork compiled =
        detail::compile(*detail::Handles::impl(graph.network()), device, {}, limits);
    most = std::max(most, compiled.programs());
    for (const detail::ChainPart& part : detail::Handles::impl(compiled)->parts) {
      const auto* program = std::get_if<detail::ProgramPart>(&part);
      if (program == nullptr) continue;
      if (program->layers.size() > limits.layers) return "a program has too many layers";
      if (program->slots.size() > limits.slots && program->layers.size() > 1)
        return "a program has too many slots";
      if (program->transfers.size() > limits.transfers && program->layers.size() > 1)
        return "a program has too many transfers";
    }
    return test::with_name(configuration, graph.wrong(compiled.create_request()));
  });
  EXPECT_GT(most, 5U);
}

// Real limits, by the public interface.
TEST(ProgramCuts, MoreLayersThanAProgramHas) {
  Network net;
  Tensor tensor = net.input("in", kShape);
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "add" + std::to_string(i);
    const auto value = static_cast<std::int16_t>(i % 5 - 2);
    tensor = net.pointwise(tensor, {.name = name, .x1 = bias(std::span(&value, 1))});
  }
  net.output(tensor, "out");
  const CompiledNetwork compiled = net.compile(Device::open("model:nv_small"));
  EXPECT_EQ(compiled.layers(), 5000U);
  EXPECT_EQ(compiled.programs(), 2U);
  EXPECT_EQ(run(compiled), input()) << "the biases add up to nothing";
}

TEST(ProgramCuts, MoreTablesThanAProgramHas) {
  Network net;
  Tensor tensor = net.input("in", kShape);
  for (int i = 0; i < 150; ++i) {
    nvdla_lut lut = {};
    lut.unit = NVDLA_LUT_SDP;
    lut.le_end = 64;
    lut.lo_end = 256;
    std::fill(std::begin(lut.lo), std::end(lut.lo), static_cast<std::uint16_t>(i));
    std::fill(std::begin(lut.le), std::end(lut.le), static_cast<std::uint16_t>(i));
    const std::string name = "curve" + std::to_string(i);
    Pointwise curve{.name = name};
    curve.y.lut = &lut;
    const Tensor constant = net.pointwise(tensor, curve);
    // The sum with what was there before.
    tensor =
        net.pointwise(tensor, {.name = "sum" + name, .x1 = elementwise(NVDLA_ALU_MAX, constant)});
  }
  net.output(tensor, "out");
  const CompiledNetwork compiled = net.compile(Device::open("model:nv_full"));
  EXPECT_EQ(compiled.programs(), 3U);
  EXPECT_EQ(run(compiled), std::vector<std::int8_t>(kShape.elements(), 127));
}

TEST(ProgramCuts, MoreTensorsThanAProgramHas) {
  Network net;
  std::vector<Tensor> inputs;
  for (int i = 0; i < 300; ++i)
    inputs.push_back(net.input(i == 0 ? "in" : "in" + std::to_string(i), kShape));
  Tensor sum = inputs[0];
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const std::string name = "sum" + std::to_string(i);
    sum = net.pointwise(sum, {.name = name, .x1 = elementwise(NVDLA_ALU_SUM, inputs[i])});
  }
  net.output(sum, "out");
  const CompiledNetwork compiled = net.compile(Device::open("model:nv_small"));
  EXPECT_GT(compiled.programs(), 1U);
  EXPECT_EQ(run(compiled), input()) << "all others are 0";
}

// A wide tensor lives almost everywhere: the only cheap cut is where it does not.
TEST(ProgramCuts, AreWhereFewTensorsLive) {
  Network net;
  const std::vector<std::int8_t> wider(8 * 64, 1), narrower(64 * 8, 1);
  Tensor tensor = net.input("in", kShape);
  const auto conv = [&](const std::string& name, std::uint32_t kernels,
                        const std::vector<std::int8_t>& weights) {
    Convolution c{.name = name, .kernels = kernels};
    c.weights = weights;
    c.output = {.shift = 4};
    tensor = net.convolution(tensor, c);
  };
  for (int i = 0; i < 4; ++i) {
    conv("up" + std::to_string(i), 64, wider);
    conv("down" + std::to_string(i), 8, narrower);
  }
  net.output(tensor, "out");
  const Device device = Device::open("model:nv_large");
  detail::ProgramLimits limits;
  limits.layers = 5;
  const CompiledNetwork compiled = detail::compile(*detail::Handles::impl(net), device, {}, limits);
  const auto& parts = detail::Handles::impl(compiled)->parts;
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(std::get<detail::ProgramPart>(parts[1]).first_layer, 4U);
  EXPECT_EQ(run(compiled), run(net.compile(device)));
}

}  // namespace
}  // namespace nvdla
