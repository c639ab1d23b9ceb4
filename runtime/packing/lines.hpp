// SPDX-License-Identifier: MIT
//
// Cutting a convolution into bands of lines.
#ifndef NVDLA_PACKING_LINES_HPP
#define NVDLA_PACKING_LINES_HPP

#include <drm/nvdla_layer.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "packing/bands.hpp"

namespace nvdla::detail {

// `InputSpan` is what a part of the output reads along an axis of the input.
struct InputSpan {
  std::int64_t first = 0, size = 0;  // size: 0 or less if it reads padding only
  std::uint32_t pad_before = 0, pad_after = 0;
};

// Returns the span from `begin` to before `end` of an axis; before 0 and from `size` on lies the
// padding.
inline InputSpan input_span(std::int64_t begin, std::int64_t end, std::int64_t size) noexcept {
  const std::int64_t first = std::max<std::int64_t>(begin, 0), last = std::min(end, size);
  return {first, last - first, static_cast<std::uint32_t>(first - begin),
          static_cast<std::uint32_t>(end - last)};
}

// Returns true if padding is as high as the kernel: a band of the output could see nothing else, so
// lines cannot be cut.
bool pads_a_band(const nvdla_conv& conv);

// The fewest bands beside so many banks of weights; 0 if there is no way.
std::uint64_t bands_beside(const DeviceInfo& info, const nvdla_conv& conv, std::uint64_t weights);

// Input lines that a band has in common with the next one, at most.
std::uint64_t lines_twice(const nvdla_conv& conv);

// Returns as many bands as bands_beside(), which is not 0, from the top. All have the same banks.
std::vector<Band> cut_lines(const DeviceInfo& info, const nvdla_conv& conv, std::uint64_t weights);

// Returns `count` bands of about as many lines each, without banks; none if lines cannot be cut so.
std::vector<Band> cut_evenly(const nvdla_conv& conv, std::uint64_t count);

// Leaves in the buffer the lines that `next`, whose first line is `next_first` of the whole input,
// has in common with the convolution before it.
void keep_lines(nvdla_conv& before, std::uint32_t first, nvdla_conv& next,
                std::uint32_t next_first);

}  // namespace nvdla::detail

#endif  // NVDLA_PACKING_LINES_HPP
