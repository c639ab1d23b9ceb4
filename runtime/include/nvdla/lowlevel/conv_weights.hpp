// SPDX-License-Identifier: MIT
//
/// @file
/// Packing of weights for convolutions that are not direct: of images, whose kernel width is folded
/// into the channels, and of Winograd's transform. Streams are as long as weights_bytes() and
/// winograd_bytes() say, and end in zeros.
#ifndef NVDLA_LOWLEVEL_CONV_WEIGHTS_HPP
#define NVDLA_LOWLEVEL_CONV_WEIGHTS_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nvdla/lowlevel/weights.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/export.hpp"

namespace nvdla {

/// The most kernel lines (1, 2 or 4) whose channels fit side by side into one step of an image:
/// max(kernel_width, stride_width) * components <= atomic_c / lines (nvdla_conv::post_extension).
NVDLA_API std::uint32_t most_post_extension(const DeviceInfo& info, std::uint32_t kernel_width,
                                            std::uint32_t stride_width, std::uint32_t components);

/// KCRS -> the stream of an image convolution. desc.channels are the components of the pixel
/// format; kernels with fewer channels get zeros from add_channels() first.
///
/// Order, slowest first: kernel group, block of atomic_c of the kernel_width * channels channels
/// (column * channels + channel), row, kernel, channel. With a post extension of 2 or 4 all
/// channels are one block and that many rows stand side by side: group, block of rows, kernel, row,
/// channel. Throws kInvalidArgument if a size, the element type or the post extension is wrong.
NVDLA_API void pack_image_weights(const DeviceInfo& info, const WeightsDesc& desc,
                                  std::uint32_t post_extension, std::span<const std::int8_t> kcrs,
                                  std::span<std::byte> stream);
/// The same for int16 elements or bits of fp16, as `desc.precision` states.
NVDLA_API void pack_image_weights(const DeviceInfo& info, const WeightsDesc& desc,
                                  std::uint32_t post_extension, std::span<const std::int16_t> kcrs,
                                  std::span<std::byte> stream);

/// The same kernels (KCRS) with zeros behind their channels, desc.channels before and `channels`
/// after. Throws kInvalidArgument if that is fewer.
NVDLA_API std::vector<std::int8_t> add_channels(const WeightsDesc& desc,
                                                std::span<const std::int8_t> kcrs,
                                                std::uint32_t channels);
/// The same for elements of 16 bits.
NVDLA_API std::vector<std::int16_t> add_channels(const WeightsDesc& desc,
                                                 std::span<const std::int16_t> kcrs,
                                                 std::uint32_t channels);

/// Kernels of a Winograd convolution: ceil(kernel size / stride) is 3 both ways. A stride is folded
/// into the channels: each of the stride_width * stride_height positions has the channels of its
/// own, rounded up to atoms.
struct WinogradDesc {
  WeightsDesc weights;              ///< The kernels before the transform.
  std::uint32_t stride_width = 1;   ///< Columns from one output to the next, 1..8.
  std::uint32_t stride_height = 1;  ///< Lines from one output to the next, 1..8.
  /// Integers: transformed weights are G w G^T times 2^weight_shift, halves rounded away from zero.
  /// G w G^T has quarters, so 2 is exact. -2..2; 0 in fp16.
  std::int32_t weight_shift = 0;
};

/// Channels of the transformed kernels.
NVDLA_API std::uint32_t winograd_channels(const DeviceInfo& info, const WinogradDesc& desc);
/// Bytes of the packed stream, rounded up to 128.
NVDLA_API std::uint64_t winograd_bytes(const DeviceInfo& info, const WinogradDesc& desc);

/// KCRS -> transformed 4x4 kernels, G = (1 0 0, 1/2 1/2 1/2, 1/2 -1/2 1/2, 0 0 1), in the order,
/// slowest first: kernel group, block of 4 channels, kernel, row, column, channel. int16 elements
/// are fp16 bits where the description says so; fp16 is rounded to the nearest once.
/// Throws kInvalidArgument if a size or the element type is wrong, the kernel is not one of 3x3
/// after folding, or a transformed weight does not fit, saying which.
NVDLA_API void pack_winograd_weights(const DeviceInfo& info, const WinogradDesc& desc,
                                     std::span<const std::int8_t> kcrs,
                                     std::span<std::byte> stream);
/// The same for int16 elements or bits of fp16, as the description states.
NVDLA_API void pack_winograd_weights(const DeviceInfo& info, const WinogradDesc& desc,
                                     std::span<const std::int16_t> kcrs,
                                     std::span<std::byte> stream);

/// The largest weight_shift with which all transformed weights fit; -2 always does.
NVDLA_API std::int32_t winograd_weight_shift(const WinogradDesc& desc,
                                             std::span<const std::int8_t> kcrs);
/// The same for int16 elements.
NVDLA_API std::int32_t winograd_weight_shift(const WinogradDesc& desc,
                                             std::span<const std::int16_t> kcrs);

}  // namespace nvdla

#endif  // NVDLA_LOWLEVEL_CONV_WEIGHTS_HPP
