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

float number(std::uint32_t fp32) { return std::bit_cast<float>(fp32); }

LutWide saturate(LutWide value, int bits) {
  const LutWide limit = LutWide{1} << (bits - 1);
  return std::clamp<LutWide>(value, -limit, limit - 1);
}

}  // namespace

LutReader::LutReader(const nvdla_lut& lut, LutTable table, bool real)
    : sdp_(lut.unit == NVDLA_LUT_SDP), real_(real) {
  if (table == LutTable::kLo) {
    step_log_ = lut.lo_index_select;
    entries_ = lut.lo;
    last_ = NVDLA_LUT_LO_ENTRIES - 1;
    start_ = lut.lo_start;
    end_ = lut.lo_end;
    underflow_ = lut.lo_underflow;
    overflow_ = lut.lo_overflow;
  } else {
    exponential_ = (lut.flags & NVDLA_LUT_LE_LINEAR) == 0;
    first_log_ = lut.le_index_offset;
    step_log_ = lut.le_index_select;
    entries_ = lut.le;
    last_ = NVDLA_LUT_LE_ENTRIES - 1;
    start_ = lut.le_start;
    end_ = lut.le_end;
    underflow_ = lut.le_underflow;
    overflow_ = lut.le_overflow;
  }
  steps_ = std::ldexp(1.0, -step_log_);
}

LutReader::Place LutReader::hit_or_over(std::uint64_t index, std::uint64_t fraction) const {
  if (index >= last_) return {LutSide::kOverflow, last_, 0};
  return {LutSide::kHit, static_cast<unsigned>(index), fraction};
}

LutReader::Place LutReader::find_integer(std::int64_t x) const {
  if (x <= start_) return {LutSide::kUnderflow, 0, 0};
  const auto distance = static_cast<std::uint64_t>(x - start_);
  // `part` of 2^log, as a fraction.
  const auto fraction = [&](std::uint64_t part, int log) {
    const int shift = fraction_bits() - log;
    return shift >= 0 ? part << shift : part >> -shift;
  };
  if (exponential_) {
    const int log = std::bit_width(distance) - 1;
    if (log < first_log_) return {LutSide::kUnderflow, 0, 0};
    return hit_or_over(static_cast<std::uint64_t>(log - first_log_),
                       fraction(distance - (std::uint64_t{1} << log), log));
  }
  if (step_log_ > 0) {
    const std::uint64_t index = distance >> step_log_;
    return hit_or_over(index, fraction(distance - (index << step_log_), step_log_));
  }
  // Steps of at most one: every input falls on an entry.
  return hit_or_over(std::min<std::uint64_t>(distance, last_) << -step_log_, 0);
}

LutReader::Place LutReader::find_real(std::uint32_t x) const {
  const std::uint32_t bits = fp::sub<Fp32>(x, static_cast<std::uint32_t>(start_));
  const float distance = number(bits);
  if (!(distance > 0)) return {LutSide::kUnderflow, 0, 0};
  if (exponential_) {
    // The distance is no denormal, so that its pattern has its logarithm.
    const int log = static_cast<int>(bits >> Fp32::kMantissaBits) - Fp32::kBias;
    if (log < first_log_) return {LutSide::kUnderflow, 0, 0};
    const int shift = fraction_bits() - static_cast<int>(Fp32::kMantissaBits);
    const std::uint64_t mantissa = bits & Fp32::kMantissa;
    return hit_or_over(static_cast<std::uint64_t>(log - first_log_),
                       shift >= 0 ? mantissa << shift : mantissa >> -shift);
  }
  const double steps = static_cast<double>(distance) * steps_;
  if (steps >= last_) return {LutSide::kOverflow, last_, 0};
  const auto index = static_cast<unsigned>(steps);
  const auto one = static_cast<double>(std::uint64_t{1} << fraction_bits());
  return {LutSide::kHit, index, static_cast<std::uint64_t>((steps - index) * one)};
}

