// SPDX-License-Identifier: MIT
//
/// @file
/// SDP layers on a tensor from memory.
#ifndef NVDLA_OPERATORS_POINTWISE_HPP
#define NVDLA_OPERATORS_POINTWISE_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "nvdla/operators/sdp_operators.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla {

/// SDP alone: operators on a tensor from memory.
///
/// Its operators work in a precision that follows from those of the two tensors; other pairs than
/// these take two layers:
/// @code
///   int8  -> int8, int16   in int8
///   int16 -> int8          in int8
///   int16 -> int16, fp16   in int16
///   fp16  -> fp16, int16   in fp16; the converter is not used, results are rounded
/// @endcode
struct Pointwise {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  Operator x1 = {};  ///< The first SDP operator, after the bias.
  Operator x2 = {};  ///< The second SDP operator, after X1.
  OperatorY y = {};  ///< The third SDP operator, after X2, on devices that have it.
  /// Conversion of 32-bit results to integer elements; fp16 results are rounded instead.
  Converter output = {};
  ElementBounds bounds = {};  ///< Least and greatest element of an integer result.
  /// Precision of the result; absent: that of the input.
  std::optional<Precision> precision = {};
  /// It says what the elements of an integer result stand for, where the network is to know that.
  std::optional<Quantization> quantization = {};
  /// fp16: NaN of the input reads as zero.
  bool nan_to_zero = false;
};

/// A tensor is compared with values or with another tensor, after X1 and X2; nothing is written.
/// NVDLA_COUNTER_SDP_UNEQUAL of the layer is 1 where an element differs (BuildOptions::statistics).
/// fp16 compares bits, NaN with NaN, and tells -0 from 0. Behind a convolution its sums of 32 bits,
/// or of fp32, are compared, in the precision of its kernels and with X1 and X2 of its own.
///
/// The hardware compares whole atoms, DeviceInfo::atom bytes. Where channels do not fill them what
/// lies beyond is made zero: that takes X1 or X2 unless it is there for integers anyway and takes
/// no tensor and no PReLU, values of 16 bits, and of another tensor a copy, "name other". In fp16
/// after operators NaN beyond the last channel would still differ; neither packing nor layers leave
/// any.
struct Comparison {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  Operator x1 = {};                           ///< first operator before the comparison
  Operator x2 = {};                           ///< second one
  std::span<const std::int32_t> values = {};  ///< as those of OperatorY
  std::span<const float> reals = {};          ///< values of fp16 layers
  Tensor tensor = {};  ///< another tensor of the same shape, instead of values
};

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_POINTWISE_HPP
