// SPDX-License-Identifier: MIT
//
// Every field of what the writer writes for convolutions beyond the direct one of written_test.cpp:
// images, Winograd, compressed weights, batches, bands, deconvolutions.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/image_desc.hpp"
#include "nvdla/types/precision.hpp"
#include "written.hpp"

namespace nvdla::witness {
namespace {

// Interface 0.11 instead of 0.12.
class WrittenConv : public testing::TestWithParam<bool> {};

// How banks are shared and lines are fetched is the network's choice, not the writer's.
const std::vector<std::string> kChosen = {"data_bank", "weight_bank", "fetch_grain"};

void expect_choices(const Record& op, std::int64_t banks = 16) {
  EXPECT_GE(op.get("data_bank"), 1);
  EXPECT_GE(op.get("weight_bank"), 1);
  EXPECT_LE(op.get("data_bank") + op.get("weight_bank"), banks);
  EXPECT_GE(op.get("fetch_grain"), 1);
  EXPECT_LE(op.get("fetch_grain"), op.get("input_height_csc"));
}

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// The kernels of a layer; a type for each precision.
struct Kernels {
  Kernels(std::size_t count, Precision precision)
      : bytes(count, 3), words(count, 300), halves(count, 0x3c00) {
    if (precision == Precision::kInt8) span = bytes;
    if (precision == Precision::kInt16) span = words;
    if (precision == Precision::kFp16) span = halves;
  }
  Kernels(const Kernels&) = delete;

