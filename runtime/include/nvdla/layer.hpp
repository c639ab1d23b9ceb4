// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/lowlevel/descriptors.hpp and operators/requantization.hpp, which have what
/// this header had; the next version drops it.
#ifndef NVDLA_LAYER_HPP
#define NVDLA_LAYER_HPP

#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/operators/requantization.hpp"

#endif  // NVDLA_LAYER_HPP
