// SPDX-License-Identifier: MIT
//
// SDP's operator Y and its look-up table in networks, against one number at a time.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/lut_reference.hpp"
#include "common/runtime/random_layers.hpp"
#include "common/share.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::Values;

std::int64_t unconverted(std::int64_t value, const std::optional<Converter>& c) {
  if (!c) return value;
  return test::saturate(
      test::round_shift((static_cast<__int128>(value) - c->offset) * c->scale, c->shift), 32);
}

// An operator Y with operands of its own; `numbers` are what it takes: integers, or bits of fp32.
struct RandomY {
  OperatorY op;
  std::vector<std::int32_t> integers[2];
  std::vector<float> reals[2];
  std::vector<std::int64_t> numbers[2];
  std::optional<Values> tensor;
  std::optional<nvdla_lut> lut;

  std::int64_t apply(std::int64_t value, std::size_t i, const Shape& shape,
                     Precision processing) const {
    std::int64_t a = test::pick(numbers[0], i, shape), m = test::pick(numbers[1], i, shape);
    if (tensor) a = m = test::stream(tensor->data[i], processing);
    a = unconverted(a, op.alu_converter);
    m = unconverted(m, op.mul_converter);
    if (processing == Precision::kFp16) return apply_real(value, a, m);
    if (op.mul == NVDLA_MUL_MUL || (op.mul == NVDLA_MUL_PRELU && value < 0)) {
      value = test::saturate(test::round_shift(static_cast<__int128>(value) * m, op.mul_shift), 32);
    }
    if (op.alu == NVDLA_ALU_MAX) value = std::max(value, a);
    if (op.alu == NVDLA_ALU_MIN) value = std::min(value, a);
    if (op.alu == NVDLA_ALU_SUM) value = test::saturate(static_cast<__int128>(value) + a, 32);
    return lut ? test::look_up(*lut, value) : value;
  }

 private:
  std::int64_t apply_real(std::int64_t value, std::int64_t operand_a,
                          std::int64_t operand_m) const {
    const auto a = static_cast<std::uint32_t>(operand_a), m = static_cast<std::uint32_t>(operand_m);
    auto v = static_cast<std::uint32_t>(value);
    const bool negative = (v & test::kSingle.sign()) != 0;
    if (op.mul == NVDLA_MUL_MUL || (op.mul == NVDLA_MUL_PRELU && negative)) {
      v = test::float_mul(test::kSingle, v, m);
    }
    if (op.alu == NVDLA_ALU_MAX) v = test::float_max(test::kSingle, v, a);
    if (op.alu == NVDLA_ALU_MIN) v = test::float_min(test::kSingle, v, a);
    if (op.alu == NVDLA_ALU_SUM) v = test::float_add(test::kSingle, v, a);
    return v;
  }
};

RandomY random_y(const Shape& shape, Precision processing, test::Random& random) {
  RandomY r;
  r.op.alu = static_cast<nvdla_alu>(random() % 4);
  r.op.mul = static_cast<nvdla_mul>(random() % 3);
  const bool real = processing == Precision::kFp16;
  const bool active[] = {r.op.alu != NVDLA_ALU_NONE, r.op.mul != NVDLA_MUL_NONE};
  if (active[1] && !real) r.op.mul_shift = random() % 20;
  const std::size_t elements = std::size_t{shape.channels} * shape.height * shape.width;
  const std::size_t counts[] = {1, shape.channels, elements};
  const std::size_t count = counts[random() % 3];
  const bool wide = random() % 2 == 0;
  if (active[0] != active[1] && random() % 3 == 0) {
    r.tensor = test::random_tensor(shape, processing, random);
  }
  test::Random data = random.fork();
  for (int part = 0; part < 2; ++part) {
    for (std::size_t i = 0; active[part] && !r.tensor && i < count; ++i) {
      if (real) {
        const float v = static_cast<float>(static_cast<int>(data() % 4001) - 2000) / 64.0F;
        r.reals[part].push_back(v);
        r.numbers[part].push_back(std::bit_cast<std::uint32_t>(v));
      } else {
        const int high = count == 1 ? 1 << 30 : wide ? 32767 : 127;
        const auto v = static_cast<int>(data.pick(-high - 1, high));
        r.integers[part].push_back(v);
        r.numbers[part].push_back(v);
      }
    }
  }
  if (!real && (r.tensor ? elements != 0 : count != 1)) {
    const auto converter = [&] {
      return Converter{.offset = static_cast<std::int32_t>(random() % 101) - 50,
                       .scale = static_cast<std::int16_t>(random() % 401 - 200),
                       .shift = static_cast<std::uint32_t>(random() % 8)};
    };
    if (active[0] && random() % 2 == 0) r.op.alu_converter = converter();
    if (active[1] && random() % 2 == 0) r.op.mul_converter = converter();
  }
  if (!real && random() % 2 == 0) {
    r.lut = test::random_lut(NVDLA_LUT_SDP, processing == Precision::kInt8 ? 12 : 20, random);
  }
  return r;
}

