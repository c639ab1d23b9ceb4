// SPDX-License-Identifier: MIT
//
// SDP's operators and tables in files, in every precision: bit for bit what the request gives.
#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "nvdla/lowlevel/lut.hpp"
#include "nvdla/operators/functions.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "round_trip.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::expect_round_trip;
using test::random_elements;
using test::RoundTrip;

constexpr Shape kShape{.channels = 20, .height = 5, .width = 6};
constexpr Precision kPrecisions[] = {Precision::kInt8, Precision::kInt16, Precision::kFp16};

RoundTrip expect_same(const Network& network, const std::string& configuration, Precision precision,
                      std::uint32_t layers = 1, std::size_t elements = kShape.elements()) {
  if (precision == Precision::kInt8) {
    return expect_round_trip<std::int8_t>(network, configuration, elements, elements, layers);
  }
  if (precision == Precision::kInt16) {
    return expect_round_trip<std::int16_t>(network, configuration, elements, elements, layers);
  }
  return expect_round_trip<std::uint16_t>(network, configuration, elements, elements, layers);
}

// Operands for the layer, for channels, for elements.
constexpr std::size_t kCounts[] = {1, 20, 20 * 5 * 6};

// What an operator does, in all ways that one can.
struct Kind {
  nvdla_alu alu;
  nvdla_mul mul;
};
constexpr Kind kKinds[] = {{NVDLA_ALU_MAX, NVDLA_MUL_NONE},   {NVDLA_ALU_MIN, NVDLA_MUL_NONE},
                           {NVDLA_ALU_SUM, NVDLA_MUL_NONE},   {NVDLA_ALU_NONE, NVDLA_MUL_MUL},
                           {NVDLA_ALU_NONE, NVDLA_MUL_PRELU}, {NVDLA_ALU_SUM, NVDLA_MUL_MUL},
                           {NVDLA_ALU_MAX, NVDLA_MUL_MUL},    {NVDLA_ALU_MIN, NVDLA_MUL_MUL},
                           {NVDLA_ALU_SUM, NVDLA_MUL_PRELU}};

// Operands of ALUs and of multipliers. One for the layer is small and positive, so that not all
// results saturate.
struct Operands {
  Operands(std::size_t count, bool bytes) {
    for (const unsigned seed : {1U, 2U}) {
      auto& list = seed == 1 ? alu : mul;
      auto& reals = seed == 1 ? alu_reals : mul_reals;
      if (count == 1) {
        list = {seed == 1 ? 19 : 75};
      } else if (bytes) {
        const auto v = random_elements<std::int8_t>(count, seed);
        list.assign(v.begin(), v.end());
      } else {
        const auto v = random_elements<std::int16_t>(count, seed);
        list.assign(v.begin(), v.end());
      }
      for (const std::int32_t v : list) reals.push_back(static_cast<float>(v) / 32);
    }
  }
  std::vector<std::int32_t> alu, mul;
  std::vector<float> alu_reals, mul_reals;
};

template <typename Op, typename Values>
void set_operands(const Kind& kind, const Operands& from, const Values& alu, const Values& mul,
                  bool real, Op& op) {
  op.alu = kind.alu;
  op.mul = kind.mul;
  if (kind.alu != NVDLA_ALU_NONE) {
    if (real) {
      op.alu_reals = from.alu_reals;
    } else {
      op.alu_values = alu;
    }
  }
  if (kind.mul == NVDLA_MUL_NONE) return;
  if (real) {
    op.mul_reals = from.mul_reals;
  } else {
    op.mul_values = mul;
  }
}

template <typename Call>
void for_each_operator(const Call& call) {
  for (const Precision precision : kPrecisions) {
    for (const std::size_t count : kCounts) {
      for (const Kind& kind : kKinds) {
        SCOPED_TRACE("precision " + std::to_string(static_cast<int>(precision)) + ", " +
                     std::to_string(count) + " operands, alu " + std::to_string(kind.alu) +
                     ", mul " + std::to_string(kind.mul));
        call(precision, count, kind);
      }
    }
  }
}

