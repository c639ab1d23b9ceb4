// SPDX-License-Identifier: MIT
//
// Tensors that are no single feature cube: batches and planes, and how a file describes them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "loadable/format/dimg.hpp"
#include "round_trip.hpp"

namespace nvdla {
namespace {

using test::expect_round_trip;
using test::random_elements;
using test::RoundTrip;

// Cube by cube, as the request works on them, with constants and tensors as operands; or in one
// convolution, where the hardware has that.
TEST(SaveTensor, Batches) {
  const auto weights = random_elements<std::int8_t>(12 * 20 * 9, 1);
  const auto values = random_elements<std::int16_t>(12 * 7 * 8, 2);
  const Shape shape{.channels = 20, .height = 9, .width = 10, .batch = 3};
  Convolution conv{.name = "conv", .kernels = 12, .kernel_height = 3, .kernel_width = 3};
  conv.weights = weights;
  conv.output = requantize(0.002);
  conv.tuning.interleaving = Rewrite::kNever;
  for (const std::string name : {"nv_full", "nv_small"}) {
    Network network;
    const Tensor in = network.input("in", shape);
    const Tensor a = network.convolution(in, conv);
    const Tensor b = network.pointwise(
        a, {.name = "sum", .x1 = elementwise(NVDLA_ALU_SUM, a), .x2 = scale(values, 10)});
    const Tensor c = network.pooling(b, {.name = "max", .kernel_height = 2, .kernel_width = 2});
    network.output(c, "out");
    const bool full = name == "nv_full";
    const RoundTrip trip = expect_round_trip<std::int8_t>(network, name, shape.elements(),
                                                          3 * 12 * 6 * 7, full ? 4 : 6);
    EXPECT_EQ(trip.part<loadable::ConvPart>().op.batch, full ? 3 : 1);
    EXPECT_EQ(trip.loaded.network().desc("in").shape, shape);
    EXPECT_EQ(trip.loaded.network().desc("in").batch_stride,
              trip.request.network().desc("in").batch_stride);
    const loadable::TensorEntry& tensor = trip.container.tensors.at(0);
    EXPECT_EQ(tensor.n, 3);
    EXPECT_EQ(tensor.stride[3], trip.request.network().desc("in").batch_stride);
  }
}

template <typename T>
void expect_batch(Precision precision) {
  const auto weights = random_elements<T>(40 * 20 * 9, 1);
  const Shape shape{.channels = 20, .height = 9, .width = 10, .batch = 5};
  Convolution conv{.name = "conv", .kernels = 40, .kernel_height = 3, .kernel_width = 3};
  conv.weights = std::span<const T>(weights);
  std::vector<std::int32_t> bias;
  std::vector<float> reals;
  for (int k = 0; k < 40; ++k) {
    bias.push_back(k * 7001 - 150000);
    reals.push_back(static_cast<float>(k) / 4 - 3);
  }
  if (precision == Precision::kFp16) {
    conv.bias_reals = reals;
  } else {
    conv.bias = bias;
    conv.output = requantize(precision == Precision::kInt8 ? 0.002 : 0.00002);
  }
  conv.relu = true;
  conv.tuning.batch = Rewrite::kAlways;
  Network network;
  network.output(network.convolution(network.input("in", shape, precision), conv), "out");
  const RoundTrip trip =
      expect_round_trip<T>(network, "nv_full", shape.elements(), 5 * 40 * 7 * 8, 1);
  const loadable::ConvOp& op = trip.part<loadable::ConvPart>().op;
  const loadable::SdpOp& sdp = trip.part<loadable::SdpPart>().op;
  EXPECT_EQ(op.batch, 5);
  EXPECT_EQ(sdp.batch_num, 5);
  EXPECT_EQ(op.batch_stride, trip.request.network().desc("in").batch_stride);
  EXPECT_EQ(sdp.batch_stride, trip.request.network().desc("out").batch_stride);
}

TEST(SaveTensor, BatchesInOneOperation) {
  expect_batch<std::int8_t>(Precision::kInt8);
  expect_batch<std::int16_t>(Precision::kInt16);
  expect_batch<std::uint16_t>(Precision::kFp16);
}

// Cubes of int16 that lie further apart than their surfaces say.
TEST(SaveTensor, BatchesWithGaps) {
  const Shape shape{.channels = 5, .height = 3, .width = 4, .batch = 2};
  Network network;
  const Tensor in = network.input("in", shape, Precision::kInt16);
  const Tensor there = network.copy(in, "there");
  network.place(there, Memory::kSram);
  network.output(
      network.pointwise(
          there, {.name = "narrow", .output = requantize(0.003), .precision = Precision::kInt8}),
      "out");
  RoundTrip trip = expect_round_trip<std::int16_t, std::int8_t>(
      network, "nv_full", shape.elements(), shape.elements(), 3);
  const TensorDesc desc = trip.loaded.network().desc("in");
  EXPECT_GT(desc.batch_stride, desc.surfaces() * desc.surface_stride);
}

template <typename T>
void expect_planes(Precision precision) {
  const Shape shape{.channels = 19, .height = 5, .width = 70};
  const std::size_t elements = shape.elements();
  {
    // Into planes and out of them again.
    Network network;
    const Tensor in = network.input("in", shape, precision);
    const Tensor planes = network.split(in, "split");
    network.output(network.merge(planes, "merge"), "out");
    expect_round_trip<T>(network, "nv_full", elements, elements, 2);
  }
  {
    // Planes that the application reads.
    Network network;
    const Tensor in = network.input("in", shape, precision);
    network.output(network.split(network.pointwise(in, {.name = "relu", .x1 = relu()}), "split"),
                   "out");
    const RoundTrip trip = expect_round_trip<T>(network, "nv_full", elements, elements, 2);
    const LoadableTensor tensor = trip.described("out");
    EXPECT_TRUE(tensor.planar);
    EXPECT_FALSE(tensor.image());
    EXPECT_TRUE(trip.loaded.network().desc("out").planar);
    const loadable::RubikPart& part = trip.part<loadable::RubikPart>();
    EXPECT_EQ(part.op.mode, NVDLA_RUBIK_SPLIT);
    EXPECT_EQ(part.surface.dst_data.surf_stride, 0U);
    EXPECT_EQ(part.surface.dst_data.plane_stride, tensor.surface_stride);
  }
  {
    // Planes that the application writes.
    Network network;
    const Tensor in = network.planar_input("in", shape, precision);
    network.output(network.pointwise(network.merge(in, "merge"), {.name = "relu", .x1 = relu()}),
                   "out");
    const RoundTrip trip = expect_round_trip<T>(network, "nv_full", elements, elements, 2);
    EXPECT_TRUE(trip.loaded.network().desc("in").planar);
    EXPECT_EQ(trip.part<loadable::RubikPart>().op.mode, NVDLA_RUBIK_MERGE);
  }
}

TEST(SaveTensor, Planes) {
  expect_planes<std::int8_t>(Precision::kInt8);
  expect_planes<std::int16_t>(Precision::kInt16);
  expect_planes<std::uint16_t>(Precision::kFp16);
}

// The dump of the old runtime is one of a feature cube.
TEST(SaveTensor, OnlyOneCubeIsDumped) {
  LoadableTensor tensor;
  tensor.name = "t";
  tensor.type = LoadableType::kInt8;
  const std::vector<std::byte> buffer(32);
  EXPECT_EQ(loadable::make_dimg(tensor, buffer).size(), 36U + 1);
  const auto refused = [&](const LoadableTensor& other, const char* text) {
    test::expect_error(ErrorCode::kNotAvailable, text, [&] { loadable::make_dimg(other, buffer); });
  };
  LoadableTensor batch = tensor, planes = tensor, image = tensor;
  batch.shape.batch = 2;
  refused(batch, "'t' is a batch");
  planes.planar = true;
  refused(planes, "'t' is planes");
  image.pixel_format = 0;
  refused(image, "'t' is an image");
}

TEST(SaveTensor, BatchesOfPlanes) {
  const Shape shape{.channels = 7, .height = 5, .width = 9, .batch = 2};
  Network network;
  const Tensor in = network.planar_input("in", shape, Precision::kInt8);
  const Tensor cubes = network.merge(in, "merge");
  network.output(network.split(network.pointwise(cubes, {.name = "relu", .x1 = relu()}), "split"),
                 "out");
  expect_round_trip<std::int8_t>(network, "nv_full", shape.elements(), shape.elements(), 6);
}

template <typename T>
void expect_contraction(Precision precision) {
  Network network;
  const Tensor in = network.input("in", {.channels = 192, .height = 3, .width = 5}, precision);
  network.output(network.contract(in, {.name = "spread", .stride_height = 2, .stride_width = 3}),
                 "out");
  expect_round_trip<T>(network, "nv_full", 192 * 15, 192 * 15, 1);
}

TEST(SaveTensor, Contractions) {
  expect_contraction<std::int8_t>(Precision::kInt8);
  expect_contraction<std::int16_t>(Precision::kInt16);
  expect_contraction<std::uint16_t>(Precision::kFp16);
}

// Parts of a tensor, which files of the old interface have to name by positions of their own;
// beside one that is copied and one that is gathered, all in memory that others had before.
TEST(SaveTensor, Concatenations) {
  const std::vector<std::int16_t> three = {3};
  const Shape shape{.channels = 40, .height = 5, .width = 6};
  for (const std::string name : {"nv_full", "nv_small"}) {
    Network network;
    const Tensor in = network.input("in", shape);
    const Tensor a = network.pointwise(in, {.name = "a", .x1 = bias(three)});
    const Tensor b = network.pointwise(a, {.name = "b", .x1 = bias(three)});
    const std::vector<Tensor> parts = {a, b, in};
    const Tensor joined = network.concatenate(parts, {.name = "joined"});
    const Tensor c = network.pointwise(joined, {.name = "c", .x1 = bias(three)});
    const std::vector<Tensor> lines = {c, joined};
    network.output(network.concatenate(lines, {.name = "lines", .axis = Axis::kHeight}), "out");
    expect_round_trip<std::int8_t>(network, name, shape.elements(), 120 * 10 * 6,
                                   name == "nv_full" ? 8 : 5);
  }
}

// What takes several layers, and tensors that lie in others.
TEST(SaveTensor, GroupsSlicesPaddingsAndAverages) {
  const std::vector<std::int16_t> three = {3};
  const std::vector<std::int8_t> weights(72 * 9, 2);
  const Shape shape{.channels = 72, .height = 5, .width = 6};
  for (const std::string name : {"nv_full", "nv_small"}) {
    Network network;
    const Tensor in = network.input("in", shape);
    Convolution conv{.name = "depthwise", .kernels = 72, .groups = 72};
    conv.kernel_height = conv.kernel_width = 3;
    conv.weights = weights;
    conv.output = {.scale = 1, .shift = 4};
    const Tensor wide = network.pad(in, {.name = "pad", .top = 1, .left = 2, .value = 5});
    const Tensor depthwise = network.convolution(wide, conv);
    const Tensor some = network.slice(depthwise, {.name = "some", .start = 32, .size = 40});
    const Tensor odd = network.slice(depthwise, {.name = "odd", .start = 13, .size = 40});
    const Tensor sum =
        network.pointwise(some, {.name = "sum", .x1 = elementwise(NVDLA_ALU_SUM, odd)});
    const Tensor up = network.upsample(sum, {.name = "up"});
    const Tensor most = network.pooling(
        up, {.name = "most", .method = NVDLA_POOL_MAX, .kernel_height = 8, .kernel_width = 9});
    network.output(network.average(most, {.name = "average"}), "out");
    const auto layers = network.build(Device::open("model:" + name)).network().layers();
    expect_round_trip<std::int8_t>(network, name, shape.elements(), 40, layers);
  }
}

}  // namespace
}  // namespace nvdla
