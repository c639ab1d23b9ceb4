// SPDX-License-Identifier: MIT
//
// A network that is written as a loadable gives from the file what it gives from the session.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>

#include "../tools/temporary_folder.hpp"
#include "loadable/convert.hpp"
#include "nvdla/error.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/lut.hpp"

namespace nvdla {
namespace {

TEST(Save, RunsAsTheNetwork) {
  std::mt19937 random(7);
  const auto numbers = [&](std::size_t count) {
    std::vector<std::int8_t> values(count);
    for (auto& value : values) value = static_cast<std::int8_t>(random() % 256);
    return values;
  };
  const auto w1 = numbers(20 * 3 * 9), w2 = numbers(10 * 20 * 4);
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
                                            .output = requantize(0.0005)});
  const Tensor b = network.pointwise(a, {.name = "b", .x1 = elementwise(NVDLA_ALU_SUM, a)});
  const Tensor c = network.convolution(b, {.name = "c",
                                           .kernels = 10,
                                           .kernel_height = 2,
                                           .kernel_width = 2,
                                           .stride_y = 2,
                                           .stride_x = 2,
                                           .weights = w2,
                                           .output = requantize(0.001)});
  network.output(c, "out");
  const auto pixels = numbers(3 * 12 * 14);
  const replay::TemporaryFolder folder;
  for (const std::string name : {"nv_small", "nv_full", "nv_large"}) {
    SCOPED_TRACE(name);
    const std::string path = (folder.path() / (name + ".nvdla")).string();
    save_loadable(network, name, path);
    const Device device = Device::open("model:" + name);
    Session session = network.build(device);
    session.write("in", Layout::kNchw, pixels);
    session.run();
    std::vector<std::int8_t> expected(10 * 6 * 7), found(expected.size());
    session.read("out", Layout::kNchw, std::span<std::int8_t>(expected));
    LoadedNetwork loaded = Loadable::load(path).open(device);
    loaded.write("in", Layout::kNchw, pixels);
    loaded.run();
    loaded.read("out", Layout::kNchw, std::span<std::int8_t>(found));
    EXPECT_EQ(found, expected);
    EXPECT_NE(std::count(found.begin(), found.end(), found[0]),
              static_cast<std::ptrdiff_t>(found.size()));
  }
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
  const replay::TemporaryFolder folder;
  std::vector<std::int8_t> plain;
  // The second one has no compression.
  for (const std::string name : {"nv_full", "nv_large"}) {
    SCOPED_TRACE(name);
    const std::string path = (folder.path() / (name + ".nvdla")).string();
    save_loadable(network, name, path);
    const auto container = loadable::parse_container(loadable::read_loadable(path));
    const auto program = loadable::convert_task(container, loadable::decode_task(container, 0),
                                                *nvdla_hw_find(name.c_str()));
    EXPECT_EQ((program.layers.at(0).conv.flags & NVDLA_CONV_COMPRESSED) != 0, name == "nv_full");
    EXPECT_EQ(program.control.empty(), name != "nv_full");

    LoadedNetwork loaded = Loadable::load(path).open(Device::open("model:" + name));
    loaded.write("in", Layout::kNchw, pixels);
    loaded.run();
    std::vector<std::int8_t> found(40 * 7 * 7);
    loaded.read("out", Layout::kNchw, std::span<std::int8_t>(found));
    if (plain.empty()) plain = found;
    EXPECT_EQ(found, plain);
  }
  EXPECT_NE(std::count(plain.begin(), plain.end(), plain[0]),
            static_cast<std::ptrdiff_t>(plain.size()));
}

// What the writer cannot say is an error, and no file.
TEST(Save, RefusesWhatItHasNoFormFor) {
  const replay::TemporaryFolder folder;
  const std::string path = (folder.path() / "refused.nvdla").string();
  const auto refused = [&](const Network& network, std::string_view text) {
    try {
      save_loadable(network, "nv_full", path);
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
  c.stride_x = 2;
  c.folding = Rewrite::kAlways;
  Network folded;
  folded.output(folded.convolution(folded.input("in", {4, 12, 12}), c), "out");
  refused(folded,
          "layer 0 'conv': not folded in width: inputs are to lie as everybody expects "
          "(kWhenItPays lets them)");

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
}

}  // namespace
}  // namespace nvdla
