// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/types/error.hpp, which has what this header had; the next version drops it.
#ifndef NVDLA_ERROR_HPP
#define NVDLA_ERROR_HPP

#include "nvdla/types/error.hpp"

#endif  // NVDLA_ERROR_HPP
