// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/operators/concatenation.hpp, which has what this header had; the next version
/// drops it.
#ifndef NVDLA_CONCATENATION_HPP
#define NVDLA_CONCATENATION_HPP

#include "nvdla/operators/concatenation.hpp"

#endif  // NVDLA_CONCATENATION_HPP
