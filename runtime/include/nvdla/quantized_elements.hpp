// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/operators/quantized_elements.hpp, which has what this header had; the next
/// version drops it.
#ifndef NVDLA_QUANTIZED_ELEMENTS_HPP
#define NVDLA_QUANTIZED_ELEMENTS_HPP

#include "nvdla/operators/quantized_elements.hpp"

#endif  // NVDLA_QUANTIZED_ELEMENTS_HPP
