// SPDX-License-Identifier: MIT
//
// Where random layers come from. Inside a property (property.hpp) each number is one of
// rapidcheck's, which looks for the simplest layer that fails; elsewhere they follow from a
// seed. What makes layers is written so that 0, or the lowest number, is the simplest choice.
#pragma once

#include <cstdint>
#include <limits>
#include <random>

namespace nvdla::test {

class Random {
 public:
  using result_type = std::uint64_t;

  explicit Random(std::uint64_t seed) : engine_(seed) {}
  // A copy would give the same layer twice.
  Random(const Random&) = delete;
  Random& operator=(const Random&) = delete;

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  // The numbers of the property that runs.
  static Random of_property() { return {0, true}; }

  // Any 64 bits.
  result_type operator()() { return of_property_ ? draw_word() : engine_(); }

  // For what takes many numbers, as a tensor's elements: rapidcheck keeps all that it draws.
  Random fork() { return Random((*this)()); }

  // In [low, high]; 0 is the simplest if it is one of them, else what is next to it.
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    if (of_property_) return draw(low, high);
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }

 private:
  Random(std::uint64_t seed, bool of_property) : engine_(seed), of_property_(of_property) {}

  // By rapidcheck.
  static std::uint64_t draw_word();
  static std::int64_t draw(std::int64_t low, std::int64_t high);

  std::mt19937_64 engine_;
  bool of_property_ = false;
};

inline std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return random.pick(low, high);
}

// Once in `n` times; the simplest is not.
inline bool one_in(Random& random, unsigned n) { return random.pick(0, n - 1) == n - 1; }

}  // namespace nvdla::test
