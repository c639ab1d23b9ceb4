// SPDX-License-Identifier: MIT
#include <bit>

#include "rounding.hpp"

namespace networks {
namespace {

// The position of an input: before the table, behind it, or at a fraction of an interval.
struct Spot {
  enum { kBefore, kInside, kBehind } side = kBefore;
  std::int64_t index = 0;
  std::int64_t part = 0;  // fraction of the interval, in units of 2^-35 in SDP, 2^-16 in CDP
};

// One of the two tables.
struct Table {
  const std::uint16_t* entries;
  std::int64_t last;  // entry
  std::int64_t start, end;
  bool powers;  // intervals grow by powers of two
  int step;     // log2 of the interval, or of the first one
  nvdla_lut_slope before, behind;
  bool sdp;  // else CDP

  std::int64_t entry(std::int64_t index) const { return static_cast<std::int16_t>(entries[index]); }
  Spot find(std::int64_t x) const;
  std::int64_t at(const Spot& spot, std::int64_t x) const;
};

Spot Table::find(std::int64_t x) const {
  const std::int64_t from = x - start;
  if (from <= 0) return {};
  const int bits = std::bit_width(static_cast<std::uint64_t>(from)) - 1;
  const int width = powers ? bits : step;
  Spot spot;
  if (powers) {
    if (bits < step) return {};
    spot.index = bits - step;
  } else {
    // A negative step takes several entries at once; all that lies so far is behind the table.
    spot.index = width >= 0 ? from >> width : bits - width > 40 ? last : from << -width;
  }
  spot.side = spot.index >= last ? Spot::kBehind : Spot::kInside;
  const std::int64_t rest = width > 0 ? from & ((std::int64_t{1} << width) - 1) : 0;
  const int bits_of_part = sdp ? 35 : 16;
  spot.part = width > bits_of_part ? rest >> (width - bits_of_part)
                                   : rest << (bits_of_part - std::max(width, 0));
  return spot;
}

std::int64_t Table::at(const Spot& spot, std::int64_t x) const {
  if (spot.side == Spot::kInside) {
    const std::int64_t low = entry(spot.index), high = entry(spot.index + 1);
    if (sdp) {
      const std::int64_t whole = std::int64_t{1} << 35;
      return saturated(rounded(low * (whole - spot.part) + high * spot.part, 35), 32);
    }
    return saturated(low + rounded((high - low) * spot.part, 16), 16);
  }
  const bool early = spot.side == Spot::kBefore;
  const bool biased = early && powers && (sdp ? step > 0 : step >= 0);
  const std::int64_t bias = biased ? std::int64_t{1} << step : 0;
  const nvdla_lut_slope& slope = early ? before : behind;
  const std::int64_t line = (x - (early ? start : end) - bias) * slope.scale;
  const std::int64_t end_entry = entry(early ? 0 : last);
  // A value beyond 40 bits saturates for every left shift.
  if (sdp && slope.shift < 0)
    return saturated(end_entry + saturated(rounded(saturated(line, 40), slope.shift), 32), 32);
  if (sdp) return saturated(end_entry + saturated(rounded(line, slope.shift), 32), 32);
  return saturated(end_entry + saturated(rounded(line, slope.shift), 56), 16);
}

}  // namespace

std::int64_t looked_up(const nvdla_lut& lut, std::int64_t x) {
  const bool sdp = lut.unit == NVDLA_LUT_SDP;
  const bool linear = (lut.flags & NVDLA_LUT_LE_LINEAR) != 0;
  const Table le{lut.le,
                 NVDLA_LUT_LE_ENTRIES - 1,
                 lut.le_start,
                 lut.le_end,
                 !linear,
                 linear ? lut.le_index_select : lut.le_index_offset,
                 lut.le_underflow,
                 lut.le_overflow,
                 sdp};
  const Table lo{lut.lo, NVDLA_LUT_LO_ENTRIES - 1, lut.lo_start,     lut.lo_end,
                 false,  lut.lo_index_select,      lut.lo_underflow, lut.lo_overflow,
                 sdp};
  const Spot in_le = le.find(x), in_lo = lo.find(x);
  bool second = in_lo.side == Spot::kInside;
  if ((in_le.side == Spot::kInside) == second) {
    // Both have it, or neither.
    std::uint32_t flag = NVDLA_LUT_HYBRID_LO;
    if (!second && in_le.side == in_lo.side)
      flag = in_le.side == Spot::kBefore ? NVDLA_LUT_UNDERFLOW_LO : NVDLA_LUT_OVERFLOW_LO;
    second = (lut.flags & flag) != 0;
  }
  return second ? lo.at(in_lo, x) : le.at(in_le, x);
}

}  // namespace networks
