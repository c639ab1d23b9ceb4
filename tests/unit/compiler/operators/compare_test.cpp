// SPDX-License-Identifier: MIT
//
// Comparisons in networks, of tensors and behind convolutions: equal is equal whatever lies beyond
// the last channel, and one bit is a difference.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <optional>
#include <string>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/random_layers.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::RefConv;
using test::Values;

// Writes where no channel is, what no application has to keep: anything but NaN.
void spoil(Request& request, const char* name) {
  const TensorDesc& d = request.network().desc(name);
  const std::uint32_t lanes = d.elements_per_atom(), rest = d.shape.channels % lanes;
  if (rest == 0) return;
  const Map map = request.buffer(name).map(MapMode::kWrite);
  for (std::uint32_t n = 0; n < d.shape.batch; ++n) {
    for (std::uint32_t y = 0; y < d.shape.height; ++y) {
      for (std::uint32_t x = 0; x < d.shape.width; ++x) {
        std::byte* const atom = map.data() + std::size_t{n} * d.batch_stride +
                                std::size_t{d.surfaces() - 1} * d.surface_stride +
                                std::size_t{y} * d.line_stride + std::size_t{x} * d.atom;
        std::memset(atom + rest * d.element_bytes(), static_cast<int>(0x31 + x % 8),
                    d.atom - rest * d.element_bytes());
      }
    }
  }
}

std::uint32_t unequal(const Network& net, const Device& device, const Values& in,
                      const Values* other = nullptr) {
  Request request = net.build(device, {.statistics = true});
  test::write(request, "in", in);
  spoil(request, "in");
  if (other != nullptr) {
    test::write(request, "other", *other);
    spoil(request, "other");
  }
  request.run();
  std::uint32_t count = 0, verdicts = 0;
  for (const nvdla_layer_stats& layer : request.statistics()) {
    // Layers that copy compare nothing.
    if ((layer.valid >> NVDLA_COUNTER_SDP_UNEQUAL & 1) == 0) continue;
    ++verdicts;
    count += layer.counter[NVDLA_COUNTER_SDP_UNEQUAL];
  }
  EXPECT_GT(verdicts, 0U);
  return count;
}

std::string any_with_y(test::Random& random, Precision precision) {
  constexpr const char* kNames[] = {"nv_full", "nv_large", "nv_medium_1024_full",
                                    "nv_small_256_full"};
  return std::string("model:") + kNames[precision == Precision::kInt8 ? random() % 4 : 0];
}

TEST(Comparisons, FindOneElementThatDiffers) {
  test::Random random(220);
  for (const Precision precision : test::kPrecisions) {
    for (int i = 0; i < 24; ++i) {
      // Channels that fill atoms, and others; single positions.
      const std::uint32_t size = i % 5 == 4 ? 1 : 3;
      const Shape shape{i % 4 == 0 ? 64 : test::any(random, 1, 70), size, 2 * size - 1,
                        i % 3 == 0 ? 2U : 1U};
      const Device device = Device::open(any_with_y(random, precision));
      const Values in = test::random_tensor(shape, precision, random);
      Network net;
      const Tensor input = net.input("in", shape, precision);
      net.compare(input, {.name = "same", .tensor = net.input("other", shape, precision)});
      ASSERT_EQ(unequal(net, device, in, &in), 0U) << shape.channels << " channels";
      Values other = in;
      other.data[random() % other.data.size()] ^= 1;
      ASSERT_EQ(unequal(net, device, in, &other), 1U) << shape.channels << " channels";
    }
  }
}

TEST(Comparisons, WithValues) {
  const Device device = Device::open("model:nv_full");
  Values in({32, 2, 2}, Precision::kInt8);
  std::fill(in.data.begin(), in.data.end(), 7);
  const std::vector<std::int32_t> seven = {7};
  Network net;
  net.compare(net.input("in", in.shape), {.name = "sevens", .values = seven});
  EXPECT_EQ(unequal(net, device, in), 0U);
  in.data[100] = 8;
  EXPECT_EQ(unequal(net, device, in), 1U);
  // Three times two is six, per channel.
  const std::vector<std::int16_t> two(32, 2);
  const std::vector<std::int32_t> six(32, 6);
  Network product;
  product.compare(product.input("in", in.shape), {.x1 = scale(two), .values = six});
  std::fill(in.data.begin(), in.data.end(), 3);
  EXPECT_EQ(unequal(product, device, in), 0U);
}