void give(RandomY& r, Network& net, const Shape& shape, Precision processing) {
  r.op.alu_values = r.integers[0];
  r.op.mul_values = r.integers[1];
  r.op.alu_reals = r.reals[0];
  r.op.mul_reals = r.reals[1];
  if (r.tensor) r.op.tensor = net.input("y", shape, processing);
  if (r.lut) r.op.lut = &*r.lut;
}

class OperatorsY : public ::testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(All, OperatorsY, ::testing::ValuesIn(test::kPrecisions),
                         test::name_of_precision);

TEST_P(OperatorsY, RandomLayers) {
  const Precision precision = GetParam();
  const Device device = Device::open("model:nv_full");
  test::expect_for_all(test::share(80), [&](test::Random& random) {
    Shape shape{static_cast<std::uint32_t>(random() % 70 + 1),
                static_cast<std::uint32_t>(random() % 5 + 1),
                static_cast<std::uint32_t>(random() % 6 + 1),
                static_cast<std::uint32_t>(random() % 4 == 0 ? 3 : 1)};
    if (random() % 6 == 0) shape.height = shape.width = 1;
    const Values in = test::random_tensor(shape, precision, random);
    RandomY y = random_y(shape, precision, random);
    Network net;
    const Tensor input = net.input("in", shape, precision);
    give(y, net, shape, precision);
    Pointwise layer{.name = "y", .y = y.op};
    if (precision != Precision::kFp16) layer.output = {.scale = 3, .shift = 7};
    net.output(net.pointwise(input, layer), "out");
    Request request = net.build(device);
    test::write(request, "in", in);
    if (y.tensor) test::write(request, "y", *y.tensor);
    request.run();
    Values expected(shape, precision);
    for (std::size_t k = 0; k < in.data.size(); ++k) {
      const std::int64_t v = y.apply(test::stream(in.data[k], precision), k, shape, precision);
      expected.data[k] = test::convert_to(v, layer.output, precision, precision);
    }
    ASSERT_EQ(test::read(request, "out").data, expected.data);
  });
}

// The layers that promise ReLU "in the last operator", each as a convolution of one position.
enum class Kind { kConvolution, kDeconvolution, kFullyConnected, kProduct };

template <typename Layer>
Layer with_relu(const Layer& sized, const OperatorY& y, const Converter& output,
                std::optional<Precision> precision) {
  Layer layer = sized;
  layer.relu = true;
  layer.y = y;
  layer.output = output;
  layer.precision = precision;
  return layer;
}

Tensor add_kind(Network& net, Kind kind, Tensor in, std::uint32_t kernels, KernelSpan weights,
                KernelSpan matrix, const auto& finish) {
  if (kind == Kind::kDeconvolution)
    return net.deconvolution(
        in, finish(Deconvolution{.name = "l", .kernels = kernels, .weights = weights}));
  if (kind == Kind::kFullyConnected)
    return net.fully_connected(
        in, finish(FullyConnected{.name = "l", .outputs = kernels, .weights = weights}));
  if (kind == Kind::kProduct)
    return net.matrix_product(
        in, finish(MatrixProduct{.name = "l", .columns = kernels, .matrix = matrix}));
  return net.convolution(in,
                         finish(Convolution{.name = "l", .kernels = kernels, .weights = weights}));
}

