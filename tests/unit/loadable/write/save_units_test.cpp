// SPDX-License-Identifier: MIT
//
// Each unit and precision in a file of its own: bit for bit what the request gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "round_trip.hpp"

namespace nvdla {
namespace {

using test::expect_round_trip;
using test::random_elements;

// Pooling from memory and behind both kinds of layers, in a row where every unit has a next one.
TEST(SaveUnits, PoolingInAllPlaces) {
  const auto weights = random_elements<std::int8_t>(12 * 8 * 9, 1);
  const Pooling max{.name = "max", .kernel_height = 2, .kernel_width = 2};
  const Pooling average{.name = "average",
                        .method = NVDLA_POOL_AVERAGE,
                        .kernel_height = 3,
                        .kernel_width = 2,
                        .pad_top = 1,
                        .pad_bottom = 2,
                        .pad_left = 1,
                        .pad_right = 1,
                        .pad_value = -7};
  const Pooling min{.name = "min",
                    .method = NVDLA_POOL_MIN,
                    .kernel_height = 3,
                    .kernel_width = 3,
                    .stride_height = 2,
                    .stride_width = 2};
  Network network;
  const Tensor in = network.input("in", {.channels = 8, .height = 17, .width = 19});
  Convolution conv{.name = "conv", .kernels = 12, .kernel_height = 3, .kernel_width = 3};
  conv.weights = weights;
  conv.output = requantize(0.002);
  const Tensor a = network.pooling(network.convolution(in, conv), max);
  const Tensor b = network.pooling(a, average);
  const std::vector<std::int16_t> three = {3};
  const Tensor c = network.pointwise(b, {.name = "add", .x1 = bias(three)});
  const Tensor d = network.pooling(c, min);
  const Tensor e = network.pointwise(d, {.name = "same"});
  Pooling last = max;
  last.name = "last";
  network.output(network.pooling(e, last), "out");
  for (const std::string name : {"nv_small", "nv_full", "nv_large"}) {
    expect_round_trip<std::int8_t>(network, name, 8 * 17 * 19, 12 * 6 * 7, 4);
  }
}

// A cube too wide for the unit's line buffer is worked on in bands.
TEST(SaveUnits, PoolingInBands) {
  for (const std::uint32_t width : {30U, 300U}) {
    Network network;
    network.output(
        network.pooling(network.input("in", {.channels = 5, .height = 9, .width = width}),
                        {.name = "wide",
                         .method = NVDLA_POOL_AVERAGE,
                         .kernel_height = 7,
                         .kernel_width = 3,
                         .pad_left = 1,
                         .pad_right = 1,
                         .pad_value = 2}),
        "out");
    const auto trip =
        expect_round_trip<std::int8_t>(network, "nv_small", 5 * 9 * width, 5 * 3 * width, 1);
    EXPECT_EQ(trip.program.layers[0].pdp.bands > 2, width == 300);
    EXPECT_GT(trip.program.layers[0].pdp.bands, 1U);
  }
}

// A file says how large a kernel is, not what a sum is divided by.
TEST(SaveUnits, AveragesOfEverySize) {
  for (std::uint32_t size = 1; size <= 8; ++size) {
    for (const Precision precision : {Precision::kInt16, Precision::kFp16}) {
      Network network;
      network.output(network.pooling(network.input("in", {20, 9, 10}, precision),
                                     {.name = "average",
                                      .method = NVDLA_POOL_AVERAGE,
                                      .kernel_height = 9 - size,
                                      .kernel_width = size}),
                     "out");
      const std::size_t outputs = 20 * (size + 1) * (11 - size);
      if (precision == Precision::kInt16) {
        expect_round_trip<std::int16_t>(network, "nv_full", 20 * 9 * 10, outputs, 1);
      } else {
        expect_round_trip<std::uint16_t>(network, "nv_full", 20 * 9 * 10, outputs, 1);
      }
    }
  }
}

TEST(SaveUnits, Int16AndItsConversions) {
  const auto weights = random_elements<std::int16_t>(20 * 8 * 9, 2);
  const auto values = random_elements<std::int16_t>(20 * 6 * 7, 3);
  Convolution conv{.name = "conv", .kernels = 20, .kernel_height = 3, .kernel_width = 3};
  conv.pad_value = -300;
  conv.pad_left = 2;
  conv.weights = weights;
  conv.x1 = bias(std::span(values).first(20), 6);
  conv.output = requantize(0.00001);
  Network network;
  const Tensor in = network.input("in", {8, 8, 7}, Precision::kInt16);
  const Tensor a = network.convolution(in, conv);
  const Tensor b = network.pointwise(a, {.name = "values", .x2 = scale(values, 14)});
  const Tensor c = network.pooling(
      b, {.name = "average", .method = NVDLA_POOL_AVERAGE, .kernel_height = 2, .pad_top = 1});
  network.output(
      network.pointwise(
          c, {.name = "narrow", .output = requantize(0.01), .precision = Precision::kInt8}),
      "out");
  expect_round_trip<std::int16_t, std::int8_t>(network, "nv_full", 8 * 8 * 7, 20 * 6 * 7, 3);
}

TEST(SaveUnits, Fp16AndItsConversions) {
  const auto weights = random_elements<std::uint16_t>(20 * 8 * 9, 2);
  std::vector<float> reals(20 * 6 * 5);
  for (std::size_t i = 0; i < reals.size(); ++i) reals[i] = static_cast<float>(i % 37) / 8 - 2;
  Convolution conv{.name = "conv", .kernels = 20, .kernel_height = 3, .kernel_width = 3};
  conv.weights = weights;
  conv.bias_reals = std::span(reals).first(20);
  conv.relu = true;
  Network network;
  const Tensor in = network.input("in", {8, 8, 7}, Precision::kFp16);
  const Tensor a = network.convolution(in, conv);
  Operator product;
  product.mul = NVDLA_MUL_MUL;
  product.mul_reals = reals;
  Operator one;
  one.alu = NVDLA_ALU_MAX;
  one.alu_reals = std::span(reals).subspan(7, 1);
  const Tensor b = network.pointwise(a, {.name = "reals", .x1 = one, .x2 = product});
  const Tensor c = network.pooling(b, {.name = "average",
                                       .method = NVDLA_POOL_AVERAGE,
                                       .kernel_height = 2,
                                       .kernel_width = 3,
                                       .pad_top = 1,
                                       .pad_right = 2,
                                       .pad_value = 0.75});
  network.output(c, "out");
  expect_round_trip<std::uint16_t>(network, "nv_full", 8 * 8 * 7, 20 * 6 * 5, 2);
  Network integers;
  const Tensor wide = integers.input("in", {8, 8, 7}, Precision::kInt16);
  Convolution real = conv;
  real.input = {.offset = 100, .scale = 3, .shift = 9};
  real.precision = Precision::kInt16;
  integers.output(integers.convolution(wide, real), "out");
  expect_round_trip<std::int16_t>(integers, "nv_full", 8 * 8 * 7, 20 * 6 * 5, 1);
}

// Tables with something in every field, different ones for both units.
nvdla_lut make_table(nvdla_lut_unit unit, bool linear) {
  nvdla_lut lut = {};
  lut.unit = unit;
  lut.flags = NVDLA_LUT_UNDERFLOW_LO | NVDLA_LUT_HYBRID_LO;
  if (linear) lut.flags |= NVDLA_LUT_LE_LINEAR | NVDLA_LUT_OVERFLOW_LO;
  (linear ? lut.le_index_select : lut.le_index_offset) = linear ? 1 : -1;
  lut.le_start = linear ? -64 : 1;
  lut.le_end = lut.le_start + (linear ? 128 : 500);
  lut.lo_start = -40;
  lut.lo_end = lut.lo_start + 256;
  lut.le_underflow = {-70, 3};
  lut.le_overflow = {50, 2};
  lut.lo_underflow = {90, -1};
  lut.lo_overflow = {-33, 1};
  const auto values = random_elements<std::int16_t>(65 + 257, linear ? 11 : 12);
  std::copy_n(values.begin(), 65, lut.le);
  std::copy_n(values.begin() + 65, 257, lut.lo);
  return lut;
}

TEST(SaveUnits, OperatorYAndNormalizationWithTheirTables) {
  const nvdla_lut first = make_table(NVDLA_LUT_SDP, true);
  const nvdla_lut second = make_table(NVDLA_LUT_CDP, false);
  const std::vector<std::int32_t> factors = {1, -2, 3, 4, -5, 6, 7, 8};
  OperatorY y;
  y.mul = NVDLA_MUL_MUL;
  y.mul_values = factors;
  y.mul_converter = Converter{.offset = 1, .scale = 3, .shift = 1};
  y.mul_shift = 2;
  Network network;
  const Tensor in = network.input("in", {.channels = 8, .height = 9, .width = 11});
  const Tensor a = network.pointwise(in, {.name = "scaled", .y = y});
  const Tensor b = network.pointwise(
      a, {.name = "curve", .y = {.lut = &first}, .output = {.scale = 1, .shift = 8}});
  network.output(network.normalization(b, {.name = "norm",
                                           .input = {.offset = 3},
                                           .output = {.scale = 1, .shift = 12},
                                           .lut = &second}),
                 "out");
  expect_round_trip<std::int8_t>(network, "nv_full", 8 * 9 * 11, 8 * 9 * 11, 3);
}

TEST(SaveUnits, TensorsInSram) {
  Network network;
  const Tensor in = network.input("in", {.channels = 8, .height = 9, .width = 11});
  const std::vector<std::int16_t> three = {3};
  const Tensor a = network.pointwise(in, {.name = "add", .x1 = bias(three)});
  network.place(a, Memory::kSram);
  network.output(network.pointwise(a, {.name = "again", .x2 = scale(three)}), "out");
  const auto trip = expect_round_trip<std::int8_t>(network, "nv_full", 8 * 9 * 11, 8 * 9 * 11, 2);
  EXPECT_EQ(trip.program.slots.at(trip.program.layers.at(0).sdp.output.slot).memory,
            NVDLA_MEMORY_SRAM);
}

TEST(SaveUnits, CopiesBetweenMemories) {
  Network network;
  const Tensor in = network.input("in", {.channels = 40, .height = 9, .width = 11});
  const Tensor a = network.copy(in, "there");
  network.place(a, Memory::kSram);
  network.output(network.copy(a, "back"), "out");
  expect_round_trip<std::int8_t>(network, "nv_full", 40 * 9 * 11, 40 * 9 * 11, 2);
}

}  // namespace
}  // namespace nvdla
