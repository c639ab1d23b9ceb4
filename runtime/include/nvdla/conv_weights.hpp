// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/lowlevel/conv_weights.hpp, which has what this header had; the next version
/// drops it.
#ifndef NVDLA_CONV_WEIGHTS_HPP
#define NVDLA_CONV_WEIGHTS_HPP

#include "nvdla/lowlevel/conv_weights.hpp"

#endif  // NVDLA_CONV_WEIGHTS_HPP
