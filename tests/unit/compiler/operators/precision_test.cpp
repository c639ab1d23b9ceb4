// SPDX-License-Identifier: MIT
//
// Tensors of all precisions and batches in networks: random pointwise layers against one number at
// a time.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/values.hpp"
#include "common/share.hpp"
#include "nvdla/types/half.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::Values;

struct Pair {
  Precision in, out, processing;
};
constexpr Pair kPairs[] = {
    {Precision::kInt8, Precision::kInt8, Precision::kInt8},
    {Precision::kInt8, Precision::kInt16, Precision::kInt8},
    {Precision::kInt16, Precision::kInt8, Precision::kInt8},
    {Precision::kInt16, Precision::kInt16, Precision::kInt16},
    {Precision::kInt16, Precision::kFp16, Precision::kInt16},
    {Precision::kFp16, Precision::kFp16, Precision::kFp16},
    {Precision::kFp16, Precision::kInt16, Precision::kFp16},
};

// An operator with operands of its own: as a network takes them, and as numbers.
struct RandomOperator {
  Operator op;
  std::vector<std::int16_t> integers[2];
  std::vector<float> reals[2];
  std::vector<std::int32_t> numbers[2];
  std::optional<Values> tensor;
};

void make_operands(RandomOperator& r, int part, const Shape& shape, Precision processing,
                   test::Random& random) {
  const std::size_t elements = std::size_t{shape.channels} * shape.height * shape.width;
  const std::size_t counts[] = {1, shape.channels, elements};
  const std::size_t count = counts[random() % 3];
  // Those of one byte, too.
  const int high = random() % 2 == 0 ? 127 : 32767;
  test::Random data = random.fork();
  for (std::size_t i = 0; i < count; ++i) {
    if (processing == Precision::kFp16) {
      const float real = std::ldexp(static_cast<float>(data() % 2001) - 1000.0F,
                                    static_cast<int>(data() % 12) - 10);
      r.reals[part].push_back(real);
      r.numbers[part].push_back(static_cast<std::int32_t>(
          test::float_convert(test::kSingle, test::kHalf, std::bit_cast<std::uint32_t>(real))));
    } else {
      const auto value = static_cast<int>(data.pick(-high - 1, high));
      r.integers[part].push_back(static_cast<std::int16_t>(value));
      r.numbers[part].push_back(value);
    }
  }
}

RandomOperator random_operator(const Shape& shape, Precision processing, test::Random& random) {
  RandomOperator r;
  r.op.relu = random() % 3 == 0;
  r.op.alu = static_cast<nvdla_alu>(random() % 4);
  r.op.mul = static_cast<nvdla_mul>(random() % 3);
  if (processing != Precision::kFp16) {
    if (r.op.alu != NVDLA_ALU_NONE) r.op.alu_shift = random() % 5;
    r.op.mul_shift = random() % (r.op.mul == NVDLA_MUL_NONE ? 4 : 16);
  }
  const bool one = (r.op.alu != NVDLA_ALU_NONE) != (r.op.mul != NVDLA_MUL_NONE);
  if (one && random() % 3 == 0) {
    r.tensor = test::random_tensor(shape, processing, random);
    return r;
  }
  if (r.op.alu != NVDLA_ALU_NONE) make_operands(r, 0, shape, processing, random);
  if (r.op.mul != NVDLA_MUL_NONE) make_operands(r, 1, shape, processing, random);
  return r;
}

std::int64_t apply(const RandomOperator& r, std::int64_t value, std::size_t i, const Shape& shape,
                   Precision processing) {
  std::int32_t a = test::pick(r.numbers[0], i, shape), m = test::pick(r.numbers[1], i, shape);
  if (r.tensor) a = m = r.tensor->data[i];
  return test::apply_x(value, r.op, a, m, processing);
}

Converter random_converter(Precision processing, test::Random& random) {
  if (processing == Precision::kFp16) return {};
  return {.offset = static_cast<std::int32_t>(random() % 2001) - 1000,
          .scale = static_cast<std::int16_t>(random() % 2001 - 1000),
          .shift = static_cast<std::uint32_t>(random() % 14)};
}

Shape random_shape(test::Random& random) {
  Shape shape{static_cast<std::uint32_t>(random() % 70 + 1),
              static_cast<std::uint32_t>(random() % 5 + 1),
              static_cast<std::uint32_t>(random() % 7 + 1),
              static_cast<std::uint32_t>(random() % 3 == 0 ? random() % 4 + 1 : 1)};
  if (random() % 5 == 0) shape.height = shape.width = 1;
  return shape;
}

