// SPDX-License-Identifier: MIT
#include "nvdla/lowlevel/conv_weights.hpp"

#include <algorithm>

#include "nvdla/types/device_info.hpp"
#include "packing/weight_stream.hpp"
#include "support/check.hpp"

namespace nvdla {
namespace {

using detail::throw_invalid_argument;
using detail::WeightStream;

// c' = column * channels + channel, width 1.
template <typename T>
std::vector<T> fold_columns(const WeightsDesc& d, std::span<const T> kcrs) {
  std::vector<T> folded;
  folded.reserve(kcrs.size());
  const std::size_t rows = d.kernel_height, columns = d.kernel_width;
  for (std::size_t k = 0; k < d.kernels; ++k) {
    for (std::size_t s = 0; s < columns; ++s) {
      for (std::size_t c = 0; c < d.channels; ++c) {
        for (std::size_t r = 0; r < rows; ++r) {
          folded.push_back(kcrs[((k * d.channels + c) * rows + r) * columns + s]);
        }
      }
    }
  }
  return folded;
}

template <typename T>
void pack_image(const DeviceInfo& info, const WeightsDesc& d, std::uint32_t lines,
                std::span<const T> kcrs, std::span<std::byte> stream) {
  detail::check_weights<T>(d, kcrs);
  const std::uint32_t most = most_post_extension(info, d.kernel_width, 1, d.channels);
  if (lines != 1 && lines != 2 && lines != 4) {
    throw_invalid_argument("post_extension {} is none of 1, 2, 4", lines);
  }
  if (lines > most) {
    throw_invalid_argument(
        "post_extension {} of {} columns of {} components is more than {} channels; "
        "at most {} would do",
        lines, d.kernel_width, d.channels, info.atomic_c, most);
  }
  const std::vector<T> folded = fold_columns<T>(d, kcrs);
  WeightsDesc flat = d;
  flat.channels = d.channels * d.kernel_width;
  flat.kernel_width = 1;
  if (lines == 1) {
    pack_weights(info, flat, folded, stream);
    return;
  }
  const std::uint32_t group = detail::kernel_group(info, d);
  WeightStream<T> out(stream, detail::stream_bytes(d.elements() * sizeof(T)));
  for (std::uint32_t k0 = 0; k0 < d.kernels; k0 += group) {
    for (std::uint32_t r0 = 0; r0 < d.kernel_height; r0 += lines) {
      for (std::uint32_t k = k0; k < std::min(k0 + group, d.kernels); ++k) {
        for (std::uint32_t r = r0; r < std::min(r0 + lines, d.kernel_height); ++r) {
          for (std::uint32_t c = 0; c < flat.channels; ++c) {
            out.put(folded[(std::size_t{k} * flat.channels + c) * d.kernel_height + r]);
          }
        }
      }
    }
  }
}

template <typename T>
std::vector<T> extend(const WeightsDesc& d, std::span<const T> kcrs, std::uint32_t channels) {
  detail::check_weights<T>(d, kcrs);
  if (channels < d.channels) {
    throw_invalid_argument("kernels of {} channels have no place in {}", d.channels, channels);
  }
  const std::size_t area = std::size_t{d.kernel_height} * d.kernel_width;
  std::vector<T> wide(d.kernels * channels * area);
  for (std::size_t k = 0; k < d.kernels; ++k) {
    std::copy_n(kcrs.data() + k * d.channels * area, d.channels * area,
                wide.data() + k * channels * area);
  }
  return wide;
}

}  // namespace

std::uint32_t most_post_extension(const DeviceInfo& info, std::uint32_t kernel_width,
                                  std::uint32_t stride_width, std::uint32_t components) {
  const std::uint64_t lanes = std::uint64_t{std::max(kernel_width, stride_width)} * components;
  std::uint32_t lines = 1;
  while (lines < 4 && lanes <= info.atomic_c / (2 * lines)) lines *= 2;
  return lines;
}

void pack_image_weights(const DeviceInfo& info, const WeightsDesc& desc,
                        std::uint32_t post_extension, std::span<const std::int8_t> kcrs,
                        std::span<std::byte> stream) {
  pack_image(info, desc, post_extension, kcrs, stream);
}

void pack_image_weights(const DeviceInfo& info, const WeightsDesc& desc,
                        std::uint32_t post_extension, std::span<const std::int16_t> kcrs,
                        std::span<std::byte> stream) {
  pack_image(info, desc, post_extension, kcrs, stream);
}

std::vector<std::int8_t> add_channels(const WeightsDesc& desc, std::span<const std::int8_t> kcrs,
                                      std::uint32_t channels) {
  return extend(desc, kcrs, channels);
}

std::vector<std::int16_t> add_channels(const WeightsDesc& desc, std::span<const std::int16_t> kcrs,
                                       std::uint32_t channels) {
  return extend(desc, kcrs, channels);
}

}  // namespace nvdla
