// SPDX-License-Identifier: MIT
//
// Products with constant matrices: convolutions, said as vectors and matrices.
#ifndef NVDLA_FULLY_CONNECTED_HPP
#define NVDLA_FULLY_CONNECTED_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "nvdla/convolution.hpp"
#include "nvdla/layer.hpp"
#include "nvdla/operators.hpp"
#include "nvdla/tensor.hpp"

namespace nvdla {

// Each output is a sum over all elements of the input, each with a weight of its own. The input may
// have any channels and up to 32 x 32 positions, and needs no flattening: it is worked on as a
// convolution whose kernels are as large as the input, and the result has `outputs` channels at one
// position. Rows of weights of up to 2^18 bytes fit any configuration whose convolution buffer has
// room for two of them; rows so large that no group of them fits are taken some at a time.
struct FullyConnected {
  std::string_view name = {};
  std::uint32_t outputs = 1;
  // A row for each output, in the order of the input's elements: CHW.
  KernelSpan weights = {};
  // As of Convolution.
  std::span<const std::int32_t> bias = {};
  std::span<const float> bias_reals = {};
  bool relu = false;
  std::uint32_t accumulator_shift = 0;
  Operator x1 = {};
  Operator x2 = {};
  OperatorY y = {};
  Converter output = {};
  ElementBounds bounds = {};
  std::optional<Precision> precision = {};
};

// The channels of each position are a row of a matrix, its height and width count the rows; they
// are multiplied by a constant matrix of `columns` columns, which become the channels of the
// result.
struct MatrixProduct {
  std::string_view name = {};
  std::uint32_t columns = 1;
  // Row by row, as many rows as the input has channels.
  KernelSpan matrix = {};
  // As of Convolution.
  std::span<const std::int32_t> bias = {};
  std::span<const float> bias_reals = {};
  bool relu = false;
  std::uint32_t accumulator_shift = 0;
  Operator x1 = {};
  Operator x2 = {};
  OperatorY y = {};
  Converter output = {};
  ElementBounds bounds = {};
  std::optional<Precision> precision = {};
};

}  // namespace nvdla

#endif  // NVDLA_FULLY_CONNECTED_HPP
