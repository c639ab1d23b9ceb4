// SPDX-License-Identifier: MIT
//
/// @file
/// Parts of tensors, tensors with a border around them, and other shapes of the same elements.
#ifndef NVDLA_OPERATORS_SLICING_HPP
#define NVDLA_OPERATORS_SLICING_HPP

#include <cstdint>
#include <string_view>

#include "nvdla/operators/concatenation.hpp"
#include "nvdla/types/export.hpp"

namespace nvdla {

/// Some channels, lines or columns of a tensor.
///
/// Layers read them where they are, and nothing is moved. What cannot be read so is copied: outputs
/// of the network, channels that do not begin with an atom (DeviceInfo::atom bytes), several atoms
/// of one position of a larger tensor, an odd number of atoms of int16, tensors in another memory.
struct Slice {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  Axis axis = Axis::kChannels;  ///< axis along which it is a part
  std::uint32_t start = 0;      ///< first channel, line or column
  std::uint32_t size = 1;       ///< how many of them
};

/// Lines above and below, columns on the left and on the right. The layer that makes the tensor
/// writes it inside of the border where it can (see Concatenation), else it is copied.
struct Padding {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  std::uint32_t top = 0;     ///< lines above
  std::uint32_t bottom = 0;  ///< lines below
  std::uint32_t left = 0;    ///< columns on the left
  std::uint32_t right = 0;   ///< columns on the right
  /// An integer that the tensor can have, or in fp16 a real, which is rounded to fp16.
  double value = 0;
};

/// The elements of a tensor in the order CHW, and cubes of the batch in theirs, in another shape of
/// as many.
///
/// Lines are copied where channels stay. Integers of up to 32x32 positions that become channels of
/// one are a convolution (FullyConnected needs no such thing). Where lines, or all positions, are
/// multiples of 64 bytes before and after, devices with Rubik make planes and a cube of those. All
/// else the CPU does between two programs (nvdla/operators/cpu_operators.hpp), which a loadable
/// does not have.
struct Reshape {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  std::uint32_t channels = 1;  ///< channels of the result
  std::uint32_t height = 1;    ///< lines of the result
  std::uint32_t width = 1;     ///< columns of the result
};

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_SLICING_HPP
