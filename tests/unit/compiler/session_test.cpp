// SPDX-License-Identifier: MIT
//
// What a session does with inputs, outputs and buffers, and what it refuses.
#include <gtest/gtest.h>

#include <vector>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/networks.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::Int8;
using test::Networks;

TEST_P(Networks, SeveralInputsAndOutputs) {
  const Int8 a = test::random_cube(7, 4, 4, 43), b = test::random_cube(7, 4, 4, 44);
  const Tensor ta = net_.input("a", test::shape(a)), tb = net_.input("b", test::shape(b));
  const Tensor sum = net_.pointwise(ta, {.name = "sum", .x1 = elementwise(NVDLA_ALU_SUM, tb)});
  const Tensor positive = net_.pointwise(sum, {.name = "relu", .x1 = relu()});
  net_.output(sum, "sum");
  net_.output(positive, "positive");
  Session session = net_.build(device_, {.statistics = true});
  EXPECT_EQ(session.inputs(), 2U);
  EXPECT_EQ(session.outputs(), 2U);
  EXPECT_EQ(session.input_name(1), "b");
  EXPECT_EQ(session.output_name(1), "positive");
  EXPECT_EQ(session.layers(), 2U);
  EXPECT_EQ(session.layer_name(1), "relu");
  EXPECT_GT(session.layer_cycles(1), 0U);
  EXPECT_EQ(session.layer_macs(1), 0U);
  session.write("a", Layout::kNchw, a.data);
  session.write("b", Layout::kNchw, b.data);
  session.run();
  EXPECT_EQ(session.statistics().size(), 2U);
  const Int8 rsum =
      test::convert(test::apply(test::widen(a), elementwise(NVDLA_ALU_SUM, tb), &b), 0, 1, 0);
  Int8 found(7, 4, 4);
  session.read("sum", Layout::kNchw, found.data);
  EXPECT_EQ(found.data, rsum.data);
  session.read("positive", Layout::kNchw, found.data);
  EXPECT_EQ(found.data, test::convert(test::apply(test::widen(rsum), relu()), 0, 1, 0).data);
}

TEST_P(Networks, FloatsPassTheirQuantisation) {
  const Tensor x = net_.input("in", {3, 1, 2}, {.scale = 0.5F, .zero_point = 10});
  net_.output(net_.pointwise(x, {.name = "same", .output = {.offset = 0}}), "out",
              {.scale = 0.5F, .zero_point = 10});
  Session session = net_.build(device_);
  const std::vector<float> in = {1.0F, -2.5F, 0.0F, 50.0F, -60.0F, 3.5F};
  std::vector<float> out(6);
  session.write("in", Layout::kNhwc, in);
  session.run();
  session.read("out", Layout::kNhwc, out);
  EXPECT_EQ(out, in);
}

// Weights and input of a second run, without a new build.
TEST_P(Networks, RunsManyTimes) {
  const auto weights = test::random_values<std::int8_t>(16 * 16 * 9, 45, -128, 127);
  Convolution c{.name = "conv", .kernels = 16, .kernel_height = 3, .kernel_width = 3};
  c.weights = weights;
  c.output = requantize(0.001);
  net_.output(net_.convolution(net_.input("in", {16, 8, 8}), c), "out");
  Session session = net_.build(device_);
  for (std::uint32_t i = 0; i < 5; ++i) {
    const Int8 in = test::random_cube(16, 8, 8, 46 + i);
    session.write("in", Layout::kNchw, in.data);
    session.run();
    std::vector<std::int8_t> found(16 * 36);
    session.read("out", Layout::kNchw, found);
    EXPECT_EQ(found, test::convert(test::convolve(in, weights, 16, 3, 3, {}), c.output.offset,
                                   c.output.scale, c.output.shift)
                         .data);
  }
}

TEST_P(Networks, BindsBuffersOfTheApplication) {
  const Int8 in = test::random_cube(8, 2, 2, 60);
  net_.output(net_.pointwise(net_.input("in", test::shape(in)), {.name = "same"}), "out");
  Session one = net_.build(device_), two = net_.build(device_);
  // The second session reads what the first one writes.
  two.bind("in", one.buffer("out"));
  one.write("in", Layout::kNchw, in.data);
  const std::vector<Fence> first = {one.submit()};
  two.submit({.wait_fences = first}).wait();
  std::vector<std::int8_t> found(in.data.size());
  two.read("out", Layout::kNchw, found);
  EXPECT_EQ(found, in.data);
  expect_error(ErrorCode::kInvalidArgument, "are needed",
               [&] { one.bind("in", device_.allocate(tensor_bytes(one.desc("in")) - 1)); });
  expect_error(ErrorCode::kInvalidArgument, "empty", [&] { one.bind("in", Buffer()); });
}

class BadSession : public ::testing::Test {
 protected:
  static Session make() {
    Network net;
    net.output(net.pointwise(net.input("in", {8, 2, 2}), {.name = "same"}), "out");
    return net.build(Device::open("model:nv_small"));
  }
  Session session_ = make();
};

TEST_F(BadSession, UnknownNames) {
  expect_error(ErrorCode::kInvalidArgument, "no input is called 'out'; there is 'in'",
               [&] { session_.write("out", Layout::kNchw, std::vector<std::int8_t>(32)); });
  std::vector<std::int8_t> target(32);
  expect_error(ErrorCode::kInvalidArgument, "no output is called 'x'; there is 'out'",
               [&] { session_.read("x", Layout::kNchw, target); });
  expect_error(ErrorCode::kInvalidArgument, "no input or output is called 'x'",
               [&] { session_.desc("x"); });
}

TEST_F(BadSession, WrongSizes) {
  expect_error(ErrorCode::kInvalidArgument, "31 elements given",
               [&] { session_.write("in", Layout::kNchw, std::vector<std::int8_t>(31)); });
}

TEST_F(BadSession, IndicesOutOfRange) {
  expect_error(ErrorCode::kInvalidArgument, "input 1 of 1", [&] { session_.input_name(1); });
  expect_error(ErrorCode::kInvalidArgument, "output 1 of 1", [&] { session_.output_name(1); });
  expect_error(ErrorCode::kInvalidArgument, "layer 1", [&] { session_.layer_name(1); });
  expect_error(ErrorCode::kInvalidArgument, "layer 1", [&] { session_.layer_macs(1); });
}

}  // namespace
}  // namespace nvdla
