// SPDX-License-Identifier: MIT
//
// Convolution and SDP in plain integers, written from the arithmetic of the hardware and from
// nothing of the runtime: what networks are compared with.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_REFERENCE_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_REFERENCE_HPP

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "common/integers.hpp"

namespace nvdla::test {

// CHW.
template <typename T>
struct Cube {
  int c = 0, h = 0, w = 0;
  std::vector<T> data;

  Cube() = default;
  Cube(int channels, int height, int width)
      : c(channels),
        h(height),
        w(width),
        data(static_cast<std::size_t>(channels) * height * width) {}
  T& at(int k, int y, int x) { return data[(static_cast<std::size_t>(k) * h + y) * w + x]; }
  T at(int k, int y, int x) const { return data[(static_cast<std::size_t>(k) * h + y) * w + x]; }
};

using Int8 = Cube<std::int8_t>;
using Int32 = Cube<std::int32_t>;

struct Geometry {
  int stride_width = 1, stride_height = 1, dilation_width = 1, dilation_height = 1;
  int left = 0, right = 0, top = 0, bottom = 0;
  int pad_value = 0;
  unsigned clip = 0;
};

// Accumulators of kernels in KCRS order.
inline Int32 convolve(const Int8& in, const std::vector<std::int8_t>& weights, int kernels, int kh,
                      int kw, const Geometry& g) {
  const int oh = (g.top + in.h + g.bottom - (kh - 1) * g.dilation_height - 1) / g.stride_height + 1;
  const int ow = (g.left + in.w + g.right - (kw - 1) * g.dilation_width - 1) / g.stride_width + 1;
  Int32 out(kernels, oh, ow);
  for (int k = 0; k < kernels; ++k) {
    for (int y = 0; y < oh; ++y) {
      for (int x = 0; x < ow; ++x) {
        std::int64_t sum = 0;
        for (int c = 0; c < in.c; ++c) {
          for (int r = 0; r < kh; ++r) {
            for (int s = 0; s < kw; ++s) {
              const int iy = y * g.stride_height - g.top + r * g.dilation_height;
              const int ix = x * g.stride_width - g.left + s * g.dilation_width;
              const bool inside = iy >= 0 && iy < in.h && ix >= 0 && ix < in.w;
              const std::size_t at = ((static_cast<std::size_t>(k) * in.c + c) * kh + r) * kw + s;
              sum += (inside ? in.at(c, iy, ix) : g.pad_value) * weights[at];
            }
          }
        }
        out.at(k, y, x) = static_cast<std::int32_t>(saturate(round_shift(sum, g.clip), 32));
      }
    }
  }
  return out;
}

inline Int32 widen(const Int8& in) {
  Int32 out(in.c, in.h, in.w);
  std::copy(in.data.begin(), in.data.end(), out.data.begin());
  return out;
}

// One operator on one value: alu 0 none, 1 max, 2 min, 3 sum; mul 0 none, 1 multiply, 2 PReLU.
inline std::int32_t apply(std::int32_t x, int alu, std::int32_t a, unsigned alu_shift, int mul,
                          std::int32_t m, unsigned mul_shift, bool relu) {
  const __int128 shifted = saturate(static_cast<__int128>(a) << alu_shift, 32);
  __int128 v = x;
  if (alu == 1) v = std::max(v, shifted);
  if (alu == 2) v = std::min(v, shifted);
  if (alu == 3) v += shifted;
  if (mul == 2 && v >= 0) {
    v = static_cast<std::int32_t>(v);
  } else {
    if (mul != 0) v *= m;
    v = saturate(round_shift(v, mul_shift), 32);
  }
  if (relu && v < 0) v = 0;
  return static_cast<std::int32_t>(v);
}

// The output converter.
inline std::int8_t convert(std::int32_t x, std::int32_t offset, std::int32_t scale,
                           unsigned shift) {
  const __int128 v = (static_cast<__int128>(x) - offset) * scale;
  return static_cast<std::int8_t>(saturate(saturate(round_shift(v, shift), 17), 8));
}

inline Int8 convert(const Int32& in, std::int32_t offset, std::int32_t scale, unsigned shift) {
  Int8 out(in.c, in.h, in.w);
  for (std::size_t i = 0; i < in.data.size(); ++i) {
    out.data[i] = convert(in.data[i], offset, scale, shift);
  }
  return out;
}

template <typename T>
std::vector<T> random_values(std::size_t count, std::uint32_t seed, int low, int high) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> values(low, high);
  std::vector<T> out(count);
  for (T& value : out) value = static_cast<T>(values(engine));
  return out;
}

inline Int8 random_cube(int c, int h, int w, std::uint32_t seed) {
  Int8 cube(c, h, w);
  cube.data = random_values<std::int8_t>(cube.data.size(), seed, -128, 127);
  return cube;
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_REFERENCE_HPP
