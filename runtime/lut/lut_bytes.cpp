// SPDX-License-Identifier: MIT
#include "lut/lut_bytes.hpp"

#include <algorithm>

namespace nvdla::detail {

// LO has steps of one, so that each element falls on an entry: the first one from below, where the
// line has no slope. LE lies over the same elements and never answers.
nvdla_lut lut_of_bytes(std::span<const std::int8_t, 256> results, nvdla_lut_unit unit) {
  constexpr std::int64_t kFirst = -128, kBeyond = 128;
  nvdla_lut lut = {};
  lut.unit = static_cast<std::uint32_t>(unit);
  lut.flags =
      NVDLA_LUT_LE_LINEAR | NVDLA_LUT_UNDERFLOW_LO | NVDLA_LUT_OVERFLOW_LO | NVDLA_LUT_HYBRID_LO;
  lut.le_index_select = 2;
  lut.le_start = lut.lo_start = kFirst;
  lut.le_end = lut.lo_end = kBeyond;
  const auto bits = [](std::int8_t result) { return static_cast<std::uint16_t>(result); };
  std::transform(results.begin(), results.end(), lut.lo, bits);
  lut.lo[results.size()] = bits(results.back());
  return lut;
}

}  // namespace nvdla::detail
