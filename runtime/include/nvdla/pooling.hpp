// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/operators/pooling.hpp, which has what this header had; the next version drops
/// it.
#ifndef NVDLA_POOLING_HPP
#define NVDLA_POOLING_HPP

#include "nvdla/operators/pooling.hpp"

#endif  // NVDLA_POOLING_HPP
