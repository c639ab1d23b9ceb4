// SPDX-License-Identifier: MIT
#include "lut/lut_eval.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "support/float.hpp"

namespace nvdla::detail {
namespace {

using fp::Fp17;
using fp::Fp32;

// Half of 128 bits is room for every product of an input and a slope.
constexpr int kMostShift = 62;

struct View {
  bool sdp = true;
  bool exponential = false;
  int first_log = 0;  // of the first step, exponential
  int step_log = 0;   // of all steps, linear
  const std::uint16_t* entries = nullptr;
  unsigned last = 0;
  std::int64_t start = 0, end = 0;
  nvdla_lut_slope underflow = {}, overflow = {};
};

View view_of(const nvdla_lut& lut, LutTable table) {
  View v;
  v.sdp = lut.unit == NVDLA_LUT_SDP;
  if (table == LutTable::kLo) {
    v.step_log = lut.lo_index_select;
    v.entries = lut.lo;
    v.last = NVDLA_LUT_LO_ENTRIES - 1;
    v.start = lut.lo_start;
    v.end = lut.lo_end;
    v.underflow = lut.lo_underflow;
    v.overflow = lut.lo_overflow;
    return v;
  }
  v.exponential = (lut.flags & NVDLA_LUT_LE_LINEAR) == 0;
  v.first_log = lut.le_index_offset;
  v.step_log = lut.le_index_select;
  v.entries = lut.le;
  v.last = NVDLA_LUT_LE_ENTRIES - 1;
  v.start = lut.le_start;
  v.end = lut.le_end;
  v.underflow = lut.le_underflow;
  v.overflow = lut.le_overflow;
  return v;
}

// SDP has a fraction of 35 bits, CDP one of 16; what is below is dropped.
int fraction_bits(const View& v) { return v.sdp ? 35 : 16; }

struct Place {
  LutSide side = LutSide::kHit;
  unsigned index = 0;
  std::uint64_t fraction = 0;
};

Place hit_or_over(const View& v, std::uint64_t index, std::uint64_t fraction) {
  if (index >= v.last) return {LutSide::kOverflow, v.last, 0};
  return {LutSide::kHit, static_cast<unsigned>(index), fraction};
}

Place find_integer(const View& v, std::int64_t x) {
  if (x <= v.start) return {LutSide::kUnderflow, 0, 0};
  const auto distance = static_cast<std::uint64_t>(x - v.start);
  // `part` of 2^log, as a fraction.
  const auto fraction = [&](std::uint64_t part, int log) {
    const int shift = fraction_bits(v) - log;
    return shift >= 0 ? part << shift : part >> -shift;
  };
  if (v.exponential) {
    const int log = std::bit_width(distance) - 1;
    if (log < v.first_log) return {LutSide::kUnderflow, 0, 0};
    return hit_or_over(v, static_cast<std::uint64_t>(log - v.first_log),
                       fraction(distance - (std::uint64_t{1} << log), log));
  }
  if (v.step_log > 0) {
    const std::uint64_t index = distance >> v.step_log;
    return hit_or_over(v, index, fraction(distance - (index << v.step_log), v.step_log));
  }
  // Steps of at most one: every input falls on an entry.
  return hit_or_over(v, std::min<std::uint64_t>(distance, v.last) << -v.step_log, 0);
}

float number(std::uint32_t fp32) { return std::bit_cast<float>(fp32); }

Place find_real(const View& v, std::uint32_t x) {
  const std::uint32_t bits = fp::sub<Fp32>(x, static_cast<std::uint32_t>(v.start));
  const float distance = number(bits);
  if (!(distance > 0)) return {LutSide::kUnderflow, 0, 0};
  const auto fixed = [&](double fraction) {
    return static_cast<std::uint64_t>(std::ldexp(fraction, fraction_bits(v)));
  };
  if (v.exponential) {
    int log = 0;
    const double significand = 2 * std::frexp(static_cast<double>(distance), &log);
    --log;
    if (log < v.first_log) return {LutSide::kUnderflow, 0, 0};
    return hit_or_over(v, static_cast<std::uint64_t>(log - v.first_log), fixed(significand - 1));
  }
  const double steps = std::ldexp(static_cast<double>(distance), -v.step_log);
  if (steps >= v.last) return {LutSide::kOverflow, v.last, 0};
  const double index = std::floor(steps);
  return {LutSide::kHit, static_cast<unsigned>(index), fixed(steps - index)};
}

LutWide saturate(LutWide value, int bits) {
  const LutWide limit = LutWide{1} << (bits - 1);
  return std::clamp<LutWide>(value, -limit, limit - 1);
}

std::int64_t answer_integer(const View& v, const Place& place, std::int64_t x) {
  const auto entry = [&](unsigned i) { return LutWide{static_cast<std::int16_t>(v.entries[i])}; };
  const int bits = fraction_bits(v);
  const auto fraction = static_cast<LutWide>(place.fraction);
  if (place.side == LutSide::kHit) {
    const LutWide low = entry(place.index);
    const LutWide high = entry(place.index + 1);
    if (v.sdp) {
      const LutWide one = LutWide{1} << bits;
      return static_cast<std::int64_t>(
          saturate(round_shift(low * (one - fraction) + high * fraction, bits), 32));
    }
    return static_cast<std::int64_t>(
        saturate(low + round_shift((high - low) * fraction, bits), 16));
  }
  const bool under = place.side == LutSide::kUnderflow;
  const nvdla_lut_slope& slope = under ? v.underflow : v.overflow;
  LutWide distance = LutWide{x} - (under ? v.start : v.end);
  // An exponential table begins one first step above its start. SDP knows that only of steps
  // above 1.
  const int least = v.sdp ? 1 : 0;
  if (under && v.exponential && v.first_log >= least && v.first_log <= kMostShift)
    distance -= LutWide{1} << v.first_log;
  const LutWide rise = saturate(round_shift(distance * slope.scale, slope.shift), v.sdp ? 32 : 56);
  return static_cast<std::int64_t>(saturate(entry(under ? 0 : v.last) + rise, v.sdp ? 32 : 16));
}

// SDP weighs both entries, CDP adds a part of their difference; all in fp17.
std::uint32_t answer_real(const View& v, const Place& place, std::uint32_t x) {
  const int bits = fraction_bits(v);
  if (place.side == LutSide::kHit) {
    const std::uint32_t low = fp::widen<Fp17>(v.entries[place.index]);
    const std::uint32_t high = fp::widen<Fp17>(v.entries[place.index + 1]);
    const std::uint32_t weight = fp::from_integer<Fp17>(place.fraction, -bits);
    if (v.sdp) {
      const std::uint64_t rest = (std::uint64_t{1} << bits) - place.fraction;
      return fp::add<Fp17>(fp::mul<Fp17>(fp::from_integer<Fp17>(rest, -bits), low),
                           fp::mul<Fp17>(weight, high));
    }
    const std::uint32_t difference =
        fp::fp32_to_fp17(fp::sub<Fp32>(fp::fp17_to_fp32(high), fp::fp17_to_fp32(low)));
    return fp::add<Fp17>(fp::mul<Fp17>(difference, weight), low);
  }
  const bool under = place.side == LutSide::kUnderflow;
  auto anchor = static_cast<std::uint32_t>(under ? v.start : v.end);
  if (under && v.exponential)
    anchor = fp::add<Fp32>(anchor, fp::from_integer<Fp32>(1, v.first_log));
  const std::uint32_t distance = fp::fp32_to_fp17(fp::sub<Fp32>(x, anchor));
  const auto slope = static_cast<std::uint16_t>((under ? v.underflow : v.overflow).scale);
  return fp::add<Fp17>(fp::widen<Fp17>(v.entries[under ? 0 : v.last]),
                       fp::mul<Fp17>(distance, fp::widen<Fp17>(slope)));
}

}  // namespace

LutAnswer lut_answer(const nvdla_lut& lut, LutTable table, bool real, std::int64_t x) {
  const View v = view_of(lut, table);
  if (!real) {
    const Place place = find_integer(v, x);
    return {place.side, answer_integer(v, place, x)};
  }
  const auto bits = static_cast<std::uint32_t>(x);
  const Place place = find_real(v, bits);
  const std::uint32_t value = answer_real(v, place, bits);
  return {place.side, v.sdp ? fp::fp17_to_fp32(value) : value};
}

LutTable lut_choice(std::uint32_t flags, LutSide le, LutSide lo) {
  const auto by = [&](std::uint32_t flag) {
    return (flags & flag) != 0 ? LutTable::kLo : LutTable::kLe;
  };
  if (le == LutSide::kHit && lo != LutSide::kHit) return LutTable::kLe;
  if (lo == LutSide::kHit && le != LutSide::kHit) return LutTable::kLo;
  if (le == LutSide::kUnderflow && lo == LutSide::kUnderflow) return by(NVDLA_LUT_UNDERFLOW_LO);
  if (le == LutSide::kOverflow && lo == LutSide::kOverflow) return by(NVDLA_LUT_OVERFLOW_LO);
  return by(NVDLA_LUT_HYBRID_LO);
}

std::int64_t lut_evaluate(const nvdla_lut& lut, bool real, std::int64_t x) {
  const LutAnswer le = lut_answer(lut, LutTable::kLe, real, x);
  const LutAnswer lo = lut_answer(lut, LutTable::kLo, real, x);
  return lut_choice(lut.flags, le.side, lo.side) == LutTable::kLo ? lo.value : le.value;
}

}  // namespace nvdla::detail
