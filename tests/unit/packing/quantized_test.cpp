// SPDX-License-Identifier: MIT
//
// Operators of quantised layers against the real numbers that they stand for, in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/rounded.hpp"
#include "common/share.hpp"
#include "nvdla/operators/quantized_elements.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::is_rounded;
using test::Random;

// A layer of 1x1 kernels with its scales.
struct Layer {
  std::vector<std::int8_t> weights;
  std::vector<std::int32_t> bias;
  std::vector<float> scales;
  Convolution layer;
  ConvolutionScales quantization;

  Layer(std::uint32_t kernels, std::size_t taps) {
    layer.kernels = kernels;
    weights.resize(kernels * taps);
    scales.assign(kernels, 0.01F);
    quantization.input = Quantization{0.05F, 0};
    quantization.output = {0.05F, 0};
  }
  QuantizedOperators fit() {
    layer.weights = std::span<const std::int8_t>(weights);
    layer.bias = bias;
    quantization.weights = scales;
    return QuantizedOperators::fit(layer, quantization);
  }
  // For a sum of products as the hardware has it.
  long double real(std::uint32_t kernel, std::int64_t sum) const {
    const std::size_t taps = weights.size() / layer.kernels;
    std::int64_t total = sum + (bias.empty() ? 0 : bias[kernel]);
    for (std::size_t i = 0; i < taps; ++i)
      total -= quantization.input->zero_point * weights[kernel * taps + i];
    const double factor = static_cast<double>(quantization.input->scale) *
                          scales[scales.size() == 1 ? 0 : kernel] / quantization.output.scale;
    const long double value = static_cast<long double>(total) * factor;
    return layer.relu ? std::max(value, 0.0L) : value;
  }
};

float any_scale(Random& random, int low, int high) {
  return std::ldexp(1 + static_cast<float>(random.pick(0, 0x7fffff)) / 0x800000,
                    static_cast<int>(random.pick(low, high)));
}

TEST(QuantizedOperators, RoundEverySumCorrectly) {
  test::expect_for_all(test::share(300), [](Random& random) {
    const auto kernels = static_cast<std::uint32_t>(random.pick(1, 5));
    const auto taps = static_cast<std::size_t>(random.pick(1, 600));
    Layer layer(kernels, taps);
    Random numbers = random.fork();
    for (auto& weight : layer.weights) weight = static_cast<std::int8_t>(numbers.pick(-127, 127));
    // As calibration makes them: results fill the output's range.
    const double reach = 127 * 40 * std::sqrt(static_cast<double>(taps));
    const float input = any_scale(random, -9, 0);
    layer.quantization.input = Quantization{input, static_cast<int>(random.pick(-128, 127))};
    for (float& scale : layer.scales) scale = any_scale(random, -12, -4);
    const float most = *std::max_element(layer.scales.begin(), layer.scales.end());
    layer.quantization.output = {static_cast<float>(input * most * reach / 127),
                                 static_cast<int>(random.pick(-128, 127))};
    layer.layer.relu = test::one_in(random, 3);
    if (test::one_in(random, 2)) {
      const std::int64_t range = random.pick(0, 1) != 0 ? 2000 : static_cast<std::int64_t>(reach);
      for (std::uint32_t k = 0; k < kernels; ++k)
        layer.bias.push_back(static_cast<std::int32_t>(numbers.pick(-range, range)));
    }
    const QuantizedOperators fitted = layer.fit();
    EXPECT_LE(fitted.error(), 1e-3);
    for (std::uint32_t k = 0; k < kernels; ++k) {
      for (int i = 0; i < 200; ++i) {
        const auto limit = static_cast<std::int64_t>(i % 2 != 0 ? reach : taps * 127);
        const std::int64_t sum = numbers.pick(-limit, limit);
        EXPECT_TRUE(is_rounded(fitted.result(k, static_cast<std::int32_t>(sum)), layer.real(k, sum),
                               layer.quantization.output.zero_point, fitted.error()))
            << k << ' ' << sum;
      }
    }
  });
}

