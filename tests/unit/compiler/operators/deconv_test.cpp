// SPDX-License-Identifier: MIT
//
// Deconvolutions of networks, on all configurations, against their definition.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "common/property.hpp"
#include "common/runtime/deconvolution_reference.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/lut_reference.hpp"
#include "common/runtime/random_layers.hpp"
#include "common/share.hpp"

namespace nvdla {
namespace {

using test::compare;
using test::expect_error;
using test::Finish;
using test::KernelHolder;
using test::Values;

// A deconvolution with numbers of its own, and what follows it.
struct RandomDeconv {
  std::string configuration;
  DeconvolutionDesc desc;
  test::Int8 in;
  std::vector<std::int8_t> weights;
  KernelHolder holder;
  Deconvolution layer;
  Precision precision = Precision::kInt8;
  std::optional<Finish> finish;

  Network network() {
    Network net;
    net.output(net.deconvolution(net.input("in", desc.input, precision), layer), "out");
    return net;
  }

  // What is different from the definition.
  std::string compare_with_definition() {
    const test::Int32 sums = test::deconvolve(in, weights, desc, layer.zero_point);
    Values given(desc.input, precision);
    given.data.assign(in.data.begin(), in.data.end());
    const Values expected =
        finish->apply({sums.data.begin(), sums.data.end()}, deconvolution_output(desc), precision,
                      layer.precision.value_or(precision));
    return compare(network(), configuration, given, expected);
  }
};

RandomDeconv random_layer(test::Random& random, const std::string& configuration) {
  RandomDeconv r;
  r.configuration = configuration;
  const DeviceInfo info = configuration_info(configuration);
  std::optional<DeconvolutionDesc> desc;
  while (!desc) desc = test::random_deconvolution(random);
  DeconvolutionDesc& d = r.desc = *desc;
  // Kernels of more than one surface, too.
  d.weights.kernels = test::any(random, 1, 70);
  r.in = test::random_cube(static_cast<int>(d.input.channels), static_cast<int>(d.input.height),
                           static_cast<int>(d.input.width), random());
  r.weights = test::random_values<std::int8_t>(d.weights.elements(), random(), -128, 127);
  Deconvolution& layer = r.layer = test::deconvolution_layer(d);
  r.finish.emplace(Precision::kInt8, d.weights.kernels, d.weights.channels, random);
  // Integers of both sizes; the second is the first one with more room.
  const bool wide = info.has_int16 && random() % 2 == 0;
  if (wide) r.precision = Precision::kInt16;
  if (!wide) layer.precision = test::any_result(Precision::kInt8, info, random);
  return r;
}

void hold(RandomDeconv& r) {
  r.finish->tell(r.layer);
  r.layer.weights =
      r.holder.hold(std::vector<std::int32_t>(r.weights.begin(), r.weights.end()), r.precision);
}

TEST(NetworkDeconv, RandomLayersEqualTheReference) {
  test::for_all(test::share(80), [](test::Random& random) {
    RandomDeconv r = random_layer(random, test::any_configuration(random));
    hold(r);
    return test::with_name(r.configuration + " " + test::describe(r.desc) +
                               std::to_string(static_cast<int>(r.precision)),
                           r.compare_with_definition());
  });
}

// What stands for zero is around the input, too.
TEST(NetworkDeconv, ZeroPoints) {
  test::for_all(test::share(60), [](test::Random& random) {
    RandomDeconv r = random_layer(random, test::any_configuration(random));
    hold(r);
    r.layer.zero_point = static_cast<std::int32_t>(random.pick(-128, 127));
    return test::with_name(
        r.configuration + " " + test::describe(r.desc) + std::to_string(r.layer.zero_point),
        r.compare_with_definition());
  });
}

// Every position of a phase takes the same operands.
TEST(NetworkDeconv, OperatorY) {
  const std::string configurations[] = {"nv_full", "nv_large", "nv_small_256_full"};
  test::for_all(test::share(45), [&](test::Random& random) {
    RandomDeconv r = random_layer(random, configurations[random.pick(0, 2)]);
    hold(r);
    if (test::one_in(random, 2)) r.layer.zero_point = 11;
    const std::uint32_t kernels = r.layer.kernels;
    const auto factors = test::random_values<std::int32_t>(kernels, random(), -300, 300);
    const auto values = test::random_values<std::int32_t>(kernels, random(), -3000, 3000);
    const nvdla_lut lut = test::random_lut(NVDLA_LUT_SDP, 14, random);
    OperatorY& y = r.layer.y;
    y.mul = NVDLA_MUL_MUL;
    y.mul_values = factors;
    y.mul_shift = 8;
    y.alu = NVDLA_ALU_SUM;
    y.alu_values = values;
    if (test::one_in(random, 2)) y.lut = &lut;
    const Shape shape = deconvolution_output(r.desc);
    r.finish->y = [&, shape](std::int64_t value, std::size_t at) {
      value = test::saturate(
          test::round_shift(static_cast<__int128>(value) * test::pick(factors, at, shape), 8), 32);
      value = test::saturate(__int128{value} + test::pick(values, at, shape), 32);
      return y.lut != nullptr ? test::look_up(lut, value) : value;
    };
    return test::with_name(r.configuration + " " + test::describe(r.desc),
                           r.compare_with_definition());
  });
}

// On the fly behind the one phase that there is without a stride, from memory behind several.
TEST(NetworkDeconv, Poolings) {
  test::Random random(10);
  for (const std::uint32_t stride : {1U, 2U}) {
    const auto weights = test::random_values<std::int8_t>(40 * 3 * 9, random(), -128, 127);
    Deconvolution d{.name = "up", .kernels = 40, .kernel_height = 3, .kernel_width = 3};
    d.stride_width = d.stride_height = stride;
    d.zero_point = -5;
    d.weights = weights;
    d.output = {.scale = 1, .shift = 8};
    std::vector<std::int8_t> results[2];
    for (const bool apart : {false, true}) {
      Network net;
      const Tensor sums = net.deconvolution(net.input("in", {3, 6, 7}), d);
      net.output(net.pooling(sums, {.name = "pool", .kernel_height = 2, .kernel_width = 2}), "out");
      // Nothing is on the fly that the application reads.
      if (apart) net.output(sums, "sums");
      Request request =
          net.build(Device::open("model:nv_full"), {.disabled_passes = {"interleave"}});
      EXPECT_EQ(request.network().layer_name(request.network().layers() - 1),
                stride == 1 && !apart ? "up+pool" : "pool");
      EXPECT_EQ(request.network().layers(),
                (stride == 1 ? 1U : 5U) + (stride == 1 && !apart ? 0 : 1));
      const test::Int8 in = test::random_cube(3, 6, 7, 11);
      request.write("in", Layout::kNchw, in.data);
      request.run();
      results[apart].resize(request.network().desc("out").shape.elements());
      request.read("out", Layout::kNchw, results[apart]);
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

class BadDeconvolutionLayer : public ::testing::Test {
 protected:
  void refused(const std::string& text) {
    expect_error(ErrorCode::kInvalidArgument, "layer 0 'up': " + text, [&] {
      Network net;
      net.deconvolution(net.input("in", {3, 4, 4}, precision_), layer_);
    });
  }
  void SetUp() override {
    layer_.stride_width = layer_.stride_height = 2;
    layer_.weights = weights_;
  }
  std::vector<std::int8_t> weights_ = std::vector<std::int8_t>(2 * 3 * 4, 1);
  std::vector<std::int16_t> wide_ = std::vector<std::int16_t>(2 * 3 * 4, 32767);
  std::vector<float> reals_ = std::vector<float>(2 * 3 * 4);
  Precision precision_ = Precision::kInt8;
  Deconvolution layer_{.name = "up", .kernels = 2, .kernel_height = 2, .kernel_width = 2};
};

TEST_F(BadDeconvolutionLayer, OperandsOfElements) {
  const std::vector<std::int16_t> many(2 * 8 * 8);
  layer_.x1 = bias(many);
  refused("operands of a deconvolution are of the layer or per channel");
}

TEST_F(BadDeconvolutionLayer, OperandsOfElementsInY) {
  const std::vector<std::int32_t> many(2 * 8 * 8);
  layer_.y.alu = NVDLA_ALU_SUM;
  layer_.y.alu_values = many;
  refused("operands of a deconvolution are of the layer or per channel");
}

TEST_F(BadDeconvolutionLayer, ZeroPointInFp16) {
  precision_ = Precision::kFp16;
  layer_.weights = reals_;
  layer_.zero_point = 1;
  refused("fp16 has no zero point, found 1");
}

TEST_F(BadDeconvolutionLayer, ZeroPointOutOfRange) {
  layer_.zero_point = 128;
  refused("zero_point 128 is not in -128..127");
}

TEST_F(BadDeconvolutionLayer, ZeroPointAfterAShift) {
  layer_.zero_point = 1;
  layer_.arithmetic.accumulator_shift = 2;
  refused("an accumulator_shift of 2 comes before what a zero point of 1 adds");
}

TEST_F(BadDeconvolutionLayer, ZeroPointTimesLargeKernels) {
  precision_ = Precision::kInt16;
  layer_.weights = wide_;
  layer_.zero_point = -32768;
  refused("bias with what the zero point adds 3221127168 is not in -2147483648..2147483647");
}

TEST_F(BadDeconvolutionLayer, ZeroPointWithoutAnOperator) {
  layer_.zero_point = 1;
  const std::vector<std::int16_t> slope = {3};
  layer_.x1 = layer_.x2 = prelu(slope, 1);
  refused("the bias takes 1 operator, which leaves no place for x1 and x2: two are there");
}

}  // namespace
}  // namespace nvdla
