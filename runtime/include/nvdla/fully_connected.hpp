// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/operators/fully_connected.hpp, which has what this header had; the next
/// version drops it.
#ifndef NVDLA_FULLY_CONNECTED_HPP
#define NVDLA_FULLY_CONNECTED_HPP

#include "nvdla/operators/fully_connected.hpp"

#endif  // NVDLA_FULLY_CONNECTED_HPP