// Sums of up to 48 bits are shifted until 32 hold them; results are the real ones, as close as
// error() says.
TEST(QuantizedOperators, RoundSumsOfInt16) {
  test::expect_for_all(test::share(200), [](Random& random) {
    const auto taps = static_cast<std::size_t>(random.pick(1, 4000));
    const std::uint32_t kernels = 3;
    std::vector<std::int16_t> weights(kernels * taps);
    Random numbers = random.fork();
    for (auto& weight : weights) weight = static_cast<std::int16_t>(numbers.pick(-32767, 32767));
    const double reach = 32767 * 10000.0 * std::sqrt(static_cast<double>(taps));
    const float input = any_scale(random, -17, -8);
    std::vector<float> scales, bias;
    for (std::uint32_t k = 0; k < kernels; ++k) scales.push_back(any_scale(random, -20, -15));
    const float most = *std::max_element(scales.begin(), scales.end());
    const auto output = static_cast<float>(input * most * reach / 32767);
    // A bias of up to twice the output's range is far beyond 32 bits of steps.
    for (std::uint32_t k = 0; k < kernels; ++k)
      bias.push_back(output * static_cast<float>(numbers.pick(-65536, 65536)));
    Convolution layer;
    layer.kernels = kernels;
    layer.weights = std::span<const std::int16_t>(weights);
    layer.bias_reals = bias;
    const ConvolutionScales asked = {
        .input = Quantization{input, 0}, .weights = scales, .output = {output, 0}};
    const QuantizedOperators fitted = QuantizedOperators::fit(layer, asked);
    EXPECT_LE(fitted.accumulator_shift(), 16U);
    EXPECT_LE(fitted.error(), 4);
    for (std::uint32_t k = 0; k < kernels; ++k) {
      const double factor = static_cast<double>(input) * scales[k] / output;
      std::int64_t greatest = 0;
      for (std::size_t i = 0; i < taps; ++i) greatest += std::abs(weights[k * taps + i]) * 32767LL;
      for (int i = 0; i < 200; ++i) {
        const auto usual = static_cast<std::int64_t>(reach);
        const std::int64_t limit = i % 2 != 0 ? std::min(usual, greatest) : greatest;
        const std::int64_t sum = numbers.pick(-limit, limit);
        const long double real = static_cast<long double>(sum) * factor + bias[k] / output;
        EXPECT_TRUE(is_rounded(fitted.result(k, sum), real, 0, fitted.error(), -32768, 32767))
            << k << ' ' << sum;
      }
    }
  });
}

// A dead kernel's bias may be beyond what 32 bits hold of shifted sums.
TEST(QuantizedOperators, DeadKernelsOfInt16AreTheirBias) {
  std::vector<std::int16_t> weights(2 * 96, 20000);
  std::fill(weights.begin() + 96, weights.end(), std::int16_t{2});
  const std::vector<float> scales = {5e-6F, 1.7e-9F}, bias = {0.1F, 2.2855F};
  Convolution layer;
  layer.kernels = 2;
  layer.weights = std::span<const std::int16_t>(weights);
  layer.bias_reals = bias;
  const ConvolutionScales asked = {
      .input = Quantization{0.0012F, 0}, .weights = scales, .output = {0.0003F, 0}};
  const QuantizedOperators fitted = QuantizedOperators::fit(layer, asked);
  for (const std::int64_t sum : {-6000000, 0, 6000000}) {
    EXPECT_NEAR(fitted.result(1, sum) * 0.0003, 2.2855, 0.0004) << sum;
    EXPECT_NEAR(fitted.result(0, sum * 100) * 0.0003, 0.1 + sum * 6e-7, 0.0004) << sum;
  }
}

// Halves among them: away from zero, before the zero point is added.
TEST(QuantizedOperators, PowersOfTwoAreExactInOneOperator) {
  Layer layer(3, 9);
  std::fill(layer.weights.begin(), layer.weights.end(), std::int8_t{100});
  layer.scales = {1 / 64.0F, 1 / 128.0F, 1 / 256.0F};
  layer.quantization.input = Quantization{0.25F, 7};
  layer.quantization.output = {0.5F, 11};
  const QuantizedOperators fitted = layer.fit();
  EXPECT_EQ(fitted.error(), 0);
  EXPECT_EQ(fitted.operators(), 1U);
  for (std::uint32_t k = 0; k < 3; ++k) {
    for (std::int32_t sum = -40000; sum <= 60000; ++sum) {
      const long double real = std::round(layer.real(k, sum)) + 11;
      ASSERT_EQ(fitted.result(k, sum), std::clamp(real, -128.0L, 127.0L)) << k << ' ' << sum;
    }
  }
}

