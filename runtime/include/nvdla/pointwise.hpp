// SPDX-License-Identifier: MIT
//
// SDP layers on a tensor from memory.
#ifndef NVDLA_POINTWISE_HPP
#define NVDLA_POINTWISE_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include "nvdla/layer.hpp"
#include "nvdla/operators.hpp"
#include "nvdla/tensor.hpp"

namespace nvdla {

// SDP alone: operators on a tensor from memory.
//
// Its operators work in a precision that follows from those of the two tensors; other pairs than
// these take two layers:
//   int8  -> int8, int16   in int8
//   int16 -> int8          in int8
//   int16 -> int16, fp16   in int16
//   fp16  -> fp16, int16   in fp16; the converter is not used, results are rounded
struct Pointwise {
  std::string_view name = {};
  Operator x1 = {};
  Operator x2 = {};
  Converter output = {};
  // Of the result; that of the input if nothing is said.
  std::optional<Precision> precision = {};
};

}  // namespace nvdla

#endif  // NVDLA_POINTWISE_HPP
