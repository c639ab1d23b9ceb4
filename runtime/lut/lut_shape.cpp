// SPDX-License-Identifier: MIT
#include "lut/lut_shape.hpp"

#include <algorithm>
#include <array>
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
  // This many are enough; the fit looks at all samples afterwards.
  static constexpr std::size_t kMax = 48;
  std::size_t count = 0;
  double entry = 0;                        // in the unit of entries
  std::array<double, kMax> distance = {};  // from the start of the line
  std::array<double, kMax> wanted = {};
  // Weights of errors: lines may pass wanted values at the limit of results.
  std::array<double, kMax> weight_above = {}, weight_below = {};
};

Beyond beyond_end(const LutProblem& p, std::span<const LutSample> samples, double anchor,
                  double entry) {
  Beyond beyond;
  beyond.count = std::min(samples.size(), Beyond::kMax);
  beyond.entry = entry;
  for (std::size_t i = 0; i < beyond.count; ++i) {
    const bool all = samples.size() <= Beyond::kMax;
    const LutSample& s = samples[all ? i : i * (samples.size() - 1) / (Beyond::kMax - 1)];
    beyond.distance[i] = s.at - anchor;
    beyond.wanted[i] = s.wanted;
    beyond.weight_above[i] = s.wanted >= p.greatest ? 0 : s.weight;
    beyond.weight_below[i] = s.wanted <= p.least ? 0 : s.weight;
  }
  return beyond;
}

// Returns the greatest error that a rise leaves.
double line_error(const LutProblem& p, const Beyond& beyond, double rise) {
  // Several at a time, of which none waits for another one. Those behind the last have no weight.
  constexpr std::size_t kLanes = 4;
  static_assert(Beyond::kMax % kLanes == 0);
  std::array<double, kLanes> worst = {};
  for (std::size_t i = 0; i < beyond.count; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      double y = beyond.entry + rise * beyond.distance[i + k];
      // Entries of fp16 are the numbers themselves.
      if (!p.real) y = (y - p.entry_zero) / p.entry_scale;
      const double miss = y - beyond.wanted[i + k];
      const double above = miss * beyond.weight_above[i + k];
      const double below = -miss * beyond.weight_below[i + k];
      worst[k] = std::max(worst[k], std::max(above, below));
    }
  }
  return std::max(std::max(worst[0], worst[1]), std::max(worst[2], worst[3]));
}

// The error is convex in the rise, so thirds find its least.
double best_rise(const LutProblem& p, const Beyond& beyond) {
  double low = 0, high = 0;
  for (std::size_t i = 0; i < beyond.count; ++i) {
    const double rise =
        (beyond.wanted[i] * p.entry_scale + p.entry_zero - beyond.entry) / beyond.distance[i];
    if (!std::isfinite(rise)) continue;
    low = std::min(low, rise);
    high = std::max(high, rise);
  }
  for (int i = 0; i < 40 && low < high; ++i) {
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
nvdla_lut_slope choose_slope(const LutProblem& p, const Beyond& beyond) {
  if (beyond.count == 0) return {0, 0};
  const nvdla_lut_slope slope = slope_of(p, best_rise(p, beyond));
  const double rise = p.real ? of_half(static_cast<std::uint16_t>(slope.scale))
                             : std::ldexp(slope.scale, -slope.shift);
  return line_error(p, beyond, rise) < line_error(p, beyond, 0) ? slope : nvdla_lut_slope{0, 0};
}

// Returns the end of a table; that of an exponential one is cut to what a register holds.
double end_of(const LutProblem& p, const LutShape& shape) {
  const double edge = upper_edge(shape);
  if (!shape.exponential) return edge;
  return std::min(
      edge, p.real ? std::ldexp(1.0, 127) : std::ldexp(1.0, static_cast<int>(p.bits) - 1) - 1);
}

}  // namespace

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

void lut_place(const LutProblem& p, const LutShape& shape, nvdla_lut& lut) {
  const bool lo = shape.table == LutTable::kLo;
  std::uint16_t* entries = lo ? lut.lo : lut.le;
  const std::vector<double> values = knot_values(p, shape);
  for (unsigned i = 0; i <= shape.last(); ++i) entries[i] = entry_of(p, values[i]);
  (lo ? lut.lo_start : lut.le_start) = p.raw(shape.start);
  (lo ? lut.lo_end : lut.le_end) = p.raw(end_of(p, shape));
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
}

nvdla_lut_slope lut_slope(const LutProblem& p, const LutShape& shape, const nvdla_lut& lut,
                          LutSide end, const std::vector<LutSample>& samples) {
  const std::uint16_t* entries = shape.table == LutTable::kLo ? lut.lo : lut.le;
  if (end == LutSide::kUnderflow) {
    const double anchor = lower_edge(shape);
    const auto last = std::lower_bound(samples.begin(), samples.end(), anchor,
                                       [](const LutSample& s, double at) { return s.at < at; });
    return choose_slope(p,
                        beyond_end(p, {samples.begin(), last}, anchor, number_of(p, entries[0])));
  }
  const double anchor = end_of(p, shape);
  const auto first = std::upper_bound(samples.begin(), samples.end(), anchor,
                                      [](double at, const LutSample& s) { return at < s.at; });
  return choose_slope(
      p, beyond_end(p, {first, samples.end()}, anchor, number_of(p, entries[shape.last()])));
}

}  // namespace nvdla::detail