// What X1 and X2 make, against the numbers that it is and others.
struct Step {
  Operator x1, x2;
  std::function<std::int64_t(std::int64_t value, std::size_t i)> apply;
};

TEST(Comparisons, AfterOperators) {
  test::Random random(230);
  const Shape shape{11, 3, 4};
  const std::vector<std::int16_t> five = {5}, minus = {-3};
  const auto channels = test::random_values<std::int16_t>(11, 231, -60, 60);
  const auto elements = test::random_values<std::int16_t>(11 * 12, 232, -90, 90);
  const auto channel = [&](std::size_t i) { return std::int64_t{channels[i / 12]}; };
  Operator sum_relu = bias(elements);
  sum_relu.relu = true;
  const Step steps[] = {
      {bias(five), {}, [](auto v, auto) { return v + 5; }},
      {{}, bias(five, 2), [](auto v, auto) { return v + 20; }},
      {bias(channels), relu(),
       [&](auto v, auto i) { return std::max(v + channel(i), std::int64_t{0}); }},
      {scale(channels), bias(five), [&](auto v, auto i) { return v * channel(i) + 5; }},
      {scale(minus), prelu(five, 0), [](auto v, auto) { return v * -3 < 0 ? v * -15 : v * -3; }},
      {relu(), prelu(five, 0), [](auto v, auto) { return std::max(v, std::int64_t{0}); }},
      {prelu(minus, 0), sum_relu, [&](auto v, auto i) {
         return std::max((v < 0 ? v * -3 : v) + elements[i], std::int64_t{0});
       }}};
  for (const Precision precision : {Precision::kInt8, Precision::kInt16}) {
    for (const Step& step : steps) {
      Values in = test::random_tensor(shape, precision, random);
      std::vector<std::int32_t> values;
      for (std::size_t i = 0; i < in.data.size(); ++i) {
        in.data[i] %= 200;
        values.push_back(static_cast<std::int32_t>(step.apply(in.data[i], i)));
      }
      for (const bool same : {true, false}) {
        if (!same) values[random() % values.size()] += 1;
        Network net;
        net.compare(net.input("in", shape, precision),
                    {.name = "c", .x1 = step.x1, .x2 = step.x2, .values = values});
        const Device device = Device::open(any_with_y(random, precision));
        ASSERT_EQ(unequal(net, device, in), same ? 0U : 1U)
            << "step " << &step - steps << " " << static_cast<int>(precision);
      }
    }
  }
}

TEST(Comparisons, AfterRealOperators) {
  test::Random random(240);
  const Shape shape{7, 2, 3};
  Values in(shape, Precision::kFp16);
  std::vector<float> sums;
  for (std::int32_t& bits : in.data) {
    const float v = static_cast<float>(static_cast<int>(random() % 401) - 200) / 4;
    bits = to_half(v);
    sums.push_back(v + 1.5F);
  }
  const std::vector<float> one_and_a_half = {1.5F};
  Operator add;
  add.alu = NVDLA_ALU_SUM;
  add.alu_reals = one_and_a_half;
  const Device device = Device::open("model:nv_full");
  for (const bool first : {true, false}) {
    for (const bool same : {true, false}) {
      if (!same) sums[5] += 0.25F;
      Network net;
      Comparison c{.name = "c", .reals = sums};
      (first ? c.x1 : c.x2) = add;
      net.compare(net.input("in", shape, Precision::kFp16), c);
      EXPECT_EQ(unequal(net, device, in), same ? 0U : 1U);
      if (!same) sums[5] -= 0.25F;
    }
  }
}

// Numbers that are the same, and patterns that are not: NaN, zeros of both signs.
TEST(Comparisons, BitsOfFp16) {
  const Device device = Device::open("model:nv_full");
  for (const std::uint32_t channels : {16U, 5U}) {
    Values in({channels, 1, 2}, Precision::kFp16);
    const std::int32_t patterns[] = {0x7bfe, 0xfbfe, 0x7e01, 0x8000, 0x0001, 0x7bff};
    for (std::size_t i = 0; i < in.data.size(); ++i) in.data[i] = patterns[i % 6];
    Network net;
    net.compare(net.input("in", in.shape, Precision::kFp16),
                {.name = "c", .tensor = net.input("other", in.shape, Precision::kFp16)});
    EXPECT_EQ(unequal(net, device, in, &in), 0U);
    for (const std::int32_t other : {0x7bff, 0x0000}) {
      Values second = in;
      second.data[other == 0 ? 3 : 0] = other;
      EXPECT_EQ(unequal(net, device, in, &second), 1U) << channels << " " << other;
    }
  }
}

