// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/operators/sdp_operators.hpp, which has what this header had; the next version
/// drops it.
#ifndef NVDLA_OPERATORS_HPP
#define NVDLA_OPERATORS_HPP

#include "nvdla/operators/sdp_operators.hpp"

#endif  // NVDLA_OPERATORS_HPP
