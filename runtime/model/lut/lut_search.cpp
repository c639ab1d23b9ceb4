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

}  // namespace

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
