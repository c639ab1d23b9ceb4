// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/operators/pointwise.hpp, which has what this header had; the next version
/// drops it.
#ifndef NVDLA_POINTWISE_HPP
#define NVDLA_POINTWISE_HPP

#include "nvdla/operators/pointwise.hpp"

#endif  // NVDLA_POINTWISE_HPP
