// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/lowlevel/folding.hpp, which has what this header had; the next version drops
/// it.
#ifndef NVDLA_FOLDING_HPP
#define NVDLA_FOLDING_HPP

#include "nvdla/lowlevel/folding.hpp"

#endif  // NVDLA_FOLDING_HPP
