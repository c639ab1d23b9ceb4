// SPDX-License-Identifier: MIT
#include "model/conv/half_steps.hpp"

#include <algorithm>

namespace nvdla::model {

void HalfSteps::add(std::size_t offset, std::uint32_t count) {
  Step& step = steps_.back();
  segments_.push_back({offset, step.lanes, count});
  ++step.count;
  step.lanes += count;
}

void HalfSteps::plan(const ConvLayer& layer, const ConvShape& shape, const ConvData& data,
                     std::uint32_t atomic_c) {
  const std::size_t line = std::size_t{data.width()} * data.elements();
  steps_.clear();
  segments_.clear();
  if (shape.post_lines > 1) {
    // The lines of an extension are lanes of one step, what is missing of the last one is absent.
    for (std::uint32_t r0 = 0; r0 < shape.kernel_height; r0 += shape.post_lines) {
      begin_step();
      const std::uint32_t r1 = std::min(shape.kernel_height, r0 + shape.post_lines);
      for (std::uint32_t r = r0; r < r1; ++r) add(r * line, shape.channels);
    }
    return;
  }
  for (std::uint32_t c = 0; c < shape.channels; c += atomic_c)
    for (std::uint32_t r = 0; r < shape.kernel_height; ++r)
      for (std::uint32_t s = 0; s < shape.kernel_width; ++s) {
        begin_step();
        add(r * layer.dilation_height * line +
                std::size_t{s} * layer.dilation_width * data.elements() + c,
            std::min(atomic_c, shape.channels - c));
      }
}

}  // namespace nvdla::model
