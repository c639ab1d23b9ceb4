// SPDX-License-Identifier: MIT
//
/// @file
/// The types of elements that the hardware computes with.
#ifndef NVDLA_TYPES_PRECISION_HPP
#define NVDLA_TYPES_PRECISION_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

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

}  // namespace nvdla

#endif  // NVDLA_TYPES_PRECISION_HPP
