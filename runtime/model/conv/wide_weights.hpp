// SPDX-License-Identifier: MIT
//
// Weights of 16 bits as the loops of WideTile want them, and how far their 32-bit sums reach.
#ifndef NVDLA_MODEL_CONV_WIDE_WEIGHTS_HPP
#define NVDLA_MODEL_CONV_WIDE_WEIGHTS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/simd/kernels.hpp"

namespace nvdla::model {

struct WideWeights {
  // Of a block; each group of steps has sums of its own.
  std::size_t groups = 0, steps = 0;
  std::vector<std::int16_t> words;       // [block][group][step][2][kBlock][2]
  std::vector<std::int8_t> upper;        // [block][group][step][kBlock][kKr]; empty: not wanted
  std::vector<std::int32_t> correction;  // [block][group][chunk][kBlock]; the same
  std::size_t chunk = 0;                 // steps

  // `blocks` of kernels that weigh nothing.
  WideWeights(std::size_t blocks, std::size_t groups, std::size_t steps);
  WideWeights() = default;

  // What element `element` of a group weighs for a kernel.
  std::int16_t& at(std::size_t kernel, std::size_t group, std::size_t element) noexcept {
    return words[index(kernel, group, element)];
  }
  // From a weight on, and of a group counted over all blocks; null where they are not wanted.
  const std::int8_t* upper_from(std::size_t weight) const noexcept {
    return upper.empty() ? nullptr : upper.data() + weight;
  }
  const std::int32_t* nudges_of(std::size_t group) const noexcept {
    return correction.empty() ? nullptr : correction.data() + group * chunks() * kBlock;
  }
  // Once all weights are there.
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

// The upper byte of a weight, rounded: what is left of the weight then has a magnitude of 255 at
// most, of 128 but for the greatest weights.
constexpr int upper_byte(int weight) noexcept {
  return ((weight > 32639 ? 32639 : weight) + 128) >> 8;
}

// What WideTile::upper holds for an activation.
inline std::uint8_t biased_upper_byte(std::int16_t value) noexcept {
  return static_cast<std::uint8_t>((value >> 8) + 128);
}

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_WIDE_WEIGHTS_HPP
