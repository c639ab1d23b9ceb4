// SPDX-License-Identifier: MIT
#include "model/lut/lut_tables.hpp"

#include <algorithm>

#include "support/float.hpp"

namespace nvdla::model {
namespace {

using fp::Fp17;
using fp::Fp32;

// In integers, every slope but 0 saturates from this bias on, whatever the shift.
constexpr int kTableBias = 47;
// The index saturates before it is compared with the last entry.
constexpr unsigned kTableIndex = 511, kTableIndexBits = 9;

TableSearch search(const LutTable& table, std::int32_t first) noexcept {
  return {first, static_cast<std::int32_t>(table.last), table.exponential, table.offset};
}

TableChoice choice(const LutConfig& config) noexcept {
  return {config.underflow_lo, config.overflow_lo, config.hybrid_lo};
}

IntTableSearch int_search(const LutTable& table, std::int32_t first, bool wide) noexcept {
  IntTableSearch made{search(table, first), table.start, UINT64_MAX, 0, 0};
  if (table.select > 0) {
    made.right = std::min(static_cast<unsigned>(table.select), wide ? 63u : 31u);
    if (!wide) made.most = UINT32_MAX;
  } else {
    made.left = std::min(static_cast<unsigned>(-table.select), kTableIndexBits);
    made.most = kTableIndex;
  }
  return made;
}

void add_ints(const LutTable& table, LutUnit unit, const TableSearch& places,
              IntTables& tables) noexcept {
  const auto pair = [](std::int16_t low, std::int16_t high) {
    return static_cast<std::uint32_t>(static_cast<std::uint16_t>(high)) << 16 |
           static_cast<std::uint16_t>(low);
  };
  std::uint32_t* pairs = tables.pairs + places.first;
  for (unsigned i = 0; i < table.last; ++i) pairs[i] = pair(table.entries[i], table.entries[i + 1]);
  for (const bool under : {true, false}) {
    const std::int32_t place = places.last + (under ? 0 : 1);
    const std::int16_t entry = table.entries[under ? 0 : table.last];
    pairs[place] = pair(entry, entry);
    const std::int16_t slope = under ? table.underflow_scale : table.overflow_scale;
    if (slope == 0) continue;
    std::int64_t anchor = under ? table.start : table.end;
    // Only in CDP an OFFSET of 0 moves something.
    if (under && table.exponential && table.offset >= (unit == LutUnit::kCdp ? 0 : 1))
      anchor += std::int64_t{1} << std::min(table.offset, kTableBias);
    tables.beyond[tables.sloped++] = {places.first + place, entry, anchor, slope,
                                      under ? table.underflow_shift : table.overflow_shift};
  }
}

std::int32_t lane(std::uint32_t fp32) noexcept { return static_cast<std::int32_t>(fp32); }
std::uint32_t half(std::int16_t pattern) noexcept { return static_cast<std::uint16_t>(pattern); }
std::uint32_t widened17(std::int16_t pattern) noexcept {
  return fp::fp17_to_fp32(fp::widen<Fp17>(half(pattern)));
}

FloatTableSearch float_search(const LutTable& table, std::int32_t first) noexcept {
  return {search(table, first), lane(static_cast<std::uint32_t>(table.start) ^ Fp32::kSign),
          table.select};
}

bool add_floats(const LutTable& table, LutUnit unit, const TableSearch& places, unsigned index,
                FloatTables& tables) noexcept {
  for (unsigned i = 0; i < table.last; ++i) {
    const std::uint32_t low = half(table.entries[i]), high = half(table.entries[i + 1]);
    const std::uint32_t rise = fp::fp17_to_fp32(
        fp::fp32_to_fp17(fp::sub<Fp32>(fp::widen<Fp32>(high), fp::widen<Fp32>(low))));
    const bool sdp = unit == LutUnit::kSdp;
    tables.first[places.first + static_cast<int>(i)] =
        lane(sdp ? widened17(table.entries[i]) : rise);
    tables.second[places.first + static_cast<int>(i)] =
        lane(widened17(table.entries[sdp ? i + 1 : i]));
    tables.both[places.first + static_cast<int>(i)][0] =
        tables.first[places.first + static_cast<int>(i)];
    tables.both[places.first + static_cast<int>(i)][1] =
        tables.second[places.first + static_cast<int>(i)];
  }
  bool regular = fp::is_regular<Fp32>(static_cast<std::uint32_t>(table.start));
  for (const bool under : {true, false}) {
    const std::int32_t place = places.first + places.last + (under ? 0 : 1);
    tables.first[place] = tables.second[place] = 0;
    auto anchor = static_cast<std::uint32_t>(under ? table.start : table.end);
    if (under && table.exponential)
      anchor = fp::add<Fp32>(anchor, fp::from_integer<Fp32>(1, table.offset));
    regular = regular && fp::is_regular<Fp32>(anchor);
    tables.beyond[index + (under ? 0 : 1)] = {
        place, lane(widened17(table.entries[under ? 0 : table.last])), lane(anchor ^ Fp32::kSign),
        lane(widened17(under ? table.underflow_scale : table.overflow_scale))};
  }
  return regular;
}

// Behind LE and what lies beyond it.
std::int32_t first_of_lo(const LutConfig& config) noexcept {
  return static_cast<std::int32_t>(config.le.last) + 2;
}

bool is_moderate(std::uint32_t fp32) noexcept {
  const std::uint32_t magnitude = fp32 & ~Fp32::kSign;
  constexpr std::uint32_t kLeast = (127 - 60) << 23, kMost = (127 + 60) << 23;
  return magnitude == 0 || (magnitude >= kLeast && magnitude <= kMost);
}

// Pairs of neighbours, and those beyond the table; false if they are not plain.
bool add_pairs(const LutTable& table, const TableSearch& places, FloatTables& tables) noexcept {
  constexpr std::uint32_t kLeast = 0x0400, kInfinite = 0x7c00;
  bool plain = is_moderate(static_cast<std::uint32_t>(table.start)) &&
               is_moderate(static_cast<std::uint32_t>(table.end)) && table.select >= -64;
  const auto add = [&](unsigned place, std::uint32_t low, std::uint32_t high) {
    for (const std::uint32_t entry : {low, high}) {
      const std::uint32_t magnitude = entry & 0x7fff;
      plain = plain && entry != 0x8000 &&
              (magnitude == 0 || (magnitude >= kLeast && magnitude < kInfinite));
    }
    plain = plain && (low == 0 || high == 0 || ((low ^ high) & 0x8000) == 0);
    tables.pairs[static_cast<unsigned>(places.first) + place] = high << 16 | low;
  };
  for (unsigned i = 0; i < table.last; ++i)
    add(i, half(table.entries[i]), half(table.entries[i + 1]));
  for (const bool under : {true, false}) {
    const std::uint32_t entry = half(table.entries[under ? 0 : table.last]);
    const std::int16_t slope = under ? table.underflow_scale : table.overflow_scale;
    const unsigned place = table.last + (under ? 0 : 1);
    add(place, entry, entry);
    if ((slope & 0x7fff) != 0)
      tables.sloped_place[tables.sloped++] = places.first + static_cast<std::int32_t>(place);
  }
  return plain;
}

}  // namespace

bool make_tables(const LutConfig& config, LutUnit unit, bool wide, IntTables& tables) noexcept {
  constexpr int kMostSelect = 31;
  if (!wide && (config.le.select > kMostSelect || config.lo.select > kMostSelect)) return false;
  tables.le = int_search(config.le, 0, wide);
  tables.lo = int_search(config.lo, first_of_lo(config), wide);
  tables.choice = choice(config);
  tables.sloped = 0;
  add_ints(config.le, unit, tables.le.places, tables);
  add_ints(config.lo, unit, tables.lo.places, tables);
  return true;
}

bool make_tables(const LutConfig& config, LutUnit unit, FloatTables& tables) noexcept {
  tables.le = float_search(config.le, 0);
  tables.lo = float_search(config.lo, first_of_lo(config));
  tables.choice = choice(config);
  const bool regular_le = add_floats(config.le, unit, tables.le.places, 0, tables);
  const bool regular_lo = add_floats(config.lo, unit, tables.lo.places, 2, tables);
  tables.sloped = 0;
  tables.plain = false;
  if (unit == LutUnit::kCdp) {
    const bool plain_le = add_pairs(config.le, tables.le.places, tables);
    tables.plain = add_pairs(config.lo, tables.lo.places, tables) && plain_le;
  }
  return regular_le && regular_lo;
}

}  // namespace nvdla::model
