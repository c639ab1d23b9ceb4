// SPDX-License-Identifier: MIT
//
// Reals go into a loadable and come out of it as of the request that it was made of.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "loadable/format/container.hpp"
#include "nvdla/device.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "unit/loadable/write/round_trip.hpp"

namespace nvdla {
namespace {

using test::expect_error;

constexpr Shape kShape{.channels = 5, .height = 3, .width = 4};

Network doubled(Precision precision, const Quantization& in, const Quantization& out) {
  Network network;
  const Tensor x = network.input("in", kShape, precision, in);
  network.output(network.pointwise(x, {.name = "sum", .x1 = elementwise(NVDLA_ALU_SUM, x)}), "out",
                 out);
  return network;
}

std::vector<float> reals() {
  std::vector<float> values;
  for (std::size_t i = 0; i < kShape.elements(); ++i)
    values.push_back(static_cast<float>(i) * 0.37F - 9);
  return values;
}

TEST(LoadableQuantization, RealsAsOfTheRequest) {
  const Quantization in{0.11F, 7}, out{0.23F, -3};
  for (const Precision precision : {Precision::kInt8, Precision::kInt16, Precision::kFp16}) {
    const bool half = precision == Precision::kFp16;
    const Network network =
        doubled(precision, half ? Quantization{0.11F, 0} : in, half ? Quantization{0.23F, 0} : out);
    test::RoundTrip trip(network, "nv_full");
    EXPECT_EQ(trip.described("in").quantization->scale, 0.11F);
    EXPECT_EQ(trip.described("out").quantization->zero_point, half ? 0 : -3);
    EXPECT_EQ(trip.loadable_file.input(0).quantization, trip.described("in").quantization);
    EXPECT_EQ(trip.loadable_file.output(0).quantization, trip.described("out").quantization);
    std::vector<float> expected(kShape.elements()), found(kShape.elements());
    Request request = trip.loaded.network().create_request();
    for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
      trip.request.write("in", layout, reals());
      trip.loaded.write("in", layout, reals());
      trip.old.write("in", layout, reals());
      request.write("in", layout, reals());
      trip.run();
      request.run();
      trip.request.read("out", layout, expected);
      trip.loaded.read("out", layout, found);
      EXPECT_EQ(found, expected);
      trip.old.read("out", layout, found);
      EXPECT_EQ(found, expected);
      request.read("out", layout, found);
      EXPECT_EQ(found, expected);
      EXPECT_NE(expected.front(), expected.back());
      // What was written, but for its rounding.
      trip.loaded.read("in", layout, found);
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], reals()[i], 0.056) << i;
    }
  }
}

TEST(LoadableQuantization, LayersKnowWhatOutputsStandFor) {
  const test::RoundTrip trip(doubled(Precision::kInt8, {0.5F, 1}, {0.25F, -4}), "nv_full");
  int seen = 0;
  trip.loaded.visit_layers([&](const LayerTensor& tensor) {
    ++seen;
    EXPECT_EQ(tensor.quantization, (Quantization{0.25F, -4}));
  });
  EXPECT_EQ(seen, 1);
}

// The sizes of the model come back, and names and sizes that are wrong are refused.
TEST(LoadableQuantization, SizesOfTheModel) {
  const Network network = doubled(Precision::kFp16, {}, {});
  LoadableOptions options;
  options.model_sizes = {{"out", {3, 20}, Layout::kNhwc}, {"in", {}, Layout::kNchw}};
  expect_error(ErrorCode::kInvalidArgument, "tensor 0 'in':  have 1 elements, the tensor has 60",
               [&] { (void)make_loadable(network, "nv_full", options); });
  options.model_sizes[1].sizes = {60, 0};
  expect_error(ErrorCode::kInvalidArgument, "tensor 0 'in': 60x0 are no sizes",
               [&] { (void)make_loadable(network, "nv_full", options); });
  options.model_sizes[1].sizes.assign(33, 1);
  expect_error(ErrorCode::kInvalidArgument, "tensor 0 'in': 33 axes; expected at most 32",
               [&] { (void)make_loadable(network, "nv_full", options); });
  options.model_sizes[1] = {"other", {60}, Layout::kNchw};
  expect_error(ErrorCode::kInvalidArgument,
               "model sizes of 'other': no input or output is called so",
               [&] { (void)make_loadable(network, "nv_full", options); });
  options.model_sizes.pop_back();
  const Loadable file = Loadable::load(make_loadable(network, "nv_full", options));
  EXPECT_FALSE(file.input(0).model_sizes);
  EXPECT_EQ(file.output(0).model_sizes, (std::vector<std::int64_t>{3, 20}));
  EXPECT_EQ(file.output(0).model_layout, Layout::kNhwc);
}

