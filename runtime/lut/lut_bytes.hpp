// SPDX-License-Identifier: MIT
//
// A table that has a result for every element of int8.
#ifndef NVDLA_LUT_LUT_BYTES_HPP
#define NVDLA_LUT_LUT_BYTES_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <span>

namespace nvdla::detail {

// Of the elements from -128 on, as the table gives them: the converter behind it does nothing.
// CDP sees them only without squares and multiplication.
nvdla_lut lut_of_bytes(std::span<const std::int8_t, 256> results, nvdla_lut_unit unit);

}  // namespace nvdla::detail

#endif  // NVDLA_LUT_LUT_BYTES_HPP