// A bias of more than 16 bits is added in both operators, and nothing of it is lost.
TEST(QuantizedOperators, LongBiasesAreExact) {
  Layer layer(2, 9);
  std::fill(layer.weights.begin(), layer.weights.end(), std::int8_t{127});
  layer.bias = {1234567, -7654321};
  layer.scales = {1 / 1024.0F, 1 / 4096.0F};
  layer.quantization.input = Quantization{1.0F, 0};
  layer.quantization.output = {16.0F, 0};
  const QuantizedOperators fitted = layer.fit();
  EXPECT_EQ(fitted.operators(), 2U);
  EXPECT_EQ(fitted.error(), 0);
  for (std::uint32_t k = 0; k < 2; ++k) {
    for (int i = -4000; i <= 4000; ++i) {
      const std::int32_t sum = -layer.bias[k] + i * 501;
      ASSERT_EQ(fitted.result(k, sum), std::clamp(std::round(layer.real(k, sum)), -128.0L, 127.0L));
    }
  }
}

TEST(QuantizedOperators, TolerancesSaveAnOperator) {
  Layer layer(1, 64);
  std::fill(layer.weights.begin(), layer.weights.end(), std::int8_t{1});
  layer.scales = {0.0123F};
  const QuantizedOperators exact = layer.fit();
  layer.quantization.tolerance = 0.01;
  const QuantizedOperators fast = layer.fit();
  EXPECT_EQ(exact.operators(), 2U);
  EXPECT_EQ(fast.operators(), 1U);
  EXPECT_LT(exact.error(), fast.error());
  EXPECT_LE(fast.error(), 0.01);
}

TEST(QuantizedOperators, KernelsWithFarSmallerScalesAreStillRoundedWell) {
  Layer layer(2, 64);
  std::fill(layer.weights.begin(), layer.weights.end(), std::int8_t{127});
  layer.scales = {0.01F, 0.01F / 3000};
  layer.quantization.output.scale = 0.05F;
  EXPECT_LE(layer.fit().error(), 1e-3);
}

// Training leaves kernels of (nearly) no weights, whose scales are anything: their biases are met,
// and the other kernels are rounded as if they were not there.
TEST(QuantizedOperators, DeadKernelsAreTheirBias) {
  test::expect_for_all(test::share(300), [](Random& random) {
    const auto kernels = static_cast<std::uint32_t>(random.pick(1, 6));
    const auto taps = static_cast<std::size_t>(random.pick(1, 300));
    Layer layer(kernels, taps);
    Random numbers = random.fork();
    for (auto& weight : layer.weights) weight = static_cast<std::int8_t>(numbers.pick(-127, 127));
    const double reach = 127 * 40 * std::sqrt(static_cast<double>(taps));
    const float input = any_scale(random, -9, 0);
    layer.quantization.input = Quantization{input, static_cast<int>(random.pick(-128, 127))};
    for (float& scale : layer.scales) scale = any_scale(random, -12, -6);
    const float most = *std::max_element(layer.scales.begin(), layer.scales.end());
    layer.quantization.output = {static_cast<float>(input * most * reach / 127),
                                 static_cast<int>(random.pick(-128, 127))};
    layer.layer.relu = test::one_in(random, 3);
    layer.bias.resize(kernels);
    for (auto& bias : layer.bias)
      bias = static_cast<std::int32_t>(
          numbers.pick(static_cast<std::int64_t>(-reach), static_cast<std::int64_t>(reach)));
    const auto dead = static_cast<std::uint32_t>(random.pick(0, kernels - 1));
    // Its weights are nothing, or a scale like 2^-30 makes them nothing; the bias is up to 200
    // steps of the output, as far as 32 bits hold that.
    if (test::one_in(random, 2)) {
      const auto first = layer.weights.begin() + static_cast<std::ptrdiff_t>(dead * taps);
      std::fill(first, first + static_cast<std::ptrdiff_t>(taps), std::int8_t{0});
      layer.scales[dead] = any_scale(random, -100, 20);
    } else {
      layer.scales[dead] = most * any_scale(random, -60, -24);
    }
    const double factor =
        static_cast<double>(input) * layer.scales[dead] / layer.quantization.output.scale;
    const double steps = static_cast<double>(random.pick(-200, 200)) / factor;
    layer.bias[dead] = static_cast<std::int32_t>(std::clamp(steps, -2147483647.0, 2147483647.0));
    const QuantizedOperators fitted = layer.fit();
    EXPECT_LE(fitted.error(), 0.02);
    for (std::uint32_t k = 0; k < kernels; ++k) {
      for (int i = 0; i < 100; ++i) {
        const auto limit = static_cast<std::int64_t>(i % 2 != 0 ? reach : taps * 127);
        const std::int64_t sum =
            k == dead && layer.weights[k * taps] == 0 ? 0 : numbers.pick(-limit, limit);
        EXPECT_TRUE(is_rounded(fitted.result(k, static_cast<std::int32_t>(sum)), layer.real(k, sum),
                               layer.quantization.output.zero_point, fitted.error()))
            << k << ' ' << sum << (k == dead ? " (dead)" : "");
      }
    }
  });
}

