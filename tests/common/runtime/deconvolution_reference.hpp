// SPDX-License-Identifier: MIT
//
// Deconvolution by its definition: each element of the input, from its zero point on, times the
// kernel, is added where the kernel lies.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_DECONVOLUTION_REFERENCE_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_DECONVOLUTION_REFERENCE_HPP

#include <optional>
#include <string>
#include <vector>

#include "common/random.hpp"
#include "common/runtime/reference.hpp"
#include "nvdla/lowlevel/deconvolution_phases.hpp"
#include "nvdla/operators/deconvolution.hpp"

namespace nvdla::test {

inline Int32 deconvolve(const Int8& in, const std::vector<std::int8_t>& weights,
                        const DeconvolutionDesc& d, int zero_point = 0) {
  const int kernels = static_cast<int>(d.weights.kernels);
  const int kh = static_cast<int>(d.weights.kernel_height);
  const int kw = static_cast<int>(d.weights.kernel_width);
  const int sy = static_cast<int>(d.stride_height), sx = static_cast<int>(d.stride_width);
  Int32 whole(kernels, (in.h - 1) * sy + kh + static_cast<int>(d.extra_bottom),
              (in.w - 1) * sx + kw + static_cast<int>(d.extra_right));
  for (int k = 0; k < kernels; ++k) {
    for (int c = 0; c < in.c; ++c) {
      for (int y = 0; y < in.h; ++y) {
        for (int x = 0; x < in.w; ++x) {
          for (int r = 0; r < kh; ++r) {
            for (int s = 0; s < kw; ++s) {
              const std::size_t at = ((static_cast<std::size_t>(k) * in.c + c) * kh + r) * kw + s;
              whole.at(k, y * sy + r, x * sx + s) += (in.at(c, y, x) - zero_point) * weights[at];
            }
          }
        }
      }
    }
  }
  Int32 out(kernels, whole.h - static_cast<int>(d.pad_top + d.pad_bottom),
            whole.w - static_cast<int>(d.pad_left + d.pad_right));
  for (int k = 0; k < kernels; ++k) {
    for (int y = 0; y < out.h; ++y) {
      for (int x = 0; x < out.w; ++x) {
        out.at(k, y, x) =
            whole.at(k, y + static_cast<int>(d.pad_top), x + static_cast<int>(d.pad_left));
      }
    }
  }
  return out;
}

// None where the sizes picked leave no output.
inline std::optional<DeconvolutionDesc> random_deconvolution(Random& random) {
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint32_t>(random.pick(low, high));
  };
  DeconvolutionDesc d;
  d.input = {pick(1, 4), pick(1, 6), pick(1, 6)};
  d.weights = {pick(1, 3), d.input.channels, pick(1, 7), pick(1, 7)};
  d.stride_width = pick(1, 5);
  d.stride_height = pick(1, 5);
  d.pad_top = pick(0, d.weights.kernel_height - 1);
  d.pad_bottom = pick(0, d.weights.kernel_height - 1);
  d.pad_left = pick(0, d.weights.kernel_width - 1);
  d.pad_right = pick(0, d.weights.kernel_width - 1);
  d.extra_bottom = pick(0, d.stride_height - 1);
  d.extra_right = pick(0, d.stride_width - 1);
  const auto empty = [](std::uint32_t size, std::uint32_t kernel, std::uint32_t stride,
                        std::uint32_t cut, std::uint32_t extra) {
    return (size - 1) * stride + kernel + extra <= cut;
  };
  if (empty(d.input.height, d.weights.kernel_height, d.stride_height, d.pad_top + d.pad_bottom,
            d.extra_bottom) ||
      empty(d.input.width, d.weights.kernel_width, d.stride_width, d.pad_left + d.pad_right,
            d.extra_right)) {
    return std::nullopt;
  }
  return d;
}

// A layer "up" of that shape, which has no weights yet.
inline Deconvolution deconvolution_layer(const DeconvolutionDesc& d) {
  Deconvolution layer{.name = "up", .kernels = d.weights.kernels};
  layer.kernel_height = d.weights.kernel_height;
  layer.kernel_width = d.weights.kernel_width;
  layer.stride_height = d.stride_height;
  layer.stride_width = d.stride_width;
  layer.pad_top = d.pad_top;
  layer.pad_bottom = d.pad_bottom;
  layer.pad_left = d.pad_left;
  layer.pad_right = d.pad_right;
  layer.extra_bottom = d.extra_bottom;
  layer.extra_right = d.extra_right;
  return layer;
}

inline std::string describe(const DeconvolutionDesc& d) {
  std::string text;
  for (const std::uint32_t value :
       {d.input.channels, d.input.height, d.input.width, d.weights.kernels, d.weights.kernel_height,
        d.weights.kernel_width, d.stride_height, d.stride_width, d.pad_top, d.pad_bottom,
        d.pad_left, d.pad_right, d.extra_bottom, d.extra_right}) {
    text += std::to_string(value) + " ";
  }
  return text;
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_DECONVOLUTION_REFERENCE_HPP
