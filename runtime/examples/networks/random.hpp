// SPDX-License-Identifier: MIT
//
// Random numbers that are the same with every compiler and library.
#ifndef NVDLA_EXAMPLES_NETWORKS_RANDOM_HPP
#define NVDLA_EXAMPLES_NETWORKS_RANDOM_HPP

#include <cstdint>

namespace networks {

// SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Returns a nearly normal number of deviation 1, at most 3.5: the sum of four bytes.
  double normal() { return sum_of_bytes(static_cast<std::uint32_t>(bits())) / 147.8; }
  // Returns a number in [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) / 9007199254740992.0; }

  // Returns a number of deviation 147.8 and mean 0.
  static int sum_of_bytes(std::uint32_t b) {
    return static_cast<int>((b & 255) + (b >> 8 & 255) + (b >> 16 & 255) + (b >> 24)) - 510;
  }

 private:
  std::uint64_t state_;
};

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_RANDOM_HPP
