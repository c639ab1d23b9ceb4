// SPDX-License-Identifier: MIT
//
/// @file
/// fp16 as bits, for those whose language has no such type.
#ifndef NVDLA_TYPES_HALF_HPP
#define NVDLA_TYPES_HALF_HPP

#include <cstdint>

#include "nvdla/types/export.hpp"

namespace nvdla {

/// The nearest fp16, halves to even, as the hardware rounds; numbers beyond the largest become
/// 65504, as on the hardware. An infinity stays one, every NaN becomes the quiet one of its sign.
NVDLA_API std::uint16_t to_half(double value) noexcept;
/// Exact.
NVDLA_API float from_half(std::uint16_t bits) noexcept;

}  // namespace nvdla

#endif  // NVDLA_TYPES_HALF_HPP