TEST(SaveSdp, OperatorYInEveryForm) {
  for_each_operator([](Precision precision, std::size_t count, const Kind& kind) {
    const bool real = precision == Precision::kFp16;
    // Operands of one byte and of two.
    const bool bytes = count == 1 || kind.alu != NVDLA_ALU_SUM;
    const Operands operands(count, bytes);
    OperatorY y;
    set_operands(kind, operands, operands.alu, operands.mul, real, y);
    if (!real && kind.mul != NVDLA_MUL_NONE) y.mul_shift = bytes ? 6 : 14;
    if (!real && count > 1) {
      if (kind.alu != NVDLA_ALU_NONE) y.alu_converter = {.offset = -3, .scale = -5, .shift = 4};
      if (kind.mul != NVDLA_MUL_NONE) y.mul_converter = {.offset = 2, .scale = 3, .shift = 1};
    }
    Network network;
    const Tensor in = network.input("in", kShape, precision);
    network.output(network.pointwise(in, {.name = "y", .y = y}), "out");
    const RoundTrip trip = expect_same(network, "nv_full", precision);
    const nvdla_sdp_y& found = trip.program.layers.at(0).sdp.y;
    EXPECT_EQ(found.alu, static_cast<std::uint32_t>(kind.alu));
    EXPECT_EQ(found.mul, static_cast<std::uint32_t>(kind.mul));
    EXPECT_EQ(found.mode, count == 1    ? std::uint32_t{NVDLA_OPERAND_LAYER}
                          : count == 20 ? std::uint32_t{NVDLA_OPERAND_CHANNEL}
                                        : std::uint32_t{NVDLA_OPERAND_ELEMENT});
    // What fp16 has in memory is widened by converters, which are on for the driver that has no
    // other reason to turn them on.
    const loadable::SdpSubOp& op = trip.part<loadable::SdpPart>().op.y_op;
    const bool memory = count > 1;
    EXPECT_EQ(op.cvt.alu_cvt.enable, memory && kind.alu != NVDLA_ALU_NONE);
    EXPECT_EQ(op.cvt.mul_cvt.enable, memory && kind.mul != NVDLA_MUL_NONE);
    if (precision == Precision::kInt8) expect_same(network, "nv_large", precision);
  });
}

TEST(SaveSdp, OperatorsXInEveryForm) {
  for_each_operator([](Precision precision, std::size_t count, const Kind& kind) {
    const bool real = precision == Precision::kFp16;
    const bool bytes = count == 1 || kind.alu != NVDLA_ALU_SUM;
    const Operands operands(count, bytes);
    const std::vector<std::int16_t> alu(operands.alu.begin(), operands.alu.end());
    const std::vector<std::int16_t> mul(operands.mul.begin(), operands.mul.end());
    Operator x;
    set_operands(kind, operands, alu, mul, real, x);
    if (!real && kind.alu != NVDLA_ALU_NONE) x.alu_shift = 2;
    if (!real && kind.mul != NVDLA_MUL_NONE) x.mul_shift = bytes ? 6 : 14;
    Operator second = x;
    second.relu = kind.mul != NVDLA_MUL_PRELU;
    Network network;
    const Tensor in = network.input("in", kShape, precision);
    network.output(network.pointwise(in, {.name = "x", .x1 = x, .x2 = second}), "out");
    expect_same(network, "nv_full", precision);
    if (precision == Precision::kInt8) expect_same(network, "nv_small", precision);
  });
}

