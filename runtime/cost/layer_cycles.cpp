// SPDX-License-Identifier: MIT
#include "cost/layer_cycles.hpp"

#include <algorithm>
#include <cmath>

namespace nvdla::cost {

const char* bound_name(Bound bound) noexcept {
  switch (bound) {
    case Bound::kMacs:
      return "macs";
    case Bound::kInput:
      return "input";
    case Bound::kWeights:
      return "weights";
    case Bound::kMemory:
      return "memory";
    case Bound::kSdp:
      return "sdp";
    case Bound::kPdp:
      return "pdp";
    case Bound::kCdp:
      return "cdp";
    case Bound::kStart:
      return "start";
  }
  return "";
}

Bound most(std::initializer_list<Part> parts) noexcept {
  return std::max_element(parts.begin(), parts.end(),
                          [](const Part& a, const Part& b) { return a.cycles < b.cycles; })
      ->bound;
}

std::uint64_t rounded(double cycles) noexcept {
  return static_cast<std::uint64_t>(std::ceil(cycles));
}

}  // namespace nvdla::cost
