// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/types/half.hpp, which has what this header had; the next version drops it.
#ifndef NVDLA_HALF_HPP
#define NVDLA_HALF_HPP

#include "nvdla/types/half.hpp"

#endif  // NVDLA_HALF_HPP
