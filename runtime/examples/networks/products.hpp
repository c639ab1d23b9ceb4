// SPDX-License-Identifier: MIT
//
// Computes a convolution's sums of products by definition: lays the window of each position out as
// a vector and multiplies each kernel with it.
#ifndef NVDLA_EXAMPLES_NETWORKS_PRODUCTS_HPP
#define NVDLA_EXAMPLES_NETWORKS_PRODUCTS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph.hpp"
#include "parallel.hpp"

namespace networks {

// `Windows` gathers windows of a layer's data in the order line, column, channel (NHWC).
template <typename T>
class Windows {
 public:
  Windows(const Conv& conv, const Shape& in, const Shape& out, std::span<const T> data)
      : conv_(conv), in_(in), out_(out), data_(data) {}

  std::size_t size() const { return std::size_t{conv_.height} * conv_.width * in_.channels; }

  // Gathers the window of position y * width + x, with zeros beyond the edges.
  void gather(std::uint32_t position, T* window) const {
    const std::int64_t y = std::int64_t{position / out_.width} * conv_.stride - conv_.pad;
    const std::int64_t x = std::int64_t{position % out_.width} * conv_.stride - conv_.pad;
    const std::int64_t first = std::clamp<std::int64_t>(-x, 0, conv_.width);
    const std::int64_t end = std::clamp<std::int64_t>(in_.width - x, first, conv_.width);
    const std::size_t line = std::size_t{conv_.width} * in_.channels;
    for (std::uint32_t r = 0; r < conv_.height; ++r, window += line) {
      if (y + r < 0 || y + r >= in_.height) {
        std::fill_n(window, line, T{});
        continue;
      }
      std::fill_n(window, first * in_.channels, T{});
      const auto from = ((y + r) * in_.width + x + first) * in_.channels;
      std::copy_n(data_.data() + from, (end - first) * in_.channels, window + first * in_.channels);
      std::fill(window + end * in_.channels, window + line, T{});
    }
  }

