// SPDX-License-Identifier: MIT
//
/// @file
/// Feature cubes: how a tensor lies in memory, and packing between that and the layouts that
/// applications have.
///
/// Element (x, y, c) of cube n is at
/// @code{.unparsed}
///   n * batch_stride + (c / E) * surface_stride + y * line_stride + x * atom + (c % E) * bytes
/// @endcode
/// with E = atom / bytes elements per atom (formats of feature data; nvdla_surface). Lanes beyond
/// the last channel are padding; packing writes zero there.
#ifndef NVDLA_LOWLEVEL_TENSORS_HPP
#define NVDLA_LOWLEVEL_TENSORS_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "nvdla/device.hpp"
#include "nvdla/types/export.hpp"

namespace nvdla {

/// Element type (enum nvdla_precision).
enum class Precision : std::uint32_t {
  kInt8 = NVDLA_PRECISION_INT8,    ///< 8 bits with a sign
  kInt16 = NVDLA_PRECISION_INT16,  ///< 16 bits with a sign
  kFp16 = NVDLA_PRECISION_FP16,    ///< half precision
};

/// Returns the bytes of an element of precision `p`.
constexpr std::uint32_t precision_bytes(Precision p) noexcept {
  return p == Precision::kInt8 ? 1 : 2;
}

/// Order of an application's elements, the last letter fastest.
enum class Layout {
  kNchw,  ///< cube, channel, line, column
  kNhwc,  ///< cube, line, column, channel
};

/// Size of a tensor in elements, each 1..8192 (batch 1..32).
struct Shape {
  std::uint32_t channels = 1;  ///< channels, C
  std::uint32_t height = 1;    ///< lines, H
  std::uint32_t width = 1;     ///< columns, W
  std::uint32_t batch = 1;     ///< cubes, N

  /// Returns how many elements all cubes have together.
  constexpr std::uint64_t elements() const noexcept {
    return std::uint64_t{batch} * channels * height * width;
  }
  friend bool operator==(const Shape&, const Shape&) = default;  ///< True if all sizes are equal.
};

/// real = (q - zero_point) * scale. Packing: q = saturate(round(real / scale) + zero_point), halves
/// rounded away from zero as the hardware's converters do. fp16 has no zero point: q = real / scale
/// to the nearest fp16, halves to even, 65504 beyond the largest; infinities and NaN stay.
///
/// Infinities of fp16 exist outside of networks only. No unit makes one, and those that read one
/// take it for a number that differs from unit to unit; so write() of a request, a session or a
/// loadable makes 65504 of it, with its sign. (A buffer that the application binds keeps what it
/// holds: whether an infinity in it arrives as one or as 65504 depends on what moves it.) NaN keeps
/// its sign and its payload, and zero its sign, where layers move or choose elements, on whatever
/// unit they run.
struct Quantization {
  float scale = 1.0F;           ///< real number that one step of an element stands for, above 0
  std::int32_t zero_point = 0;  ///< element that stands for 0

  /// True if scale and zero point are equal.
  friend bool operator==(const Quantization&, const Quantization&) = default;
};

/// A feature cube in memory. Strides of 0 mean packed.
///
/// Planes instead: element (x, y, c) of tensor n is at
/// @code{.unparsed}
///   n * batch_stride + c * surface_stride + y * line_stride + x * bytes
/// @endcode
/// with strides that are multiples of 64; lines are worked on in whole atoms.
struct TensorDesc {
  Shape shape;                             ///< size in elements
  Precision precision = Precision::kInt8;  ///< type of the elements
  std::uint32_t atom = 32;                 ///< DeviceInfo::atom
  std::uint32_t line_stride = 0;           ///< bytes from line to line, a multiple of the atom
  /// bytes from surface (or plane) to surface, a multiple of the atom
  std::uint32_t surface_stride = 0;
  std::uint32_t batch_stride = 0;  ///< bytes from cube to cube, a multiple of the atom
  bool planar = false;             ///< true of planes, one a channel

  /// Returns the bytes of an element: 1 or 2.
  constexpr std::uint32_t element_bytes() const noexcept { return precision_bytes(precision); }
  /// Returns how many channels of a position an atom has.
  constexpr std::uint32_t elements_per_atom() const noexcept { return atom / element_bytes(); }
  /// Returns the number of surfaces, or planes.
  constexpr std::uint32_t surfaces() const noexcept {
    if (planar) return shape.channels;
    return (shape.channels + elements_per_atom() - 1) / elements_per_atom();
  }
};

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
