// SPDX-License-Identifier: MIT
#include "nvdla/operators/quantized_elements.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nvdla/operators/requantization.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/quantization.hpp"
#include "packing/quantized.hpp"
#include "support/check.hpp"

namespace nvdla {
namespace {

using detail::check_quantization;
using detail::converted;
using detail::held8;
using detail::refuse_argument;
using Limits8 = std::numeric_limits<std::int8_t>;

// Of a product: with less the zero point is beyond 32 bits, or nothing is left of the elements.
constexpr double kLeastProduct = 1.0 / (1 << 23), kGreatestProduct = 1 << 14;
// In steps: beyond it results saturate, whatever the zero point.
constexpr double kGreatestResult = 256;
constexpr double kCloseEnough = 1e-5;
// Of an operand of a sum: 32 bits hold it then, and the other one beside it.
constexpr int kGreatestShift = 22;

std::int32_t greatest_distance(std::int32_t zero_point) {
  return std::max(zero_point - Limits8::min(), Limits8::max() - zero_point);
}

}  // namespace

QuantizedAddition QuantizedAddition::fit(const Addition& addition) {
  if (!addition.a || !addition.b) {
    refuse_argument("the quantisation of {} is not known: say it", addition.a ? "b" : "a");
  }
  check_quantization("a", *addition.a);
  check_quantization("b", *addition.b);
  check_quantization("output", addition.output);
  QuantizedAddition fitted;
  // The factor's bits are spent on the greater of the two.
  fitted.first_is_a_ = addition.a->scale >= addition.b->scale;
  fitted.bounds_ = element_bounds(addition.bounds, addition.output);
  ElementBounds& bounds = fitted.bounds_;
  if (addition.relu)
    bounds.least = std::clamp(addition.output.zero_point, bounds.least, bounds.greatest);
  // The hardware's ReLU comes before what is not p loses its zero point.
  const bool relu = addition.relu && bounds.least != Limits8::min();
  const auto zero_point_of = [&](bool of_a) {
    return (of_a ? addition.a : addition.b)->zero_point;
  };
  if (relu && zero_point_of(!fitted.first_is_a_) != 0 && zero_point_of(fitted.first_is_a_) == 0)
    fitted.first_is_a_ = !fitted.first_is_a_;
  const Quantization& p = fitted.first_is_a_ ? *addition.a : *addition.b;
  const Quantization& q = fitted.first_is_a_ ? *addition.b : *addition.a;
  // v = p * factor + (q << shift), of which 2^shift are worth a step of q.
  const double ratio = double{p.scale} / q.scale;
  int exponent = 0;
  std::frexp(ratio, &exponent);
  int shift = 15 - exponent;
  double factor = std::round(std::ldexp(ratio, shift));
  if (factor > std::numeric_limits<std::int16_t>::max())
    factor = std::round(std::ldexp(ratio, --shift));
  if (shift < 0 || shift > kGreatestShift) {
    refuse_argument(
        "scales {} and {} of a sum lie too far apart: right is a quotient of 2^-8 to 2^15", p.scale,
        q.scale);
  }
  fitted.factor_ = static_cast<std::int16_t>(factor);
  fitted.shift_ = static_cast<std::uint32_t>(shift);
  fitted.zero_point_ = static_cast<std::int16_t>(p.zero_point);
  const double wanted_p = double{p.scale} / addition.output.scale;
  const double wanted_q = double{q.scale} / addition.output.scale;
  detail::at_place(fmt::format("output scale {}", addition.output.scale), std::nullopt,
                   [&] { fitted.output_ = requantize(std::ldexp(wanted_q, -shift)); });
  if (addition.subtract) {
    // Of a difference p is the part with the minus, or v as a whole has one.
    fitted.factor_ = static_cast<std::int16_t>(-fitted.factor_);
    if (fitted.first_is_a_) fitted.output_.scale = static_cast<std::int16_t>(-fitted.output_.scale);
  }
  const double unit = std::ldexp(fitted.output_.scale, -static_cast<int>(fitted.output_.shift));
  const double zero = std::round(addition.output.zero_point / unit);
  const double offset = std::ldexp(q.zero_point, shift) - zero;
  if (std::abs(offset) > std::numeric_limits<std::int32_t>::max()) {
    refuse_argument("the output's scale {} is too great beside {} of a and {} of b",
                    addition.output.scale, addition.a->scale, addition.b->scale);
  }
  fitted.output_.offset = static_cast<std::int32_t>(offset);
  fitted.error_ =
      greatest_distance(p.zero_point) * std::abs(factor * std::abs(unit) - wanted_p) +
      greatest_distance(q.zero_point) * std::abs(std::ldexp(std::abs(unit), shift) - wanted_q) +
      std::abs(zero * unit - addition.output.zero_point);
  return fitted;
}

std::int8_t QuantizedAddition::result(std::int8_t a, std::int8_t b) const {
  const std::int64_t p = first_is_a_ ? a : b, q = first_is_a_ ? b : a;
  const std::int64_t v = (p - zero_point_) * factor_ + (q << shift_);
  return held8(converted(v, output_), bounds_);
}

QuantizedMultiplication QuantizedMultiplication::fit(const Multiplication& multiplication) {
  if (!multiplication.a || !multiplication.b) {
    refuse_argument("the quantisation of {} is not known: say it", multiplication.a ? "b" : "a");
  }
  const Quantization &a = *multiplication.a, &b = *multiplication.b;
  const Quantization& output = multiplication.output;
  check_quantization("a", a);
  check_quantization("b", b);
  check_quantization("output", output);
  const double wanted = double{a.scale} * b.scale / output.scale;
  if (!(wanted >= kLeastProduct && wanted <= kGreatestProduct)) {
    refuse_argument("a scale {} * b scale {} / output scale {} is {}: right are 2^-23 to 2^14",
                    a.scale, b.scale, output.scale, wanted);
  }
  QuantizedMultiplication fitted;
  fitted.bounds_ = element_bounds(multiplication.bounds, output);
  fitted.a_zero_point_ = static_cast<std::int16_t>(a.zero_point);
  fitted.b_zero_point_ = static_cast<std::int16_t>(b.zero_point);
  fitted.error_ = std::numeric_limits<double>::infinity();
  const double farthest = std::min(
      static_cast<double>(greatest_distance(a.zero_point)) * greatest_distance(b.zero_point),
      kGreatestResult / wanted);
  const auto attempt = [&](double factor) {
    Converter converter = requantize(wanted / factor);
    const double unit = std::ldexp(converter.scale, -static_cast<int>(converter.shift));
    const double zero = std::round(output.zero_point / unit);
    if (std::abs(zero) > std::numeric_limits<std::int32_t>::max()) return;
    const double error =
        std::abs(factor * unit - wanted) * farthest + std::abs(zero * unit - output.zero_point);
    if (error >= fitted.error_) return;
    converter.offset = static_cast<std::int32_t>(-zero);
    fitted.output_ = converter;
    fitted.factor_ = static_cast<std::int16_t>(factor);
    fitted.error_ = error;
  };
  // Of a greater factor the zero point has finer steps, until it is beyond 32 bits. Powers of two
  // leave what has few bits exact, others come close to the rest.
  const double greatest = std::clamp<double>(std::floor(std::ldexp(wanted, 24)), 1,
                                             std::numeric_limits<std::int16_t>::max());
  attempt(std::exp2(std::floor(std::log2(greatest))));
  for (double factor = greatest; factor > greatest / 2 && fitted.error_ > kCloseEnough; --factor)
    attempt(factor);
  return fitted;
}

std::int8_t QuantizedMultiplication::result(std::int8_t a, std::int8_t b) const {
  const std::int64_t v = std::int64_t{a - a_zero_point_} * factor_ * (b - b_zero_point_);
  return held8(converted(v, output_), bounds_);
}

std::array<std::int8_t, 256> activation_results(const Activation& activation) {
  if (!activation.input) refuse_argument("the quantisation of the input is not known: say it");
  if (!activation.function) refuse_argument("the function is empty");
  check_quantization("input", *activation.input);
  check_quantization("output", activation.output);
  const Quantization &input = *activation.input, &output = activation.output;
  std::array<std::int8_t, 256> results = {};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const double x = static_cast<double>(i) + Limits8::min() - input.zero_point;
    double steps = activation.function(x * input.scale) / output.scale;
    if (std::isnan(steps)) steps = 0;
    results[i] = static_cast<std::int8_t>(
        std::clamp<double>(std::round(steps) + output.zero_point, Limits8::min(), Limits8::max()));
  }
  return results;
}

}  // namespace nvdla