TEST(SaveSdp, OperandsFromOtherTensors) {
  for (const Precision precision : kPrecisions) {
    OperatorY y;
    y.mul = NVDLA_MUL_MUL;
    if (precision != Precision::kFp16) y.mul_shift = precision == Precision::kInt8 ? 6 : 14;
    Network network;
    const Tensor in = network.input("in", kShape, precision);
    const Tensor a = network.pointwise(in, {.name = "relu", .x1 = relu()});
    y.tensor = a;
    network.output(
        network.pointwise(in, {.name = "both", .x1 = elementwise(NVDLA_ALU_MIN, a), .y = y}),
        "out");
    expect_same(network, "nv_full", precision, 2);
  }
}

TEST(SaveSdp, TablesOfEveryPrecision) {
  for (const Precision precision : kPrecisions) {
    LutFormat format;
    format.precision = precision;
    if (precision == Precision::kInt8) {
      format.input = {.scale = 0.05F};
      format.output = {.scale = 1.0F / 128};
      format.input_bits = 8;
    } else if (precision == Precision::kInt16) {
      format.input = {.scale = 0.0002F};
      format.output = {.scale = 1.0F / 32768};
      format.input_bits = 16;
    }
    const Lut lut = lut::tanh(format);
    Pointwise layer{.name = "tanh"};
    lut.apply(layer);
    Network network;
    network.output(network.pointwise(network.input("in", kShape, precision), layer), "out");
    const RoundTrip trip = expect_same(network, "nv_full", precision);
    // Before those of the user's layers and of what tensors stand for.
    EXPECT_EQ(std::prev(trip.container.blobs.end(), 3)->name, "task-0-lut_list");
    if (precision == Precision::kInt8) expect_same(network, "nv_large", precision);
  }
}

TEST(SaveSdp, NormalizationOfEveryPrecision) {
  for (const Precision precision : kPrecisions) {
    LutFormat format;
    format.precision = precision;
    if (precision == Precision::kInt8) {
      format.input = format.output = {.scale = 0.1F};
    } else if (precision == Precision::kInt16) {
      format.input = format.output = {.scale = 0.0005F};
    }
    for (const std::uint32_t window : {3U, 5U, 7U, 9U}) {
      const Lut lut = lut::lrn(0.01, 0.75, 1, window, format, 17);
      Normalization layer{.name = "lrn"};
      lut.apply(layer);
      Network network;
      network.output(network.normalization(network.input("in", kShape, precision), layer), "out");
      const RoundTrip trip = expect_same(network, "nv_full", precision);
      EXPECT_EQ(trip.part<loadable::CdpPart>().op.local_size, window);
      if (precision == Precision::kInt8) expect_same(network, "nv_small", precision);
    }
  }
}

TEST(SaveSdp, NormalizationWithPartsBypassed) {
  for (const Precision precision : kPrecisions) {
    LutFormat format;
    format.precision = precision;
    if (precision != Precision::kFp16) {
      format.input = format.output = {.scale = precision == Precision::kInt8 ? 0.1F : 0.0005F};
    }
    const Lut lut = lut::lrn(0.1, 0.75, 1, 5, format, 17);
    for (const bool sum : {false, true}) {
      for (const bool multiply : {false, true}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(precision)) + (sum ? " no sum" : "") +
                     (multiply ? " no product" : ""));
        Normalization layer{.name = "lrn"};
        lut.apply(layer);
        layer.bypass_square_sum = sum;
        layer.bypass_multiply = multiply;
        // Without a product the table's numbers come out as they are.
        if (multiply && precision != Precision::kFp16) {
          layer.output = {.scale = 1, .shift = precision == Precision::kInt8 ? 8U : 0U};
        }
        Network network;
        network.output(network.normalization(network.input("in", kShape, precision), layer), "out");
        const RoundTrip trip = expect_same(network, "nv_full", precision);
        const std::uint32_t flags =
            (sum ? NVDLA_CDP_BYPASS_SQUARE_SUM : 0) | (multiply ? NVDLA_CDP_BYPASS_MUL : 0);
        EXPECT_EQ(trip.program.layers.at(0).cdp.flags, flags);
      }
    }
  }
}