// The sums of a convolution against those of the reference, by values, and a tensor of them.
TEST(Comparisons, BehindConvolutions) {
  test::Random random(250);
  for (int i = 0; i < 40; ++i) {
    RefConv ref;
    const Precision precision = ref.processing = test::kPrecisions[i % 3];
    const bool real = precision == Precision::kFp16;
    ref.channels = test::any(random, 1, 40);
    ref.kernels = i % 4 == 0 ? 32 : test::any(random, 1, 40);
    ref.kernel_height = ref.kernel_width = 2;
    for (std::uint32_t k = 0; k < ref.kernels * ref.channels * 4; ++k) {
      const int v = static_cast<int>(random() % 3) - 1;
      ref.weights.push_back(real ? to_half(v) : v);
    }
    const Shape shape{ref.channels, 4, 4, i % 5 == 0 ? 2U : 1U};
    Values in(shape, precision);
    // Sums of whole numbers, less than 128.
    for (std::int32_t& v : in.data) {
      const int small = random() % 8 == 0 ? static_cast<int>(random() % 7) - 3 : 0;
      v = real ? to_half(small) : small;
    }
    Shape out;
    const auto sums = test::accumulate(ref, in, out);
    test::KernelHolder holder;
    Convolution layer = test::layer_of(ref, holder.hold(ref.weights, precision));
    const std::vector<std::int16_t> nine = {9};
    const std::vector<float> nine_real = {9};
    if (i % 2 == 0) {
      layer.x1.alu = NVDLA_ALU_SUM;
      if (real) {
        layer.x1.alu_reals = nine_real;
      } else {
        layer.x1.alu_values = nine;
      }
    }
    Values expected(out, precision);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const std::int32_t operand = real ? to_half(9) : 9;
      const std::int64_t v =
          i % 2 == 0 ? test::apply_x(sums[k], layer.x1, operand, 0, precision) : sums[k];
      expected.data[k] = test::convert_to(v, {}, precision, precision);
      ASSERT_EQ(test::stream(expected.data[k], precision), v);
    }
    Network net;
    net.compare(net.input("in", shape, precision), layer,
                {.name = "sums", .tensor = net.input("other", out, precision)});
    const Device device = Device::open(any_with_y(random, precision));
    ASSERT_EQ(unequal(net, device, in, &expected), 0U) << "layer " << i;
    Values other = expected;
    other.data[random() % other.data.size()] ^= 1;
    ASSERT_EQ(unequal(net, device, in, &other), 1U) << "layer " << i;
    if (out.batch > 1 || real) continue;
    std::vector<std::int32_t> values = expected.data;
    for (const bool same : {true, false}) {
      if (!same) values[random() % values.size()] += 1;
      Network with_values;
      with_values.compare(with_values.input("in", shape, precision), layer,
                          {.name = "sums", .values = values});
      ASSERT_EQ(unequal(with_values, device, in), same ? 0U : 1U) << "layer " << i;
    }
  }
}

// Every band has a verdict of its own.
TEST(Comparisons, BehindBands) {
  test::Random random(260);
  const Shape shape{64, 100, 90};
  Values in(shape, Precision::kInt8);
  for (std::int32_t& v : in.data) v = static_cast<int>(random() % 2);
  RefConv ref;
  ref.channels = 64;
  ref.kernels = 5;
  for (int k = 0; k < 5 * 64; ++k) ref.weights.push_back(k % 3 - 1);
  Shape out;
  const auto sums = test::accumulate(ref, in, out);
  Values other(out, Precision::kInt8);
  other.data.assign(sums.begin(), sums.end());
  test::KernelHolder holder;
  Network net;
  net.compare(net.input("in", shape), test::layer_of(ref, holder.hold(ref.weights, ref.processing)),
              {.name = "sums", .tensor = net.input("other", out)});
  const Device device = Device::open("model:nv_full");
  EXPECT_EQ(net.build(device).network().layer_name(1), "sums 1/2");
  EXPECT_EQ(unequal(net, device, in, &other), 0U);
  other.data.front() ^= 1;
  EXPECT_EQ(unequal(net, device, in, &other), 1U);
  other.data.back() ^= 1;
  EXPECT_EQ(unequal(net, device, in, &other), 2U);
}

