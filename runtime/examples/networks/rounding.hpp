// SPDX-License-Identifier: MIT
//
// Rounds, saturates and looks up as the hardware does.
#ifndef NVDLA_EXAMPLES_NETWORKS_ROUNDING_HPP
#define NVDLA_EXAMPLES_NETWORKS_ROUNDING_HPP

#include <algorithm>
#include <cstdint>
#include <nvdla/nvdla.hpp>

namespace networks {

// Returns x / 2^shift, rounded with halves away from zero; a negative shift multiplies.
inline std::int64_t rounded(std::int64_t x, int shift) {
  if (shift <= 0) return x * (std::int64_t{1} << -shift);
  const std::int64_t half = std::int64_t{1} << (shift - 1);
  return x < 0 ? -((half - x) >> shift) : (x + half) >> shift;
}

// Saturates to a signed number of `bits` bits.
inline std::int64_t saturated(std::int64_t x, int bits) {
  const std::int64_t limit = std::int64_t{1} << (bits - 1);
  return std::clamp(x, -limit, limit - 1);
}

// Evaluates the look-up tables of SDP and CDP in integers, independently of the device.
std::int64_t looked_up(const nvdla_lut& lut, std::int64_t x);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_ROUNDING_HPP
