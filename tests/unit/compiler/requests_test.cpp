// SPDX-License-Identifier: MIT
//
// What a request does with inputs, outputs and buffers, and what it refuses.
#include <gtest/gtest.h>

#include <vector>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/networks.hpp"
#include "nvdla/lowlevel/tensors.hpp"

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
  Request request = net_.build(device_, {.statistics = true});
  EXPECT_EQ(request.network().inputs(), 2U);
  EXPECT_EQ(request.network().outputs(), 2U);
  EXPECT_EQ(request.network().input_name(1), "b");
  EXPECT_EQ(request.network().output_name(1), "positive");
  EXPECT_EQ(request.network().layers(), 2U);
  EXPECT_EQ(request.network().layer_name(1), "relu");
  EXPECT_GT(request.network().layer_cycles(1), 0U);
  EXPECT_EQ(request.network().layer_macs(1), 0U);
  request.write("a", Layout::kNchw, a.data);
  request.write("b", Layout::kNchw, b.data);
  request.run();
  EXPECT_EQ(request.statistics().size(), 2U);
  const Int8 rsum =
      test::convert(test::apply(test::widen(a), elementwise(NVDLA_ALU_SUM, tb), &b), 0, 1, 0);
  Int8 found(7, 4, 4);
  request.read("sum", Layout::kNchw, found.data);
  EXPECT_EQ(found.data, rsum.data);
  request.read("positive", Layout::kNchw, found.data);
  EXPECT_EQ(found.data, test::convert(test::apply(test::widen(rsum), relu()), 0, 1, 0).data);
}

TEST_P(Networks, FloatsPassTheirQuantisation) {
  const Tensor x = net_.input("in", {3, 1, 2}, {.scale = 0.5F, .zero_point = 10});
  net_.output(net_.pointwise(x, {.name = "same", .output = {.offset = 0}}), "out",
              {.scale = 0.5F, .zero_point = 10});
  Request request = net_.build(device_);
  const std::vector<float> in = {1.0F, -2.5F, 0.0F, 50.0F, -60.0F, 3.5F};
  std::vector<float> out(6);
  request.write("in", Layout::kNhwc, in);
  request.run();
  request.read("out", Layout::kNhwc, out);
  EXPECT_EQ(out, in);
}

// Weights and input of a second run, without a new build.
TEST_P(Networks, RunsManyTimes) {
  const auto weights = test::random_values<std::int8_t>(16 * 16 * 9, 45, -128, 127);
  Convolution c{.name = "conv", .kernels = 16, .kernel_height = 3, .kernel_width = 3};
  c.weights = weights;
  c.output = requantize(0.001);
  net_.output(net_.convolution(net_.input("in", {16, 8, 8}), c), "out");
  Request request = net_.build(device_);
  for (std::uint32_t i = 0; i < 5; ++i) {
    const Int8 in = test::random_cube(16, 8, 8, 46 + i);
    request.write("in", Layout::kNchw, in.data);
    request.run();
    std::vector<std::int8_t> found(16 * 36);
    request.read("out", Layout::kNchw, found);
    EXPECT_EQ(found, test::convert(test::convolve(in, weights, 16, 3, 3, {}), c.output.offset,
                                   c.output.scale, c.output.shift)
                         .data);
  }
}

TEST_P(Networks, BindsBuffersOfTheApplication) {
  const Int8 in = test::random_cube(8, 2, 2, 60);
  net_.output(net_.pointwise(net_.input("in", test::shape(in)), {.name = "same"}), "out");
  Request one = net_.build(device_), two = net_.build(device_);
  // The second request reads what the first one writes.
  two.bind("in", one.buffer("out"));
  one.write("in", Layout::kNchw, in.data);
  const std::vector<Fence> first = {one.submit()};
  two.submit({.wait_fences = first}).wait();
  std::vector<std::int8_t> found(in.data.size());
  two.read("out", Layout::kNchw, found);
  EXPECT_EQ(found, in.data);
  expect_error(ErrorCode::kInvalidArgument, "are needed", [&] {
    one.bind("in", device_.allocate(tensor_bytes(one.network().desc("in")) - 1));
  });
  expect_error(ErrorCode::kInvalidArgument, "empty", [&] { one.bind("in", Buffer()); });
}

class BadRequest : public ::testing::Test {
 protected:
  static Request make() {
    Network net;
    net.output(net.pointwise(net.input("in", {8, 2, 2}), {.name = "same"}), "out");
    return net.build(Device::open("model:nv_small"));
  }
  Request request_ = make();
};

TEST_F(BadRequest, UnknownNames) {
  expect_error(ErrorCode::kInvalidArgument, "'out' is an output: it is read, not written",
               [&] { request_.write("out", Layout::kNchw, std::vector<std::int8_t>(32)); });
  std::vector<std::int8_t> target(32);
  expect_error(ErrorCode::kInvalidArgument,
               "no input or output is called 'x'; there is 'in', 'out'",
               [&] { request_.read("x", Layout::kNchw, target); });
  expect_error(ErrorCode::kInvalidArgument, "no input or output is called 'x'",
               [&] { request_.network().desc("x"); });
}

TEST_F(BadRequest, WrongSizes) {
  expect_error(ErrorCode::kInvalidArgument, "31 elements given",
               [&] { request_.write("in", Layout::kNchw, std::vector<std::int8_t>(31)); });
}

TEST_F(BadRequest, IndicesOutOfRange) {
  expect_error(ErrorCode::kInvalidArgument, "input 1 of 1",
               [&] { request_.network().input_name(1); });
  expect_error(ErrorCode::kInvalidArgument, "output 1 of 1",
               [&] { request_.network().output_name(1); });
  expect_error(ErrorCode::kInvalidArgument, "layer 1", [&] { request_.network().layer_name(1); });
  expect_error(ErrorCode::kInvalidArgument, "layer 1", [&] { request_.network().layer_macs(1); });
}

}  // namespace
}  // namespace nvdla
