// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/operators/slicing.hpp, which has what this header had; the next version drops
/// it.
#ifndef NVDLA_SLICING_HPP
#define NVDLA_SLICING_HPP

#include "nvdla/operators/slicing.hpp"

#endif  // NVDLA_SLICING_HPP
