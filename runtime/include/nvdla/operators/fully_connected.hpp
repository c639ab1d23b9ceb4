// SPDX-License-Identifier: MIT
//
/// @file
/// Products with constant matrices: convolutions, said as vectors and matrices.
#ifndef NVDLA_OPERATORS_FULLY_CONNECTED_HPP
#define NVDLA_OPERATORS_FULLY_CONNECTED_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "nvdla/operators/convolution.hpp"
#include "nvdla/operators/sdp_operators.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla {

/// Each output is a sum over all elements of the input, each with a weight of its own. The input
/// may have any channels and up to 32 x 32 positions, and needs no flattening: it is worked on as a
/// convolution whose kernels are as large as the input, and the result has `outputs` channels at
/// one position. Rows of weights of up to 2^18 bytes fit any configuration whose convolution buffer
/// has room for two of them; rows so large that no group of them fits are taken some at a time.
struct FullyConnected {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  std::uint32_t outputs = 1;  ///< Channels of the result, one for each row of weights.
  /// A row for each output, in the order of the input's elements: CHW.
  KernelSpan weights = {};
  /// One per output or none, added exactly; see Convolution::bias.
  std::span<const std::int32_t> bias = {};
  /// The bias of fp16 layers, one per kernel or none, rounded to fp16; see Convolution::bias_reals.
  std::span<const float> bias_reals = {};
  bool relu = false;  ///< True if negative results become zero; see Convolution::relu.
  /// Shifts of sums, and what becomes of NaN.
  Arithmetic arithmetic = {};
  Operator x1 = {};  ///< The first SDP operator, after the bias.
  Operator x2 = {};  ///< The second SDP operator, after X1.
  OperatorY y = {};  ///< The third SDP operator, after X2, on devices that have it.
  /// Conversion of 32-bit results to integer elements; fp16 results are rounded instead.
  Converter output = {};
  ElementBounds bounds = {};  ///< Least and greatest element of an integer result.
  /// Precision of the result; absent: the one that the layer works in.
  std::optional<Precision> precision = {};
};

/// The channels of each position are a row of a matrix, its height and width count the rows; they
/// are multiplied by a constant matrix of `columns` columns, which become the channels of the
/// result.
struct MatrixProduct {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  std::uint32_t columns = 1;  ///< Columns of the matrix, the channels of the result.
  /// Row by row, as many rows as the input has channels.
  KernelSpan matrix = {};
  /// One per output or none, added exactly; see Convolution::bias.
  std::span<const std::int32_t> bias = {};
  /// The bias of fp16 layers, one per kernel or none, rounded to fp16; see Convolution::bias_reals.
  std::span<const float> bias_reals = {};
  bool relu = false;  ///< True if negative results become zero; see Convolution::relu.
  /// Shifts of sums, and what becomes of NaN.
  Arithmetic arithmetic = {};
  Operator x1 = {};  ///< The first SDP operator, after the bias.
  Operator x2 = {};  ///< The second SDP operator, after X1.
  OperatorY y = {};  ///< The third SDP operator, after X2, on devices that have it.
  /// Conversion of 32-bit results to integer elements; fp16 results are rounded instead.
  Converter output = {};
  ElementBounds bounds = {};  ///< Least and greatest element of an integer result.
  /// Precision of the result; absent: the one that the layer works in.
  std::optional<Precision> precision = {};
};

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_FULLY_CONNECTED_HPP
