// SPDX-License-Identifier: MIT
//
// Tables for normalisation: CDP of the device model against the formula.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/lut_layer.hpp"

namespace nvdla::test {
namespace {

struct Formula {
  double alpha, beta, k;
  std::uint32_t size;
  double of(double x, double sum) const { return x * std::pow(k + alpha / size * sum, -beta); }
};

Lut make(const Formula& f, const LutFormat& format,
         double greatest = std::numeric_limits<double>::infinity()) {
  return lut::lrn(f.alpha, f.beta, f.k, f.size, format, greatest);
}

LutFormat format_of(Precision precision, double in, std::int32_t in_zero, double out,
                    std::int32_t out_zero) {
  LutFormat format;
  format.precision = precision;
  format.input = {static_cast<float>(in), in_zero};
  format.output = {static_cast<float>(out), out_zero};
  return format;
}

// The greatest error of a layer over its elements: channels, and any number of columns.
template <typename Element>
double worst_of(const Lut& lut, const Formula& f, const std::vector<Element>& elements,
                std::uint32_t channels) {
  LutRun run = cdp_run(lut);
  const auto columns = static_cast<std::uint32_t>(elements.size() / channels);
  const auto outputs =
      look_up<Element>(run, elements, {.channels = channels, .height = 1, .width = columns});
  constexpr bool kReal = std::is_same_v<Element, std::uint16_t>;
  const Quantization in = lut.format().input;
  const Quantization out = lut.format().output;
  const auto real = [&](double q) { return (q - out.zero_point) * out.scale; };
  const auto number = [&](std::size_t i) {
    if constexpr (kReal) return number_of(elements[i]);
    return (elements[i] - static_cast<double>(in.zero_point)) * in.scale;
  };
  const int reach = static_cast<int>(f.size) / 2;
  double worst = 0;
  for (std::uint32_t column = 0; column < columns; ++column) {
    for (int c = 0; c < static_cast<int>(channels); ++c) {
      double sum = 0;
      for (int i = std::max(c - reach, 0); i <= std::min(c + reach, static_cast<int>(channels) - 1);
           ++i) {
        const double x = number(static_cast<std::size_t>(i) * columns + column);
        sum += x * x;
      }
      const std::size_t at = static_cast<std::size_t>(c) * columns + column;
      const double wanted = f.of(number(at), sum);
      if constexpr (kReal) {
        worst = std::max(
            worst, std::abs(number_of(outputs[at]) - wanted) / std::max(1.0, std::abs(wanted)));
      } else {
        const double held = std::clamp(wanted, real(std::numeric_limits<Element>::min()),
                                       real(std::numeric_limits<Element>::max()));
        worst = std::max(worst, std::abs(real(outputs[at]) - held));
      }
    }
  }
  return worst;
}

// A cyclic sequence of numbers below `letters` in which every three of them follow one another
// once: the Lyndon words in order (Fredricksen, Kessler, Maiorana).
std::vector<int> every_three(int letters) {
  std::vector<int> sequence, word = {-1};
  while (!word.empty()) {
    ++word.back();
    if (3 % word.size() == 0) sequence.insert(sequence.end(), word.begin(), word.end());
    const std::size_t length = word.size();
    while (word.size() < 3) word.push_back(word[word.size() - length]);
    while (!word.empty() && word.back() == letters - 1) word.pop_back();
  }
  return sequence;
}

// Each int8 element between any two others. The sign of neighbours plays no part, and with a zero
// point of 0 at the output an element of either sign is as wrong.
TEST(LutLrn, Int8IsExactlyAsGoodAsReported) {
  const Formula formula{0.3, 0.75, 1.0, 3};
  const Lut lut = make(formula, format_of(Precision::kInt8, 0.05, 0, 0.02, 0));
  EXPECT_TRUE(lut.report().every_input);
  EXPECT_LE(lut.report().error, 0.02);
  // -128 stands for 128, which int8 has not.
  const std::vector<int> sequence = every_three(129);
  constexpr std::uint32_t kChannels = 8192, kNew = kChannels - 2;
  const auto columns = static_cast<std::uint32_t>((sequence.size() + kNew - 1) / kNew);
  std::vector<std::int8_t> elements(std::size_t{kChannels} * columns);
  for (std::uint32_t column = 0; column < columns; ++column) {
    for (std::uint32_t c = 0; c < kChannels; ++c)
      elements[std::size_t{c} * columns + column] =
          static_cast<std::int8_t>(-sequence[(std::size_t{column} * kNew + c) % sequence.size()]);
  }
  EXPECT_NEAR(worst_of(lut, formula, elements, kChannels), lut.report().error, 1e-12);
}

template <typename Element>
std::vector<Element> random_elements(std::uint32_t channels, std::size_t columns, int greatest,
                                     int zero) {
  std::mt19937 random(9);
  std::vector<Element> elements(channels * columns);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    // Columns from faint to full.
    const int reach = std::max(1, greatest >> (i % columns % 8));
    elements[i] = static_cast<Element>(std::clamp(
        zero + std::uniform_int_distribution(-reach, reach)(random),
        int{std::numeric_limits<Element>::min()}, int{std::numeric_limits<Element>::max()}));
  }
  return elements;
}

TEST(LutLrn, Int8OfAnySizeAndZeroPointIsNoWorseThanReported) {
  for (const std::uint32_t size : {3U, 5U, 7U, 9U}) {
    SCOPED_TRACE(size);
    const Formula formula{1e-4 * size, 0.75, 2, size};
    const Lut lut = make(formula, format_of(Precision::kInt8, 1, -9, 0.5, 4));
    EXPECT_LE(lut.report().error, 0.5);
    const double worst =
        worst_of(lut, formula, random_elements<std::int8_t>(128, 2048, 137, -9), 128);
    EXPECT_LE(worst, lut.report().error + 1e-12);
    EXPECT_GT(worst, 0.9 * lut.report().error);
  }
}

// Elements alone, then in windows of nothing else.
template <typename Element>
std::vector<Element> alone_and_among_equals(const std::vector<Element>& all, Element zero) {
  constexpr std::uint32_t kChannels = 32;
  std::vector<Element> elements(kChannels * all.size(), zero);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::uint32_t c = 0; c < kChannels; ++c) {
      if (c == 2 || c >= 23) elements[c * all.size() + i] = all[i];
    }
  }
  return elements;
}

