// SPDX-License-Identifier: MIT
//
// `WideWeights` has 16-bit weights in the layout of WideTile, and the number of steps over which
// 32-bit sums suffice.
#ifndef NVDLA_MODEL_CONV_WIDE_WEIGHTS_HPP
#define NVDLA_MODEL_CONV_WIDE_WEIGHTS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/simd/kernels.hpp"

namespace nvdla::model {

struct WideWeights {
  // The groups of a block, each with its own sums, and the steps of a group.
  std::size_t groups = 0, steps = 0;
  std::vector<std::int16_t> words;       // [block][group][step][2][kBlock][2]
  std::vector<std::int8_t> upper;        // [block][group][step][kBlock][kKr]; empty: not needed
  std::vector<std::int32_t> correction;  // [block][group][chunk][kBlock]; the same
  std::size_t chunk = 0;                 // steps

  // Makes `blocks` of kernels whose weights are all 0.
  WideWeights(std::size_t blocks, std::size_t groups, std::size_t steps);
  WideWeights() = default;

  // Returns the weight of an element of a group for a kernel.
  std::int16_t& at(std::size_t kernel, std::size_t group, std::size_t element) noexcept {
    return words[index(kernel, group, element)];
  }
  // Return the upper bytes from a weight on, and the correction of a group counted over all blocks;
  // null if they are not needed.
  const std::int8_t* upper_from(std::size_t weight) const noexcept {
    return upper.empty() ? nullptr : upper.data() + weight;
  }
  const std::int32_t* nudges_of(std::size_t group) const noexcept {
    return correction.empty() ? nullptr : correction.data() + group * chunks() * kBlock;
  }
  // Prepares the sums once all weights are set.
  void finish();

  std::size_t size() const noexcept {
    return words.size() * 2 + upper.size() + correction.size() * 4;
  }
  std::size_t chunks() const noexcept { return (steps + chunk - 1) / chunk; }

 private:
  std::size_t index(std::size_t kernel, std::size_t group, std::size_t element) const noexcept;
  template <typename Measure>
  std::size_t longest_chunk(Measure measure) const;
};

// Returns the upper byte of a weight, rounded, so that the rest of the weight has a magnitude of at
// most 128, or 255 for the greatest weights.
constexpr int upper_byte(int weight) noexcept {
  return ((weight > 32639 ? 32639 : weight) + 128) >> 8;
}

// Returns the element of WideTile::upper for an activation.
inline std::uint8_t biased_upper_byte(std::int16_t value) noexcept {
  return static_cast<std::uint8_t>((value >> 8) + 128);
}

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_WIDE_WEIGHTS_HPP