// Bits of a product that are shifted out are gone, however far they are shifted.
TEST(SaveSdp, ShiftsBeyondAByte) {
  const std::vector<std::int32_t> factor = {INT32_MIN}, offset = {40};
  for (const std::uint32_t shift : {36U, 63U, 64U, 255U, 256U, 300U, 1023U}) {
    OperatorY y;
    y.mul = NVDLA_MUL_MUL;
    y.mul_values = factor;
    y.mul_shift = shift;
    Network network;
    const Tensor in = network.input("in", kShape, Precision::kInt16);
    const std::vector<std::int16_t> far = {INT16_MIN};
    // Near to the greatest product that there is.
    const Tensor wide =
        network.pointwise(in, {.name = "wide", .x1 = scale(far), .x2 = bias(far, 16), .y = y});
    network.output(network.pointwise(wide, {.name = "sum", .x1 = elementwise(NVDLA_ALU_SUM, in)}),
                   "out");
    const RoundTrip trip = expect_same(network, "nv_full", Precision::kInt16, 2);
    EXPECT_EQ(trip.program.layers.at(0).sdp.y.mul_truncate, std::min(shift, 255U));
  }
}

// Nothing is written: the verdict is a counter, in the file's run as in the request's.
TEST(SaveSdp, Comparisons) {
  for (const Precision precision : kPrecisions) {
    const Shape shape{.channels = 32, .height = 3, .width = 4};
    for (const bool equal : {false, true}) {
      Network network;
      const Tensor in = network.input("in", shape, precision);
      network.compare(in, {.name = "compare", .tensor = network.input("other", shape, precision)});
      RoundTrip trip(network, "nv_full", {.statistics = true});
      const auto write = [&](auto type) {
        using T = decltype(type);
        trip.write<T>(shape.elements(), "in", 5);
        trip.write<T>(shape.elements(), "other", equal ? 5 : 6);
      };
      if (precision == Precision::kInt8) write(std::int8_t{});
      if (precision == Precision::kInt16) write(std::int16_t{});
      if (precision == Precision::kFp16) write(std::uint16_t{});
      trip.run();
      for (const auto& statistics : {trip.request.statistics(), trip.loaded.statistics()}) {
        ASSERT_EQ(statistics.size(), 1U);
        EXPECT_NE(statistics[0].valid & 1ULL << NVDLA_COUNTER_SDP_UNEQUAL, 0U);
        EXPECT_EQ(statistics[0].counter[NVDLA_COUNTER_SDP_UNEQUAL], equal ? 0U : 1U);
      }
      EXPECT_EQ(trip.described("other").input, true);
    }
  }
  // With values, between layers that write something.
  const std::vector<std::int32_t> sevens = {7};
  const std::vector<std::int16_t> three = {3};
  Network network;
  const Tensor in = network.input("in", {.channels = 32, .height = 3, .width = 4});
  const Tensor sum = network.pointwise(in, {.name = "sum", .x1 = bias(three)});
  network.compare(sum, {.name = "compare", .values = sevens});
  network.output(network.pointwise(sum, {.name = "again", .x1 = scale(three, 1)}), "out");
  for (const std::string name : {"nv_full", "nv_large", "nv_small_256_full"}) {
    expect_same(network, name, Precision::kInt8, 3, 32 * 3 * 4);
  }
}