// Nobody reads the blob but who knows it: it is no memory's.
TEST(LoadableQuantization, IsOfNoMemory) {
  const test::RoundTrip trip(doubled(Precision::kInt8, {0.5F, 1}, {0.25F, -4}), "nv_full");
  const loadable::Blob& blob = trip.container.blobs.back();
  EXPECT_EQ(blob.name, "nvdla-quantization");
  EXPECT_EQ(blob.interface, 0U);
  EXPECT_EQ(blob.version.major_version, 1);
  EXPECT_EQ(blob.data.size(), 4U + 2 * 12);
  for (const loadable::MemoryEntry& memory : trip.container.memories)
    for (const loadable::Content& content : memory.contents)
      EXPECT_NE(&trip.container.blobs[content.blob], &blob);
}

// As of NVIDIA's compiler: integers are integers, fp16 is what it is.
TEST(LoadableQuantization, FilesThatSayNothing) {
  for (const Precision precision : {Precision::kInt8, Precision::kInt16, Precision::kFp16}) {
    loadable::Container c =
        loadable::parse_container(make_loadable(doubled(precision, {0.5F, 0}, {}), "nv_full"));
    for (loadable::TensorEntry& tensor : c.tensors) tensor.quantization.reset();
    c.blobs.pop_back();
    const Loadable file = Loadable::load(loadable::write_container(c));
    EXPECT_FALSE(file.input(0).quantization);
    Request network = file.open(Device::open("model:nv_full"));
    std::vector<float> found(kShape.elements());
    if (precision == Precision::kFp16) {
      std::vector<float> small(found.size(), 1.5F);
      network.write("in", Layout::kNchw, small);
      network.run();
      network.read("out", Layout::kNchw, found);
      EXPECT_EQ(found, std::vector<float>(found.size(), 3.0F));
      continue;
    }
    const auto words = [](const char* name) {
      return std::string("'") + name +
             "': the file does not say what its integers stand for: take them as they are";
    };
    expect_error(ErrorCode::kNotAvailable, words("in"),
                 [&] { network.write("in", Layout::kNchw, reals()); });
    expect_error(ErrorCode::kNotAvailable, words("in"),
                 [&] { network.read("in", Layout::kNchw, found); });
    network.run();
    expect_error(ErrorCode::kNotAvailable, words("out"),
                 [&] { network.read("out", Layout::kNchw, found); });
    Request request = network.network().create_request();
    expect_error(ErrorCode::kNotAvailable, words("in"),
                 [&] { request.write("in", Layout::kNchw, reals()); });
  }
}

TEST(LoadableQuantization, IsRefusedWhereItCannotBeRead) {
  for (const float scale : {0.0F, -1.0F, std::numeric_limits<float>::infinity()}) {
    expect_error(ErrorCode::kInvalidArgument, "tensor 0 'in': scale", [&] {
      make_loadable(doubled(Precision::kInt8, {scale, 0}, {}), "nv_full");
    });
  }
  expect_error(ErrorCode::kInvalidArgument, "tensor 1 'out': fp16 has no zero point, found 4", [&] {
    make_loadable(doubled(Precision::kFp16, {}, {1, 4}), "nv_full");
  });
}

}  // namespace
}  // namespace nvdla
