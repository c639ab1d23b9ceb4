// SPDX-License-Identifier: MIT
//
// Fits of random functions with random formats and ranges: all of them compile, and do on the
// device model what their reports say.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>

#include "common/runtime/lut_worst.hpp"

namespace nvdla::test {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  double any(double low, double high) { return std::uniform_real_distribution(low, high)(random_); }
  int choose(int count) { return std::uniform_int_distribution(0, count - 1)(random_); }

  // A step, a line, a hill or a bend, somewhere near `place`.
  Function function(double height, double place, double width) {
    const std::array<Function, 4> kinds = {
        [=](double x) { return height * std::tanh((x - place) / width); },
        [=](double x) { return height * (x - place); },
        [=](double x) { return height * std::exp(-(x - place) * (x - place) / width); },
        [=](double x) { return height * std::abs(x - place); }};
    return kinds[static_cast<std::size_t>(choose(4))];
  }

 private:
  std::mt19937 random_;
};

class RandomFits : public testing::TestWithParam<unsigned> {};

TEST_P(RandomFits, AreAsGoodAsReported) {
  Random random(GetParam());
  const double height = random.any(-2, 2), place = random.any(-5, 5);
  const double width = std::exp2(random.any(-6, 6));
  const Function function = random.function(height, place, width);
  Range range;
  if (random.choose(2) == 0) range.lo = place - 20 * width * random.any(0, 1);
  if (random.choose(2) == 0) range.hi = place + 20 * width * random.any(0.01, 1);
  if (random.choose(2) == 0) {
    const Lut lut = Lut::fit(function, range, Precision::kFp16);
    expect_report(lut, fp16_worst(lut, function, range));
    return;
  }
  // Scales such that the range, or what there is of it, holds some inputs.
  const LutFormat format = integers(Precision::kInt16, width * std::exp2(random.any(-10, -6)),
                                    std::exp2(random.any(-12, -2)), random.choose(200) - 100, 16,
                                    -static_cast<std::int32_t>(place / width * 64));
  const Lut lut = Lut::fit(function, range, format);
  expect_report(lut, integer_worst<std::int16_t, std::int16_t>(lut, function, range));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFits, testing::Range(0U, 60U),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace nvdla::test
