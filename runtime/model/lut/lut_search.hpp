// SPDX-License-Identifier: MIT
//
// Searches the tables of SDP or CDP: finds the place of a number in each, and which of the two
// answers. Both units search alike; each interpolates and counts by itself. Results can be kept by
// a key.
#ifndef NVDLA_MODEL_LUT_LUT_SEARCH_HPP
#define NVDLA_MODEL_LUT_LUT_SEARCH_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "model/core/register_file.hpp"

namespace nvdla::model {

// One of the two tables as its registers describe it.
struct LutTable {
  const std::int16_t* entries = nullptr;
  unsigned last = 0;  // index of the last entry
  bool exponential = false;
  int offset = 0;  // exponential: logarithm of the first step
  int select = 0;  // linear: logarithm of a step
  // Integers, or patterns of fp32 in their low 32 bits.
  std::int64_t start = 0, end = 0;
  std::int16_t underflow_scale = 0, overflow_scale = 0;
  int underflow_shift = 0, overflow_shift = 0;  // right; negative is left

  bool operator==(const LutTable&) const = default;
};

struct LutConfig {
  LutTable le, lo;
  // LO answers if both tables underflow, both overflow, or otherwise both hit or both miss.
  bool underflow_lo = false, overflow_lo = false, hybrid_lo = false;

  bool operator==(const LutConfig&) const = default;
};

// Reads the registers that SDP and CDP have in common: the entries, how they are searched, and the
// slopes beyond them; SLOPE_SHIFT follows SLOPE_SCALE. The unit itself reads where the tables start
// and end. The entries stay in the register file.
LutConfig read_lut(const RegisterFile& registers, Unit unit, std::uint32_t le_slope_scale,
                   std::uint32_t lo_slope_scale);

enum class LutSide : std::uint8_t { kUnderflow, kHit, kOverflow };

struct LutPlace {
  LutSide side = LutSide::kHit;
  unsigned index = 0;          // index of the entry below
  std::uint64_t fraction = 0;  // part of the way to the next entry, times 2^64
};

LutPlace lut_find(const LutTable& table, std::int64_t x) noexcept;
// `x` is fp32.
LutPlace lut_find_fp(const LutTable& table, std::uint32_t x) noexcept;

// Returns true if LO answers.
constexpr bool lut_choose_lo(const LutConfig& config, LutSide le, LutSide lo) noexcept {
  if (le == LutSide::kHit && lo != LutSide::kHit) return false;
  if (lo == LutSide::kHit && le != LutSide::kHit) return true;
  if (le != lo || le == LutSide::kHit) return config.hybrid_lo;
  return le == LutSide::kUnderflow ? config.underflow_lo : config.overflow_lo;
}

// A key consists of the bytes that a layer's results depend on: results that are kept for later
// layers are valid as long as their key is the same.
void append_bytes(std::vector<std::byte>& key, const void* from, std::size_t bytes);

template <typename... Scalars>
void append_key(std::vector<std::byte>& key, const Scalars&... scalars) {
  static_assert((std::is_scalar_v<Scalars> && ...));
  (append_bytes(key, &scalars, sizeof(scalars)), ...);
}

// Appends all of both tables.
void append_key(std::vector<std::byte>& key, const LutConfig& config);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_LUT_LUT_SEARCH_HPP
