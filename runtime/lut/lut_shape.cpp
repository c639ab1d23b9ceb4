// SPDX-License-Identifier: MIT
#include "lut/lut_shape.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "support/float.hpp"

namespace nvdla::detail {
namespace {

constexpr double kMostHalf = 65504;

std::uint16_t half(double value) {
  const auto nearest = static_cast<float>(std::clamp(value, -kMostHalf, kMostHalf));
  return fp::narrow<fp::Fp32>(std::bit_cast<std::uint32_t>(nearest));
}

double of_half(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(fp::widen<fp::Fp32>(bits)));
}

std::uint16_t entry_of(const LutProblem& p, double y) {
  if (p.real) return half(y);
  const double entry = std::clamp(std::round(y * p.entry_scale + p.entry_zero), -32768.0, 32767.0);
  return static_cast<std::uint16_t>(static_cast<std::int16_t>(entry));
}

// In the unit of entries.
double number_of(const LutProblem& p, std::uint16_t entry) {
  return p.real ? of_half(entry) : static_cast<std::int16_t>(entry);
}

// Moves the values of knots from..to.
template <typename ValueAt>
void balance(const LutProblem& p, const LutShape& shape, unsigned from, unsigned to,
             const ValueAt& value_at, std::vector<double>& values) {
  const std::vector<double> knots = values;
  for (unsigned i = from; i < to; ++i) {
    // Without an input between them two knots have nothing to give up.
    if (!p.real && shape.knot(i + 1) - shape.knot(i) <= 1) continue;
    const double middle = (shape.knot(i) + shape.knot(i + 1)) / 2;
    const double miss = value_at(middle) - (knots[i] + knots[i + 1]) / 2;
    values[i] += miss / (i == from ? 2 : 4);
    values[i + 1] += miss / (i + 1 == to ? 2 : 4);
  }
}

// The function is known in first..last only. A knot beyond gets what makes the line from the last
// knot inside meet the function at the end.
std::vector<double> knot_values(const LutProblem& p, const LutShape& shape) {
  const unsigned count = shape.last() + 1;
  const auto value_at = [&](double at) { return p.function((at - p.zero) * p.scale); };
  std::vector<double> values(count, 0);
  unsigned from = count, to = 0;  // of the knots inside
  for (unsigned i = 0; i < count; ++i) {
    const double at = shape.knot(i);
    if (at < p.first || at > p.last) continue;
    values[i] = value_at(at);
    from = std::min(from, i);
    to = i;
  }
  const double low = value_at(p.first);
  const double high = value_at(p.last);
  if (shape.balanced) balance(p, shape, from, to, value_at, values);
  // The line through (a, at_a) and (b, at_b), or level where they are the same place.
  const auto line = [](double a, double at_a, double b, double at_b, double at) {
    return a == b ? at_a : at_a + (at_b - at_a) * ((at - a) / (b - a));
  };
  if (from == count) {
    // All inputs lie between two knots, or beside the table.
    for (unsigned i = 0; i < count; ++i)
      values[i] = line(p.first, low, p.last, high,
                       std::clamp(shape.knot(i), 2 * p.first - p.last, 2 * p.last - p.first));
    return values;
  }
  if (from > 0) {
    const double outside = line(shape.knot(from), values[from], p.first, low, shape.knot(from - 1));
    std::fill_n(values.begin(), from, outside);
  }
  if (to + 1 < count) {
    const double outside = line(shape.knot(to), values[to], p.last, high, shape.knot(to + 1));
    std::fill(values.begin() + to + 1, values.end(), outside);
  }
  return values;
}

// The nearest slope that registers can hold: entries per input.
nvdla_lut_slope slope_of(const LutProblem& p, double rise) {
  if (p.real) return {half(rise), 0};
  if (rise == 0) return {0, 0};
  int exponent = 0;
  std::frexp(rise, &exponent);
  int shift = std::clamp(15 - exponent, -16, 15);
  double scale = std::round(std::ldexp(rise, shift));
  if (std::abs(scale) > 32767 && shift > -16) scale = std::round(std::ldexp(rise, --shift));
  return {static_cast<std::int32_t>(std::clamp(scale, -32768.0, 32767.0)), shift};
}

// Samples that one end of the table leaves to a line, and where the line starts.
struct Beyond {
  std::vector<const LutSample*> samples;
  double anchor = 0;  // as an input
  double entry = 0;   // in the unit of entries
};

// What a rise leaves as the greatest error. Wanted values at the limit of results may be passed.
double line_error(const LutProblem& p, const Beyond& beyond, double rise) {
  double worst = 0;
  for (const LutSample* s : beyond.samples) {
    const double y = (beyond.entry + rise * (s->at - beyond.anchor) - p.entry_zero) / p.entry_scale;
    const double miss = y - s->wanted;
    if (s->wanted >= p.greatest && miss > 0) continue;
    if (s->wanted <= p.least && miss < 0) continue;
    worst = std::max(worst, std::abs(miss) * s->weight);
  }
  return worst;
}

// The error is convex in the rise, so thirds find its least.
double best_rise(const LutProblem& p, const Beyond& beyond) {
  double low = 0, high = 0;
  for (const LutSample* s : beyond.samples) {
    const double rise =
        (s->wanted * p.entry_scale + p.entry_zero - beyond.entry) / (s->at - beyond.anchor);
    if (!std::isfinite(rise)) continue;
    low = std::min(low, rise);
    high = std::max(high, rise);
  }
  for (int i = 0; i < 40; ++i) {
    const double a = low + (high - low) / 3;
    const double b = high - (high - low) / 3;
    if (line_error(p, beyond, a) <= line_error(p, beyond, b)) {
      high = b;
    } else {
      low = a;
    }
  }
  return (low + high) / 2;
}

// Level, or as steep as fits best: whichever does better once it is rounded.
nvdla_lut_slope choose_slope(const LutProblem& p, Beyond& beyond) {
  if (beyond.samples.empty()) return {0, 0};
  // As many as it takes; the fit looks at all of them afterwards.
  constexpr std::size_t kEnough = 48;
  if (const std::size_t count = beyond.samples.size(); count > kEnough) {
    std::vector<const LutSample*> some;
    for (std::size_t i = 0; i < kEnough; ++i)
      some.push_back(beyond.samples[i * (count - 1) / (kEnough - 1)]);
    beyond.samples = std::move(some);
  }
  const nvdla_lut_slope slope = slope_of(p, best_rise(p, beyond));
  const double rise = p.real ? of_half(static_cast<std::uint16_t>(slope.scale))
                             : std::ldexp(slope.scale, -slope.shift);
  return line_error(p, beyond, rise) < line_error(p, beyond, 0) ? slope : nvdla_lut_slope{0, 0};
}

}  // namespace

