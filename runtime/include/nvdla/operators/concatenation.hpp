// SPDX-License-Identifier: MIT
//
/// @file
/// Tensors side by side.
#ifndef NVDLA_OPERATORS_CONCATENATION_HPP
#define NVDLA_OPERATORS_CONCATENATION_HPP

#include <string_view>

#include "nvdla/types/export.hpp"

namespace nvdla {

/// Along which tensors lie side by side.
enum class Axis {
  kChannels,  ///< channels, C
  kHeight,    ///< lines, H
  kWidth,     ///< columns, W
};

/// Two or more tensors of one precision, equal in all sizes but that of the axis, in their order.
///
/// Nothing is moved where the layers that make the parts can write where they belong. What cannot
/// is copied, by layers that are called "name part 2/3": inputs and outputs of the network, parts
/// of two concatenations or twice of one, batches, and what deconvolutions, Winograd, Rubik and
/// BDMA make. Along channels parts begin with an atom (DeviceInfo::atom bytes); where one does not,
/// all are copied and "name gather" puts their channels side by side: convolutions of integers, in
/// fp16 Rubik, by way of planes. Integers that only convolutions and poolings read lie with gaps
/// between the parts instead, where that is predicted to be faster.
struct Concatenation {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  Axis axis = Axis::kChannels;  ///< Axis along which the parts lie side by side.
};

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_CONCATENATION_HPP
