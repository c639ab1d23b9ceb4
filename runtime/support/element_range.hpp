// SPDX-License-Identifier: MIT
//
// Least and greatest integer of a precision.
#ifndef NVDLA_SUPPORT_ELEMENT_RANGE_HPP
#define NVDLA_SUPPORT_ELEMENT_RANGE_HPP

#include <cstdint>

#include "nvdla/types/precision.hpp"

namespace nvdla::detail {

constexpr std::int32_t least_of(Precision p) noexcept {
  return p == Precision::kInt8 ? -128 : -32768;
}
constexpr std::int32_t greatest_of(Precision p) noexcept {
  return p == Precision::kInt8 ? 127 : 32767;
}

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_ELEMENT_RANGE_HPP
