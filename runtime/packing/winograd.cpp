// SPDX-License-Identifier: MIT
//
// Weights of Winograd convolutions: 3x3 kernels become 4x4, G w G^T.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/half.hpp"
#include "nvdla/types/precision.hpp"
#include "packing/weight_stream.hpp"
#include "support/check.hpp"

namespace nvdla {
namespace {

using detail::throw_invalid_argument;

constexpr std::int32_t kLeastShift = -2, kMostShift = 2;
// 4 G w G^T has been multiplied by two to the power of it.
constexpr std::int32_t kQuarters = 2;
constexpr std::uint32_t kBlock = 4;  // channels of one step

using Tile = std::array<double, 16>;

std::uint32_t lanes(const DeviceInfo& info, const WeightsDesc& d) {
  return info.atom / precision_bytes(d.precision);
}

std::uint32_t position_channels(const DeviceInfo& info, const WeightsDesc& d) {
  return (d.channels + lanes(info, d) - 1) / lanes(info, d) * lanes(info, d);
}

void check(const WinogradDesc& d) {
  detail::check_weights(d.weights);
  detail::check_range("stride_width", d.stride_width, 1U, 8U);
  detail::check_range("stride_height", d.stride_height, 1U, 8U);
  for (const auto& [size, stride] : {std::pair{d.weights.kernel_width, d.stride_width},
                                     std::pair{d.weights.kernel_height, d.stride_height}}) {
    if ((size + stride - 1) / stride != 3) {
      throw_invalid_argument(
          "Winograd takes kernels that a stride of {} folds to 3, of {} to {}; a kernel "
          "of {} folds to {}",
          stride, 2 * stride + 1, 3 * stride, size, (size + stride - 1) / stride);
    }
  }
  const bool half = d.weights.precision == Precision::kFp16;
  detail::check_range("weight_shift", d.weight_shift, half ? 0 : kLeastShift,
                      half ? 0 : kMostShift);
}

double number(std::int8_t weight, Precision) { return weight; }
double number(std::int16_t weight, Precision precision) {
  if (precision != Precision::kFp16) return weight;
  const float value = from_half(static_cast<std::uint16_t>(weight));
  if (!std::isfinite(value)) {
    throw_invalid_argument("weights of Winograd must be finite, found fp16 pattern {:#06x}",
                           static_cast<std::uint16_t>(weight));
  }
  return value;
}

// 4 G w G^T of one channel at one position of the stride: exact, as it has few bits.
template <typename T>
Tile transform(const WinogradDesc& d, std::span<const T> kcrs, std::size_t k, std::size_t c,
               std::uint32_t phase_y, std::uint32_t phase_x) {
  const WeightsDesc& w = d.weights;
  double tap[3][3] = {};
  for (std::uint32_t i = 0; i < 3; ++i) {
    for (std::uint32_t j = 0; j < 3; ++j) {
      const std::uint32_t r = i * d.stride_height + phase_y, s = j * d.stride_width + phase_x;
      if (r >= w.kernel_height || s >= w.kernel_width) continue;
      tap[i][j] = number(kcrs[((k * w.channels + c) * w.kernel_height + r) * w.kernel_width + s],
                         w.precision);
    }
  }
  constexpr int kTwoG[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
  Tile tile = {};
  for (std::size_t y = 0; y < 4; ++y) {
    for (std::size_t x = 0; x < 4; ++x) {
      double& sum = tile[y * 4 + x];
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) sum += kTwoG[y][i] * kTwoG[x][j] * tap[i][j];
      }
    }
  }
  return tile;
}

// Halves away from zero, as std::round does.
double shifted(double quarters, std::int32_t shift) {
  return std::round(std::ldexp(quarters, shift - kQuarters));
}

template <typename T>
bool fits(double value) {
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

constexpr double kBeyond = 65520;  // rounds to more than the largest number of fp16

template <typename T>
T element(const WinogradDesc& d, double quarters, std::size_t k, std::size_t c) {
  if (d.weights.precision == Precision::kFp16) {
    const double value = std::ldexp(quarters, -kQuarters);
    if (std::abs(value) >= kBeyond) {
      throw_invalid_argument("kernel {} channel {}: the transformed weight {} does not fit fp16", k,
                             c, value);
    }
    return static_cast<T>(to_half(value));
  }
  const double value = shifted(quarters, d.weight_shift);
  if (!fits<T>(value)) {
    throw_invalid_argument(
        "kernel {} channel {}: the transformed weight {} does not fit {} bits; take a "
        "weight_shift of less than {}",
        k, c, value, 8 * sizeof(T), d.weight_shift);
  }
  return static_cast<T>(value);
}

// Calls each(kernel, channel, tile).
template <typename T, typename Each>
void for_each_tile(const WinogradDesc& d, std::span<const T> kcrs, const Each& each) {
  for (std::size_t k = 0; k < d.weights.kernels; ++k) {
    for (std::uint32_t y = 0; y < d.stride_height; ++y) {
      for (std::uint32_t x = 0; x < d.stride_width; ++x) {
        for (std::size_t c = 0; c < d.weights.channels; ++c) {
          each(k, y * d.stride_width + x, c, transform(d, kcrs, k, c, y, x));
        }
      }
    }
  }
}

template <typename T>
void pack_winograd(const DeviceInfo& info, const WinogradDesc& d, std::span<const T> kcrs,
                   std::span<std::byte> stream) {
  check(d);
  detail::check_weights(d.weights, kcrs);
  const std::size_t channels = winograd_channels(info, d);
  const std::size_t per_position = position_channels(info, d.weights);
  // [kernel][channel][tile]; channels that only fill atoms stay zero.
  std::vector<T> tiles(d.weights.kernels * channels * 16);
  for_each_tile(d, kcrs, [&](std::size_t k, std::size_t position, std::size_t c, const Tile& tile) {
    T* out = &tiles[(k * channels + position * per_position + c) * 16];
    for (std::size_t i = 0; i < 16; ++i) out[i] = element<T>(d, tile[i], k, c);
  });

  const std::size_t group = detail::kernel_group(info, d.weights);
  detail::WeightStream<T> out(stream, winograd_bytes(info, d));
  for (std::size_t k0 = 0; k0 < d.weights.kernels; k0 += group) {
    for (std::size_t c0 = 0; c0 < channels; c0 += kBlock) {
      for (std::size_t k = k0; k < std::min<std::size_t>(k0 + group, d.weights.kernels); ++k) {
        for (std::size_t i = 0; i < 16; ++i) {
          for (std::size_t c = c0; c < c0 + kBlock; ++c) {
            out.put(tiles[(k * channels + c) * 16 + i]);
          }
        }
      }
    }
  }
}

template <typename T>
std::int32_t largest_shift(const WinogradDesc& d, std::span<const T> kcrs) {
  check(d);
  detail::check_weights(d.weights, kcrs);
  if (d.weights.precision == Precision::kFp16) return 0;
  std::int32_t shift = kMostShift;
  for_each_tile(d, kcrs, [&](std::size_t, std::size_t, std::size_t, const Tile& tile) {
    for (const double quarters : tile) {
      while (shift > kLeastShift && !fits<T>(shifted(quarters, shift))) --shift;
    }
  });
  return shift;
}

}  // namespace

bool detail::winograd_weights_fit(const WinogradDesc& desc, std::span<const std::int16_t> halves) {
  bool fit = true;
  for_each_tile(desc, halves, [&](std::size_t, std::size_t, std::size_t, const Tile& tile) {
    for (const double quarters : tile)
      fit = fit && std::abs(std::ldexp(quarters, -kQuarters)) < kBeyond;
  });
  return fit;
}

std::uint32_t winograd_channels(const DeviceInfo& info, const WinogradDesc& d) {
  check(d);
  return position_channels(info, d.weights) * d.stride_width * d.stride_height;
}

std::uint64_t winograd_bytes(const DeviceInfo& info, const WinogradDesc& d) {
  return detail::stream_bytes(std::uint64_t{16} * winograd_channels(info, d) * d.weights.kernels *
                              precision_bytes(d.weights.precision));
}

void pack_winograd_weights(const DeviceInfo& info, const WinogradDesc& desc,
                           std::span<const std::int8_t> kcrs, std::span<std::byte> stream) {
  pack_winograd(info, desc, kcrs, stream);
}

void pack_winograd_weights(const DeviceInfo& info, const WinogradDesc& desc,
                           std::span<const std::int16_t> kcrs, std::span<std::byte> stream) {
  pack_winograd(info, desc, kcrs, stream);
}

std::int32_t winograd_weight_shift(const WinogradDesc& desc, std::span<const std::int8_t> kcrs) {
  return largest_shift(desc, kcrs);
}

std::int32_t winograd_weight_shift(const WinogradDesc& desc, std::span<const std::int16_t> kcrs) {
  return largest_shift(desc, kcrs);
}

}  // namespace nvdla
