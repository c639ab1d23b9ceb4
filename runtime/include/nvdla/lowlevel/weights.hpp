// SPDX-License-Identifier: MIT
//
/// @file
/// Packing of what stays the same from inference to inference: weights of direct convolutions and
/// operands of SDP's operators.
#ifndef NVDLA_LOWLEVEL_WEIGHTS_HPP
#define NVDLA_LOWLEVEL_WEIGHTS_HPP

#include <cstddef>
#include <cstdint>
#include <span>

#include "nvdla/types/device_info.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla {

/// Kernels of a convolution. KCRS order: kernel, channel, row, column, the last fastest.
struct WeightsDesc {
  std::uint32_t kernels = 1;               ///< kernels, K
  std::uint32_t channels = 1;              ///< channels of a kernel, C
  std::uint32_t kernel_height = 1;         ///< rows of a kernel, R
  std::uint32_t kernel_width = 1;          ///< columns of a kernel, S
  Precision precision = Precision::kInt8;  ///< type of the weights

  /// Returns how many weights all kernels have together.
  constexpr std::uint64_t elements() const noexcept {
    return std::uint64_t{kernels} * channels * kernel_height * kernel_width;
  }
};

/// Bytes of the packed stream, rounded up to 128: room for what any configuration fetches. How much
/// that is follows from the kernels, so nvdla_conv::weights.bytes stays 0.
NVDLA_API std::uint64_t weights_bytes(const WeightsDesc& desc);

/// KCRS -> the stream of a direct convolution. Order, slowest first: kernel group (atomic_k
/// kernels; half in 16 bit), block of atomic_c channels, row, column, kernel, channel; no gaps,
/// zeros at the end. Throws kInvalidArgument if a size or the element type is wrong.
NVDLA_API void pack_weights(const DeviceInfo& info, const WeightsDesc& desc,
                            std::span<const std::int8_t> kcrs, std::span<std::byte> stream);
/// The same for int16 elements or bits of fp16, as `desc.precision` states.
NVDLA_API void pack_weights(const DeviceInfo& info, const WeightsDesc& desc,
                            std::span<const std::int16_t> kcrs, std::span<std::byte> stream);

/// Operands of an SDP operator in memory.
struct OperandDesc {
  std::uint32_t channels = 1;               ///< channels of the layer's result
  std::uint32_t height = 1;                 ///< 1 unless per element
  std::uint32_t width = 1;                  ///< likewise
  bool per_element = false;                 ///< otherwise one per channel
  std::uint32_t parts = 1;                  ///< 2: ALU and MUL both come from memory, ALU first
  std::uint32_t bytes = 2;                  ///< of one part: 1 or 2
  Precision processing = Precision::kInt8;  ///< precision that the operator works in
  std::uint32_t atom = 32;                  ///< DeviceInfo::atom

  /// Returns the channels of an atom.
  constexpr std::uint32_t lanes() const noexcept { return atom / precision_bytes(processing); }
  /// Bytes of one column of lanes.
  constexpr std::uint32_t column() const noexcept { return lanes() * parts * bytes; }
  /// Returns the bytes from line to line; 0 unless per element.
  constexpr std::uint32_t line_stride() const noexcept {
    return per_element ? width * column() : 0;
  }
  /// Returns the bytes from surface to surface; 0 unless per element.
  constexpr std::uint32_t surface_stride() const noexcept { return line_stride() * height; }
};

/// Bytes of the packed stream: whole columns.
NVDLA_API std::uint64_t operand_bytes(const OperandDesc& desc);

/// `alu` and `mul` in channel order, or in CHW order per element; the part that does not come from
/// memory is empty. Throws kInvalidArgument if a size is wrong or a value does not fit one byte.
NVDLA_API void pack_operand(const OperandDesc& desc, std::span<const std::int16_t> alu,
                            std::span<const std::int16_t> mul, std::span<std::byte> stream);

}  // namespace nvdla

#endif  // NVDLA_LOWLEVEL_WEIGHTS_HPP
