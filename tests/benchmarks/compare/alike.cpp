// SPDX-License-Identifier: MIT
#include "compare/alike.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace nvdla::bench {

void expect_alike(std::span<const float> ours, std::span<const float> peers, double tolerance,
                  double part) {
  if (ours.size() != peers.size())
    throw std::runtime_error("the model gives " + std::to_string(ours.size()) +
                             " elements, the peer " + std::to_string(peers.size()));
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double allowed = std::max(tolerance, part * std::abs(peers[i]));
    // Also if one is NaN.
    if (!(std::abs(ours[i] - peers[i]) <= allowed))
      throw std::runtime_error("element " + std::to_string(i) + " is " + std::to_string(ours[i]) +
                               ", the peer's " + std::to_string(peers[i]));
  }
}

}  // namespace nvdla::bench