// Negative results become zero whatever operator Y does: it multiplies, adds, looks up, reads
// another tensor, and the converter behind it may fall.
TEST_P(OperatorsY, AreFollowedByRelu) {
  const Precision precision = GetParam();
  const bool real = precision == Precision::kFp16;
  const Device device = Device::open("model:nv_full");
  test::expect_for_all(test::share(120), [&](test::Random& random) {
    const auto kind = static_cast<Kind>(random() % 4);
    const bool one = kind == Kind::kFullyConnected;
    test::RefConv ref;
    ref.processing = precision;
    ref.atomic_c = device.info().atomic_c;
    ref.kernels = test::any(random, 1, 40);
    ref.channels = test::any(random, 1, 40);
    ref.weights = test::random_kernels(std::size_t{ref.kernels} * ref.channels, precision, random);
    const Values in =
        test::random_tensor({ref.channels, one ? 1 : test::any(random, 1, 5),
                             one ? 1 : test::any(random, 1, 5), test::any(random, 1, 2)},
                            precision, random);
    Shape shape;
    const auto sums = test::accumulate(ref, in, shape);
    RandomY y = random_y(shape, precision, random);
    if (y.op.alu == NVDLA_ALU_NONE && y.op.mul == NVDLA_MUL_NONE && !y.lut) test::discard();
    // Operands of a deconvolution are those of channels.
    const bool each = y.tensor || std::max(y.numbers[0].size(), y.numbers[1].size()) >
                                      std::max<std::size_t>(shape.channels, 1);
    if (kind == Kind::kDeconvolution && each) test::discard();
    const Precision out = test::any_result(precision, device.info(), random).value_or(precision);
    Converter converter;
    if (!real)
      converter = {static_cast<std::int32_t>(random.pick(-9000, 9000)),
                   static_cast<std::int16_t>(random.pick(-9, 9)), test::any(random, 0, 12)};
    Network net;
    const Tensor input = net.input("in", in.shape, precision);
    give(y, net, shape, precision);
    std::vector<std::int32_t> matrix(ref.weights.size());
    for (std::size_t k = 0; k < ref.kernels; ++k)
      for (std::size_t c = 0; c < ref.channels; ++c)
        matrix[c * ref.kernels + k] = ref.weights[k * ref.channels + c];
    const std::vector<std::int8_t> bytes(ref.weights.begin(), ref.weights.end()),
        byte_matrix(matrix.begin(), matrix.end());
    const std::vector<std::int16_t> words(ref.weights.begin(), ref.weights.end()),
        word_matrix(matrix.begin(), matrix.end());
    const std::vector<std::uint16_t> halves(ref.weights.begin(), ref.weights.end()),
        half_matrix(matrix.begin(), matrix.end());
    const auto kernels = [&](const auto& i8, const auto& i16, const auto& f16) -> KernelSpan {
      if (precision == Precision::kInt8) return std::span(i8);
      if (precision == Precision::kInt16) return std::span(i16);
      return std::span(f16);
    };
    net.output(add_kind(net, kind, input, ref.kernels, kernels(bytes, words, halves),
                        kernels(byte_matrix, word_matrix, half_matrix),
                        [&](const auto& layer) { return with_relu(layer, y.op, converter, out); }),
               "out");
    Request request = net.build(device);
    test::write(request, "in", in);
    if (y.tensor) test::write(request, "y", *y.tensor);
    request.run();
    Values expected(shape, out);
    Operator relu;
    relu.relu = true;
    for (std::size_t k = 0; k < expected.data.size(); ++k) {
      const std::int64_t v =
          test::apply_x(y.apply(sums[k], k, shape, precision), relu, 0, 0, precision);
      expected.data[k] = test::convert_to(v, converter, precision, out);
    }
    ASSERT_EQ(test::read(request, "out"), expected)
        << "kind " << static_cast<int>(kind) << ", alu " << y.op.alu << ", mul " << y.op.mul
        << ", table " << y.lut.has_value() << ", result " << static_cast<int>(out);
  });
}

// A converter that falls makes large results of what ReLU makes zero, and zero stays zero.
TEST(OperatorY, ReluBehindItAndAConverterThatFalls) {
  for (const std::int16_t scale : {-1, 1}) {
    Network net;
    const std::int16_t one = 1;
    Convolution c{.name = "conv", .kernels = 1, .weights = std::span(&one, 1)};
    const std::int32_t less = -300;
    c.y.alu = NVDLA_ALU_SUM;
    c.y.alu_values = {&less, 1};
    c.relu = true;
    c.output = {.scale = scale};
    c.precision = Precision::kFp16;
    net.output(net.convolution(net.input("in", {1, 1, 2}, Precision::kInt16), c), "out");
    Request request = net.build(Device::open("model:nv_full"));
    request.write("in", Layout::kNchw, std::vector<std::int16_t>{100, 700});
    request.run();
    std::vector<float> out(2);
    request.read("out", Layout::kNchw, std::span(out));
    EXPECT_EQ(out, (std::vector<float>{0, scale * 400.0F})) << scale;
  }
}