std::int64_t LutReader::answer_integer(const Place& place, std::int64_t x) const {
  const auto entry = [&](unsigned i) { return LutWide{static_cast<std::int16_t>(entries_[i])}; };
  const int bits = fraction_bits();
  const auto fraction = static_cast<LutWide>(place.fraction);
  if (place.side == LutSide::kHit) {
    const LutWide low = entry(place.index);
    const LutWide high = entry(place.index + 1);
    if (sdp_) {
      const LutWide one = LutWide{1} << bits;
      return static_cast<std::int64_t>(
          saturate(round_shift(low * (one - fraction) + high * fraction, bits), 32));
    }
    return static_cast<std::int64_t>(
        saturate(low + round_shift((high - low) * fraction, bits), 16));
  }
  const bool under = place.side == LutSide::kUnderflow;
  const nvdla_lut_slope& slope = under ? underflow_ : overflow_;
  LutWide distance = LutWide{x} - (under ? start_ : end_);
  // An exponential table begins one first step above its start. SDP knows that only of steps
  // above 1.
  const int least = sdp_ ? 1 : 0;
  if (under && exponential_ && first_log_ >= least && first_log_ <= kMostShift)
    distance -= LutWide{1} << first_log_;
  const LutWide rise = saturate(round_shift(distance * slope.scale, slope.shift), sdp_ ? 32 : 56);
  return static_cast<std::int64_t>(saturate(entry(under ? 0 : last_) + rise, sdp_ ? 32 : 16));
}

// SDP weighs both entries, CDP adds a part of their difference; all in fp17.
std::uint32_t LutReader::answer_real(const Place& place, std::uint32_t x) const {
  const int bits = fraction_bits();
  if (place.side == LutSide::kHit) {
    const std::uint32_t low = fp::widen<Fp17>(entries_[place.index]);
    const std::uint32_t high = fp::widen<Fp17>(entries_[place.index + 1]);
    const std::uint32_t weight = fp::from_integer<Fp17>(place.fraction, -bits);
    if (sdp_) {
      const std::uint64_t rest = (std::uint64_t{1} << bits) - place.fraction;
      return fp::add<Fp17>(fp::mul<Fp17>(fp::from_integer<Fp17>(rest, -bits), low),
                           fp::mul<Fp17>(weight, high));
    }
    const std::uint32_t difference =
        fp::fp32_to_fp17(fp::sub<Fp32>(fp::fp17_to_fp32(high), fp::fp17_to_fp32(low)));
    return fp::add<Fp17>(fp::mul<Fp17>(difference, weight), low);
  }
  const bool under = place.side == LutSide::kUnderflow;
  auto anchor = static_cast<std::uint32_t>(under ? start_ : end_);
  if (under && exponential_) anchor = fp::add<Fp32>(anchor, fp::from_integer<Fp32>(1, first_log_));
  const std::uint32_t distance = fp::fp32_to_fp17(fp::sub<Fp32>(x, anchor));
  const auto slope = static_cast<std::uint16_t>((under ? underflow_ : overflow_).scale);
  return fp::add<Fp17>(fp::widen<Fp17>(entries_[under ? 0 : last_]),
                       fp::mul<Fp17>(distance, fp::widen<Fp17>(slope)));
}

LutAnswer LutReader::answer(std::int64_t x) const {
  const Place place = find(x);
  if (!real_) return {place.side, answer_integer(place, x)};
  const std::uint32_t value = answer_real(place, static_cast<std::uint32_t>(x));
  return {place.side, sdp_ ? fp::fp17_to_fp32(value) : value};
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

std::int64_t LutPair::evaluate(std::int64_t x) const {
  const LutAnswer le = le_.answer(x);
  const LutAnswer lo = lo_.answer(x);
  return lut_choice(flags_, le.side, lo.side) == LutTable::kLo ? lo.value : le.value;
}

}  // namespace nvdla::detail
