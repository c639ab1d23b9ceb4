// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/lowlevel/lut.hpp, which has what this header had; the next version drops it.
#ifndef NVDLA_LUT_HPP
#define NVDLA_LUT_HPP

#include "nvdla/lowlevel/lut.hpp"

#endif  // NVDLA_LUT_HPP
