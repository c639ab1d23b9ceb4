// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/lowlevel/weights.hpp, which has what this header had; the next version drops
/// it.
#ifndef NVDLA_WEIGHTS_HPP
#define NVDLA_WEIGHTS_HPP

#include "nvdla/lowlevel/weights.hpp"

#endif  // NVDLA_WEIGHTS_HPP
