// SPDX-License-Identifier: MIT
//
// Tables of the results of every element: exact ones of int8, and close ones of int16.
#ifndef NVDLA_LUT_LUT_ELEMENTS_HPP
#define NVDLA_LUT_LUT_ELEMENTS_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <span>

namespace nvdla::detail {

// Makes a table of SDP of the results of all 65536 elements from -32768 on, each within int16.
// LO has every 256th of them; LE has 65 closer together, where that helps most. The converter
// behind it does nothing.
nvdla_lut lut_of_words(std::span<const double> results);

// Makes a table of the results of all elements from -128 on; the converter behind it does nothing.
// CDP sees them only without squares and multiplication.
nvdla_lut lut_of_bytes(std::span<const std::int8_t, 256> results, nvdla_lut_unit unit);

}  // namespace nvdla::detail

#endif  // NVDLA_LUT_LUT_ELEMENTS_HPP
