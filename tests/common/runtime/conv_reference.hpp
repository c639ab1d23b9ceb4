// SPDX-License-Identifier: MIT
//
// Convolutions of any precision on plain numbers, one product after another, written from the
// arithmetic of the hardware: what comes out of the accumulator, for SDP on one number
// (values.hpp).
#ifndef NVDLA_TESTS_COMMON_RUNTIME_CONV_REFERENCE_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_CONV_REFERENCE_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/layers/half_reference.hpp"
#include "common/runtime/values.hpp"

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

// The layer of a network that computes it, with `weights` as its type has them.
inline Convolution layer_of(const RefConv& ref, KernelSpan weights) {
  const Geometry& g = ref.geometry;
  Convolution c{.name = "conv", .kernels = ref.kernels};
  c.kernel_height = ref.kernel_height;
  c.kernel_width = ref.kernel_width;
  c.stride_width = static_cast<std::uint32_t>(g.stride_width);
  c.stride_height = static_cast<std::uint32_t>(g.stride_height);
  c.dilation_width = static_cast<std::uint32_t>(g.dilation_width);
  c.dilation_height = static_cast<std::uint32_t>(g.dilation_height);
  c.pad_left = static_cast<std::uint32_t>(g.left);
  c.pad_right = static_cast<std::uint32_t>(g.right);
  c.pad_top = static_cast<std::uint32_t>(g.top);
  c.pad_bottom = static_cast<std::uint32_t>(g.bottom);
  c.pad_value = g.pad_value;
  c.arithmetic.accumulator_shift = g.clip;
  c.weights = weights;
  return c;
}

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
  const int oh =
      (g.top + height + g.bottom - (kh - 1) * g.dilation_height - 1) / g.stride_height + 1;
  const int ow = (g.left + width + g.right - (kw - 1) * g.dilation_width - 1) / g.stride_width + 1;
  out = {conv.kernels, static_cast<std::uint32_t>(oh), static_cast<std::uint32_t>(ow),
         in.shape.batch};
  const auto all = steps(conv);
  const bool half = conv.processing == Precision::kFp16;
  std::vector<std::int64_t> result(out.elements());
  std::vector<std::uint16_t> weights;
  for (std::size_t n = 0; n < in.shape.batch; ++n) {
    for (int y = 0; y < oh; ++y) {
      for (int x = 0; x < ow; ++x) {
        const auto datum = [&](const RefLane& lane) {
          const int iy = y * g.stride_height - g.top + static_cast<int>(lane.r) * g.dilation_height;
          const int ix = x * g.stride_width - g.left + static_cast<int>(lane.s) * g.dilation_width;
          if (iy < 0 || iy >= height || ix < 0 || ix >= width) return g.pad_value;
          return in.data[((n * in.shape.channels + lane.c) * in.shape.height +
                          static_cast<std::size_t>(iy)) *
                             in.shape.width +
                         static_cast<std::size_t>(ix)];
        };
        // All kernels multiply the same data.
        std::vector<std::vector<std::int32_t>> data;
        std::vector<std::vector<std::uint16_t>> halves;
        for (const auto& step : all) {
          auto& values = data.emplace_back();
          for (const RefLane& lane : step) values.push_back(datum(lane));
          if (half) halves.emplace_back(values.begin(), values.end());
        }
        for (std::uint32_t k = 0; k < conv.kernels; ++k) {
          std::int64_t sum = 0;
          RefAccumulator accumulator;
          for (std::size_t i = 0; i < all.size(); ++i) {
            const auto weight = [&](std::size_t lane) {
              return conv.weight(k, all[i][lane].c, all[i][lane].r, all[i][lane].s);
            };
            if (half) {
              weights.clear();
              for (std::size_t lane = 0; lane < all[i].size(); ++lane)
                weights.push_back(static_cast<std::uint16_t>(weight(lane)));
              accumulator.add(multiply_step(halves[i], weights));
              continue;
            }
            for (std::size_t lane = 0; lane < all[i].size(); ++lane)
              sum += std::int64_t{data[i][lane]} * weight(lane);
          }
          const std::size_t line =
              (n * conv.kernels + k) * out.height + static_cast<std::size_t>(y);
          result[line * out.width + static_cast<std::size_t>(x)] =
              half ? accumulator.fp32() : saturate(round_shift(sum, g.clip), 32);
        }
      }
    }
  }
  return result;
}