// A scale that is 2^20 smaller leaves results of a few steps, which few bits of a factor meet.
TEST(QuantizedOperators, KernelsOfVerySmallScalesAreRoundedToo) {
  Layer layer(2, 4000);
  std::fill(layer.weights.begin(), layer.weights.end(), std::int8_t{127});
  layer.scales = {0.01F, 0.01F / 1000000};
  layer.bias = {0, 100000000};
  layer.quantization.output.scale = 0.05F;
  EXPECT_LE(layer.fit().error(), 0.02);
}

TEST(QuantizedOperators, Refuses) {
  const auto refuses = [](const char* text, const auto& change) {
    Layer layer(2, 4);
    std::fill(layer.weights.begin(), layer.weights.end(), std::int8_t{3});
    change(layer);
    expect_error(ErrorCode::kInvalidArgument, text, [&] { layer.fit(); });
  };
  for (const float scale : {0.0F, -1.0F, NAN, INFINITY}) {
    refuses("kernel 1: weight scale", [&](Layer& l) { l.scales[1] = scale; });
    refuses("input scale", [&](Layer& l) { l.quantization.input->scale = scale; });
    refuses("output scale", [&](Layer& l) { l.quantization.output.scale = scale; });
  }
  refuses("input zero point 128 is not in -128..127",
          [](Layer& l) { l.quantization.input->zero_point = 128; });
  refuses("output zero point -129", [](Layer& l) { l.quantization.output.zero_point = -129; });
  refuses("quantisation of the input is not known", [](Layer& l) { l.quantization.input = {}; });
  refuses("3 weight scales given, right are 1 or one for each of 2 kernels",
          [](Layer& l) { l.scales.push_back(1); });
  refuses("1 bias values given, 2 kernels need", [](Layer& l) { l.bias = {1}; });
  refuses("7 weights cannot be those of 2 kernels", [](Layer& l) { l.weights.resize(7); });
  refuses("tolerance -1", [](Layer& l) { l.quantization.tolerance = -1; });
  refuses("right are 2^-64 to 2^14", [](Layer& l) { l.scales[0] = 1e30F; });
  refuses("right are 2^-64 to 2^14", [](Layer& l) {
    l.scales[0] = 1e-30F;
    l.quantization.output.scale = 1e-33F;
    l.quantization.input->scale = 1e-20F;
  });
  refuses("steps of the output", [](Layer& l) {
    l.bias = {0, 2000000000};
    l.scales = {1.0F};
  });
  refuses("more than 32 bits hold", [](Layer& l) { l.bias = {2147483647, 0}; });
  refuses("kernel 1: its scale lies too far from that of kernel 0: ", [](Layer& l) {
    l.weights = std::vector<std::int8_t>(8, 100);
    l.bias = {0, 2000000000};
    l.scales = {10000.0F, 1e-5F};
  });
  refuses("leave them", [](Layer& l) { l.layer.x1.relu = true; });
  refuses("leave them", [](Layer& l) { l.layer.output.shift = 1; });
  Convolution real;
  const std::vector<float> weights(4);
  real.weights = std::span<const float>(weights);
  expect_error(ErrorCode::kInvalidArgument, "weights of a quantised layer are int8",
               [&] { QuantizedOperators::fit(real, {}); });
}