// One pointwise layer, everything of it by chance.
void check_layer(const Device& device, const Pair& pair, test::Random& random) {
  const Shape shape = random_shape(random);
  const Values in = test::random_tensor(shape, pair.in, random);
  RandomOperator x1 = random_operator(shape, pair.processing, random);
  RandomOperator x2 = random_operator(shape, pair.processing, random);
  Network net;
  Pointwise layer{.name = "layer", .precision = pair.out};
  const Tensor input = net.input("in", shape, pair.in);
  const auto give = [&](RandomOperator& r, const char* name) {
    r.op.alu_values = r.integers[0];
    r.op.mul_values = r.integers[1];
    r.op.alu_reals = r.reals[0];
    r.op.mul_reals = r.reals[1];
    if (r.tensor) r.op.tensor = net.input(name, shape, pair.processing);
  };
  give(x1, "x1");
  give(x2, "x2");
  layer.x1 = x1.op;
  layer.x2 = x2.op;
  layer.output = random_converter(pair.processing, random);
  const Tensor output = net.pointwise(input, layer);
  EXPECT_EQ(net.precision(output), pair.out);
  net.output(output, "out");
  Request request = net.build(device);
  ASSERT_EQ(request.network().layers(), shape.batch);
  test::write(request, "in", in);
  if (x1.tensor) test::write(request, "x1", *x1.tensor);
  if (x2.tensor) test::write(request, "x2", *x2.tensor);
  request.run();
  Values expected(shape, pair.out);
  for (std::size_t i = 0; i < in.data.size(); ++i) {
    std::int64_t value = test::stream(in.data[i], pair.processing);
    value = apply(x1, value, i, shape, pair.processing);
    value = apply(x2, value, i, shape, pair.processing);
    expected.data[i] = test::convert_to(value, layer.output, pair.processing, pair.out);
  }
  ASSERT_EQ(test::read(request, "out").data, expected.data);
}

class Pairs : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(All, Pairs, ::testing::Range(std::size_t{0}, std::size(kPairs)),
                         ::testing::PrintToStringParamName());

TEST_P(Pairs, RandomLayers) {
  const Device device = Device::open("model:nv_full");
  test::expect_for_all(test::share(60), [&](test::Random& random) {
    check_layer(device, kPairs[GetParam()], random);
  });
}

// The second generation knows int8 alone.
TEST(Precisions, RandomLayersOfTheSecondGeneration) {
  for (const char* name : {"nv_small", "nv_medium_512", "nv_large"}) {
    SCOPED_TRACE(name);
    const Device device = Device::open(std::string("model:") + name);
    test::expect_for_all(test::share(30),
                         [&](test::Random& random) { check_layer(device, kPairs[0], random); });
  }
}

TEST(Precisions, RefusedByAConfigurationWithout) {
  for (const Precision precision : {Precision::kInt16, Precision::kFp16}) {
    Network net;
    net.output(net.pointwise(net.input("in", {}, precision), {.name = "wide"}), "out");
    expect_error(ErrorCode::kInvalidProgram,
                 std::string("layer 0 'wide' (sdp): in_precision needs ") +
                     (precision == Precision::kInt16 ? "int16" : "fp16") +
                     ", which nv_small does not have",
                 [&] { net.build(Device::open("model:nv_small")); });
  }
}

TEST(Precisions, PairsThatNoLayerHas) {
  Network net;
  const Tensor int8 = net.input("int8", {}), fp16 = net.input("fp16", {}, Precision::kFp16);
  expect_error(ErrorCode::kInvalidArgument, "layer 0 'a': no layer makes fp16 of int8",
               [&] { net.pointwise(int8, {.name = "a", .precision = Precision::kFp16}); });
  expect_error(ErrorCode::kInvalidArgument, "layer 0 'b': no layer makes int8 of fp16",
               [&] { net.pointwise(fp16, {.name = "b", .precision = Precision::kInt8}); });
}

TEST(Precisions, OperandsOfAnotherKind) {
  Network net;
  const Tensor int8 = net.input("int8", {}), fp16 = net.input("fp16", {}, Precision::kFp16);
  const std::vector<float> real = {0.5F};
  const std::vector<std::int16_t> integer = {1};
  Operator op;
  op.mul = NVDLA_MUL_MUL;
  op.mul_reals = real;
  expect_error(ErrorCode::kInvalidArgument, "x1: real MUL operands for a layer that works in int8",
               [&] { net.pointwise(int8, {.x1 = op}); });
  expect_error(ErrorCode::kInvalidArgument,
               "x1: integer MUL operands for a layer that works in fp16",
               [&] { net.pointwise(fp16, {.x1 = scale(integer)}); });
  expect_error(ErrorCode::kInvalidArgument, "x2: the operand tensor is int8, the layer works in",
               [&] { net.pointwise(fp16, {.x2 = elementwise(NVDLA_ALU_SUM, int8)}); });
  op = relu();
  op.mul_shift = 1;
  expect_error(ErrorCode::kInvalidArgument, "x1: fp16 has no shifts",
               [&] { net.pointwise(fp16, {.x1 = op}); });
  expect_error(ErrorCode::kInvalidArgument, "fp16 has no output converter",
               [&] { net.pointwise(fp16, {.output = {.scale = 2}}); });
  expect_error(ErrorCode::kInvalidArgument, "precision 3 is none of",
               [&] { net.input("odd", {}, static_cast<Precision>(3)); });
}

