// SPDX-License-Identifier: MIT
//
// A table that comes close to a result for every element of int16.
#ifndef NVDLA_LUT_LUT_WORDS_HPP
#define NVDLA_LUT_LUT_WORDS_HPP

#include <drm/nvdla_layer.h>

#include <span>

namespace nvdla::detail {

// Makes a table of SDP of the results of all 65536 elements from -32768 on, each within int16.
// LO has every 256th of them; LE has 65 closer together, where that helps most. The converter
// behind it does nothing.
nvdla_lut lut_of_words(std::span<const double> results);

}  // namespace nvdla::detail

#endif  // NVDLA_LUT_LUT_WORDS_HPP
