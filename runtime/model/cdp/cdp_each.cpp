// SPDX-License-Identifier: MIT
//
// Columns of CDP one element after the other, by definition: where the kernels' arithmetic does not
// reach.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "model/cdp/cdp_pass.hpp"
#include "support/float.hpp"
#include "support/integers.hpp"

namespace nvdla::model {
namespace {

using fp::Fp16;
using fp::Fp17;
using fp::Fp32;

// Interpolation uses only these bits of a fraction.
constexpr unsigned kEntryFractionBits = 16;

template <typename Integer>
std::int64_t saturate(Integer value, unsigned bits) {
  const Integer limit = Integer{1} << (bits - 1);
  return static_cast<std::int64_t>(std::clamp<Integer>(value, -limit, limit - 1));
}

std::uint64_t short_fraction(std::uint64_t fraction) {
  return fraction >> (64 - kEntryFractionBits);
}

// Documented OFFSETs of integer tables end at 36. From this value on every slope but 0 saturates,
// while the distance that the slope multiplies still fits the arithmetic.
constexpr int kMostEntryBias = 62;

std::int64_t interpolate(const LutTable& table, const LutPlace& place, std::int64_t x) {
  if (place.side == LutSide::kHit) {
    const std::int64_t low = table.entries[place.index];
    const std::int64_t high = table.entries[place.index + 1];
    const auto fraction = static_cast<std::int64_t>(short_fraction(place.fraction));
    return saturate(low + arith::round_shift((high - low) * fraction, kEntryFractionBits), 16);
  }
  const bool under = place.side == LutSide::kUnderflow;
  arith::Wide distance = arith::Wide{x} - (under ? table.start : table.end);
  if (under && table.exponential && table.offset >= 0)
    distance -= arith::Wide{1} << std::min(table.offset, kMostEntryBias);
  const arith::Wide slope = under ? table.underflow_scale : table.overflow_scale;
  const int shift = under ? table.underflow_shift : table.overflow_shift;
  const std::int64_t step = saturate(arith::round_shift(distance * slope, shift), 56);
  return saturate(arith::Wide{table.entries[under ? 0 : table.last]} + step, 16);
}

std::uint32_t half_bits(std::int16_t entry) { return static_cast<std::uint16_t>(entry); }

// `x` is fp32, the result fp17.
std::uint32_t interpolate_fp(const LutTable& table, const LutPlace& place, std::uint32_t x) {
  if (place.side == LutSide::kHit) {
    const std::uint32_t low = half_bits(table.entries[place.index]);
    const std::uint32_t high = half_bits(table.entries[place.index + 1]);
    const std::uint32_t rise =
        fp::fp32_to_fp17(fp::sub<Fp32>(fp::widen<Fp32>(high), fp::widen<Fp32>(low)));
    const std::uint32_t fraction = fp::from_integer<Fp17>(short_fraction(place.fraction),
                                                          -static_cast<int>(kEntryFractionBits));
    // The product is the first operand, which decides the sign of an exact zero.
    return fp::add<Fp17>(fp::mul<Fp17>(rise, fraction), fp::widen<Fp17>(low));
  }
  const bool under = place.side == LutSide::kUnderflow;
  std::uint32_t anchor = static_cast<std::uint32_t>(under ? table.start : table.end);
  if (under && table.exponential)
    anchor = fp::add<Fp32>(anchor, fp::from_integer<Fp32>(1, table.offset));
  const std::uint32_t distance = fp::fp32_to_fp17(fp::sub<Fp32>(x, anchor));
  const std::uint32_t slope =
      fp::widen<Fp17>(half_bits(under ? table.underflow_scale : table.overflow_scale));
  return fp::add<Fp17>(fp::widen<Fp17>(half_bits(table.entries[under ? 0 : table.last])),
                       fp::mul<Fp17>(distance, slope));
}

void count_place(LutSide le, LutSide lo, CdpCounters& counters) noexcept {
  if (le == lo) {
    switch (le) {
      case LutSide::kUnderflow:
        ++counters.underflow;
        return;
      case LutSide::kOverflow:
        ++counters.overflow;
        return;
      case LutSide::kHit:
        ++counters.hybrid;
        return;
    }
  }
  if (le == LutSide::kHit) {
    ++counters.le_hit;
  } else if (lo == LutSide::kHit) {
    ++counters.lo_hit;
  } else {
    ++counters.hybrid;
  }
}

}  // namespace

template <typename Element>
void CdpPass::normalise_int(std::byte* column, Worker& worker) const {
  constexpr bool kBytes = sizeof(Element) == 1;
  constexpr unsigned kInBits = kBytes ? 9 : 17;
  constexpr unsigned kOutBits = kBytes ? 8 : 16;
  auto* elements = reinterpret_cast<Element*>(column);
  const std::size_t lanes = column_bytes_ / sizeof(Element);
  const std::size_t channels = layer_.rdma.channels;
  std::int64_t* values = worker.int_values.data() + kCdpReach;
  std::int64_t* squares = worker.int_squares.data() + kCdpReach;
  // Lanes beyond the last channel are zeros after the converter.
  for (std::size_t c = 0; c < channels; ++c)
    values[c] = saturate(arith::round_shift((elements[c] - layer_.in.offset) * layer_.in.scale,
                                            static_cast<int>(layer_.in.shift)),
                         kInBits);
  for (std::size_t c = 0; c < channels; ++c) squares[c] = values[c] * values[c];

  const int reach = static_cast<int>(layer_.reach);
  for (std::size_t c = 0; c < lanes; ++c) {
    std::int64_t index = values[c];
    if (!layer_.bypass_square_sum) {
      index = 0;
      for (int i = -reach; i <= reach; ++i) index += squares[static_cast<std::ptrdiff_t>(c) + i];
    }
    const LutPlace le = lut_find(layer_.lut.le, index);
    const LutPlace lo = lut_find(layer_.lut.lo, index);
    count_place(le.side, lo.side, worker.counters);
    std::int64_t result = lut_choose_lo(layer_.lut, le.side, lo.side)
                              ? interpolate(layer_.lut.lo, lo, index)
                              : interpolate(layer_.lut.le, le, index);
    if (!layer_.bypass_multiplier) result *= values[c];
    // 50 bits at most.
    const std::int64_t product = (result - layer_.out.offset) * layer_.out.scale;
    const std::int64_t rounded = arith::round_shift(product, static_cast<int>(layer_.out.shift));
    const std::int64_t out = saturate(rounded, kOutBits);
    // The logic counts a saturation where the output and the truncated product differ by more than
    // one.
    const std::int64_t off = (product >> layer_.out.shift) - out;
    worker.counters.saturated += off > 1 || off < -1 ? 1 : 0;
    elements[c] = static_cast<Element>(out);
  }
}

void CdpPass::normalise_fp16(std::byte* column, Worker& worker) const {
  auto* elements = reinterpret_cast<std::uint16_t*>(column);
  const std::size_t lanes = column_bytes_ / sizeof(*elements);
  const fp::Specials in = fp::count_specials({elements, lanes});
  worker.counters.nan_in += in.nan;
  worker.counters.infinite_in += in.infinite;
  const std::size_t channels = layer_.rdma.channels;
  std::uint32_t* values = worker.fp_values.data() + kCdpReach;
  std::uint32_t* squares = worker.fp_squares.data() + kCdpReach;
  for (std::size_t c = 0; c < channels; ++c) {
    const std::uint32_t element = layer_.flush_nan ? fp::flush_nan<Fp16>(elements[c]) : elements[c];
    values[c] = fp::widen<Fp17>(element);
    const std::uint32_t wide = fp::fp17_to_fp32(values[c]);
    squares[c] = fp::mul<Fp32>(wide, wide);
  }

  const int reach = static_cast<int>(layer_.reach);
  for (std::size_t c = 0; c < lanes; ++c) {
    const auto at = static_cast<std::ptrdiff_t>(c);
    std::uint32_t index;
    if (layer_.bypass_square_sum) {
      index = fp::fp17_to_fp32(values[c]);
    } else {
      index = fp::add<Fp32>(fp::add<Fp32>(squares[at - 1], squares[at + 1]), squares[at]);
      for (int i = 2; i <= reach; ++i)
        index = fp::add<Fp32>(index, fp::add<Fp32>(squares[at - i], squares[at + i]));
    }
    const LutPlace le = lut_find_fp(layer_.lut.le, index);
    const LutPlace lo = lut_find_fp(layer_.lut.lo, index);
    count_place(le.side, lo.side, worker.counters);
    std::uint32_t result = lut_choose_lo(layer_.lut, le.side, lo.side)
                               ? interpolate_fp(layer_.lut.lo, lo, index)
                               : interpolate_fp(layer_.lut.le, le, index);
    if (!layer_.bypass_multiplier) {
      // If both operands are NaNs, the result is the input's.
      result = fp::mul<Fp17>(values[c], result);
    } else if (fp::is_nan<Fp17>(values[c])) {
      result = values[c];
    }
    const std::uint16_t out = fp::narrow<Fp17>(result);
    worker.counters.nan_out += fp::is_nan<Fp16>(out) ? 1 : 0;
    elements[c] = out;
  }
}

void CdpPass::normalise_each(std::byte* column, Worker& worker) const {
  switch (layer_.precision) {
    case Precision::kInt8:
      return normalise_int<std::int8_t>(column, worker);
    case Precision::kInt16:
      return normalise_int<std::int16_t>(column, worker);
    case Precision::kFp16:
      return normalise_fp16(column, worker);
  }
}

}  // namespace nvdla::model
