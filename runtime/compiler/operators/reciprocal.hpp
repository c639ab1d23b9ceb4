// SPDX-License-Identifier: MIT
//
// Division of sums by constants, as two multipliers of 16 bits and a shift with one rounding.
#ifndef NVDLA_COMPILER_OPERATORS_RECIPROCAL_HPP
#define NVDLA_COMPILER_OPERATORS_RECIPROCAL_HPP

#include <cstdint>
#include <vector>

namespace nvdla::detail {

// sum / count is round(sum * first * second >> shift), halves away from zero.
struct Reciprocals {
  struct Factors {
    std::int16_t first = 1, second = 1;
  };

  std::vector<Factors> factors;  // one for each count
  std::uint32_t shift = 0;
  bool exact = false;
};

// For sums of `count` integers of `bits` bits each, with one shift for all counts, each at least 1.
// What comes of the first multiplier fits 32 bits. Where nothing is exact, the nearest: results
// that are next to a half may be rounded away from zero, too.
Reciprocals find_reciprocals(const std::vector<std::uint32_t>& counts, std::uint32_t bits);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_OPERATORS_RECIPROCAL_HPP