TEST(QuantizedOperators, HaveKernelsOfTheirLayerOnly) {
  expect_error(ErrorCode::kInvalidArgument, "kernel 3: there are operators of 3",
               [] { Layer(3, 4).fit().result(3, 0); });
  expect_error(ErrorCode::kInvalidArgument, "kernel 0: there are operators of 0",
               [] { QuantizedOperators().result(0, 0); });
}

TEST(SignedBytes, StandForTheSameReals) {
  const std::vector<std::uint8_t> bytes = {0, 1, 127, 128, 255};
  EXPECT_EQ(signed_bytes(bytes), (std::vector<std::int8_t>{-128, -127, -1, 0, 127}));
  EXPECT_EQ(signed_quantization({0.5F, 130}), (Quantization{0.5F, 2}));
}

// Of every bound that there can be, what is rounded after it has been held back.
TEST(Bounds, AreThoseOfRoundedResults) {
  test::expect_for_all(test::share(300), [](Random& random) {
    const Quantization q = {any_scale(random, -8, 2), static_cast<int>(random.pick(-128, 127))};
    const auto real = [&] { return static_cast<float>(random.pick(-300, 300)) * q.scale / 2; };
    Bounds bounds = {real(), 0};
    bounds.high = std::max(bounds.low, real());
    if (test::one_in(random, 3)) bounds.low = -INFINITY;
    if (test::one_in(random, 3)) bounds.high = INFINITY;
    const ElementBounds found = element_bounds(bounds, q);
    for (int steps = -600; steps <= 600; ++steps) {
      const long double value = static_cast<long double>(steps) * q.scale / 3;
      const long double held = std::clamp<long double>(value, bounds.low, bounds.high) / q.scale;
      const long double free = std::round(value / q.scale) + q.zero_point;
      ASSERT_EQ(std::clamp<long double>(free, found.least, found.greatest),
                std::clamp(std::round(held) + q.zero_point, -128.0L, 127.0L))
          << steps;
    }
  });
}

TEST(Bounds, AreTwoNumbers) {
  EXPECT_EQ(element_bounds({}, {1.0F, 5}), (ElementBounds{-128, 127}));
  EXPECT_EQ(element_bounds({0, 6}, {6 / 255.0F, -128}), (ElementBounds{-128, 127}));
  EXPECT_EQ(element_bounds({0, 6}, {0.1F, 3}), (ElementBounds{3, 63}));
  for (const Bounds& bounds : {Bounds{6, 0}, Bounds{NAN, 0}, Bounds{0, NAN},
                               Bounds{INFINITY, INFINITY}, Bounds{-INFINITY, -INFINITY}}) {
    expect_error(ErrorCode::kInvalidArgument, "right are two numbers, the lower one first", [&] {
      element_bounds(bounds, {1.0F, 0});
    });
  }
}

// Whatever a convolution's sums are.
TEST(Bounds, HoldResultsOfOperators) {
  Layer layer(1, 16);
  std::fill(layer.weights.begin(), layer.weights.end(), std::int8_t{100});
  layer.scales = {0.0123F};
  layer.quantization.output = {0.3F, -20};
  const QuantizedOperators free = layer.fit();
  layer.quantization.bounds = {-4, 6};
  const QuantizedOperators held = layer.fit();
  for (std::int32_t sum = -200000; sum < 200000; sum += 7)
    ASSERT_EQ(held.result(0, sum), std::clamp<int>(free.result(0, sum), -33, 0));
}