TEST(Precisions, ConvolutionsOfABatch) {
  const Shape shape{20, 7, 6, 3};
  test::Random random(71);
  const Values in = test::random_tensor(shape, Precision::kInt8, random);
  const auto weights = test::random_values<std::int8_t>(9 * 20 * 9, 72, -128, 127);
  for (const char* name : {"nv_small", "nv_full"}) {
    SCOPED_TRACE(name);
    Network net;
    Convolution c{.name = "conv", .kernels = 9, .kernel_height = 3, .kernel_width = 3};
    c.weights = weights;
    c.output = {.scale = 1, .shift = 9};
    const Tensor conv = net.convolution(net.input("in", shape), c);
    const Shape out{9, 5, 4, 3};
    EXPECT_EQ(net.shape(conv), out);
    EXPECT_EQ(net.macs(), 3ULL * 9 * 20 * 9 * 20);
    net.output(conv, "out");
    Request request = net.build(Device::open(std::string("model:") + name));
    std::uint64_t macs = 0;
    for (std::uint32_t i = 0; i < request.network().layers(); ++i)
      macs += request.network().layer_macs(i);
    EXPECT_EQ(macs, net.macs());
    test::write(request, "in", in);
    request.run();
    Values expected(out, Precision::kInt8);
    expected.data.clear();
    for (std::size_t n = 0; n < 3; ++n) {
      test::Int8 cube(20, 7, 6);
      std::copy_n(in.data.begin() + static_cast<std::ptrdiff_t>(n * cube.data.size()),
                  cube.data.size(), cube.data.begin());
      const test::Int8 one = test::convert(test::convolve(cube, weights, 9, 3, 3, {}), 0, 1, 9);
      expected.data.insert(expected.data.end(), one.data.begin(), one.data.end());
    }
    EXPECT_EQ(test::read(request, "out"), expected);
  }
}

TEST(Precisions, FloatsInFp16) {
  Network net;
  net.output(net.pointwise(net.input("in", {1, 1, 6}, Precision::kFp16, {.scale = 0.5F}),
                           {.name = "same"}),
             "out", {.scale = 0.25F});
  Request request = net.build(Device::open("model:nv_full"));
  request.write("in", Layout::kNchw,
                std::vector<float>{1.0F, -0.5F, 3.0F, 1e9F, 0x1p-25F, 1.0F + 0x1p-11F});
  request.run();
  std::vector<float> found(6);
  request.read("out", Layout::kNchw, found);
  EXPECT_EQ(found, (std::vector<float>{0.5F, -0.25F, 1.5F, 16376.0F, 0x1p-26F, 0.5F}));
}

// ---- fp16 as bits

TEST(Half, EveryPatternComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float real = from_half(half);
    if ((bits & 0x7fff) > 0x7c00) {
      EXPECT_TRUE(std::isnan(real));
      EXPECT_EQ(to_half(real), (bits & 0x8000) | 0x7e00);
    } else {
      ASSERT_EQ(to_half(double{real}), half) << bits;
    }
  }
}

TEST(Half, RoundsAsTheReference) {
  test::Random random(73);
  for (int i = 0; i < 200000; ++i) {
    // From below the smallest to beyond the largest, halves often.
    const auto bits = static_cast<std::uint32_t>(random());
    const double significand = random() % 2 == 0 ? bits % 8192 : bits / 524288.0;
    const double value = std::ldexp(significand, static_cast<int>(random() % 48) - 40);
    const bool negative = random() % 2 == 0;
    ASSERT_EQ(to_half(negative ? -value : value), test::float_bits(test::kHalf, negative, value))
        << value;
  }
  EXPECT_EQ(to_half(65519.0), 0x7bff);
  EXPECT_EQ(to_half(65520.0), 0x7bff);
  EXPECT_EQ(to_half(1e300), 0x7bff);
  EXPECT_EQ(to_half(-std::numeric_limits<double>::infinity()), 0xfc00);
}

}  // namespace
}  // namespace nvdla
