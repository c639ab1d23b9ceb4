// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/operators/normalization.hpp, which has what this header had; the next version
/// drops it.
#ifndef NVDLA_NORMALIZATION_HPP
#define NVDLA_NORMALIZATION_HPP

#include "nvdla/operators/normalization.hpp"

#endif  // NVDLA_NORMALIZATION_HPP