// Behind a convolution that is cut into bands.
TEST(OperatorY, OfAConvolution) {
  const test::Int8 in = test::random_cube(64, 100, 90, 210);
  const auto weights = test::random_values<std::int8_t>(32 * 64, 211, -20, 20);
  test::Random random(212);
  const Shape out{32, 100, 90};
  const auto numbers = test::random_values<std::int32_t>(out.elements(), 213, -3000, 3000);
  const nvdla_lut lut = test::random_lut(NVDLA_LUT_SDP, 16, random);
  Network net;
  Convolution c{.name = "conv", .kernels = 32};
  c.weights = weights;
  c.y.alu = NVDLA_ALU_SUM;
  c.y.alu_values = numbers;
  c.y.lut = &lut;
  c.output = {.scale = 1, .shift = 8};
  net.output(net.convolution(net.input("in", {64, 100, 90}), c), "out");
  Request request = net.build(Device::open("model:nv_full"));
  EXPECT_GT(request.network().layers(), 1U);
  request.write("in", Layout::kNchw, in.data);
  request.run();
  const test::Int32 sums = test::convolve(in, weights, 32, 1, 1, {});
  Values expected(out, Precision::kInt8);
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    const std::int64_t v = test::look_up(lut, std::int64_t{sums.data[i]} + numbers[i]);
    expected.data[i] = test::convert_to(v, c.output, Precision::kInt8, Precision::kInt8);
  }
  EXPECT_EQ(test::read(request, "out"), expected);
}

TEST(BadOperatorY, Refused) {
  Network net;
  const Tensor in = net.input("in", {4, 2, 2}),
               real = net.input("real", {4, 2, 2}, Precision::kFp16);
  const std::vector<std::int32_t> four = {1, 2, 3, 100000}, one = {100000};
  const nvdla_lut cdp = test::empty_lut(NVDLA_LUT_CDP);
  OperatorY y;
  y.alu = NVDLA_ALU_EQUAL;
  y.alu_values = one;
  expect_error(ErrorCode::kInvalidArgument, "layer 0 'l': y: alu 4 is none of NONE, MAX, MIN, SUM",
               [&] { net.pointwise(in, {.name = "l", .y = y}); });
  y.alu = NVDLA_ALU_SUM;
  expect_error(ErrorCode::kInvalidArgument,
               "y: integer ALU operands for a layer that works in fp16",
               [&] { net.pointwise(real, {.y = y}); });
  y.alu_converter = Converter{};
  expect_error(ErrorCode::kInvalidArgument, "y: the ALU converter is for integer operands of",
               [&] { net.pointwise(in, {.y = y}); });
  y = {};
  y.alu = NVDLA_ALU_SUM;
  y.alu_values = four;
  expect_error(ErrorCode::kInvalidArgument, "y: ALU value 100000 does not fit 16 bits",
               [&] { net.pointwise(in, {.y = y}); });
  y = {};
  y.lut = &cdp;
  expect_error(ErrorCode::kInvalidArgument, "the look-up table is for unit 1, the layer uses that",
               [&] { net.pointwise(in, {.y = y}); });
  y = {};
  y.mul_shift = 1;
  expect_error(ErrorCode::kInvalidArgument, "y: mul_shift 1 without an integer multiplier",
               [&] { net.pointwise(in, {.y = y}); });
}

TEST(BadOperatorY, LackedByTheDevice) {
  Network net;
  const std::vector<std::int32_t> one = {1};
  OperatorY y;
  y.alu = NVDLA_ALU_SUM;
  y.alu_values = one;
  net.output(net.pointwise(net.input("in", {4, 2, 2}), {.name = "sum", .y = y}), "out");
  expect_error(ErrorCode::kInvalidProgram, "the third SDP operator (Y), which nv_small does not",
               [&] { net.build(Device::open("model:nv_small")); });
}

}  // namespace
}  // namespace nvdla
