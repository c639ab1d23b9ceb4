// SPDX-License-Identifier: MIT
//
// The steps of the fp16 multipliers for one position of a direct convolution. Sums are rounded
// after each, so their order is part of the result: block of channels, kernel row, kernel column.
#ifndef NVDLA_MODEL_CONV_HALF_STEPS_HPP
#define NVDLA_MODEL_CONV_HALF_STEPS_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/conv/conv_data.hpp"
#include "model/conv/conv_layer.hpp"
#include "model/conv/conv_weights.hpp"

namespace nvdla::model {

class HalfSteps {
 public:
  // Activations that lie together and become lanes of a step.
  struct Segment {
    std::size_t offset;  // in elements from the position's first one
    std::uint32_t lane, count;
  };

  void plan(const ConvLayer& layer, const ConvShape& shape, const ConvData& data,
            std::uint32_t atomic_c);

  std::size_t size() const noexcept { return steps_.size(); }
  std::uint32_t lanes(std::size_t step) const noexcept { return steps_[step].lanes; }
  std::span<const Segment> segments(std::size_t step) const noexcept {
    return {segments_.data() + steps_[step].first, steps_[step].count};
  }

 private:
  struct Step {
    std::size_t first, count;  // segments
    std::uint32_t lanes;
  };

  void begin_step() { steps_.push_back({segments_.size(), 0, 0}); }
  void add(std::size_t offset, std::uint32_t count);

  std::vector<Step> steps_;
  std::vector<Segment> segments_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_HALF_STEPS_HPP
