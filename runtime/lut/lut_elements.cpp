// SPDX-License-Identifier: MIT
#include "lut/lut_elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/check.hpp"

namespace nvdla::detail {
namespace {

constexpr std::size_t kElements = 65536;
constexpr std::int64_t kFirst = -32768;
constexpr unsigned kLogOfLo = 8;
constexpr std::size_t kIntervalsOfLe = NVDLA_LUT_LE_ENTRIES - 1;

// The entry at an element; one behind the last element continues the line of the last two.
std::int16_t entry_of(std::span<const double> results, std::size_t element) {
  const double result =
      element < kElements ? results[element] : 2 * results[kElements - 1] - results[kElements - 2];
  return static_cast<std::int16_t>(std::clamp(std::round(result), -32768.0, 32767.0));
}

// Returns the sum of the squares of errors of all elements before each one, where entries are
// 2^log apart.
std::vector<double> errors_before(std::span<const double> results, unsigned log) {
  const std::size_t step = std::size_t{1} << log;
  std::vector<double> sums = {0};
  sums.reserve(kElements + 1);
  for (std::size_t first = 0; first < kElements; first += step) {
    const double a = entry_of(results, first), b = entry_of(results, first + step);
    for (std::size_t i = 0; i < step; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(step);
      const double error = std::round(a + (b - a) * share) - results[first + i];
      sums.push_back(sums.back() + error * error);
    }
  }
  return sums;
}

// `Window` is where the entries of LE lie.
struct Window {
  std::size_t first = 0;
  unsigned log = 0;  // entries are 2^log elements apart
  double gain = 0;   // by how much the sum of squares of errors falls
};

Window best_window(std::span<const double> results) {
  const std::vector<double> coarse = errors_before(results, kLogOfLo);
  Window best;
  for (unsigned log = 0; log < kLogOfLo; ++log) {
    const std::vector<double> fine = errors_before(results, log);
    const std::size_t step = std::size_t{1} << log, size = kIntervalsOfLe << log;
    for (std::size_t first = 0; first + size <= kElements; first += step) {
      const double gain = coarse[first + size] - coarse[first] - (fine[first + size] - fine[first]);
      if (gain > best.gain) best = {first, log, gain};
    }
  }
  return best;
}

}  // namespace

nvdla_lut lut_of_words(std::span<const double> results) {
  if (results.size() != kElements)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} results: a table of int16 is of {}", results.size(), kElements));
  nvdla_lut lut = {};
  lut.unit = NVDLA_LUT_SDP;
  lut.flags = NVDLA_LUT_LE_LINEAR | NVDLA_LUT_UNDERFLOW_LO | NVDLA_LUT_OVERFLOW_LO;
  lut.lo_index_select = kLogOfLo;
  lut.lo_start = kFirst;
  lut.lo_end = kFirst + static_cast<std::int64_t>(kElements);
  const auto bits = [&](std::size_t element) {
    return static_cast<std::uint16_t>(entry_of(results, element));
  };
  for (std::size_t i = 0; i < NVDLA_LUT_LO_ENTRIES; ++i) lut.lo[i] = bits(i << kLogOfLo);
  // Both hit in the window of LE, which then answers; else LO alone does.
  const Window window = best_window(results);
  lut.le_index_select = static_cast<std::int32_t>(window.log);
  lut.le_start = kFirst + static_cast<std::int64_t>(window.first);
  lut.le_end = lut.le_start + static_cast<std::int64_t>(kIntervalsOfLe << window.log);
  for (std::size_t i = 0; i < NVDLA_LUT_LE_ENTRIES; ++i)
    lut.le[i] = bits(window.first + (i << window.log));
  return lut;
}

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
