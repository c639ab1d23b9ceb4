// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/lowlevel/descriptors.hpp, which has what this header had; the next version
/// drops it.
#ifndef NVDLA_LAYER_HPP
#define NVDLA_LAYER_HPP

#include "nvdla/lowlevel/descriptors.hpp"

#endif  // NVDLA_LAYER_HPP
