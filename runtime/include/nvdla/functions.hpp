// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/operators/functions.hpp, which has what this header had; the next version
/// drops it.
#ifndef NVDLA_FUNCTIONS_HPP
#define NVDLA_FUNCTIONS_HPP

#include "nvdla/operators/functions.hpp"

#endif  // NVDLA_FUNCTIONS_HPP