double LutShape::knot(unsigned index) const noexcept {
  return exponential ? start + std::ldexp(1.0, log + static_cast<int>(index))
                     : start + std::ldexp(index, log);
}

std::int64_t LutProblem::raw(double at) const {
  if (!real) return static_cast<std::int64_t>(at);
  return std::bit_cast<std::uint32_t>(static_cast<float>(at));
}

LutSample LutProblem::sample(double at) const {
  LutSample s{raw(at), at, std::clamp(function((at - zero) * scale), least, greatest), weight(at)};
  if (real) s.weight /= std::max(1.0, s.weight * std::abs(s.wanted));
  return s;
}

double LutProblem::error(const LutSample& sample, std::int64_t value) const {
  return std::abs(result(value) - sample.wanted) * sample.weight;
}

void lut_place(const LutProblem& p, const std::vector<LutSample>& samples, const LutShape& shape,
               nvdla_lut& lut) {
  const bool lo = shape.table == LutTable::kLo;
  std::uint16_t* entries = lo ? lut.lo : lut.le;
  const std::vector<double> values = knot_values(p, shape);
  for (unsigned i = 0; i <= shape.last(); ++i) entries[i] = entry_of(p, values[i]);

  // Of an exponential table the end may be beyond what a register holds; nothing is then.
  const double end =
      shape.exponential
          ? std::min(upper_edge(shape), p.real ? std::ldexp(1.0, 127)
                                               : std::ldexp(1.0, static_cast<int>(p.bits) - 1) - 1)
          : upper_edge(shape);
  (lo ? lut.lo_start : lut.le_start) = p.raw(shape.start);
  (lo ? lut.lo_end : lut.le_end) = p.raw(end);
  if (lo) {
    lut.lo_index_select = shape.log;
  } else if (shape.exponential) {
    lut.flags &= ~std::uint32_t{NVDLA_LUT_LE_LINEAR};
    lut.le_index_offset = shape.log;
    lut.le_index_select = 0;
  } else {
    lut.flags |= NVDLA_LUT_LE_LINEAR;
    lut.le_index_offset = 0;
    lut.le_index_select = shape.log;
  }

  Beyond below{{}, lower_edge(shape), number_of(p, entries[0])};
  Beyond above{{}, end, number_of(p, entries[shape.last()])};
  for (const LutSample& s : samples) {
    if (s.at < lower_edge(shape)) below.samples.push_back(&s);
    if (s.at > end) above.samples.push_back(&s);
  }
  (lo ? lut.lo_underflow : lut.le_underflow) = choose_slope(p, below);
  (lo ? lut.lo_overflow : lut.le_overflow) = choose_slope(p, above);
}

}  // namespace nvdla::detail
