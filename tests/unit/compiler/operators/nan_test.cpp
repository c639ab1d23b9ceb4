// SPDX-License-Identifier: MIT
//
// NaN in convolutions of fp16: kept, or read as zero in the input and the kernels, or in the sums.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/random_layers.hpp"

namespace nvdla {
namespace {

using test::compare;
using test::expect_error;
using test::RefConv;
using test::Values;

bool is_nan(std::int32_t bits) { return (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0; }

// Makes some of them NaN, of any sign and payload.
void add_nans(std::vector<std::int32_t>& halves, unsigned every, test::Random& random) {
  for (std::int32_t& bits : halves) {
    if (random() % every == 0) {
      bits = static_cast<std::int32_t>(0x7c01 + random() % 0x3ff + (random() % 2 << 15));
    }
  }
}

void flush(std::vector<std::int32_t>& halves) {
  for (std::int32_t& bits : halves) bits = is_nan(bits) ? 0 : bits;
}

struct NanCase {
  const char* name;
  bool inputs, sums, winograd, image, batch;
};

class NansOfConvolutions : public ::testing::TestWithParam<NanCase> {};
INSTANTIATE_TEST_SUITE_P(
    All, NansOfConvolutions,
    ::testing::Values(NanCase{"none", false, false, false, false, false},
                      NanCase{"inputs", true, false, false, false, false},
                      NanCase{"sums", false, true, false, false, false},
                      NanCase{"inputs_sums", true, true, false, false, false},
                      NanCase{"inputs_winograd", true, false, true, false, false},
                      NanCase{"sums_winograd", false, true, true, false, false},
                      NanCase{"inputs_image", true, false, false, true, false},
                      NanCase{"inputs_sums_batch", true, true, false, false, true}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(NansOfConvolutions, EqualTheReference) {
  const NanCase& with = GetParam();
  test::Random random(41);
  for (int i = 0; i < 6; ++i) {
    RefConv ref;
    ref.processing = Precision::kFp16;
    ref.channels = with.image ? 4 : test::any(random, 1, 70);
    ref.kernels = test::any(random, 1, 20);
    ref.kernel_height = ref.kernel_width = 3;
    ref.image = with.image;
    ref.weights =
        test::random_kernels(std::size_t{ref.kernels} * ref.channels * 9, Precision::kFp16, random);
    const Shape shape{ref.channels, with.winograd ? 10 : test::any(random, 3, 9),
                      with.winograd ? 10 : test::any(random, 3, 9), with.batch ? 3U : 1U};
    Values in = test::random_tensor(shape, Precision::kFp16, random);
    add_nans(in.data, 60, random);
    // Kernels for tiles are of numbers, once NaN is zero.
    if (with.inputs || !with.winograd) add_nans(ref.weights, 300, random);
    test::KernelHolder holder;
    Convolution layer = test::layer_of(ref, holder.hold(ref.weights, Precision::kFp16));
    layer.arithmetic.nan_to_zero = with.inputs;
    layer.arithmetic.nan_sums_to_zero = with.sums;
    if (with.winograd) layer.tuning.winograd = Rewrite::kAlways;
    if (with.image) layer.tuning.post_extension = 1;

    Values read = in;
    if (with.inputs) {
      flush(read.data);
      flush(ref.weights);
    }
    Shape out;
    std::vector<std::int64_t> sums = test::accumulate(ref, read, out);
    if (with.winograd) sums = test::accumulate_winograd(ref, read, out, 0, 0);
    Values expected(out, Precision::kFp16);
    std::size_t nans = 0;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const bool nan = test::kSingle.nan(static_cast<std::uint32_t>(sums[k]));
      nans += nan ? 1 : 0;
      expected.data[k] =
          nan && with.sums ? 0 : test::convert_to(sums[k], {}, Precision::kFp16, Precision::kFp16);
    }
    EXPECT_EQ(nans == 0, with.inputs);
    Network net;
    if (with.image) {
      ImageDesc image;
      image.format = NVDLA_PIXEL_A16B16G16R16_F;
      image.height = shape.height;
      image.width = shape.width;
      net.output(net.convolution(net.image("in", image), layer), "out");
      Request request = net.build(Device::open("model:nv_full"));
      // Components of a pixel side by side.
      std::vector<std::uint16_t> pixels;
      const std::size_t area = std::size_t{shape.height} * shape.width;
      for (std::size_t k = 0; k < in.data.size(); ++k) {
        pixels.push_back(static_cast<std::uint16_t>(in.data[k % 4 * area + k / 4]));
      }
      request.write_pixels("in", std::as_bytes(std::span(pixels)));
      request.run();
      ASSERT_TRUE(test::read(request, "out") == expected);
      continue;
    }
    net.output(net.convolution(net.input("in", shape, Precision::kFp16), layer), "out");
    ASSERT_EQ(compare(net, "nv_full", in, expected), "");
  }
}

TEST(NansOfConvolution, AreOfFp16) {
  const std::vector<std::int8_t> weights(4);
  for (const bool sums : {false, true}) {
    Convolution c{.name = "conv"};
    c.weights = weights;
    (sums ? c.arithmetic.nan_sums_to_zero : c.arithmetic.nan_to_zero) = true;
    Network net;
    const Tensor in = net.input("in", {4, 2, 2});
    expect_error(ErrorCode::kInvalidArgument,
                 "layer 0 'conv': nan_to_zero with an input in int8: only fp16 has NaN",
                 [&] { net.convolution(in, c); });
  }
}

struct Product {
  const char* name;
  // Adds a layer to 3 channels of 4x5 positions, with 120 elements of kernels.
  Tensor (*add)(Network& net, Tensor in, KernelSpan kernels, const Arithmetic& arithmetic);
};

std::ostream& operator<<(std::ostream& out, const Product& product) { return out << product.name; }

class NansOfProducts : public ::testing::TestWithParam<Product> {
 protected:
  static constexpr Shape kShape = {3, 4, 5};

  static Values result(const Values& in, const std::vector<std::int32_t>& kernels,
                       const Arithmetic& arithmetic) {
    test::KernelHolder holder;
    Network net;
    const Tensor input = net.input("in", kShape, Precision::kFp16);
    const KernelSpan span = holder.hold(kernels, Precision::kFp16);
    net.output(GetParam().add(net, input, span, arithmetic), "out");
    return test::run_one(net, Device::open("model:nv_full"), in);
  }
};

// They are the results of zeros where NaN was, and zeros in place of sums that are NaN.
TEST_P(NansOfProducts, ReadAsZero) {
  test::Random random(5);
  Values in = test::random_tensor(kShape, Precision::kFp16, random);
  auto kernels = test::random_kernels(std::size_t{2} * 3 * 4 * 5, Precision::kFp16, random);
  add_nans(in.data, 20, random);
  add_nans(kernels, 60, random);
  const Values plain = result(in, kernels, {});
  Values cleared = plain;
  flush(cleared.data);
  EXPECT_FALSE(cleared == plain);
  EXPECT_TRUE(result(in, kernels, {.nan_sums_to_zero = true}) == cleared);
  Values numbers = in;
  std::vector<std::int32_t> finite = kernels;
  flush(numbers.data);
  flush(finite);
  EXPECT_TRUE(result(in, kernels, {.nan_to_zero = true}) == result(numbers, finite, {}));
}

INSTANTIATE_TEST_SUITE_P(
    All, NansOfProducts,
    ::testing::Values(
        Product{"deconvolution",
                [](Network& net, Tensor in, KernelSpan kernels, const Arithmetic& arithmetic) {
                  Deconvolution up{.name = "up", .kernels = 2, .kernel_height = 4};
                  up.kernel_width = 5;
                  up.stride_width = up.stride_height = 2;
                  up.weights = kernels;
                  up.arithmetic = arithmetic;
                  return net.deconvolution(in, up);
                }},
        Product{"fully_connected",
                [](Network& net, Tensor in, KernelSpan kernels, const Arithmetic& arithmetic) {
                  FullyConnected full{.name = "full", .outputs = 2, .weights = kernels};
                  full.arithmetic = arithmetic;
                  return net.fully_connected(in, full);
                }},
        Product{"matrix_product",
                [](Network& net, Tensor in, KernelSpan kernels, const Arithmetic& arithmetic) {
                  MatrixProduct product{.name = "product", .columns = 40, .matrix = kernels};
                  product.arithmetic = arithmetic;
                  return net.matrix_product(in, product);
                }}),
    [](const auto& tested) { return std::string(tested.param.name); });

// Returns a tensor that has every pattern of fp16.
Values all_halves() {
  Values in({8192, 2, 4}, Precision::kFp16);
  for (std::size_t i = 0; i < in.data.size(); ++i) in.data[i] = static_cast<std::int32_t>(i);
  return in;
}

// Layers that move elements leave these bits: infinities are the largest numbers.
std::int32_t moved(std::int32_t bits) {
  return (bits & 0x7fff) == 0x7c00 ? (bits & 0x8000) | 0x7bff : bits;
}

struct Move {
  const char* name;
  // Adds layers that move 8192x2x4 elements and leave their order by channels.
  Tensor (*add)(Network& net, Tensor in);
};

std::ostream& operator<<(std::ostream& out, const Move& move) { return out << move.name; }

class MovedHalves : public ::testing::TestWithParam<Move> {};

// SDP, PDP, Rubik and the CPU move them, and tensors may be parts of others.
TEST_P(MovedHalves, KeepNanAndZeroAndHaveNoInfinity) {
  const Values in = all_halves();
  Values expected = in;
  for (std::int32_t& bits : expected.data) bits = moved(bits);
  Network net;
  const Tensor out = GetParam().add(net, net.input("in", in.shape, Precision::kFp16));
  net.output(out, "out");
  expected.shape = net.shape(out);
  const Values found = test::run_one(net, Device::open("model:nv_full"), in);
  ASSERT_EQ(found.shape, expected.shape);
  for (std::size_t i = 0; i < found.data.size(); ++i)
    ASSERT_EQ(found.data[i], expected.data[i]) << "of " << in.data[i];
}

INSTANTIATE_TEST_SUITE_P(
    All, MovedHalves,
    ::testing::Values(
        Move{"pointwise",
             [](Network& net, Tensor in) { return net.pointwise(in, {.name = "copy"}); }},
        Move{"pooling",
             [](Network& net, Tensor in) {
               return net.pooling(in, {.name = "pool", .method = NVDLA_POOL_MAX});
             }},
        Move{"transpose",
             [](Network& net, Tensor in) { return net.transpose(in, {.name = "same"}); }},
        Move{"slices",
             [](Network& net, Tensor in) {
               const Tensor parts[] = {
                   net.slice(in, {.name = "low", .axis = Axis::kChannels, .start = 0, .size = 7}),
                   net.slice(in,
                             {.name = "high", .axis = Axis::kChannels, .start = 7, .size = 8169})};
               return net.concatenate(parts, {.name = "both"});
             }},
        Move{"reshape",
             [](Network& net, Tensor in) {
               return net.reshape(in, {.name = "shape", .channels = 8192, .height = 4, .width = 2});
             }},
        Move{"planes",
             [](Network& net, Tensor in) { return net.merge(net.split(in, "split"), "merge"); }}),
    [](const auto& move) { return std::string(move.param.name); });

// The network sees the largest number in place of an infinity, from wherever it is written.
TEST(Infinities, AreTheLargestNumbersOnceWritten) {
  Network net;
  const Tensor in = net.input("in", {2, 1, 1}, Precision::kFp16, {.scale = 0.5F});
  net.output(net.pooling(in, {.name = "most", .method = NVDLA_POOL_MAX}), "out");
  Request request = net.build(Device::open("model:nv_full"));
  const auto run = [&] {
    request.run();
    std::vector<std::uint16_t> found(2);
    request.read("out", Layout::kNchw, std::span(found));
    return found;
  };
  const std::vector<std::uint16_t> largest = {0x7bff, 0xfbff}, halves = {0x7c00, 0xfc00};
  request.write("in", Layout::kNchw, std::span<const std::uint16_t>(halves));
  EXPECT_EQ(run(), largest);
  const std::vector<float> reals = {INFINITY, -INFINITY};
  request.write("in", Layout::kNchw, std::span<const float>(reals));
  EXPECT_EQ(run(), largest);
}

}  // namespace
}  // namespace nvdla
