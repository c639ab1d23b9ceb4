// SPDX-License-Identifier: MIT
#include "nvdla/operators/quantized_elements.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "nvdla/operators/requantization.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/quantization.hpp"
#include "packing/quantized.hpp"
#include "support/check.hpp"

namespace nvdla {
namespace {

using detail::check_quantization;
using detail::converted;
using detail::element_range;
using detail::held_element;
using detail::throw_invalid_argument;

constexpr double kGreatestProduct = 1 << 14;
constexpr double kCloseEnough = 1e-5;

// `Operands` says how much 32 bits leave to the operands of a precision.
struct Operands {
  // With less of a product the zero point is beyond 32 bits, or nothing is left of the elements.
  int least_product = -23;
  // A product has these bits behind the point, so that 32 hold what does not saturate.
  int fraction = 24;
  // 32 bits hold an operand of a sum that is shifted by this, and the other one beside it.
  int greatest_shift = 22;
};

Operands operands_of(Precision precision) {
  return precision == Precision::kInt16 ? Operands{-31, 15, 14} : Operands{};
}

// Returns the result of each element from the least on, before it is rounded and saturated.
std::vector<double> steps_of(const Activation& activation, Precision precision) {
  if (!activation.input)
    throw_invalid_argument("the quantisation of the input is not known: say it");
  if (!activation.function) throw_invalid_argument("the function is empty");
  check_quantization("input", *activation.input, precision);
  check_quantization("output", activation.output, precision);
  const Quantization &input = *activation.input, &output = activation.output;
  std::vector<double> results;
  const detail::ElementRange range = element_range(precision);
  for (std::int32_t element = range.least; element <= range.greatest; ++element) {
    const auto x = static_cast<double>(element - input.zero_point);
    const double steps = activation.function(x * input.scale) / output.scale;
    results.push_back(std::isnan(steps) ? 0 : steps);
  }
  return results;
}

}  // namespace

QuantizedAddition QuantizedAddition::fit(const Addition& addition, Precision precision) {
  if (!addition.a || !addition.b) {
    throw_invalid_argument("the quantisation of {} is not known: say it", addition.a ? "b" : "a");
  }
  check_quantization("a", *addition.a, precision);
  check_quantization("b", *addition.b, precision);
  check_quantization("output", addition.output, precision);
  const detail::ElementRange range = element_range(precision);
  QuantizedAddition fitted;
  fitted.precision_ = precision;
  // The factor's bits are spent on the greater of the two.
  fitted.first_is_a_ = addition.a->scale >= addition.b->scale;
  fitted.bounds_ = element_bounds(addition.bounds, addition.output, precision);
  ElementBounds& bounds = fitted.bounds_;
  if (addition.relu)
    bounds.least = std::clamp(addition.output.zero_point, bounds.least, bounds.greatest);
  // The hardware's ReLU comes before what is not p loses its zero point.
  const bool relu = addition.relu && bounds.least != range.least;
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
  const int greatest_shift = operands_of(precision).greatest_shift;
  if (shift < 0 || shift > greatest_shift) {
    throw_invalid_argument(
        "scales {} and {} of a sum lie too far apart: right is a quotient of 2^{} to 2^15", p.scale,
        q.scale, 14 - greatest_shift);
  }
  fitted.factor_ = static_cast<std::int16_t>(factor);
  fitted.shift_ = static_cast<std::uint32_t>(shift);
  fitted.zero_point_ = static_cast<std::int16_t>(p.zero_point);
  const double wanted_p = double{p.scale} / addition.output.scale;
  const double wanted_q = double{q.scale} / addition.output.scale;
  detail::with_error_context(fmt::format("output scale {}", addition.output.scale), std::nullopt,
                             [&] { fitted.output_ = requantize(std::ldexp(wanted_q, -shift)); });
  if (addition.subtract) {
    // In a difference p is the part with the minus, or v as a whole has one.
    fitted.factor_ = static_cast<std::int16_t>(-fitted.factor_);
    if (fitted.first_is_a_) fitted.output_.scale = static_cast<std::int16_t>(-fitted.output_.scale);
  }
  const double unit = std::ldexp(fitted.output_.scale, -static_cast<int>(fitted.output_.shift));
  const double zero = std::round(addition.output.zero_point / unit);
  const double offset = std::ldexp(q.zero_point, shift) - zero;
  if (std::abs(offset) > std::numeric_limits<std::int32_t>::max()) {
    throw_invalid_argument("the output's scale {} is too great beside {} of a and {} of b",
                           addition.output.scale, addition.a->scale, addition.b->scale);
  }
  fitted.output_.offset = static_cast<std::int32_t>(offset);
  fitted.error_ =
      range.distance(p.zero_point) * std::abs(factor * std::abs(unit) - wanted_p) +
      range.distance(q.zero_point) * std::abs(std::ldexp(std::abs(unit), shift) - wanted_q) +
      std::abs(zero * unit - addition.output.zero_point);
  return fitted;
}

std::int16_t QuantizedAddition::result(std::int16_t a, std::int16_t b) const {
  const std::int64_t p = first_is_a_ ? a : b, q = first_is_a_ ? b : a;
  const std::int64_t v = (p - zero_point_) * factor_ + (q << shift_);
  return held_element(converted(v, output_), bounds_, precision_);
}

QuantizedMultiplication QuantizedMultiplication::fit(const Multiplication& multiplication,
                                                     Precision precision) {
  if (!multiplication.a || !multiplication.b) {
    throw_invalid_argument("the quantisation of {} is not known: say it",
                           multiplication.a ? "b" : "a");
  }
  const Quantization &a = *multiplication.a, &b = *multiplication.b;
  const Quantization& output = multiplication.output;
  check_quantization("a", a, precision);
  check_quantization("b", b, precision);
  check_quantization("output", output, precision);
  const detail::ElementRange range = element_range(precision);
  const Operands operands = operands_of(precision);
  const double wanted = double{a.scale} * b.scale / output.scale;
  if (!(wanted >= std::ldexp(1, operands.least_product) && wanted <= kGreatestProduct)) {
    throw_invalid_argument(
        "a scale {} * b scale {} / output scale {} is {}: right are 2^{} to 2^14", a.scale, b.scale,
        output.scale, wanted, operands.least_product);
  }
  QuantizedMultiplication fitted;
  fitted.precision_ = precision;
  fitted.bounds_ = element_bounds(multiplication.bounds, output, precision);
  fitted.a_zero_point_ = static_cast<std::int16_t>(a.zero_point);
  fitted.b_zero_point_ = static_cast<std::int16_t>(b.zero_point);
  fitted.error_ = std::numeric_limits<double>::infinity();
  const double farthest =
      std::min(static_cast<double>(range.distance(a.zero_point)) * range.distance(b.zero_point),
               range.size() / wanted);
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
  // A greater factor gives the zero point finer steps, until it is beyond 32 bits. Powers of two
  // leave what has few bits exact, others come close to the rest.
  const double greatest = std::clamp<double>(std::floor(std::ldexp(wanted, operands.fraction)), 1,
                                             std::numeric_limits<std::int16_t>::max());
  attempt(std::exp2(std::floor(std::log2(greatest))));
  for (double factor = greatest; factor > greatest / 2 && fitted.error_ > kCloseEnough; --factor)
    attempt(factor);
  return fitted;
}

std::int16_t QuantizedMultiplication::result(std::int16_t a, std::int16_t b) const {
  const std::int64_t v = std::int64_t{a - a_zero_point_} * factor_ * (b - b_zero_point_);
  return held_element(converted(v, output_), bounds_, precision_);
}

std::array<std::int8_t, 256> activation_results(const Activation& activation) {
  const std::vector<double> steps = steps_of(activation, Precision::kInt8);
  std::array<std::int8_t, 256> results = {};
  for (std::size_t i = 0; i < results.size(); ++i)
    results[i] = static_cast<std::int8_t>(
        std::clamp<double>(std::round(steps[i]) + activation.output.zero_point, -128, 127));
  return results;
}

std::vector<double> detail::wide_activation_results(const Activation& activation) {
  const ElementRange range = element_range(Precision::kInt16);
  std::vector<double> results = steps_of(activation, Precision::kInt16);
  for (double& result : results)
    result = std::clamp<double>(result + activation.output.zero_point, range.least, range.greatest);
  return results;
}

}  // namespace nvdla
