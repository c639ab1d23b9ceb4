// SPDX-License-Identifier: MIT
//
// Elements of a tensor that is folded in width, of any type.
#ifndef NVDLA_PACKING_FOLD_ELEMENTS_HPP
#define NVDLA_PACKING_FOLD_ELEMENTS_HPP

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "nvdla/lowlevel/folding.hpp"
#include "nvdla/types/shape.hpp"
#include "packing/precision.hpp"
#include "support/check.hpp"

namespace nvdla::detail {

// fold_tensor(), with `padding` behind the last column.
template <typename T>
std::vector<T> fold_elements(const nvdla_conv& conv, Layout layout, std::span<const T> source,
                             T padding) {
  check_layout(layout);
  const Folding f = fold_width(conv);
  const std::size_t batch = std::max(conv.batch, 1U), channels = conv.channels;
  const std::size_t height = conv.height, width = conv.width;
  if (source.size() != batch * channels * height * width) {
    throw_invalid_argument("{} elements given, a tensor of {}x{}x{}x{} (NCHW) has {}",
                           source.size(), batch, channels, height, width,
                           batch * channels * height * width);
  }
  std::vector<T> folded(batch * f.shape.channels * height * f.shape.width, padding);
  const std::size_t used = std::min<std::size_t>(width, std::size_t{f.shape.width} * f.columns);
  for (std::size_t n = 0; n < batch; ++n) {
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t y = 0; y < height; ++y) {
        for (std::size_t x = 0; x < used; ++x) {
          const std::size_t from = layout == Layout::kNchw
                                       ? ((n * channels + c) * height + y) * width + x
                                       : ((n * height + y) * width + x) * channels + c;
          const std::size_t channel = x % f.columns * channels + c;
          folded[((n * f.shape.channels + channel) * height + y) * f.shape.width + x / f.columns] =
              source[from];
        }
      }
    }
  }
  return folded;
}

}  // namespace nvdla::detail

#endif  // NVDLA_PACKING_FOLD_ELEMENTS_HPP