// On the fly, with channels that fill no atom; and with a tensor that is copied for that.
TEST(SaveSdp, ComparisonsOfSums) {
  const auto verdict = [](const Network& network, std::uint32_t layers) {
    RoundTrip trip(network, "nv_full", {.statistics = true});
    EXPECT_EQ(trip.request.network().layers(), layers);
    for (const auto& input : {std::string_view("in"), std::string_view("other")}) {
      if (trip.request.network().inputs() == 1 && input == "other") continue;
      trip.write<std::int8_t>(kShape.elements(), input, 5);
    }
    trip.run();
    std::vector<std::uint32_t> unequal;
    for (const auto& statistics : {trip.request.statistics(), trip.loaded.statistics()}) {
      unequal.push_back(statistics.back().counter[NVDLA_COUNTER_SDP_UNEQUAL]);
    }
    EXPECT_EQ(unequal[0], unequal[1]);
    return unequal[1];
  };
  for (const std::int8_t weight : {0, 1}) {
    const std::vector<std::int8_t> weights(12 * 20 * 9, weight);
    const std::vector<std::int32_t> zero = {0};
    Convolution conv{.name = "conv", .kernels = 12, .kernel_height = 3, .kernel_width = 3};
    conv.weights = weights;
    Network sums;
    sums.compare(sums.input("in", kShape), conv, {.name = "compare", .values = zero});
    EXPECT_EQ(verdict(sums, 1), weight == 0 ? 0U : 1U);
  }
  Network tensors;
  tensors.compare(tensors.input("in", kShape),
                  {.name = "compare", .tensor = tensors.input("other", kShape)});
  EXPECT_EQ(verdict(tensors, 2), 0U);
}

// One position of another tensor: an operand for each channel.
TEST(SaveSdp, ChannelsOfATensor) {
  for (const Precision precision : kPrecisions) {
    Network network;
    const Tensor in = network.input("in", kShape, precision);
    const Tensor most = network.pooling(
        in, {.name = "most", .method = NVDLA_POOL_MAX, .kernel_height = 5, .kernel_width = 6});
    const std::uint32_t shift = precision == Precision::kInt8    ? 6
                                : precision == Precision::kInt16 ? 14
                                                                 : 0;
    Pointwise layer{.name = "scaled", .x1 = multiply(most, shift)};
    layer.x2 = elementwise(NVDLA_ALU_MIN, most);
    network.output(network.pointwise(in, layer), "out");
    expect_same(network, "nv_full", precision, 2);
    if (precision == Precision::kInt8) expect_same(network, "nv_small", precision, 2);
  }
}

// A squeeze and excitation as a framework says it: bounds, tables, and a product of two zero
// points.
TEST(SaveSdp, QuantisedLayers) {
  const std::vector<std::int8_t> ones(40 * 40, 3);
  const float scale = 0.01F;
  const Shape shape{.channels = 40, .height = 5, .width = 6};
  for (const std::string name : {"nv_full", "nv_small"}) {
    const bool tables = name == "nv_full";
    Network network;
    const auto activation = [&](Tensor x, const char* layer, double (*function)(double) noexcept) {
      if (!tables) return x;
      return network.activation(
          x, {.name = layer, .output = {1 / 100.0F, -100}, .function = function});
    };
    const Tensor in = network.input("in", shape, {0.05F, tables ? 9 : 0});
    const Tensor swished = activation(in, "swish", swish);
    const Tensor mean = network.average(swished, {.name = "mean"});
    FullyConnected layer{.name = "squeeze", .outputs = 40};
    layer.weights = std::span<const std::int8_t>(ones);
    const Tensor squeezed = network.fully_connected(
        mean, layer,
        {.weights = {&scale, 1}, .output = {0.07F, tables ? 3 : 0}, .bounds = {-1, 6}});
    const Tensor gates = activation(squeezed, "sigmoid", sigmoid);
    const Tensor product = network.multiply(
        swished, gates, {.name = "excite", .output = {0.02F, 4}, .bounds = {-0.5F, 0.9F}});
    network.output(network.clamp(product, {.name = "clamp", .bounds = {-0.4F, 0.8F}}), "out");
    const auto layers = network.build(Device::open("model:" + name)).network().layers();
    expect_round_trip<std::int8_t>(network, name, shape.elements(), shape.elements(), layers);
  }
}

}  // namespace
}  // namespace nvdla
