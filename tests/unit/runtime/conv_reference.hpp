// SPDX-License-Identifier: MIT
//
// Convolutions of any precision on plain numbers, one product after another, written from the
// arithmetic of the hardware: what comes out of the accumulator, for SDP on one number
// (values.hpp).
#ifndef NVDLA_TESTS_RUNTIME_CONV_REFERENCE_HPP
#define NVDLA_TESTS_RUNTIME_CONV_REFERENCE_HPP

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/half_reference.hpp"
#include "values.hpp"

namespace nvdla::test {

// A convolution of one cube of `channels` (a batch is as many of them). Numbers are integers or
// bits of fp16, as `processing` says.
struct RefConv {
  Precision processing = Precision::kInt8;
  std::uint32_t kernels = 1, channels = 1, kernel_height = 1, kernel_width = 1;
  Geometry geometry;
  std::vector<std::int32_t> weights;  // KCRS
  // fp16 adds in steps of channels of one kernel position; an image's are rows of the kernel, as
  // many side by side as `lines`.
  std::uint32_t atomic_c = 64;
  bool image = false;
  std::uint32_t lines = 1;

  std::int32_t weight(std::size_t k, std::size_t c, std::size_t r, std::size_t s) const {
    return weights[((k * channels + c) * kernel_height + r) * kernel_width + s];
  }
};

struct RefLane {
  std::uint32_t r, s, c;
};

inline std::vector<std::vector<RefLane>> steps(const RefConv& conv) {
  std::vector<std::vector<RefLane>> list;
  const std::uint32_t lanes = conv.image ? conv.channels * conv.kernel_width : conv.channels;
  const std::uint32_t columns = conv.image ? 1 : conv.kernel_width;
  for (std::uint32_t c0 = 0; c0 < lanes; c0 += conv.atomic_c) {
    for (std::uint32_t r = 0; r < conv.kernel_height; ++r) {
      for (std::uint32_t s = 0; s < columns; ++s) {
        if (conv.lines == 1 || r % conv.lines == 0) list.emplace_back();
        for (std::uint32_t c = c0; c < std::min(lanes, c0 + conv.atomic_c); ++c) {
          list.back().push_back(conv.image ? RefLane{r, c / conv.channels, c % conv.channels}
                                           : RefLane{r, s, c});
        }
      }
    }
  }
  return list;
}

// Results as SDP gets them, NCHW.
inline std::vector<std::int64_t> accumulate(const RefConv& conv, const Values& in, Shape& out) {
  const Geometry& g = conv.geometry;
  const int height = static_cast<int>(in.shape.height), width = static_cast<int>(in.shape.width);
  const int kh = static_cast<int>(conv.kernel_height), kw = static_cast<int>(conv.kernel_width);
  const int oh = (g.top + height + g.bottom - (kh - 1) * g.dilation_y - 1) / g.stride_y + 1;
  const int ow = (g.left + width + g.right - (kw - 1) * g.dilation_x - 1) / g.stride_x + 1;
  out = {conv.kernels, static_cast<std::uint32_t>(oh), static_cast<std::uint32_t>(ow),
         in.shape.batch};
  const auto all = steps(conv);
  std::vector<std::int64_t> result;
  result.reserve(out.elements());
  for (std::size_t n = 0; n < in.shape.batch; ++n) {
    for (std::uint32_t k = 0; k < conv.kernels; ++k) {
      for (int y = 0; y < oh; ++y) {
        for (int x = 0; x < ow; ++x) {
          const auto datum = [&](const RefLane& lane) {
            const int iy = y * g.stride_y - g.top + static_cast<int>(lane.r) * g.dilation_y;
            const int ix = x * g.stride_x - g.left + static_cast<int>(lane.s) * g.dilation_x;
            if (iy < 0 || iy >= height || ix < 0 || ix >= width) return g.pad_value;
            return in.data[((n * in.shape.channels + lane.c) * in.shape.height +
                            static_cast<std::size_t>(iy)) *
                               in.shape.width +
                           static_cast<std::size_t>(ix)];
          };
          std::int64_t sum = 0;
          RefAccumulator accumulator;
          for (const auto& step : all) {
            std::vector<std::uint16_t> data, weights;
            for (const RefLane& lane : step) {
              if (conv.processing == Precision::kFp16) {
                data.push_back(static_cast<std::uint16_t>(datum(lane)));
                weights.push_back(
                    static_cast<std::uint16_t>(conv.weight(k, lane.c, lane.r, lane.s)));
              } else {
                sum += std::int64_t{datum(lane)} * conv.weight(k, lane.c, lane.r, lane.s);
              }
            }
            if (conv.processing == Precision::kFp16) accumulator.add(multiply_step(data, weights));
          }
          result.push_back(conv.processing == Precision::kFp16
                               ? accumulator.fp32()
                               : saturate(round_shift(sum, g.clip), 32));
        }
      }
    }
  }
  return result;
}

// Of kernels of `processing`.
inline std::vector<std::int32_t> random_kernels(std::size_t count, Precision processing,
                                                std::mt19937& random) {
  const Values values =
      random_tensor({1, 1, static_cast<std::uint32_t>(count)}, processing, random);
  std::vector<std::int32_t> list = values.data;
  // Sums of products stay in range, mostly.
  if (processing == Precision::kFp16) {
    for (std::int32_t& bits : list) {
      if ((bits & 0x7c00) > 0x5000) bits -= 0x2c00;
    }
  }
  return list;
}

// What a network copies from: one of these has the kernels.
struct KernelHolder {
  std::vector<std::int8_t> narrow;
  std::vector<std::int16_t> wide;
  std::vector<std::uint16_t> half;

  KernelSpan hold(const std::vector<std::int32_t>& kernels, Precision precision) {
    if (precision == Precision::kInt8) {
      narrow.assign(kernels.begin(), kernels.end());
      return std::span<const std::int8_t>(narrow);
    }
    if (precision == Precision::kInt16) {
      wide.assign(kernels.begin(), kernels.end());
      return std::span<const std::int16_t>(wide);
    }
    half.assign(kernels.begin(), kernels.end());
    return std::span<const std::uint16_t>(half);
  }
};

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_RUNTIME_CONV_REFERENCE_HPP