TEST(Bounds, ComeAfterReLU) {
  Addition sum{.a = Quantization{1, 0}, .b = Quantization{1, 0}, .output = {1, 5}};
  sum.relu = true;
  const auto bounds = [&](const Bounds& asked) {
    sum.bounds = asked;
    return QuantizedAddition::fit(sum).bounds();
  };
  EXPECT_EQ(bounds({-3, 4}), (ElementBounds{5, 9}));
  EXPECT_EQ(bounds({2, 4}), (ElementBounds{7, 9}));
  EXPECT_EQ(bounds({-8, -3}), (ElementBounds{2, 2}));
}

long double sum_of(const Addition& sum, int a, int b) {
  const auto real = [&](const Quantization& q, int x) {
    return static_cast<long double>(x - q.zero_point) * q.scale;
  };
  const long double value = real(*sum.a, a) + real(*sum.b, b);
  return (sum.relu ? std::max(value, 0.0L) : value) / sum.output.scale;
}

TEST(QuantizedAddition, RoundsEveryPairCorrectly) {
  test::expect_for_all(test::share(60), [](Random& random) {
    Addition sum;
    const int low = static_cast<int>(random.pick(-12, -2));
    sum.a = Quantization{any_scale(random, low, low + 3), static_cast<int>(random.pick(-128, 127))};
    sum.b = Quantization{any_scale(random, low, low + 3), static_cast<int>(random.pick(-128, 127))};
    sum.output = {any_scale(random, low + 2, low + 5), static_cast<int>(random.pick(-128, 127))};
    sum.relu = test::one_in(random, 2);
    if (test::one_in(random, 3)) sum.a->zero_point = 0;
    const QuantizedAddition fitted = QuantizedAddition::fit(sum);
    EXPECT_LE(fitted.error(), 0.05);
    for (int a = -128; a < 128; ++a)
      for (int b = -128; b < 128; b += 3)
        EXPECT_TRUE(
            is_rounded(fitted.result(static_cast<std::int8_t>(a), static_cast<std::int8_t>(b)),
                       sum_of(sum, a, b), sum.output.zero_point, fitted.error()))
            << a << ' ' << b;
  });
}

TEST(QuantizedAddition, EqualScalesAreExact) {
  const Addition sum{
      .a = Quantization{0.25F, 3}, .b = Quantization{0.25F, -9}, .output = {0.5F, 1}};
  const QuantizedAddition fitted = QuantizedAddition::fit(sum);
  EXPECT_EQ(fitted.error(), 0);
  // Halves away from zero, the zero point included.
  EXPECT_EQ(fitted.result(3, -8), 2);
  EXPECT_EQ(fitted.result(0, -8), 0);
  EXPECT_EQ(fitted.result(127, 127), 127);
}

TEST(QuantizedAddition, Refuses) {
  Addition sum;
  expect_error(ErrorCode::kInvalidArgument, "quantisation of a is not known",
               [&] { QuantizedAddition::fit(sum); });
  sum.a = Quantization{1, 1};
  expect_error(ErrorCode::kInvalidArgument, "quantisation of b is not known",
               [&] { QuantizedAddition::fit(sum); });
  sum.b = Quantization{1, 2};
  sum.bounds = {6, 0};
  expect_error(ErrorCode::kInvalidArgument, "bounds 6..0: right are two numbers",
               [&] { QuantizedAddition::fit(sum); });
  sum.bounds = {};
  sum.b->scale = 1e-6F;
  expect_error(ErrorCode::kInvalidArgument, "lie too far apart",
               [&] { QuantizedAddition::fit(sum); });
  sum.b->scale = 0;
  expect_error(ErrorCode::kInvalidArgument, "b scale 0", [&] { QuantizedAddition::fit(sum); });
  sum.b->scale = 1;
  sum.output = {1e12F, 100};
  expect_error(ErrorCode::kInvalidArgument, "too great beside",
               [&] { QuantizedAddition::fit(sum); });
  sum.output = {1e-12F, 0};
  expect_error(ErrorCode::kInvalidArgument, "output scale 1e-12: a requantisation factor must be",
               [&] { QuantizedAddition::fit(sum); });
}

}  // namespace
}  // namespace nvdla
