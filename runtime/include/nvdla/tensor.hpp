// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/lowlevel/tensors.hpp, which has what this header had; the next version drops
/// it.
#ifndef NVDLA_TENSOR_HPP
#define NVDLA_TENSOR_HPP

#include "nvdla/lowlevel/tensors.hpp"

#endif  // NVDLA_TENSOR_HPP
