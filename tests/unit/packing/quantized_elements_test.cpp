// SPDX-License-Identifier: MIT
//
// Products, differences and functions of quantised elements against the real numbers that they
// stand for, in long double.
#include "nvdla/operators/quantized_elements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/rounded.hpp"
#include "common/share.hpp"
#include "nvdla/operators/functions.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::is_rounded;
using test::Random;

Quantization drawn(Random& random, int low, int high) {
  const auto mantissa = static_cast<float>(random.pick(0, 0x7fffff)) / 0x800000;
  return {std::ldexp(1 + mantissa, static_cast<int>(random.pick(low, high))),
          static_cast<std::int32_t>(random.pick(-128, 127))};
}

long double real(const Quantization& q, int element) {
  return static_cast<long double>(element - q.zero_point) * q.scale;
}

TEST(QuantizedMultiplication, RoundsEveryPairCorrectly) {
  test::expect_for_all(test::share(60), [](Random& random) {
    Multiplication product;
    product.a = drawn(random, -9, 2);
    product.b = drawn(random, -9, 2);
    product.output = drawn(random, -2, 2);
    // From results that are hardly more than 0 to those of which most saturate.
    product.output.scale *= product.a->scale * product.b->scale * 128;
    if (test::one_in(random, 3)) product.output.scale /= 128;
    if (test::one_in(random, 4)) product.b->zero_point = 0;
    if (test::one_in(random, 2)) product.bounds = {-9.0F * product.output.scale, 50.0F};
    const ElementBounds bounds = element_bounds(product.bounds, product.output);
    const QuantizedMultiplication fitted = QuantizedMultiplication::fit(product);
    EXPECT_LE(fitted.error(), 0.01);
    for (int a = -128; a < 128; ++a) {
      for (int b = -128; b < 128; b += 3) {
        const long double wanted = real(*product.a, a) * real(*product.b, b) / product.output.scale;
        const std::int8_t found =
            fitted.result(static_cast<std::int8_t>(a), static_cast<std::int8_t>(b));
        ASSERT_TRUE(is_rounded(found, wanted, product.output.zero_point, fitted.error(),
                               bounds.least, bounds.greatest))
            << a << ' ' << b;
      }
    }
  });
}

TEST(QuantizedMultiplication, PowersOfTwoAreExact) {
  const Multiplication product{
      .a = Quantization{0.25F, 3}, .b = Quantization{0.5F, -128}, .output = {8.0F, 11}};
  const QuantizedMultiplication fitted = QuantizedMultiplication::fit(product);
  EXPECT_EQ(fitted.error(), 0);
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      // Halves away from zero, the zero point included.
      const double wanted = std::round((a - 3) * (b + 128) / 64.0 + 11);
      ASSERT_EQ(fitted.result(static_cast<std::int8_t>(a), static_cast<std::int8_t>(b)),
                std::clamp(wanted, -128.0, 127.0));
    }
  }
}

TEST(QuantizedMultiplication, Refuses) {
  Multiplication product;
  const auto refuses = [&](const char* text) {
    expect_error(ErrorCode::kInvalidArgument, text, [&] { QuantizedMultiplication::fit(product); });
  };
  refuses("quantisation of a is not known");
  product.a = Quantization{1, 1};
  refuses("quantisation of b is not known");
  product.b = Quantization{1, 128};
  refuses("b zero point 128");
  product.b = Quantization{-1, 0};
  refuses("b scale -1");
  product.b = Quantization{1, 2};
  product.output.scale = NAN;
  refuses("output scale nan");
  product.output.scale = 1e9F;
  refuses("right are 2^-23 to 2^14");
  product.output.scale = 1e-9F;
  refuses("right are 2^-23 to 2^14");
  product.output.scale = 1;
  product.bounds = {1, 0};
  refuses("bounds 1..0");
}

