// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/operators/quantized.hpp, which has what this header had; the next version
/// drops it.
#ifndef NVDLA_QUANTIZED_HPP
#define NVDLA_QUANTIZED_HPP

#include "nvdla/operators/quantized.hpp"

#endif  // NVDLA_QUANTIZED_HPP
