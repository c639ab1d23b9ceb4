// SPDX-License-Identifier: MIT
//
/// @file
/// Compressed weights: a packed stream without its zeros, a table of how much is left of each
/// kernel group (WGS), and a mask of which weights those are (WMB). Results are the same; what is
/// fetched is less where enough weights are zero.
#ifndef NVDLA_LOWLEVEL_COMPRESSION_HPP
#define NVDLA_LOWLEVEL_COMPRESSION_HPP

#include <cstddef>
#include <cstdint>
#include <span>

#include "nvdla/lowlevel/weights.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/export.hpp"

namespace nvdla {

/// Bytes of the three parts, as nvdla_conv takes them.
struct CompressedSizes {
  std::uint64_t weights = 0;  ///< without zeros, rounded up to 128
  std::uint64_t wgs = 0;      ///< a word for each kernel group, rounded up to atoms
  std::uint64_t wmb = 0;      ///< a bit for each weight, rounded up to 128
  std::uint64_t plain = 0;    ///< of the stream as it is, rounded up to 128
  /// The device decompresses, no kernel group is all zeros, and the mask bits of a group fit the
  /// bank that they are fetched into.
  bool possible = false;

  /// Returns true if the compressed parts together are smaller than the plain stream.
  constexpr bool pays() const noexcept { return possible && weights + wgs + wmb < plain; }
};

/// Returns the sizes for a stream that pack_weights() made. A weight is zero if all of its bits
/// are: -0.0 stays. Throws kInvalidArgument if a size is wrong.
NVDLA_API CompressedSizes compressed_sizes(const DeviceInfo& info, const WeightsDesc& desc,
                                           std::span<const std::byte> stream);

/// Writes the three parts, as many bytes of each as compressed_sizes() says; what is behind the
/// last element is zero. `wgs` and `wmb` belong into the program's control data
/// (ProgramDesc::control). Throws kInvalidArgument if a size is wrong.
NVDLA_API void compress_weights(const DeviceInfo& info, const WeightsDesc& desc,
                                std::span<const std::byte> stream, std::span<std::byte> weights,
                                std::span<std::byte> wgs, std::span<std::byte> wmb);

}  // namespace nvdla

#endif  // NVDLA_LOWLEVEL_COMPRESSION_HPP