class BadComparison : public ::testing::Test {
 protected:
  void refused(const std::string& text, Precision precision = Precision::kInt8,
               const std::string& configuration = "nv_full") {
    expect_error(ErrorCode::kInvalidArgument, "layer 0 'c': " + text, [&] {
      Network net;
      const Tensor in = net.input("in", {5, 2, 2}, precision);
      if (add_) comparison_.x2 = elementwise(NVDLA_ALU_SUM, in);
      if (conv_) {
        net.compare(in, *conv_, comparison_);
      } else {
        net.compare(in, comparison_);
      }
      net.build(Device::open("model:" + configuration));
    });
  }
  void SetUp() override {
    comparison_.name = "c";
    comparison_.values = value_;
  }
  void behind_convolution() {
    conv_ = Convolution{.name = "conv"};
    conv_->weights = weights_;
  }
  std::vector<std::int32_t> value_ = {4};
  std::vector<float> real_ = {4};
  std::vector<std::int16_t> slope_ = {3};
  std::vector<float> real_slope_ = {3};
  std::vector<std::int8_t> weights_ = std::vector<std::int8_t>(5);
  Comparison comparison_;
  std::optional<Convolution> conv_;
  bool add_ = false;
};

TEST_F(BadComparison, WithoutAPlaceForTheMask) {
  comparison_.x1 = comparison_.x2 = prelu(slope_, 1);
  refused("a comparison of 5 channels, which fill no atoms: the rest must be made zero, for which");
}

TEST_F(BadComparison, TensorAfterTheMask) {
  add_ = true;
  refused("a comparison of 5 channels, which fill no atoms: the rest must be made zero");
}

TEST_F(BadComparison, RealOperatorsInBothPlaces) {
  comparison_.values = {};
  comparison_.reals = real_;
  comparison_.x1.mul = comparison_.x2.mul = NVDLA_MUL_MUL;
  comparison_.x1.mul_reals = comparison_.x2.mul_reals = real_slope_;
  refused("a comparison of 5 channels, which fill no atoms: the rest must be made zero",
          Precision::kFp16);
}

TEST_F(BadComparison, WideValue) {
  value_[0] = 40000;
  refused("a comparison of 5 channels, which fill no atoms, with 40000: it takes values of 16");
}

TEST_F(BadComparison, ValueThatIsNoHalf) {
  comparison_.values = {};
  comparison_.reals = real_;
  real_[0] = 0.1F;
  refused("a comparison of 5 channels, which fill no atoms, with 0.1, which is no fp16",
          Precision::kFp16);
}

TEST_F(BadComparison, WithoutOperatorY) {
  expect_error(ErrorCode::kInvalidProgram, "the third SDP operator (Y), which nv_small does not",
               [&] {
                 Network net;
                 net.compare(net.input("in", {8, 2, 2}), comparison_);
                 net.build(Device::open("model:nv_small"));
               });
}

TEST_F(BadComparison, ConvolutionWithAConverter) {
  behind_convolution();
  conv_->output.shift = 3;
  refused("no comparison behind a convolution with a converter");
}

TEST_F(BadComparison, ConvolutionToAnotherPrecision) {
  behind_convolution();
  conv_->precision = Precision::kInt16;
  refused("no comparison behind a convolution with another precision");
}

TEST_F(BadComparison, ConvolutionWithOperatorY) {
  behind_convolution();
  conv_->y.alu = NVDLA_ALU_SUM;
  conv_->y.alu_values = value_;
  refused("no comparison behind a convolution with operator Y, which compares");
}

TEST_F(BadComparison, ConvolutionInTiles) {
  behind_convolution();
  conv_->tuning.winograd = Rewrite::kAlways;
  refused("no comparison behind a convolution with Winograd");
}

TEST_F(BadComparison, ConvolutionOfSeveralCubes) {
  behind_convolution();
  conv_->tuning.batch = Rewrite::kAlways;
  refused("no comparison behind a convolution with several cubes at once");
}

TEST_F(BadComparison, OperatorsBehindAConvolution) {
  behind_convolution();
  comparison_.x1 = relu();
  refused("no comparison behind a convolution with operators of its own");
}

TEST_F(BadComparison, LargeKernels) {
  const std::vector<std::int8_t> weights(40 * 480 * 49);
  Convolution c{.name = "conv", .kernels = 40, .kernel_height = 7, .kernel_width = 7};
  c.weights = weights;
  Network net;
  net.compare(net.input("in", {480, 7, 7}), c, comparison_);
  expect_error(ErrorCode::kNotAvailable,
               "layer 0 'c': not even one group of kernels of 480x7x7 (CHW) fits the convolution "
               "buffer, and parts of them cannot be compared",
               [&] { net.build(Device::open("model:nv_full")); });
}

}  // namespace
}  // namespace nvdla
