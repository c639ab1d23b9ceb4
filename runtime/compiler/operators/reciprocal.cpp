// SPDX-License-Identifier: MIT
#include "compiler/operators/reciprocal.hpp"

#include <algorithm>
#include <limits>

namespace nvdla::detail {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::int16_t>::max();
constexpr std::uint64_t kMostSum = std::numeric_limits<std::int32_t>::max();
// A product of two multipliers has so many bits if each is a power of two of half of them.
constexpr std::uint32_t kProductBits = 28;

struct Found {
  Reciprocals::Factors factors;
  // first * second * count exceeds 2^shift by this much.
  std::uint64_t excess = std::numeric_limits<std::uint64_t>::max();
};

// Returns a product that is not less than 2^shift / count: halves then go away from zero.
Found find(std::uint64_t count, std::uint64_t largest, std::uint32_t shift) {
  Found best;
  const std::uint64_t one = std::uint64_t{1} << shift;
  const std::uint64_t most = std::min(kMost, kMostSum / largest);
  for (std::uint64_t first = 1; first <= most; ++first) {
    const std::uint64_t step = count * first;
    const std::uint64_t second = (one + step - 1) / step;
    if (second > kMost) continue;
    const std::uint64_t excess = second * step - one;
    if (excess >= best.excess) continue;
    best.factors = {static_cast<std::int16_t>(first), static_cast<std::int16_t>(second)};
    best.excess = excess;
    if (excess == 0) break;
  }
  return best;
}

// Quotients that are no halves are 1 / (2 * count) or more beside one; `largest` sums must not get
// there by the excess.
bool is_exact(const Found& found, std::uint64_t largest, std::uint32_t shift) {
  return found.excess < ((std::uint64_t{1} << shift) / 2 + largest - 1) / largest;
}

}  // namespace

Reciprocals find_reciprocals(const std::vector<std::uint32_t>& counts, std::uint32_t bits) {
  std::uint32_t shift = kProductBits;
  for (std::uint32_t n = *std::min_element(counts.begin(), counts.end()); n > 1; n /= 2) ++shift;
  Reciprocals nearest;
  double least = std::numeric_limits<double>::infinity();
  for (; shift > 0; --shift) {
    Reciprocals all;
    all.shift = shift;
    all.exact = true;
    double worst = 0;
    for (const std::uint32_t count : counts) {
      const std::uint64_t largest = std::uint64_t{count} << (bits - 1);
      const Found found = find(count, largest, shift);
      all.factors.push_back(found.factors);
      all.exact = all.exact && is_exact(found, largest, shift);
      worst = std::max(worst, static_cast<double>(found.excess) /
                                  static_cast<double>(std::uint64_t{1} << shift));
    }
    if (all.exact) return all;
    if (worst >= least) continue;
    least = worst;
    nearest = std::move(all);
  }
  return nearest;
}

}  // namespace nvdla::detail
