// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/types/memory_use.hpp, which has what this header had; the next version drops
/// it.
#ifndef NVDLA_MEMORY_USE_HPP
#define NVDLA_MEMORY_USE_HPP

#include "nvdla/types/memory_use.hpp"

#endif  // NVDLA_MEMORY_USE_HPP
