// SPDX-License-Identifier: MIT
//
// What networks refuse: when a layer is added, and when they are built.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/reference.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {
namespace {

using test::expect_error;

// ---- refusals when a layer is added, one fault a test

class BadNetwork : public ::testing::Test {
 protected:
  BadNetwork() {
    conv_.name = "conv7";
    conv_.kernels = 4;
    conv_.weights = weights_;
    conv_.bias = bias_;
  }
  std::optional<Error> refused(const std::string& text) {
    return expect_error(ErrorCode::kInvalidArgument, text,
                        [&] { net_.convolution(input_, conv_); });
  }
  Network net_;
  Tensor input_ = net_.input("in", {8, 5, 5});
  std::vector<std::int8_t> weights_ = std::vector<std::int8_t>(32);
  std::vector<std::int32_t> bias_ = std::vector<std::int32_t>(4);
  std::vector<std::int16_t> four_ = std::vector<std::int16_t>(4, 1);
  Convolution conv_;
};

TEST_F(BadNetwork, NotEnoughWeights) {
  conv_.weights = std::get<0>(conv_.weights).first(31);
  const auto error = refused("layer 0 'conv7': 31 weights given, 4x8x1x1 (KCRS) are 32");
  EXPECT_EQ(error->layer(), 0);
}

TEST_F(BadNetwork, NotEnoughBias) {
  conv_.bias = conv_.bias.first(3);
  refused("layer 0 'conv7': 3 bias values given, 4 kernels");
}

TEST_F(BadNetwork, BiasTooLarge) {
  bias_[2] = 2147483647;
  bias_[1] = 1;
  refused("bias 2147483647 of kernel 2 is more than two operators can add, 2147450879");
}

TEST_F(BadNetwork, KernelLargerThanInput) {
  conv_.kernel_height = 6;
  refused("layer 0 'conv7': padded height 5 is smaller than the dilated kernel, 6");
}

TEST_F(BadNetwork, StrideZero) {
  conv_.stride_width = 0;
  refused("stride 0 is not in 1..8");
}

// Only whole layers may see so much padding, and this one must be cut.
TEST_F(BadNetwork, BandsOfPadding) {
  const auto weights = test::random_values<std::int8_t>(4, 2, -1, 1);
  Convolution c{.name = "conv", .kernels = 1};
  c.weights = weights;
  c.pad_bottom = 1;
  Network net;
  net.output(net.convolution(net.input("in", Shape{4, 5000, 4}), c), "out");
  expect_error(ErrorCode::kNotAvailable, "below 1, the kernel, it is",
               [&] { net.build(Device::open("model:nv_small")); });
}

TEST_F(BadNetwork, NoKernels) {
  conv_.kernels = 0;
  refused("kernels 0 is not in 1..8192");
}

TEST_F(BadNetwork, OperatorsWithoutAPlace) {
  bias_ = {1, 1000001, 2, 3};
  conv_.x1 = prelu(four_, 1);
  refused("the bias takes 2 operators, which leaves no place for x1");
}

TEST_F(BadNetwork, WrongNumberOfOperands) {
  conv_.x1 = scale(std::span(four_).first(3));
  refused("x1: 3 MUL values; right are 1, one per channel (4) or one per element (100)");
}

TEST_F(BadNetwork, ValuesWithoutAnOperator) {
  conv_.x2.alu_values = four_;
  refused("x2: 4 ALU values for an ALU that is not active");
}

TEST_F(BadNetwork, OperatorWithoutValues) {
  conv_.x2.mul = NVDLA_MUL_MUL;
  refused("x2: 0 MUL values for a multiplier that is active");
}

TEST_F(BadNetwork, UnknownAlu) {
  conv_.x1.alu = NVDLA_ALU_EQUAL;
  refused("x1: alu 4 is none of NONE, MAX, MIN, SUM");
}

TEST_F(BadNetwork, TensorOfAnotherShape) {
  conv_.x1 = elementwise(NVDLA_ALU_SUM, input_);
  refused("x1: the operand tensor is 1x8x5x5 (NCHW), the layer's output 1x4x5x5");
}

TEST_F(BadNetwork, TensorForBothParts) {
  conv_.kernels = 8;
  weights_.resize(64);
  conv_.weights = weights_;
  conv_.bias = {};
  conv_.x1 = elementwise(NVDLA_ALU_SUM, input_);
  conv_.x1.mul = NVDLA_MUL_MUL;
  refused("x1: a tensor is the operand of exactly one part, here both are active");
}

TEST_F(BadNetwork, Batch) {
  expect_error(ErrorCode::kInvalidArgument, "batch 33 is not in 1..32",
               [&] { net_.input("more", {.channels = 1, .batch = 33}); });
}

TEST_F(BadNetwork, InputOfSizeZero) {
  expect_error(ErrorCode::kInvalidArgument, "channels 0 is not in 1..8192",
               [&] { net_.input("more", {.channels = 0}); });
}

TEST_F(BadNetwork, LayerThatIsNotThere) {
  expect_error(ErrorCode::kInvalidArgument, "layer 0: the network has 0",
               [&] { net_.layer_name(0); });
}

// ---- refusals when it is built

TEST_F(BadNetwork, NoLayer) {
  expect_error(ErrorCode::kInvalidArgument, "no layer",
               [&] { net_.build(Device::open("model:nv_small")); });
}

TEST_F(BadNetwork, NoOutput) {
  net_.convolution(input_, conv_);
  expect_error(ErrorCode::kInvalidArgument, "no output",
               [&] { net_.build(Device::open("model:nv_small")); });
}

// Two columns of as many lines as a kernel has fill the buffer.
TEST_F(BadNetwork, ColumnsThatAreTooHigh) {
  Network net;
  Convolution c{.name = "big", .kernels = 1, .kernel_height = 32};
  const std::vector<std::int8_t> weights(8192 * 32);
  c.weights = weights;
  net.output(net.convolution(net.input("in", {8192, 33, 4}), c), "out");
  const auto error =
      expect_error(ErrorCode::kNotAvailable, "layer 0 'big': the convolution buffer has 16 banks",
                   [&] { net.build(Device::open("model:nv_full")); });
  EXPECT_EQ(error->layer(), 0);
}

TEST_F(BadNetwork, ARuleOfTheCompilerNamesTheLayer) {
  conv_.arithmetic.accumulator_shift = 17;
  net_.output(net_.convolution(input_, conv_), "out");
  const auto error = expect_error(ErrorCode::kInvalidProgram,
                                  "layer 0 'conv7' (conv): arithmetic.accumulator_shift 17",
                                  [&] { net_.build(Device::open("model:nv_small")); });
  EXPECT_EQ(error->field(), "conv.clip_truncate");
}

}  // namespace
}  // namespace nvdla
