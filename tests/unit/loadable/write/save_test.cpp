// SPDX-License-Identifier: MIT
//
// A network that is written as a loadable gives from the file what it gives from the request.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "common/configurations.hpp"
#include "common/runtime/expect_error.hpp"
#include "nvdla/lowlevel/lut.hpp"
#include "nvdla/types/error.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "round_trip.hpp"

namespace nvdla {
namespace {

using test::expect_round_trip;
using test::random_elements;
using test::RoundTrip;

TEST(Save, RunsAsTheNetwork) {
  const auto w1 = random_elements<std::int8_t>(20 * 3 * 9, 7);
  const auto w2 = random_elements<std::int8_t>(10 * 20 * 4, 8);
  std::vector<std::int32_t> bias(20);
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<int>(i) * 70001 - 500000;
  Network network;
  const Tensor in = network.input("in", {.channels = 3, .height = 12, .width = 14});
  const Tensor a = network.convolution(in, {.name = "a",
                                            .kernels = 20,
                                            .kernel_height = 3,
                                            .kernel_width = 3,
                                            .pad_top = 1,
                                            .pad_bottom = 1,
                                            .pad_left = 1,
                                            .pad_right = 1,
                                            .pad_value = -3,
                                            .weights = w1,
                                            .bias = bias,
                                            .relu = true,
                                            .output = requantize(0.0005),
                                            .tuning = {.interleaving = Rewrite::kNever}});
  const Tensor b = network.pointwise(a, {.name = "b", .x1 = elementwise(NVDLA_ALU_SUM, a)});
  const Tensor c = network.convolution(b, {.name = "c",
                                           .kernels = 10,
                                           .kernel_height = 2,
                                           .kernel_width = 2,
                                           .stride_height = 2,
                                           .stride_width = 2,
                                           .weights = w2,
                                           .output = requantize(0.001)});
  network.output(c, "out");
  for (const std::string name : test::kConfigurations) {
    expect_round_trip<std::int8_t>(network, name, 3 * 12 * 14, 10 * 6 * 7, 3);
  }
}

// A tensor that lies as pixels lies so in the file, and takes elements and reals as any tensor.
TEST(Save, TensorsThatLieAsPixels) {
  const auto weights = random_elements<std::int8_t>(16 * 3 * 49, 7);
  Convolution layer{.name = "stem", .kernels = 16, .kernel_height = 7, .kernel_width = 7};
  layer.stride_height = layer.stride_width = 2;
  layer.weights = weights;
  layer.output = requantize(0.0005);
  for (const std::uint32_t batch : {1U, 3U}) {
    Network network;
    const Tensor in =
        network.input("in", {.channels = 3, .height = 31, .width = 45, .batch = batch},
                      Precision::kInt8, {.scale = 0.5F, .zero_point = -3});
    network.output(network.convolution(in, layer), "out");
    for (const std::string name : test::kConfigurations) {
      SCOPED_TRACE(name);
      expect_round_trip<std::int8_t>(network, name, std::size_t{batch} * 3 * 31 * 45,
                                     std::size_t{batch} * 16 * 13 * 20, batch);
      const Loadable file = Loadable::load(test::saved_file(network, name));
      const LoadableTensor tensor = file.input(0);
      EXPECT_EQ(tensor.pixel, 4U);
      EXPECT_EQ(tensor.shape.channels, 3U);
      EXPECT_FALSE(tensor.image());
      const Device device = Device::open("model:" + name);
      Request loaded = file.open(device), built = network.build(device);
      EXPECT_EQ(loaded.network().desc("in").pixel, 4U);
      std::vector<float> reals(tensor.shape.elements());
      for (std::size_t i = 0; i < reals.size(); ++i) reals[i] = static_cast<float>(i % 97) - 48;
      std::vector<std::int8_t> results[2];
      for (Request* request : {&loaded, &built}) {
        request->write("in", Layout::kNhwc, reals);
        request->run();
        auto& result = results[request == &built];
        result.resize(std::size_t{batch} * 16 * 13 * 20);
        request->read("out", Layout::kNchw, std::span<std::int8_t>(result));
      }
      EXPECT_EQ(results[0], results[1]);
    }
  }
}

// Weights that BDMA copies to SRAM first are read there, too, by who loads the file.
TEST(Save, StagedWeights) {
  const auto wide = random_elements<std::int8_t>(std::size_t{64} * 32 * 9, 7),
             deep = random_elements<std::int8_t>(std::size_t{256} * 64 * 9, 8);
  Network network;
  Tensor at = network.input("in", {.channels = 32, .height = 40, .width = 40});
  Convolution layer{.name = "wide", .kernels = 64, .kernel_height = 3, .kernel_width = 3};
  layer.weights = wide;
  layer.output = {.scale = 1, .shift = 9};
  at = network.pooling(network.convolution(at, layer), {.name = "pool",
                                                        .kernel_height = 9,
                                                        .kernel_width = 9,
                                                        .stride_height = 9,
                                                        .stride_width = 9});
  layer.name = "deep";
  layer.kernels = 256;
  layer.weights = deep;
  network.output(network.convolution(at, layer), "out");
  const LoadableOptions options{.memory = {.bandwidth = 8}, .sram_bytes = 1 << 20};
  const Loadable file = Loadable::load(make_loadable(network, "nv_full", options));
  const Device device = Device::open("model:nv_full,bandwidth=8");
  Request loaded = file.open(device), built = network.build(device);
  EXPECT_GT(loaded.network().layers(), built.network().layers());
  const auto input = random_elements<std::int8_t>(32 * 40 * 40, 9);
  std::vector<std::int8_t> results[2];
  for (Request* request : {&loaded, &built}) {
    request->write("in", Layout::kNchw, std::span(input));
    request->run();
    auto& result = results[request == &built];
    result.resize(request->network().desc("out").shape.elements());
    request->read("out", Layout::kNchw, std::span(result));
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(Save, TensorsOfFp16ThatLieAsPixels) {
  const Device device = Device::open("model:nv_full");
  for (const std::uint32_t channels : {1U, 3U}) {
    const auto bytes = random_elements<std::int8_t>(std::size_t{16} * channels * 25, 7);
    const std::vector<float> weights(bytes.begin(), bytes.end());
    Convolution layer{.name = "stem", .kernels = 16, .kernel_height = 5, .kernel_width = 5};
    layer.weights = weights;
    layer.arithmetic.any_order = true;
    layer.tuning.pixels = Rewrite::kAlways;
    Network network;
    const Tensor in = network.input("in", {channels, 21, 17}, Precision::kFp16);
    network.output(network.convolution(in, layer), "out");
    const Loadable file = Loadable::load(test::saved_file(network, "nv_full"));
    EXPECT_EQ(file.input(0).pixel, channels == 1 ? 2U : 8U);
    EXPECT_EQ(file.input(0).shape.channels, channels);
    EXPECT_FALSE(file.input(0).image());
    Request loaded = file.open(device), built = network.build(device);
    std::vector<float> reals(file.input(0).shape.elements());
    for (std::size_t i = 0; i < reals.size(); ++i) reals[i] = static_cast<float>(i % 97) / 8 - 4;
    std::vector<float> results[2];
    for (Request* request : {&loaded, &built}) {
      request->write("in", Layout::kNchw, reals);
      request->run();
      auto& result = results[request == &built];
      result.resize(std::size_t{16} * 17 * 13);
      request->read("out", Layout::kNchw, std::span<float>(result));
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

// Logic without the fault need not keep all weights of a layer: the file has fewer layers, and runs
// only there.
TEST(Save, ForLogicWithoutWeightGating) {
  const auto weights = random_elements<std::int8_t>(64 * 512 * 9, 7);
  Convolution layer{.name = "wide", .kernels = 64, .kernel_height = 3, .kernel_width = 3};
  layer.weights = weights;
  layer.output = requantize(0.0001);
  Network network;
  network.output(network.convolution(network.input("in", {512, 6, 6}), layer), "out");
  const auto source = random_elements<std::int8_t>(512 * 6 * 6, 5);
  std::vector<std::int8_t> results[2];
  std::uint32_t layers[2] = {};
  for (const bool gating : {false, true}) {
    LoadableOptions options;
    options.weight_gating = gating;
    const Loadable file = Loadable::load(make_loadable(network, "nv_small", options));
    Request request = file.open(Device::open("model:nv_small,gating=off"));
    layers[gating] = request.network().layers();
    request.write("in", Layout::kNchw, std::span<const std::int8_t>(source));
    request.run();
    results[gating].resize(64 * 4 * 4);
    request.read("out", Layout::kNchw, std::span<std::int8_t>(results[gating]));
    if (gating) continue;
    test::expect_error(ErrorCode::kInvalidProgram, "do not hold all weights",
                       [&] { file.open(Device::open("model:nv_small")); });
  }
  EXPECT_LT(layers[false], layers[true]);
  EXPECT_EQ(results[false], results[true]);
}

// Bands of a layer lie within buffers: in offsets of data cubes, or in addresses of their own.
// Round trips run both.
TEST(Save, OldCubesHaveAddressesOfTheirOwn) {
  using loadable::Revision;
  const auto weights = random_elements<std::int8_t>(4 * 64 * 9, 7);
  Network network;
  const Tensor in = network.input("in", {.channels = 64, .height = 80, .width = 70});
  network.output(network.convolution(in, {.kernels = 4,
                                          .kernel_height = 3,
                                          .kernel_width = 3,
                                          .weights = weights,
                                          .output = requantize(0.001)}),
                 "out");
  const auto task_of = [&](LoadableInterface interface, std::size_t& addresses) {
    const auto file = test::saved_file(network, "nv_small", interface);
    const auto container = loadable::parse_container(file);
    addresses = container.tasks.at(0).addresses.size();
    return std::get<loadable::DlaTask>(loadable::decode_task(container, 0).work);
  };
  std::size_t fewer = 0, more = 0;
  const auto offsets = task_of(LoadableInterface::kDla0_12, fewer);
  const auto places = task_of(LoadableInterface::kDla0_11, more);
  EXPECT_EQ(offsets.revision, Revision::kNew);
  EXPECT_EQ(places.revision, Revision::kOld);
  ASSERT_EQ(offsets.operations.size(), places.operations.size());
  EXPECT_GT(offsets.operations.size(), 2U);
  EXPECT_GT(more, fewer);
}

// A pooling and a convolution that read the same input wait for neither.
TEST(Save, LayersWaitForWhatTheyRead) {
  const auto weights = random_elements<std::int8_t>(32 * 32, 3);
  Network network;
  const Tensor in = network.input("in", {32, 12, 12});
  const Convolution conv = {.kernels = 32,
                            .weights = weights,
                            .output = requantize(0.01),
                            .tuning = {.interleaving = Rewrite::kNever}};
  const Tensor parts[] = {
      network.convolution(in, conv),
      network.pooling(in, {.name = "pool", .kernel_height = 1, .kernel_width = 1}),
      network.convolution(network.convolution(in, conv), conv)};
  network.output(network.concatenate(parts, {}), "out");
  RoundTrip trip(network, "nv_full");
  trip.write<std::int8_t>(std::size_t{32} * 12 * 12);
  trip.run();
  trip.expect_same<std::int8_t>(std::size_t{96} * 12 * 12);
  std::vector<std::vector<std::uint32_t>> waits;
  for (const nvdla_layer& layer : trip.program.layers)
    waits.emplace_back(layer.waits, layer.waits + layer.num_waits);
  EXPECT_EQ(waits, (std::vector<std::vector<std::uint32_t>>{{}, {}, {}, {2}}));
}

// Layers that become several of the hardware, with scratch between them: phases that Rubik or
// copies put together, and kernels that fit only some at a time.
TEST(Save, LayersOfSeveralOperations) {
  const auto weights = random_elements<std::int8_t>(21 * 700 * 25, 3);
  for (const std::uint32_t stride : {1U, 2U}) {
    Deconvolution up{.name = "up", .kernels = 8, .kernel_height = 4, .kernel_width = 3};
    up.stride_height = up.stride_width = stride;
    up.pad_top = 1;
    up.weights = std::span(weights).first(8 * 20 * 12);
    up.output = requantize(0.002);
    up.relu = true;
    Network network;
    network.output(network.deconvolution(network.input("in", {20, 7, 9}), up), "out");
    RoundTrip trip(network, "nv_full");
    const Shape out = trip.request.network().desc("out").shape;
    EXPECT_EQ(trip.loaded.network().desc("out").shape, out);
    trip.write<std::int8_t>(20 * 7 * 9);
    trip.run();
    trip.expect_same<std::int8_t>(out.elements());
    EXPECT_EQ(trip.request.network().layers() > 1, stride > 1);
  }
  Convolution large{.name = "large", .kernels = 21, .kernel_height = 5, .kernel_width = 5};
  large.weights = weights;
  large.output = requantize(0.0001);
  Network network;
  network.output(network.convolution(network.input("in", {700, 5, 6}), large), "out");
  RoundTrip trip(network, "nv_small");
  EXPECT_GT(trip.request.network().layers(), 1U);
  trip.write<std::int8_t>(700 * 5 * 6);
  trip.run();
  trip.expect_same<std::int8_t>(21 * 1 * 2);
}

// Where weights are compressed their tables go into the file, and from there into the program.
TEST(Save, CompressedWeightsRunAsPlainOnes) {
  std::vector<std::int8_t> weights(40 * 32 * 9), pixels(32 * 9 * 9);
  std::mt19937 random(11);
  for (auto& w : weights) w = static_cast<std::int8_t>(random() % 4 == 0 ? random() % 256 : 0);
  for (auto& p : pixels) p = static_cast<std::int8_t>(random() % 256);
  Network network;
  const Tensor in = network.input("in", {.channels = 32, .height = 9, .width = 9});
  network.output(network.convolution(in, {.name = "sparse",
                                          .kernels = 40,
                                          .kernel_height = 3,
                                          .kernel_width = 3,
                                          .weights = weights,
                                          .output = requantize(0.002)}),
                 "out");
  std::vector<std::int8_t> plain;
  // The second one has no compression.
  for (const std::string name : {"nv_full", "nv_large"}) {
    SCOPED_TRACE(name);
    RoundTrip trip(network, name);
    EXPECT_EQ((trip.program.layers.at(0).conv.flags & NVDLA_CONV_COMPRESSED) != 0,
              name == "nv_full");
    EXPECT_EQ(trip.program.control.empty(), name != "nv_full");
    trip.loaded.write("in", Layout::kNchw, pixels);
    trip.loaded.run();
    std::vector<std::int8_t> found(40 * 7 * 7);
    trip.loaded.read("out", Layout::kNchw, found);
    if (plain.empty()) plain = found;
    EXPECT_EQ(found, plain);
  }
  EXPECT_NE(std::count(plain.begin(), plain.end(), plain[0]),
            static_cast<std::ptrdiff_t>(plain.size()));
}

// What the writer cannot say is an error, and no file.
TEST(Save, RefusesAnInterfaceThatThereIsNot) {
  Network net;
  net.output(net.pointwise(net.input("in", {8, 4, 4}), {.name = "copy"}), "out");
  test::expect_error(
      ErrorCode::kInvalidArgument, "interface 77 is none of DLA 0.11 (0), DLA 0.12 (1)",
      [&] { (void)make_loadable(net, "nv_small", static_cast<LoadableInterface>(77)); });
}

TEST(Save, RefusesWhatItHasNoFormFor) {
  const replay::TemporaryFolder folder;
  const std::string path = (folder.path() / "refused.nvdla").string();
  const auto refused = [&](const Network& network, std::string_view text,
                           LoadableInterface interface = LoadableInterface::kDla0_12,
                           const char* configuration = "nv_full") {
    try {
      save_loadable(network, configuration, path, interface);
      ADD_FAILURE() << "nothing was refused, not " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kNotAvailable);
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
    EXPECT_FALSE(std::filesystem::exists(path));
  };
  const std::vector<std::int8_t> weights(2 * 4 * 9);
  const std::vector<std::int16_t> slope = {3};
  const std::vector<std::int32_t> factor = {3};
  Convolution c{.name = "conv", .kernels = 2, .kernel_height = 3, .kernel_width = 3};
  c.weights = weights;

  // None of the units has a field for it.
  Network pointwise;
  pointwise.output(pointwise.pointwise(pointwise.input("in", {}, Precision::kFp16),
                                       {.name = "same", .nan_to_zero = true}),
                   "out");
  refused(pointwise, "layer 0 'same': a loadable has no NaN as zero");
  const std::vector<std::uint16_t> halves(2 * 4 * 9);
  Convolution clean = c;
  clean.weights = halves;
  clean.arithmetic.nan_to_zero = true;
  Network convolution;
  convolution.output(
      convolution.convolution(convolution.input("in", {4, 9, 9}, Precision::kFp16), clean), "out");
  refused(convolution, "layer 0 'conv': a loadable has no NaN as zero");
  Network pooling;
  pooling.output(pooling.pooling(pooling.input("in", {4, 4, 4}, Precision::kFp16),
                                 {.name = "max", .nan_to_zero = true}),
                 "out");
  refused(pooling, "layer 0 'max': a loadable has no NaN as zero");
  Normalization lrn{.name = "lrn", .nan_to_zero = true};
  const Lut half = lut::lrn(0.01, 0.75, 1, 5, {.precision = Precision::kFp16}, 17);
  half.apply(lrn);
  Network norm;
  norm.output(norm.normalization(norm.input("in", {4, 4, 4}, Precision::kFp16), lrn), "out");
  refused(norm, "layer 0 'lrn': a loadable has no NaN as zero");

  Network shifted;
  const Tensor pixels = shifted.image(
      "in", {.format = NVDLA_PIXEL_A8R8G8B8, .width = 12, .height = 12, .x_offset = 3});
  shifted.output(shifted.convolution(pixels, c), "out");
  refused(shifted,
          "layer 0 'conv': a loadable has no pixels before the first of a line (x_offset 3)");
  c.stride_width = 2;
  c.tuning.folding = Rewrite::kAlways;
  Network folded;
  folded.output(folded.convolution(folded.input("in", {4, 12, 12}), c), "out");
  refused(folded,
          "layer 0 'conv': not folded in width: inputs are to lie as everybody expects "
          "(kAuto lets them)");

  // An operator has one activation.
  Operator both = prelu(slope, 1);
  both.relu = true;
  Network after;
  after.output(after.pointwise(after.input("in", {}), {.name = "two", .x2 = both}), "out");
  refused(after, "layer 0 'two': a loadable has no ReLU after a PReLU");
  const Lut curve = lut::tanh({.input = {.scale = 0.05F}, .output = {.scale = 1.0F / 128}});
  Network table;
  table.output(
      table.pointwise(table.input("in", {}),
                      {.name = "two",
                       .y = {.mul = NVDLA_MUL_PRELU, .mul_values = factor, .lut = &curve.table()}}),
      "out");
  refused(table, "layer 0 'two': a loadable has no table after a PReLU");

  // Interface 0.11 gives each data cube an address of its own, also the columns that SDP copies
  // where there is no Rubik.
  const std::vector<std::int8_t> taps(4, 1);
  Network wide;
  wide.output(wide.deconvolution(wide.input("in", {.width = 800}),
                                 {.kernel_width = 4, .stride_width = 4, .weights = taps}),
              "out");
  refused(wide, "addresses; a task of a loadable has 6144 at most", LoadableInterface::kDla0_11,
          "nv_small");
}

// Buffers that only the submission can refuse: tensors go by their names there.
TEST(Save, BuffersThatDoNotGoTogetherAreNamed) {
  Network net;
  net.output(net.pointwise(net.input("in", {8, 2, 2}), {.name = "same"}), "out");
  const Device device = Device::open("model:nv_small");
  Request request = Loadable::load(test::saved_file(net, "nv_small")).open(device);
  const Buffer both = device.allocate(4096);
  request.bind("in", both);
  request.bind("out", both);
  const auto error =
      test::expect_error(ErrorCode::kInvalidBinding, "shares bytes with", [&] { request.run(); });
  const std::string text = error->what();
  EXPECT_NE(text.find("input 'in'"), std::string::npos) << text;
  EXPECT_NE(text.find("output 'out'"), std::string::npos) << text;
  EXPECT_EQ(text.find("slot"), std::string::npos) << text;
  std::vector<std::int8_t> found(32);
  test::expect_error(ErrorCode::kInvalidArgument, "reading 'out': the request has not run yet",
                     [&] { request.read("out", Layout::kNchw, found); });
}

// Whoever opens a file is told of its tasks.
TEST(Save, OpeningTellsHowFarItIs) {
  Network net;
  net.output(net.pointwise(net.input("in", {8, 2, 2}), {.name = "same"}), "out");
  std::vector<std::string> steps;
  const auto note = [&](const BuildProgress& at) {
    EXPECT_EQ(at.done, steps.size());
    EXPECT_EQ(at.steps, 2U);
    steps.emplace_back(at.step);
  };
  Loadable::load(test::saved_file(net, "nv_small"))
      .open(Device::open("model:nv_small"), {.progress = note});
  EXPECT_EQ(steps, (std::vector<std::string>{"task 0", "constants"}));
}

}  // namespace
}  // namespace nvdla