// G w G^T of the nine taps of a folded kernel.
inline std::vector<double> winograd_weights(const double taps[9]) {
  constexpr double kG[4][3] = {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
  std::vector<double> tile(16);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
      for (int i = 0; i < 9; ++i) {
        tile[static_cast<std::size_t>(y * 4 + x)] += kG[y][i / 3] * kG[x][i % 3] * taps[i];
      }
    }
  }
  return tile;
}

// The same in Winograd mode, one cube: kernels transformed and rounded, tiles of transformed data,
// products of 4 channels at 16 positions in a step. Integers: transformed weights times
// 2^weight_shift, data shifted right by `pra`; geometry.clip is what is left for the accumulator.
inline std::vector<std::int64_t> accumulate_winograd(const RefConv& conv, const Values& in,
                                                     const Shape& out, int weight_shift,
                                                     unsigned pra) {
  const Geometry& g = conv.geometry;
  const bool half = conv.processing == Precision::kFp16;
  const int bits = conv.processing == Precision::kInt8 ? 8 : 16;
  const std::uint32_t lanes = conv.processing == Precision::kInt8 ? 32 : 16;
  const std::uint32_t aligned = (conv.channels + lanes - 1) / lanes * lanes;
  const auto sx = static_cast<std::uint32_t>(g.stride_width),
             sy = static_cast<std::uint32_t>(g.stride_height);
  const std::uint32_t channels = aligned * sx * sy;
  constexpr int kB[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
  constexpr int kA[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
  // [kernel][channel][position]
  std::vector<std::int32_t> weights(std::size_t{conv.kernels} * channels * 16);
  for (std::uint32_t k = 0; k < conv.kernels; ++k) {
    for (std::uint32_t ce = 0; ce < channels; ++ce) {
      const std::uint32_t c = ce % aligned, fold = ce / aligned;
      double taps[9] = {};
      for (std::uint32_t i = 0; i < 9 && c < conv.channels; ++i) {
        const std::uint32_t r = i / 3 * sy + fold / sx, s = i % 3 * sx + fold % sx;
        if (r >= conv.kernel_height || s >= conv.kernel_width) continue;
        const std::int32_t w = conv.weight(k, c, r, s);
        taps[i] = half ? float_value(kHalf, static_cast<std::uint32_t>(w)) : w;
      }
      const std::vector<double> tile = winograd_weights(taps);
      for (std::size_t i = 0; i < 16; ++i) {
        weights[(std::size_t{k} * channels + ce) * 16 + i] =
            half ? static_cast<std::int32_t>(float_bits(kHalf, tile[i] < 0, std::abs(tile[i])))
                 : static_cast<std::int32_t>(std::round(std::ldexp(tile[i], weight_shift)));
      }
    }
  }
  const auto at = [&](int y, int x, std::uint32_t c) {
    const int iy = y - g.top, ix = x - g.left;
    if (iy < 0 || iy >= static_cast<int>(in.shape.height) || ix < 0 ||
        ix >= static_cast<int>(in.shape.width)) {
      return g.pad_value;
    }
    if (c >= in.shape.channels) return 0;
    return in
        .data[(std::size_t{c} * in.shape.height + static_cast<std::size_t>(iy)) * in.shape.width +
              static_cast<std::size_t>(ix)];
  };
  std::vector<std::int64_t> result(out.elements());
  for (std::uint32_t y = 0; y < out.height; y += 2) {
    for (std::uint32_t x = 0; x < out.width; x += 2) {
      std::vector<std::vector<std::int32_t>> tile(channels, std::vector<std::int32_t>(16));
      for (std::uint32_t ce = 0; ce < channels; ++ce) {
        const std::uint32_t c = ce % aligned, fold = ce / aligned;
        const auto datum = [&](std::uint32_t i, std::uint32_t j) {
          return at(static_cast<int>((y + i) * sy + fold / sx),
                    static_cast<int>((x + j) * sx + fold % sx), c);
        };
        if (!half) {
          for (std::uint32_t i = 0; i < 16; ++i) {
            std::int64_t sum = 0;
            for (std::uint32_t a = 0; a < 16; ++a) {
              sum += std::int64_t{kB[i / 4][a / 4]} * kB[i % 4][a % 4] * datum(a / 4, a % 4);
            }
            tile[ce][i] = static_cast<std::int32_t>(saturate(round_shift(sum, pra), bits));
          }
          continue;
        }
        std::uint32_t d[4][4];
        for (std::uint32_t i = 0; i < 16; ++i) {
          d[i / 4][i % 4] =
              float_convert(kHalf, kFp17, static_cast<std::uint32_t>(datum(i / 4, i % 4)));
        }
        const auto pass = [](std::uint32_t* v0, std::uint32_t* v1, std::uint32_t* v2,
                             std::uint32_t* v3) {
          const auto sub = [](std::uint32_t a, std::uint32_t b) {
            return float_add(kFp17, a, b ^ kFp17.sign());
          };
          const std::uint32_t a0 = *v0, a1 = *v1, a2 = *v2, a3 = *v3;
          *v0 = sub(a0, a2);
          *v1 = float_add(kFp17, a1, a2);
          *v2 = sub(a2, a1);
          *v3 = sub(a1, a3);
        };
        for (auto j : {0, 1, 2, 3}) pass(&d[0][j], &d[1][j], &d[2][j], &d[3][j]);
        for (auto& row : d) pass(&row[0], &row[1], &row[2], &row[3]);
        for (std::uint32_t i = 0; i < 16; ++i) {
          tile[ce][i] = static_cast<std::int32_t>(float_convert(kFp17, kHalf, d[i / 4][i % 4]));
        }
      }
      for (std::uint32_t k = 0; k < conv.kernels; ++k) {
        // The four outputs of a tile add the same products.
        RefAccumulator accumulators[4];
        std::int64_t totals[4] = {};
        for (std::uint32_t c0 = 0; c0 < channels; c0 += 4) {
          std::vector<std::int64_t> products(64);
          std::vector<std::uint16_t> data(64), factors(64);
          for (std::uint32_t lane = 0; lane < 64; ++lane) {
            const std::uint32_t c = c0 + lane % 4, p = lane / 4;
            const std::int32_t w = weights[(std::size_t{k} * channels + c) * 16 + p];
            data[lane] = static_cast<std::uint16_t>(tile[c][p]);
            factors[lane] = static_cast<std::uint16_t>(w);
            products[lane] = std::int64_t{tile[c][p]} * w;
          }
          RefStep step;
          if (half) {
            step = multiply_step(data, factors);
            products = step.products;
          }
          for (std::uint32_t i = 0; i < 4; ++i) {
            std::int64_t sum = 0;
            for (std::size_t lane = 0; lane < products.size(); ++lane)
              sum += kA[i / 2][lane / 16] * kA[i % 2][lane / 4 % 4] * products[lane];
            totals[i] += sum;
            if (half) accumulators[i].add(step, sum);
          }
        }
        for (std::uint32_t i = 0; i < 4; ++i) {
          if (y + i / 2 >= out.height || x + i % 2 >= out.width) continue;
          result[(std::size_t{k} * out.height + y + i / 2) * out.width + x + i % 2] =
              half ? static_cast<std::int64_t>(accumulators[i].fp32())
                   : saturate(round_shift(totals[i], g.clip), 32);
        }
      }
    }
  }
  return result;
}

// Of kernels of `processing`.
inline std::vector<std::int32_t> random_kernels(std::size_t count, Precision processing,
                                                Random& random) {
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

#endif  // NVDLA_TESTS_COMMON_RUNTIME_CONV_REFERENCE_HPP