// Windows between those two kinds hold fewer equal elements.
template <typename Element>
double worst_alone_and_among_equals(const Lut& lut, const Formula& f,
                                    const std::vector<Element>& all, Element zero) {
  constexpr std::size_t kColumns = 8192;
  double worst = 0;
  for (std::size_t from = 0; from < all.size(); from += kColumns) {
    const std::vector<Element> some(
        all.begin() + static_cast<std::ptrdiff_t>(from),
        all.begin() + static_cast<std::ptrdiff_t>(std::min(from + kColumns, all.size())));
    worst = std::max(worst, worst_of(lut, f, alone_and_among_equals(some, zero), 32));
  }
  return worst;
}

TEST(LutLrn, Int16IsAsGoodAsReported) {
  const Formula formula{0.1, 0.75, 2, 5};
  const Lut lut = make(formula, format_of(Precision::kInt16, 0.001, 0, 0.001, 0));
  EXPECT_FALSE(lut.report().every_input);
  EXPECT_LE(lut.report().error, 0.002);
  const double worst =
      worst_alone_and_among_equals<std::int16_t>(lut, formula, every<std::int16_t>(), 0);
  EXPECT_GE(worst, lut.report().error - 1e-12);
  EXPECT_LE(worst, 1.5 * lut.report().error);
}

TEST(LutLrn, Fp16IsAsGoodAsReported) {
  const Formula formula{1e-4, 0.75, 1, 5};
  constexpr double kGreatest = 256;
  const Lut lut = make(formula, {.precision = Precision::kFp16}, kGreatest);
  EXPECT_LE(lut.report().error, 1.0 / 256);
  std::vector<std::uint16_t> all;
  for (std::uint16_t bits = 0; number_of(bits) <= kGreatest; ++bits) all.push_back(bits);
  const double worst = worst_alone_and_among_equals<std::uint16_t>(lut, formula, all, 0);
  EXPECT_GE(worst, lut.report().error - 1e-12);
  EXPECT_LE(worst, 1.5 * lut.report().error);
}

TEST(LutLrn, RefusesWhatCannotBe) {
  const LutFormat bytes = format_of(Precision::kInt8, 1, 0, 1, 0);
  const auto refused = [](const std::string& text, const auto& call) {
    expect_error(ErrorCode::kInvalidArgument, text, call);
  };
  refused("size 4 of a normalisation is none of 3, 5, 7 and 9",
          [&] { lut::lrn(1, 1, 1, 4, bytes); });
  refused("alpha -1 of a normalisation must be at least 0", [&] { lut::lrn(-1, 1, 1, 3, bytes); });
  refused("k 0 of a normalisation must be greater than 0", [&] { lut::lrn(1, 1, 0, 3, bytes); });
  refused("beta nan of a normalisation", [&] { lut::lrn(1, NAN, 1, 3, bytes); });
  refused("k 0.001 to the power of -9 is beyond what a normalisation can multiply by",
          [&] { lut::lrn(1, 9, 0.001, 3, {.precision = Precision::kFp16}); });
  refused("greatest element 0.5 of a normalisation is less than the smallest one, 1",
          [&] { lut::lrn(1, 1, 1, 3, bytes, 0.5); });
  refused("input zero point of a normalisation 300 is not in -128..127",
          [&] { lut::lrn(1, 1, 1, 3, format_of(Precision::kInt8, 1, 300, 1, 0)); });
  refused("needs an offset of",
          [&] { lut::lrn(1, 1, 1, 3, format_of(Precision::kInt8, 0.01, 0, 1, 100)); });
  const Lut lut = lut::lrn(1e-4, 0.75, 1, 5, bytes);
  nvdla_layer layer = make_layer(make_sdp());
  refused("a layer of kind 'sdp' has no CDP", [&] { lut.apply(layer, 0); });
}

}  // namespace
}  // namespace nvdla::test