  std::vector<std::int8_t> bytes;
  std::vector<std::int16_t> words;
  std::vector<std::uint16_t> halves;
  KernelSpan span;
};

// Pixel formats by their codes: components, bytes of a pixel in each plane, and the precision.
struct Pixel {
  int components, bytes, bytes_uv, precision;
};
constexpr Pixel kPixels[36] = {
    {1, 1, 0, 0}, {1, 2, 0, 1}, {1, 2, 0, 1}, {1, 2, 0, 1}, {1, 2, 0, 1}, {1, 2, 0, 2},
    {4, 8, 0, 1}, {4, 8, 0, 1}, {4, 8, 0, 2}, {4, 8, 0, 1}, {4, 8, 0, 1}, {4, 8, 0, 2},
    {4, 4, 0, 0}, {4, 4, 0, 0}, {4, 4, 0, 0}, {4, 4, 0, 0}, {4, 4, 0, 0}, {4, 4, 0, 0},
    {4, 4, 0, 0}, {4, 4, 0, 0}, {4, 4, 0, 1}, {4, 4, 0, 1}, {4, 4, 0, 1}, {4, 4, 0, 1},
    {4, 4, 0, 1}, {4, 4, 0, 1}, {4, 4, 0, 0}, {4, 4, 0, 0}, {3, 1, 2, 0}, {3, 1, 2, 0},
    {3, 2, 4, 1}, {3, 2, 4, 1}, {3, 2, 4, 1}, {3, 2, 4, 1}, {3, 2, 4, 1}, {3, 2, 4, 1}};

// 11 kernels of 3 x 2 on 7 lines of 19 pixels.
void expect_image(int code, bool means, bool old) {
  const Pixel& pixel = kPixels[code];
  const bool real = pixel.precision == 2;
  // Integers are worked on in any precision.
  const auto processing = static_cast<Precision>(real ? 2 : code % 3);
  const std::int64_t element = processing == Precision::kInt8 ? 1 : 2;
  const std::int64_t c = pixel.components;
  const std::int16_t mean[] = {-20, 33, 4, -71};
  const Kernels kernels(static_cast<std::size_t>(11 * c * 3 * 2), processing);
  Convolution layer{.name = "conv", .kernels = 11, .kernel_height = 3, .kernel_width = 2};
  layer.stride_width = 2;
  layer.pad_left = layer.pad_top = 1;
  const std::int16_t pad = processing == Precision::kFp16 ? 0x3800 : -5;
  layer.pad_value = pad;
  layer.weights = kernels.span;
  layer.tuning.post_extension = 1U << code % 3;
  if (processing != Precision::kFp16) layer.output = {.offset = 5, .scale = 7, .shift = 9};
  if (!real) {
    layer.input = {.scale = -77, .shift = 7, .signed_pixels = means};
    if (means) {
      layer.input.mean = std::span(mean).first(static_cast<std::size_t>(c));
    } else {
      layer.input.offset = 90;
    }
  }
  ImageDesc desc{.format = static_cast<nvdla_pixel_format>(code), .width = 19, .height = 7};
  desc.line_stride = 9 * 32;
  if (pixel.bytes_uv != 0) {
    desc.line_stride_uv = 5 * 32;
    desc.offset_uv = 128 * 32;
  }
  Network network;
  network.output(network.convolution(network.image("in", desc), layer), "out");
  const Written written(network, old);
  ASSERT_EQ(written.operations(), 2);

  Fields fields = {{"entry_per_slice", round_up((1 + 19) * c * element, 128) / 128},
                   {"data_format", code},
                   {"batch", 1},
                   {"release", 7},
                   {"post_extension", code % 3},
                   {"input_width_csc", 19},
                   {"input_height_csc", 7},
                   {"input_channel_csc", c},
                   {"kernel_width_csc", 1},
                   {"kernel_height_csc", 3},
                   {"kernel_channel_csc", 2 * c},
                   {"input_width_cmac", 10},
                   {"input_height_cmac", 6},
                   {"bytes_per_kernel", 3 * 2 * c * element},
                   {"conv_stride_x", 2},
                   {"conv_stride_y", 1},
                   {"pad_x_left", 1},
                   {"pad_y_top", 1},
                   {"dilation_x", 1},
                   {"dilation_y", 1},
                   {"in_precision", pixel.precision},
                   {"out_precision", static_cast<int>(processing)},
                   {"pad_val", pad},
                   {"out_cvt.scale", 1},
                   {"out_cvt.enable", 1}};
  if (!real) {
    fields["in_cvt.scale"] = -77;
    fields["in_cvt.truncate"] = 7;
    fields["in_cvt.enable"] = 1;
    fields["in_cvt.offset"] = means ? 0 : 90;
    fields["pixel_override"] = means;
    if (means) {
      fields["mean_format"] = 1;
      fields["mean_ry"] = -20;
      fields["mean_gu"] = c > 1 ? 33 : 0;
      fields["mean_bv"] = c > 1 ? 4 : 0;
      fields["mean_ax"] = c > 3 ? -71 : 0;
    }
  }
  const Record op = written.op(0, "conv");
  expect_fields(op, fields, kChosen);
  expect_choices(op);

  Fields surface;
  surface["src_data.width"] = 19;
  surface["src_data.height"] = 7;
  surface["src_data.channel"] = c;
  surface["src_data.line_stride"] = 9 * 32;
  surface["weight_data.size"] = round_up(11 * 3 * 2 * c * element, 128);
  surface["weight_data.width"] = 2;
  surface["weight_data.height"] = 3;
  surface["weight_data.channel"] = c;
  add_no_cube(surface, "wmb_data");
  add_no_cube(surface, "wgs_data");
  add_passed(surface, "dst_data", 11, 6, 10);
  if (pixel.bytes_uv != 0) {
    surface["offset_u"] = 128 * 32;
    surface["in_line_uv_stride"] = 5 * 32;
  }
  const Record found = written.surface(0, "conv");
  expect_fields(found, surface, {"src_data.address", "src_data.size", "weight_data.address"});
  // To the last line's end, at least.
  const std::int64_t end = pixel.bytes_uv != 0 ? 128 * 32 + 6 * 5 * 32 + 19 * pixel.bytes_uv
                                               : 6 * 9 * 32 + 19 * pixel.bytes;
  EXPECT_GE(found.get("src_data.size"), end);
  EXPECT_EQ(written.memory_flags(found.get("src_data.address")), kInputMemory);
  EXPECT_EQ(written.memory_flags(found.get("weight_data.address")), kConstantMemory);

  Fields sdp = {{"src_precision", static_cast<int>(processing)},
                {"dst_precision", static_cast<int>(processing)},
                {"lut_index", -1},
                {"batch_num", 1},
                {"x1_op.alu_type", 2},
                {"x2_op.alu_type", 2},
                {"y_op.alu_type", 2}};
  if (processing != Precision::kFp16) {
    sdp["out_cvt.scale"] = 7;
    sdp["out_cvt.truncate"] = 9;
    sdp["out_cvt.enable"] = 1;
    sdp["out_cvt.offset"] = 5;
  }
  expect_fields(written.op(1, "sdp"), sdp);
}

TEST_P(WrittenConv, ImagesOfAllFormats) {
  for (int code = 0; code < 36; ++code) {
    for (const bool means : {false, true}) {
      SCOPED_TRACE("format " + std::to_string(code) + (means ? ", means" : ""));
      expect_image(code, means, GetParam());
    }
  }
}

// Tiles of 4 x 4 results: 14 x 10 become 16 x 12, and 20 x 16 of the input take part in them. 12
// channels fill up 32 bytes, kernels become 4 x 4. Those of integers are exact times 4, and data
// are halved: the shift of sums, 2, takes both back.
TEST_P(WrittenConv, Winograd) {
  for (const Precision precision : {Precision::kInt8, Precision::kInt16, Precision::kFp16}) {
    SCOPED_TRACE(static_cast<int>(precision));
    const std::int64_t element = precision == Precision::kInt8 ? 1 : 2;
    const std::int64_t code = static_cast<int>(precision);
    const bool real = precision == Precision::kFp16;
    const Kernels kernels(20 * 12 * 9, precision);
    Convolution layer{.name = "tiles", .kernels = 20, .kernel_height = 3, .kernel_width = 3};
    layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right = 1;
    layer.weights = kernels.span;
    layer.tuning.winograd = Rewrite::kAlways;
    layer.relu = true;
    if (!real) {
      layer.arithmetic.accumulator_shift = 2;
      layer.arithmetic.winograd_truncate = 1;
      layer.output = {.offset = 5, .scale = 7, .shift = 9};
    }
    Network network;
    const Tensor in = network.input("in", {12, 10, 14}, precision);
    network.output(network.convolution(in, layer), "out");
    const Written written(network, GetParam());
    ASSERT_EQ(written.operations(), 2);
    const Record op = written.op(0, "conv");
    const std::int64_t channels = 32 / element;
    expect_fields(op,
                  {{"conv_mode", 1},
                   {"entry_per_slice", 20 / 4},
                   {"data_format", 36},
                   {"batch", 1},
                   {"release", 16},
                   {"input_width_csc", 20},
                   {"input_height_csc", 16},
                   {"input_channel_csc", channels},
                   {"kernel_width_csc", 4},
                   {"kernel_height_csc", 4},
                   {"kernel_channel_csc", channels},
                   {"input_width_cmac", 16},
                   {"input_height_cmac", 12},
                   {"bytes_per_kernel", 16 * 32},
                   {"conv_stride_x", 1},
                   {"conv_stride_y", 1},
                   {"pad_x_left", 1},
                   {"pad_x_right", 20 - 14 - 1},
                   {"pad_y_top", 1},
                   {"pad_y_bottom", 16 - 10 - 1},
                   {"dilation_x", 1},
                   {"dilation_y", 1},
                   {"pra_truncate", real ? 0 : 1},
                   {"in_precision", code},
                   {"out_precision", code},
                   {"out_cvt.scale", 1},
                   {"out_cvt.truncate", real ? 0 : 2 + 2 - 1},
                   {"out_cvt.enable", 1}},
                  kChosen);
    expect_choices(op);
    Fields surface;
    add_cube(surface, "src_data", 12, 10, 14, element);
    if (precision == Precision::kInt16) surface["src_data.size"] = 2 * 32 * 10 * 14;
    add_no_cube(surface, "wmb_data");
    add_no_cube(surface, "wgs_data");
    add_passed(surface, "dst_data", 20, 12, 16);
    surface["weight_data.size"] = 20 * 16 * 32;
    surface["weight_data.width"] = 3;
    surface["weight_data.height"] = 3;
    surface["weight_data.channel"] = 12;
    expect_fields(written.surface(0, "conv"), surface, {"src_data.address", "weight_data.address"});

    Fields sdp = {{"src_precision", code}, {"dst_precision", code}, {"lut_index", -1},
                  {"conv_mode", 1},        {"batch_num", 1},        {"x1_op.alu_type", 2},
                  {"x2_op.alu_type", 2},   {"y_op.alu_type", 2},    {"x1_op.enable", 1},
                  {"x1_op.act", 1}};
    if (!real) {
      sdp["out_cvt.scale"] = 7;
      sdp["out_cvt.truncate"] = 9;
      sdp["out_cvt.enable"] = 1;
      sdp["out_cvt.offset"] = 5;
    }
    expect_fields(written.op(1, "sdp"), sdp);
    Fields output;
    for (const char* cube : {"x1_data", "x2_data", "y_data"}) add_no_cube(output, cube);
    add_passed(output, "src_data", 20, 12, 16);
    add_cube(output, "dst_data", 20, 12, 16, element);
    expect_fields(written.surface(1, "sdp"), output, {"dst_data.address"});
  }
}

std::uint32_t word(const std::vector<std::byte>& bytes, std::int64_t offset) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// Two groups of kernels, of 32 and of 8; one weight in five is left of the first, one in four of
// the second.
TEST_P(WrittenConv, CompressedWeights) {
  constexpr int kKernel = 40 * 3 * 3;
  std::vector<std::int8_t> weights(40 * kKernel);
  for (int i = 0; i < 40 * kKernel; ++i) {
    weights[static_cast<std::size_t>(i)] = i % (i < 32 * kKernel ? 5 : 4) == 0 ? 7 : 0;
  }
  constexpr std::int64_t kFirst = 32 * kKernel / 5, kSecond = 8 * kKernel / 4;
  Convolution layer{.name = "sparse", .kernels = 40, .kernel_height = 3, .kernel_width = 3};
  layer.weights = weights;
  Network network;
  network.output(network.convolution(network.input("in", {40, 9, 10}), layer), "out");
  const Written written(network, GetParam());
  const Record op = written.op(0, "conv");
  expect_fields(op,
                {{"weight_format", 1},
                 {"entry_per_slice", 5},
                 {"data_format", 36},
                 {"batch", 1},
                 {"release", 9},
                 {"input_width_csc", 10},
                 {"input_height_csc", 9},
                 {"input_channel_csc", 40},
                 {"kernel_width_csc", 3},
                 {"kernel_height_csc", 3},
                 {"kernel_channel_csc", 40},
                 {"input_width_cmac", 8},
                 {"input_height_cmac", 7},
                 {"bytes_per_kernel", kKernel},
                 {"conv_stride_x", 1},
                 {"conv_stride_y", 1},
                 {"dilation_x", 1},
                 {"dilation_y", 1},
                 {"out_cvt.scale", 1},
                 {"out_cvt.enable", 1}},
                kChosen);
  expect_choices(op, 15);  // the last bank holds mask bits
  Fields surface;
  add_cube(surface, "src_data", 40, 9, 10);
  add_passed(surface, "dst_data", 40, 7, 8);
  surface["weight_data.size"] = round_up(kFirst + kSecond, 128);
  surface["weight_data.width"] = surface["weight_data.height"] = 3;
  surface["weight_data.channel"] = 40;
  surface["wgs_data.size"] = 32;
  surface["wmb_data.size"] = round_up(40 * kKernel / 8, 128);
  const Record found = written.surface(0, "conv");
  expect_fields(found, surface,
                {"src_data.address", "weight_data.address", "wgs_data.address", "wgs_data.offset",
                 "wmb_data.address", "wmb_data.offset"});

  const auto& kept = written.content(found.get("weight_data.address"));
  for (std::int64_t i = 0; i < surface["weight_data.size"]; ++i) {
    ASSERT_EQ(kept.at(static_cast<std::size_t>(i)), std::byte(i < kFirst + kSecond ? 7 : 0)) << i;
  }
  const auto& sizes = written.content(found.get("wgs_data.address"));
  const std::int64_t wgs = written.offset_of(found, "wgs_data");
  EXPECT_EQ(word(sizes, wgs), kFirst);
  EXPECT_EQ(word(sizes, wgs + 4), kSecond);
  for (std::int64_t i = 8; i < 32; i += 4) EXPECT_EQ(word(sizes, wgs + i), 0U);
  const auto& mask = written.content(found.get("wmb_data.address"));
  const std::int64_t wmb = written.offset_of(found, "wmb_data");
  std::int64_t first = 0, second = 0;
  for (std::int64_t i = 0; i < surface["wmb_data.size"]; i += 4) {
    (i * 8 < 32 * kKernel ? first : second) += std::popcount(word(mask, wmb + i));
  }
  EXPECT_EQ(first, kFirst);
  EXPECT_EQ(second, kSecond);
}

TEST_P(WrittenConv, Batch) {
  const Kernels kernels(20 * 40 * 9, Precision::kInt8);
  Convolution layer{.name = "batch", .kernels = 20, .kernel_height = 3, .kernel_width = 3};
  layer.weights = kernels.span;
  layer.tuning.batch = Rewrite::kAlways;
  Network network;
  const Tensor in = network.input("in", {.channels = 40, .height = 9, .width = 10, .batch = 3});
  network.output(network.convolution(in, layer), "out");
  const Written written(network, GetParam());
  ASSERT_EQ(written.operations(), 2);
  const Record op = written.op(0, "conv");
  EXPECT_EQ(op.get("batch"), 3);
  EXPECT_EQ(op.get("batch_stride"), 2 * 32 * 9 * 10);
  EXPECT_EQ(op.get("release"), 9);
  const Record sdp = written.op(1, "sdp");
  EXPECT_EQ(sdp.get("batch_num"), 3);
  // 8 x 7 results in one surface; lines and cubes are multiples of 64 bytes.
  EXPECT_EQ(sdp.get("batch_stride"), 8 * 7 * 32);
  Fields surface;
  add_cube(surface, "src_data", 40, 9, 10);
  surface["src_data.size"] *= 3;
  add_no_cube(surface, "wmb_data");
  add_no_cube(surface, "wgs_data");
  add_passed(surface, "dst_data", 20, 7, 8);
  surface["weight_data.size"] = round_up(20 * 40 * 9, 128);
  surface["weight_data.width"] = surface["weight_data.height"] = 3;
  surface["weight_data.channel"] = 40;
  expect_fields(written.surface(0, "conv"), surface, {"src_data.address", "weight_data.address"});
}

// Each band says what it fetches: lines from where the one before ended.
TEST_P(WrittenConv, Bands) {
  const Kernels kernels(20 * 512 * 9, Precision::kInt8);
  Convolution layer{.name = "tall", .kernels = 20, .kernel_height = 3, .kernel_width = 3};
  layer.weights = kernels.span;
  layer.tuning.interleaving = Rewrite::kNever;
  Network network;
  network.output(network.convolution(network.input("in", {512, 100, 40}), layer), "out");
  const Written written(network, GetParam());
  const std::int64_t bands = written.operations() / 2;
  ASSERT_GT(bands, 1);
  std::int64_t line = 0, kept = 0, result = 0;
  for (std::int64_t i = 0; i < bands; ++i) {
    SCOPED_TRACE(i);
    const Record op = written.op(2 * i, "conv"), surface = written.surface(2 * i, "conv");
    EXPECT_EQ(op.get("data_reuse"), kept > 0);
    const std::int64_t lines = op.get("input_height_csc");
    const std::int64_t fetched = surface.get("src_data.height");
    EXPECT_EQ(lines, kept + fetched);
    EXPECT_EQ(op.get("input_height_cmac"), lines - 2);
    // All lines of a band are in the data banks at once, 4 entries of 128 bytes to a column.
    EXPECT_EQ(op.get("entry_per_slice"), 4 * 40);
    EXPECT_LE(4 * 40 * lines, op.get("data_bank") * 256);
    EXPECT_EQ(written.offset_of(surface, "src_data"), line * 40 * 32);
    line += fetched;
    kept = lines - op.get("release");
    // Two lines of the input are of use to the next band.
    EXPECT_EQ(kept, i + 1 < bands ? 2 : 0);
    const Record output = written.surface(2 * i + 1, "sdp");
    EXPECT_EQ(written.offset_of(output, "dst_data"), result * 38 * 32);
    EXPECT_EQ(output.get("dst_data.height"), lines - 2);
    result += lines - 2;
  }
  EXPECT_EQ(line, 100);
  EXPECT_EQ(result, 98);
}

// Strides of 2 x 3 are six convolutions, one behind the other in channels, which Rubik contracts.
TEST_P(WrittenConv, Deconvolution) {
  const Kernels kernels(40 * 16 * 4 * 6, Precision::kInt8);
  Deconvolution layer{.name = "deconv", .kernels = 40, .kernel_height = 4, .kernel_width = 6};
  layer.stride_height = 2;
  layer.stride_width = 3;
  layer.weights = kernels.span;
  Network network;
  network.output(network.deconvolution(network.input("in", {16, 5, 7}), layer), "out");
  const Written written(network, GetParam());
  // 40 kernels take 64 channels. Each phase makes 6 x 8 positions, of (5 - 1) * 2 + 4 = 12 lines
  // and (7 - 1) * 3 + 6 = 24 columns.
  ASSERT_EQ(written.operations(), 2 * 6 + 1);
  for (std::int64_t phase = 0; phase < 6; ++phase) {
    SCOPED_TRACE(phase);
    const Record op = written.op(2 * phase, "conv");
    expect_fields(op,
                  {{"entry_per_slice", 2},
                   {"data_format", 36},
                   {"batch", 1},
                   {"release", 5},
                   {"input_width_csc", 7},
                   {"input_height_csc", 5},
                   {"input_channel_csc", 16},
                   {"kernel_width_csc", 2},
                   {"kernel_height_csc", 2},
                   {"kernel_channel_csc", 16},
                   {"input_width_cmac", 8},
                   {"input_height_cmac", 6},
                   {"bytes_per_kernel", 16 * 2 * 2},
                   {"conv_stride_x", 1},
                   {"conv_stride_y", 1},
                   {"pad_x_left", 1},
                   {"pad_x_right", 1},
                   {"pad_y_top", 1},
                   {"pad_y_bottom", 1},
                   {"dilation_x", 1},
                   {"dilation_y", 1},
                   {"out_cvt.scale", 1},
                   {"out_cvt.enable", 1}},
                  {"data_bank", "weight_bank", "fetch_grain", "data_reuse", "skip_data_rls"});
    Fields surface;
    add_no_cube(surface, "src_data");
    for (const char* cube : {"x1_data", "x2_data", "y_data"}) add_no_cube(surface, cube);
    add_passed(surface, "src_data", 40, 6, 8);
    surface["dst_data.width"] = 8;
    surface["dst_data.height"] = 6;
    surface["dst_data.channel"] = 40;
    surface["dst_data.line_stride"] = 8 * 32;
    surface["dst_data.surf_stride"] = 8 * 6 * 32;
    const Record output = written.surface(2 * phase + 1, "sdp");
    expect_fields(output, surface, {"dst_data.address", "dst_data.offset", "dst_data.size"});
    EXPECT_EQ(written.offset_of(output, "dst_data"), phase * 2 * 8 * 6 * 32);
    EXPECT_EQ(written.memory_flags(output.get("dst_data.address")), 1U);
  }
  expect_fields(written.op(12, "rubik"), {{"stride_x", 3}, {"stride_y", 2}});
  Fields contract;
  add_cube(contract, "src_data", 6 * 64, 6, 8);
  add_cube(contract, "dst_data", 64, 12, 24);
  const Record found = written.surface(12, "rubik");
  expect_fields(found, contract, {"src_data.address", "dst_data.address"});
  EXPECT_EQ(written.memory_of(found.get("src_data.address")),
            written.memory_of(written.surface(1, "sdp").get("dst_data.address")));
  EXPECT_EQ(written.memory_flags(found.get("dst_data.address")), kOutputMemory);
}

INSTANTIATE_TEST_SUITE_P(Loadable, WrittenConv, testing::Bool(), [](const auto& test) {
  return test.param ? "Interface11" : "Interface12";
});

}  // namespace
}  // namespace nvdla::witness
