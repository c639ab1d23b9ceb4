// SPDX-License-Identifier: MIT
#include "model/lut/lut_search.hpp"

#include <bit>

#include "support/float.hpp"

namespace nvdla::model {

namespace {

// The index saturates before it is compared with the last entry.
constexpr unsigned kMostIndex = 511;

std::uint64_t shift_left(std::uint64_t value, int shift) noexcept {
  if (shift >= 64 || shift <= -64) return 0;
  return shift >= 0 ? value << shift : value >> -shift;
}

LutPlace place(const LutTable& table, std::uint64_t index, std::uint64_t fraction) noexcept {
  if (index >= table.last) return {LutSide::kOverflow, table.last, 0};
  return {LutSide::kHit, static_cast<unsigned>(index), fraction};
}

int sign_extend(std::uint32_t value, unsigned bits) noexcept {
  return static_cast<std::int32_t>(value << (32 - bits)) >> (32 - bits);
}

void read_slopes(const RegisterFile& registers, Unit unit, std::uint32_t slope_scale,
                 LutTable& table) noexcept {
  const std::uint32_t scale = registers.single(unit, slope_scale);
  table.underflow_scale = static_cast<std::int16_t>(scale);
  table.overflow_scale = static_cast<std::int16_t>(scale >> 16);
  const std::uint32_t shift = registers.single(unit, slope_scale + 4);
  table.underflow_shift = sign_extend(shift, 5);
  table.overflow_shift = sign_extend(shift >> 5, 5);
}

// The fields of SDP's registers, by whose names both are read, are at the same places in CDP's.
static_assert(NVDLA_SDP_S_LUT_CFG == NVDLA_CDP_S_LUT_CFG &&
              NVDLA_SDP_S_LUT_INFO == NVDLA_CDP_S_LUT_INFO &&
              NVDLA_SDP_S_LUT_LE_SLOPE_SHIFT == NVDLA_SDP_S_LUT_LE_SLOPE_SCALE + 4 &&
              NVDLA_CDP_S_LUT_LE_SLOPE_SHIFT == NVDLA_CDP_S_LUT_LE_SLOPE_SCALE + 4);

}  // namespace

LutConfig read_lut(const RegisterFile& registers, Unit unit, std::uint32_t le_slope_scale,
                   std::uint32_t lo_slope_scale) {
  LutConfig config;
  read_slopes(registers, unit, le_slope_scale, config.le);
  read_slopes(registers, unit, lo_slope_scale, config.lo);
  const Lut& lut = registers.lut(unit);
  config.le.entries = lut.le.data();
  config.le.last = Lut::kLeEntries - 1;
  config.lo.entries = lut.lo.data();
  config.lo.last = Lut::kLoEntries - 1;

  const std::uint32_t flags = registers.single(unit, NVDLA_SDP_S_LUT_CFG);
  config.le.exponential = (flags & NVDLA_SDP_S_LUT_CFG_LUT_LE_FUNCTION_MASK) == 0;
  config.underflow_lo = (flags & NVDLA_SDP_S_LUT_CFG_LUT_UFLOW_PRIORITY_MASK) != 0;
  config.overflow_lo = (flags & NVDLA_SDP_S_LUT_CFG_LUT_OFLOW_PRIORITY_MASK) != 0;
  config.hybrid_lo = (flags & NVDLA_SDP_S_LUT_CFG_LUT_HYBRID_PRIORITY_MASK) != 0;
  const std::uint32_t info = registers.single(unit, NVDLA_SDP_S_LUT_INFO);
  config.le.offset = static_cast<std::int8_t>(info);
  config.le.select = static_cast<std::int8_t>(info >> 8);
  config.lo.select = static_cast<std::int8_t>(info >> 16);
  return config;
}

LutPlace lut_find(const LutTable& table, std::int64_t x) noexcept {
  if (x <= table.start) return {LutSide::kUnderflow, 0, 0};
  const std::uint64_t distance =
      static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(table.start);
  if (table.exponential) {
    const int log = 63 - std::countl_zero(distance);
    const int index = log - table.offset;
    if (index < 0) return {LutSide::kUnderflow, 0, 0};
    // The leading one falls out at the top.
    return place(table, static_cast<std::uint64_t>(index), shift_left(distance, 64 - log));
  }
  if (table.select <= 0) {
    const int shift = -table.select;
    const bool fits = shift < 10 && distance <= kMostIndex >> shift;
    return place(table, fits ? distance << shift : kMostIndex, 0);
  }
  const std::uint64_t index = shift_left(distance, -table.select);
  return place(table, index < kMostIndex ? index : kMostIndex,
               shift_left(distance, 64 - table.select));
}

LutPlace lut_find_fp(const LutTable& table, std::uint32_t x) noexcept {
  using fp::Fp32;
  const std::uint32_t distance = fp::sub<Fp32>(x, static_cast<std::uint32_t>(table.start));
  if ((distance & Fp32::kSign) != 0 || fp::is_zero<Fp32>(distance) || fp::is_nan<Fp32>(distance))
    return {LutSide::kUnderflow, 0, 0};
  constexpr int kMantissaBits = Fp32::kMantissaBits;
  const int exponent = static_cast<int>(distance >> kMantissaBits) - Fp32::kBias;
  const std::uint64_t significand = (distance & Fp32::kMantissa) | std::uint64_t{1}
                                                                       << kMantissaBits;
  if (table.exponential) {
    const int index = exponent - table.offset;
    if (index < 0) return {LutSide::kUnderflow, 0, 0};
    return place(table, static_cast<std::uint64_t>(index), significand << (64 - kMantissaBits));
  }
  // The point of the significand in steps of the table.
  const int shift = exponent - table.select - kMantissaBits;
  const bool fits = shift <= 9 - kMantissaBits;
  const std::uint64_t index = fits ? shift_left(significand, shift) : kMostIndex;
  return place(table, index < kMostIndex ? index : kMostIndex, shift_left(significand, 64 + shift));
}

void append_bytes(std::vector<std::byte>& key, const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  key.insert(key.end(), begin, begin + bytes);
}

void append_key(std::vector<std::byte>& key, const LutConfig& config) {
  for (const LutTable* table : {&config.le, &config.lo}) {
    append_key(key, table->last, table->exponential, table->offset, table->select, table->start,
               table->end, table->underflow_scale, table->overflow_scale, table->underflow_shift,
               table->overflow_shift);
    append_bytes(key, table->entries, (table->last + 1) * sizeof(*table->entries));
  }
  append_key(key, config.underflow_lo, config.overflow_lo, config.hybrid_lo);
}

}  // namespace nvdla::model
