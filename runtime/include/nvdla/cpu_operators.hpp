// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/operators/cpu_operators.hpp, which has what this header had; the next version
/// drops it.
#ifndef NVDLA_CPU_OPERATORS_HPP
#define NVDLA_CPU_OPERATORS_HPP

#include "nvdla/operators/cpu_operators.hpp"

#endif  // NVDLA_CPU_OPERATORS_HPP
