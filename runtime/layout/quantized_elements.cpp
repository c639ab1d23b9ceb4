// SPDX-License-Identifier: MIT
#include "nvdla/quantized_elements.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "arith/integers.hpp"
#include "base/check.hpp"
#include "layout/quantized.hpp"
#include "nvdla/layer.hpp"

namespace nvdla {
namespace {

using detail::check_quantization;
using detail::refuse_argument;
using Limits8 = std::numeric_limits<std::int8_t>;

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
  if (addition.relu) {
    bounds.least = std::max(bounds.least, addition.output.zero_point);
    bounds.greatest = std::max(bounds.greatest, bounds.least);
  }
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
  const double unit = std::ldexp(fitted.output_.scale, -static_cast<int>(fitted.output_.shift));
  const double zero = std::round(addition.output.zero_point / unit);
  const double offset = std::ldexp(q.zero_point, shift) - zero;
  if (std::abs(offset) > std::numeric_limits<std::int32_t>::max()) {
    refuse_argument("the output's scale {} is too great beside {} of a and {} of b",
                    addition.output.scale, addition.a->scale, addition.b->scale);
  }
  fitted.output_.offset = static_cast<std::int32_t>(offset);
  fitted.error_ = greatest_distance(p.zero_point) * std::abs(factor * unit - wanted_p) +
                  greatest_distance(q.zero_point) * std::abs(std::ldexp(unit, shift) - wanted_q) +
                  std::abs(zero * unit - addition.output.zero_point);
  return fitted;
}

std::int8_t QuantizedAddition::result(std::int8_t a, std::int8_t b) const {
  const std::int64_t p = first_is_a_ ? a : b, q = first_is_a_ ? b : a;
  const std::int64_t v = (p - zero_point_) * factor_ + (q << shift_);
  const arith::Wide product = arith::Wide{v - output_.offset} * output_.scale;
  const arith::Wide element = arith::round_shift(product, static_cast<int>(output_.shift));
  return held8(static_cast<std::int64_t>(element), bounds_);
}

}  // namespace nvdla
