// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "layout/quantized.hpp"

namespace nvdla::detail {
namespace {

using Step = QuantizedOperators::Step;
using Limits16 = std::numeric_limits<std::int16_t>;

// Beyond this results saturate, whatever the zero point.
constexpr double kGreatestResult = 256;
// Bits of a product of two factors: the second then has 15 of its own where the first has 14, and
// the other way round.
constexpr int kProductBits = 29;
// One unit of the result is up to 2^22 of what the first step makes, so that 32 bits hold twice of
// what does not saturate.
constexpr int kFractionShift = 36;
constexpr int kLeastSecond = 1 << 14;
// Relative, of a product; what is rounded between the steps is a little less.
constexpr double kCloseEnough = 1.0 / (1 << 26);
constexpr int kTrials = 4096;

double greatest_factor(std::span<const WantedResult> kernels) {
  double greatest = 0;
  for (const WantedResult& kernel : kernels) greatest = std::max(greatest, kernel.factor);
  return greatest;
}

// The shift that makes `value`, times a power of two, have that many bits.
int shift_for(double value, int bits) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return bits - exponent;
}

// The least shift with which all of `values` fit 16 bits, rounded to the nearest.
std::uint32_t shift_of_addends(std::span<const double> values) {
  std::uint32_t shift = 0;
  for (const double value : values) {
    while (std::abs(std::round(std::ldexp(value, -static_cast<int>(shift)))) > Limits16::max())
      ++shift;
  }
  return shift;
}

// Adds the multiples of 2^shift nearest to `values`; what is left of these stays in them.
void add_nearest(std::vector<double>& values, Step& step) {
  step.left_shift = shift_of_addends(values);
  for (double& value : values) {
    const double nearest = std::round(std::ldexp(value, -static_cast<int>(step.left_shift)));
    step.addends.push_back(static_cast<std::int16_t>(nearest));
    value -= std::ldexp(nearest, static_cast<int>(step.left_shift));
  }
}

std::vector<double> biases(std::span<const WantedResult> kernels) {
  std::vector<double> list;
  for (const WantedResult& kernel : kernels) list.push_back(static_cast<double>(kernel.bias));
  return list;
}

// What a factor that is not quite the wanted one costs at most.
double factor_error(const WantedResult& kernel, double factor) {
  const double farthest =
      std::min(static_cast<double>(kernel.greatest), kGreatestResult / kernel.factor);
  return std::abs(factor - kernel.factor) * farthest;
}

struct Product {
  std::int16_t first = 0, second = 0;
};

// Two factors whose product is as near to `wanted` as it has to be.
Product nearest_product(double wanted) {
  Product best;
  double best_error = std::numeric_limits<double>::infinity();
  const auto attempt = [&](double first) {
    const double second =
        std::clamp<double>(std::round(wanted / first), kLeastSecond, Limits16::max());
    const double error = std::abs(first * second - wanted);
    if (error >= best_error) return;
    best_error = error;
    best = {static_cast<std::int16_t>(first), static_cast<std::int16_t>(second)};
  };
  // Powers of two and what else has few bits first: exact. It is 0 for what is too little.
  const double greatest = std::min<double>(std::round(wanted / kLeastSecond), Limits16::max());
  attempt(greatest);
  double first = std::max(1.0, std::floor(wanted / Limits16::max()));
  for (int i = 0; i < kTrials && first < greatest && best_error > wanted * kCloseEnough; ++i)
    attempt(first++);
  return best;
}

}  // namespace

FittedSteps fit_one_step(std::span<const WantedResult> kernels) {
  FittedSteps fitted;
  Step& step = fitted.first;
  // Rounding may carry into a sixteenth bit.
  int shift = std::clamp(shift_for(greatest_factor(kernels), 15), 0, 63);
  if (std::round(std::ldexp(greatest_factor(kernels), shift)) > Limits16::max()) --shift;
  step.right_shift = static_cast<std::uint32_t>(shift);
  std::vector<double> left = biases(kernels);
  add_nearest(left, step);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const double factor = std::round(std::ldexp(kernels[k].factor, shift));
    step.factors.push_back(static_cast<std::int16_t>(factor));
    fitted.error = std::max(fitted.error, factor_error(kernels[k], std::ldexp(factor, -shift)) +
                                              std::abs(left[k]) * kernels[k].factor);
  }
  return fitted;
}

FittedSteps fit_two_steps(std::span<const WantedResult> kernels) {
  FittedSteps fitted;
  const int shift = shift_for(greatest_factor(kernels), kProductBits);
  const int second_shift = std::clamp(shift, 0, kFractionShift);
  const int first_shift = shift - second_shift;
  fitted.first.right_shift = static_cast<std::uint32_t>(first_shift);
  fitted.second.right_shift = static_cast<std::uint32_t>(second_shift);
  std::vector<double> left = biases(kernels);
  add_nearest(left, fitted.first);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Product product = nearest_product(std::ldexp(kernels[k].factor, shift));
    fitted.first.factors.push_back(product.first);
    fitted.second.factors.push_back(product.second);
    // In units of what the first step makes.
    left[k] = std::ldexp(left[k] * product.first, -first_shift);
  }
  add_nearest(left, fitted.second);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::int16_t first = fitted.first.factors[k], second = fitted.second.factors[k];
    const bool rounds = first_shift != 0 && std::remainder(first, std::ldexp(1, first_shift)) != 0;
    const double between = std::abs(left[k]) + (rounds ? 0.5 : 0);
    const double product = static_cast<double>(first) * second;
    fitted.error = std::max(fitted.error, factor_error(kernels[k], std::ldexp(product, -shift)) +
                                              std::ldexp(between * second, -second_shift));
  }
  return fitted;
}

}  // namespace nvdla::detail