TEST(QuantizedAddition, TakesAwayCorrectly) {
  test::expect_for_all(test::share(40), [](Random& random) {
    Addition sum{.subtract = true};
    sum.a = drawn(random, -5, -3);
    sum.b = drawn(random, -5, -3);
    sum.output = drawn(random, -4, -2);
    sum.relu = test::one_in(random, 2);
    const QuantizedAddition fitted = QuantizedAddition::fit(sum);
    EXPECT_LE(fitted.error(), 0.05);
    for (int a = -128; a < 128; ++a) {
      for (int b = -128; b < 128; b += 3) {
        const long double wanted = (real(*sum.a, a) - real(*sum.b, b)) / sum.output.scale;
        ASSERT_TRUE(is_rounded(
            fitted.result(static_cast<std::int8_t>(a), static_cast<std::int8_t>(b)),
            sum.relu ? std::max(wanted, 0.0L) : wanted, sum.output.zero_point, fitted.error()))
            << a << ' ' << b;
      }
    }
  });
}

TEST(ActivationResults, AreRoundedCorrectly) {
  for (double (*function)(double) noexcept : {sigmoid, swish, gelu, hard_swish, mish, softplus}) {
    const Activation layer{
        .input = Quantization{0.07F, -13}, .output = {0.031F, 5}, .function = function};
    const auto results = activation_results(layer);
    for (int x = -128; x < 128; ++x) {
      const double at = (x + 13) * static_cast<double>(0.07F);
      const double wanted = std::round(function(at) / static_cast<double>(0.031F)) + 5;
      ASSERT_EQ(results[static_cast<std::size_t>(x + 128)], std::clamp(wanted, -128.0, 127.0)) << x;
    }
  }
}

TEST(ActivationResults, Refuse) {
  Activation layer;
  const auto refuses = [&](const char* text) {
    expect_error(ErrorCode::kInvalidArgument, text, [&] { activation_results(layer); });
  };
  refuses("quantisation of the input is not known");
  layer.input = Quantization{};
  refuses("the function is empty");
  layer.function = [](double x) { return std::sqrt(x); };
  layer.output = {0, 0};
  refuses("output scale 0");
  layer.output = {1, -200};
  refuses("output zero point -200");
  layer.output = {1, 7};
  // No number is the zero point.
  EXPECT_EQ(activation_results(layer)[0], 7);
  EXPECT_EQ(activation_results(layer)[128 + 16], 11);
  layer.function = [](double) -> double { throw std::runtime_error("of the application"); };
  EXPECT_THROW(activation_results(layer), std::runtime_error);
}

// Their definitions, where these differ from each other.
TEST(Functions, AreWhatTheirNamesSay) {
  for (int i = -60; i <= 60; ++i) {
    const double x = i / 8.0;
    const long double e = std::exp(static_cast<long double>(-x));
    EXPECT_NEAR(sigmoid(x), static_cast<double>(1 / (1 + e)), 1e-15);
    EXPECT_NEAR(swish(x), static_cast<double>(x / (1 + e)), 1e-14);
    EXPECT_NEAR(softplus(x), static_cast<double>(std::log(1 + 1 / e)), 1e-14);
    EXPECT_NEAR(mish(x), static_cast<double>(x * std::tanh(std::log(1 + 1 / e))), 1e-14);
    EXPECT_NEAR(gelu(x), x * 0.5 * std::erfc(-x * std::sqrt(0.5)), 1e-14);
    EXPECT_EQ(hard_sigmoid(x), std::min(std::max(x / 6 + 0.5, 0.0), 1.0));
    EXPECT_EQ(hard_swish(x), x <= -3 ? 0 : x >= 3 ? x : x * (x / 6 + 0.5));
    EXPECT_EQ(leaky_relu(x, 0.125), i < 0 ? x / 8 : x);
    EXPECT_NEAR(elu(x, 2), i < 0 ? static_cast<double>(2 * (1 / e - 1)) : x, 1e-14);
  }
  EXPECT_EQ(sigmoid(-1e6), 0);
  EXPECT_EQ(softplus(1e6), 1e6);
}

}  // namespace
}  // namespace nvdla
