// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/operators/reshape.hpp, which has what this header had; the next version drops
/// it.
#ifndef NVDLA_RESHAPE_HPP
#define NVDLA_RESHAPE_HPP

#include "nvdla/operators/reshape.hpp"

#endif  // NVDLA_RESHAPE_HPP
