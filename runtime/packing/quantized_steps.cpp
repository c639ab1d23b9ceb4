// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "packing/quantized.hpp"

namespace nvdla::detail {
namespace {

using Step = QuantizedOperators::Step;
using Limits16 = std::numeric_limits<std::int16_t>;

// Bits of a product of two factors: the second then has 15 of its own where the first has 14, and
// the other way round.
constexpr int kProductBits = 29;
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
  for (const WantedResult& kernel : kernels) list.push_back(kernel.bias);
  return list;
}

// Returns what a factor that is not quite the wanted one costs at most.
double factor_error(const WantedResult& kernel, double factor, const StepLimits& limits) {
  const double farthest = std::min(kernel.greatest, limits.greatest_result / kernel.factor);
  return std::abs(factor - kernel.factor) * farthest;
}

struct Product {
  std::int16_t first = 0, second = 0;
};

// Factors of a few bits, for what is too small for two of many.
Product small_product(double wanted) { return {1, static_cast<std::int16_t>(std::round(wanted))}; }

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

// `TwoSteps` treat the kernels of a layer.
struct TwoSteps {
  StepLimits limits;
  double greatest_factor = 0;
  std::vector<bool> dead;  // such a kernel has its bias in the second step, and nothing else
  bool small_factors = false;

  int shift() const { return shift_for(greatest_factor, kProductBits); }
  Product product_of(double factor) const {
    const double wanted = std::ldexp(factor, shift());
    return small_factors && wanted < kLeastSecond ? small_product(wanted) : nearest_product(wanted);
  }
};

double product_error(const WantedResult& kernel, const Product& product, const TwoSteps& how) {
  const double factor = static_cast<double>(product.first) * product.second;
  return factor_error(kernel, std::ldexp(factor, -how.shift()), how.limits);
}

FittedSteps fit_two_steps(std::span<const WantedResult> kernels, const TwoSteps& how) {
  FittedSteps fitted;
  const int shift = how.shift();
  const int second_shift = std::clamp(shift, 0, how.limits.fraction_shift);
  const int first_shift = shift - second_shift;
  fitted.first.right_shift = static_cast<std::uint32_t>(first_shift);
  fitted.second.right_shift = static_cast<std::uint32_t>(second_shift);
  std::vector<double> left = biases(kernels);
  for (std::size_t k = 0; k < kernels.size(); ++k)
    if (how.dead[k]) left[k] = 0;
  add_nearest(left, fitted.first);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const WantedResult& kernel = kernels[k];
    const Product product =
        how.dead[k] ? Product{0, Limits16::max()} : how.product_of(kernel.factor);
    fitted.first.factors.push_back(product.first);
    fitted.second.factors.push_back(product.second);
    // In units of what the first step makes.
    if (how.dead[k]) {
      const double steps = kernel.own_bias * kernel.factor, most = how.limits.greatest_result;
      left[k] = std::ldexp(std::clamp(steps, -most, most), second_shift) / product.second;
    } else {
      left[k] = std::ldexp(left[k] * product.first, -first_shift);
    }
  }
  add_nearest(left, fitted.second);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::int16_t first = fitted.first.factors[k], second = fitted.second.factors[k];
    const bool rounds = first_shift != 0 && std::remainder(first, std::ldexp(1, first_shift)) != 0;
    const double between = std::abs(left[k]) + (rounds ? 0.5 : 0);
    const double factor = how.dead[k] ? kernels[k].products * kernels[k].factor
                                      : product_error(kernels[k], {first, second}, how);
    fitted.add_error(k, how.dead[k], factor + std::ldexp(between * second, -second_shift));
  }
  return fitted;
}

}  // namespace

void FittedSteps::add_error(std::size_t kernel, bool dead, double kernel_error) {
  error = std::max(error, kernel_error);
  if (dead || kernel_error <= live_error) return;
  live_error = kernel_error;
  worst = kernel;
}

FittedSteps fit_one_step(std::span<const WantedResult> kernels, const StepLimits& limits) {
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
    fitted.add_error(k, false,
                     factor_error(kernels[k], std::ldexp(factor, -shift), limits) +
                         std::abs(left[k]) * kernels[k].factor);
  }
  return fitted;
}

FittedSteps fit_two_steps(std::span<const WantedResult> kernels, const StepLimits& limits) {
  return fit_two_steps(
      kernels, {limits, greatest_factor(kernels), std::vector<bool>(kernels.size()), false});
}

FittedSteps fit_far_steps(std::span<const WantedResult> kernels, const StepLimits& limits) {
  TwoSteps how;
  how.limits = limits;
  how.small_factors = true;
  double greatest_bias = Limits16::max();
  for (const WantedResult& kernel : kernels) {
    if (kernel.is_dead()) continue;
    how.greatest_factor = std::max(how.greatest_factor, kernel.factor);
    greatest_bias = std::max(greatest_bias, std::abs(kernel.bias));
  }
  // If all are dead, any factor lets the second step express their biases.
  if (how.greatest_factor == 0) how.greatest_factor = 1.0 / 128;
  for (const WantedResult& kernel : kernels) {
    const auto is_better_dead = [&] {
      return product_error(kernel, how.product_of(kernel.factor), how) >
             kernel.products * kernel.factor;
    };
    how.dead.push_back(
        kernel.only_bias ||
        (kernel.is_dead() && (std::abs(kernel.bias) > greatest_bias ||
                              kernel.factor > how.greatest_factor || is_better_dead())));
  }
  return fit_two_steps(kernels, how);
}

}  // namespace nvdla::detail
