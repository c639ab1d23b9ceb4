// SPDX-License-Identifier: MIT
#include "table.hpp"

#include <bit>

#include "rounding.hpp"

namespace networks {
namespace {

// Where an input is: before the table, behind it, or so far into an interval.
struct Spot {
  enum { kBefore, kInside, kBehind } side = kBefore;
  std::int64_t index = 0;
  std::int64_t part = 0;  // of 2^16
};

// One of the two tables.
struct Table {
  const std::uint16_t* entries;
  std::int64_t last;  // entry
  std::int64_t start, end;
  bool powers;  // intervals grow by powers of two
  int step;     // log2 of the interval, or of the first one
  nvdla_lut_slope before, behind;

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
  spot.part = width > 16 ? rest >> (width - 16) : rest << (16 - std::max(width, 0));
  return spot;
}

std::int64_t Table::at(const Spot& spot, std::int64_t x) const {
  if (spot.side == Spot::kInside) {
    const std::int64_t low = entry(spot.index), high = entry(spot.index + 1);
    return saturated(low + rounded((high - low) * spot.part, 16), 16);
  }
  const bool early = spot.side == Spot::kBefore;
  const std::int64_t bias = early && powers && step >= 0 ? std::int64_t{1} << step : 0;
  const nvdla_lut_slope& slope = early ? before : behind;
  const std::int64_t line = (x - (early ? start : end) - bias) * slope.scale;
  return saturated(entry(early ? 0 : last) + saturated(rounded(line, slope.shift), 56), 16);
}

}  // namespace

std::int64_t looked_up(const nvdla_lut& lut, std::int64_t x) {
  const bool linear = (lut.flags & NVDLA_LUT_LE_LINEAR) != 0;
  const Table le{lut.le,           NVDLA_LUT_LE_ENTRIES - 1,
                 lut.le_start,     lut.le_end,
                 !linear,          linear ? lut.le_index_select : lut.le_index_offset,
                 lut.le_underflow, lut.le_overflow};
  const Table lo{lut.lo, NVDLA_LUT_LO_ENTRIES - 1, lut.lo_start,     lut.lo_end,
                 false,  lut.lo_index_select,      lut.lo_underflow, lut.lo_overflow};
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
