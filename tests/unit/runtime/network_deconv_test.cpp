// SPDX-License-Identifier: MIT
//
// Deconvolutions of networks, on all configurations, against their definition.
#include <gtest/gtest.h>

#include <string>

#include "deconvolution_reference.hpp"
#include "expect_error.hpp"
#include "random_layers.hpp"

namespace nvdla {
namespace {

using test::compare;
using test::expect_error;
using test::Finish;
using test::KernelHolder;
using test::Values;

TEST(NetworkDeconv, RandomLayersEqualTheReference) {
  std::mt19937 random(7);
  for (int i = 0; i < 80;) {
    auto d = test::random_deconvolution(random);
    if (!d) continue;
    ++i;
    const std::string configuration = test::any_configuration(random);
    const DeviceInfo info = configuration_info(configuration);
    // Kernels of more than one surface, too.
    d->weights.kernels = test::pick(random, 1, 70);
    const test::Int8 in =
        test::random_cube(static_cast<int>(d->input.channels), static_cast<int>(d->input.height),
                          static_cast<int>(d->input.width), random());
    const auto weights =
        test::random_values<std::int8_t>(d->weights.elements(), random(), -128, 127);
    const test::Int32 sums = test::deconvolve(in, weights, *d);

    Deconvolution layer{.name = "up", .kernels = d->weights.kernels};
    layer.kernel_height = d->weights.kernel_height;
    layer.kernel_width = d->weights.kernel_width;
    layer.stride_y = d->stride_y;
    layer.stride_x = d->stride_x;
    layer.pad_top = d->pad_top;
    layer.pad_bottom = d->pad_bottom;
    layer.pad_left = d->pad_left;
    layer.pad_right = d->pad_right;
    layer.extra_bottom = d->extra_bottom;
    layer.extra_right = d->extra_right;
    const Finish finish(Precision::kInt8, d->weights.kernels, d->weights.channels, random);
    finish.tell(layer);
    // Integers of both sizes; the second is the first one with more room.
    const bool wide = info.has_int16 && random() % 2 == 0;
    KernelHolder holder;
    const Precision precision = wide ? Precision::kInt16 : Precision::kInt8;
    layer.weights =
        holder.hold(std::vector<std::int32_t>(weights.begin(), weights.end()), precision);
    if (!wide) layer.precision = test::any_result(Precision::kInt8, info, random);
    const Precision result = layer.precision.value_or(precision);

    Network net;
    net.output(net.deconvolution(net.input("in", d->input, precision), layer), "out");
    const Shape shape = deconvolution_output(*d);
    Values given(d->input, precision);
    given.data.assign(in.data.begin(), in.data.end());
    ASSERT_EQ(compare(net, configuration, given,
                      finish.apply({sums.data.begin(), sums.data.end()}, shape, precision, result)),
              "")
        << configuration << " " << test::describe(*d) << (wide ? " int16" : "");
  }
}

TEST(BadDeconvolutionLayer, OperandsOfElements) {
  const std::vector<std::int8_t> weights(2 * 3 * 4);
  const std::vector<std::int16_t> many(2 * 8 * 8);
  Deconvolution d{.name = "up", .kernels = 2, .kernel_height = 2, .kernel_width = 2};
  d.stride_x = d.stride_y = 2;
  d.weights = weights;
  d.x1 = bias(many);
  Network net;
  const Tensor in = net.input("in", {3, 4, 4});
  expect_error(ErrorCode::kInvalidArgument,
               "layer 0 'up': operands of a deconvolution are of the layer or per channel",
               [&] { net.deconvolution(in, d); });
}

}  // namespace
}  // namespace nvdla