 private:
  const Conv& conv_;
  const Shape& in_;
  const Shape& out_;
  std::span<const T> data_;
};

// Multiplies two vectors by four, which uses each number that is read several times.
template <typename Sum, typename T>
void dot_4x2(const T* w, const T* a, std::size_t n, Sum (&s)[4][2]) {
  const T *w0 = w, *w1 = w + n, *w2 = w + 2 * n, *w3 = w + 3 * n, *b = a + n;
  Sum s00 = 0, s01 = 0, s10 = 0, s11 = 0, s20 = 0, s21 = 0, s30 = 0, s31 = 0;
  for (std::size_t i = 0; i < n; ++i) {
    s00 += static_cast<Sum>(w0[i]) * a[i];
    s01 += static_cast<Sum>(w0[i]) * b[i];
    s10 += static_cast<Sum>(w1[i]) * a[i];
    s11 += static_cast<Sum>(w1[i]) * b[i];
    s20 += static_cast<Sum>(w2[i]) * a[i];
    s21 += static_cast<Sum>(w2[i]) * b[i];
    s30 += static_cast<Sum>(w3[i]) * a[i];
    s31 += static_cast<Sum>(w3[i]) * b[i];
  }
  s[0][0] = s00, s[0][1] = s01, s[1][0] = s10, s[1][1] = s11;
  s[2][0] = s20, s[2][1] = s21, s[3][0] = s30, s[3][1] = s31;
}

// Returns the sums for a convolution in groups, in which a kernel sees only its group's channels.
template <typename Sum, typename T>
std::vector<Sum> products_of_groups(const Conv& conv, const Shape& in, const Shape& out,
                                    std::span<const T> data, std::span<const std::int8_t> weights) {
  const Windows<T> windows(conv, in, out, data);
  const std::size_t area = std::size_t{conv.height} * conv.width;
  const std::size_t channels = in.channels / conv.groups, kernels = conv.kernels / conv.groups;
  std::vector<Sum> sums(std::size_t{out.height} * out.width * conv.kernels);
  in_parallel(out.height * out.width, [&](std::uint32_t position) {
    std::vector<T> window(windows.size());
    windows.gather(position, window.data());
    for (std::size_t k = 0; k < conv.kernels; ++k) {
      const std::int8_t* weight = weights.data() + k * channels * area;
      Sum sum = 0;
      for (std::size_t c = k / kernels * channels; c < (k / kernels + 1) * channels; ++c)
        for (std::size_t i = 0; i < area; ++i)
          sum += static_cast<Sum>(*weight++) * window[i * in.channels + c];
      sums[position * std::size_t{conv.kernels} + k] = sum;
    }
  });
  return sums;
}

// Returns the sums in the order position, kernel. `weights` are in the order kernel, channel, line,
// column.
template <typename Sum, typename T>
std::vector<Sum> products(const Conv& conv, const Shape& in, const Shape& out,
                          std::span<const T> data, std::span<const std::int8_t> weights) {
  if (conv.groups != 1) return products_of_groups<Sum, T>(conv, in, out, data, weights);
  constexpr std::uint32_t kKernels = 16;
  const Windows<T> windows(conv, in, out, data);
  const std::size_t n = windows.size();
  const std::uint32_t positions = out.height * out.width, area = conv.height * conv.width;
  std::vector<Sum> sums(std::size_t{positions} * conv.kernels);
  in_parallel((conv.kernels + kKernels - 1) / kKernels, [&](std::uint32_t part) {
    const std::uint32_t first = part * kKernels;
    const std::uint32_t kernels = std::min(kKernels, conv.kernels - first);
    // Packs the weights in the order of the windows, with zero kernels up to a multiple of four.
    std::vector<T> packed(kKernels * n), window(2 * n);
    for (std::uint32_t k = 0; k < kernels; ++k) {
      const std::int8_t* from = weights.data() + (first + k) * n;
      for (std::uint32_t c = 0; c < in.channels; ++c)
        for (std::uint32_t i = 0; i < area; ++i)
          packed[k * n + std::size_t{i} * in.channels + c] = *from++;
    }
    for (std::uint32_t at = 0; at < positions; at += 2) {
      const std::uint32_t pair = std::min(2U, positions - at);
      for (std::uint32_t i = 0; i < pair; ++i) windows.gather(at + i, window.data() + i * n);
      for (std::uint32_t k = 0; k < kernels; k += 4) {
        Sum s[4][2];
        dot_4x2(packed.data() + k * n, window.data(), n, s);
        for (std::uint32_t j = 0; j < std::min(4U, kernels - k); ++j)
          for (std::uint32_t i = 0; i < pair; ++i)
            sums[std::size_t{at + i} * conv.kernels + first + k + j] = s[j][i];
      }
    }
  });
  return sums;
}

// Does the same for a deconvolution: each of the four places of a kernel is a 1 x 1 convolution,
// whose results go to every other line and column.
template <typename Sum, typename T>
std::vector<Sum> products(const Double& up, const Shape& in, const Shape& out,
                          std::span<const T> data, std::span<const std::int8_t> weights) {
  const std::size_t kernels = up.kernels, channels = in.channels;
  std::vector<std::int8_t> places(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t place = i % 4, channel = i / 4 % channels, kernel = i / 4 / channels;
    places[(place * kernels + kernel) * channels + channel] = weights[i];
  }
  const Shape four{.channels = 4 * up.kernels, .height = in.height, .width = in.width};
  const auto parts = products<Sum, T>(Conv{.kernels = 4 * up.kernels}, in, four, data, places);
  std::vector<Sum> sums(parts.size());
  for (std::size_t i = 0; i < parts.size() / kernels; ++i) {
    const std::size_t place = i % 4, position = i / 4;
    const std::size_t y = 2 * (position / in.width) + place / 2;
    const std::size_t x = 2 * (position % in.width) + place % 2;
    std::copy_n(parts.begin() + static_cast<std::ptrdiff_t>(i * kernels), kernels,
                sums.begin() + static_cast<std::ptrdiff_t>((y * out.width + x) * kernels));
  }
  return sums;
}

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_PRODUCTS_HPP
