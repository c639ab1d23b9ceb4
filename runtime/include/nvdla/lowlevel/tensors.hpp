// SPDX-License-Identifier: MIT
//
/// @file
/// Feature cubes: how a tensor lies in memory, and packing between that and the layouts that
/// applications have.
#ifndef NVDLA_LOWLEVEL_TENSORS_HPP
#define NVDLA_LOWLEVEL_TENSORS_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "nvdla/types/device_info.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla {

/// A packed cube for a device.
NVDLA_API TensorDesc packed_tensor(const DeviceInfo& info, const Shape& shape,
                                   Precision precision = Precision::kInt8);

/// The same with every stride filled in. Throws kInvalidArgument for an atom, a size or a stride
/// that cannot be, saying what would be right.
NVDLA_API TensorDesc resolve(const TensorDesc& desc);

/// Bytes from the first to the last atom of a tensor: what a buffer needs.
NVDLA_API std::uint64_t tensor_bytes(const TensorDesc& desc);

/// A tensor as a layer descriptor names it.
NVDLA_API nvdla_surface tensor_surface(const TensorDesc& desc, std::uint32_t slot,
                                       std::uint64_t offset = 0);

/// Application's elements -> cube. `cube` holds tensor_bytes() or more; bytes between
/// lines and surfaces are left alone. Throws kInvalidArgument if a size is wrong, if the element
/// type does not fit the precision (std::uint16_t holds fp16 bits), or a float is NaN (integers).
NVDLA_API void pack(const TensorDesc& desc, Layout layout, std::span<const std::int8_t> source,
                    std::span<std::byte> cube);
/// The same for int16 elements.
NVDLA_API void pack(const TensorDesc& desc, Layout layout, std::span<const std::int16_t> source,
                    std::span<std::byte> cube);
/// The same for fp16 elements, as bits.
NVDLA_API void pack(const TensorDesc& desc, Layout layout, std::span<const std::uint16_t> source,
                    std::span<std::byte> cube);
/// The same for real numbers, which are quantised. Throws kInvalidArgument for NaN in integers,
/// too.
NVDLA_API void pack(const TensorDesc& desc, Layout layout, std::span<const float> source,
                    const Quantization& quantization, std::span<std::byte> cube);

/// Back: cube -> application's elements, with the same checks.
NVDLA_API void unpack(const TensorDesc& desc, Layout layout, std::span<const std::byte> cube,
                      std::span<std::int8_t> target);
/// The same for int16 elements.
NVDLA_API void unpack(const TensorDesc& desc, Layout layout, std::span<const std::byte> cube,
                      std::span<std::int16_t> target);
/// The same for fp16 elements, as bits.
NVDLA_API void unpack(const TensorDesc& desc, Layout layout, std::span<const std::byte> cube,
                      std::span<std::uint16_t> target);
/// The same into real numbers.
NVDLA_API void unpack(const TensorDesc& desc, Layout layout, std::span<const std::byte> cube,
                      const Quantization& quantization, std::span<float> target);

}  // namespace nvdla

#endif  // NVDLA_LOWLEVEL_TENSORS_HPP
