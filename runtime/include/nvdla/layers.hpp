// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/layer_tensors.hpp, which has what this header had; the next version drops it.
#ifndef NVDLA_LAYERS_HPP
#define NVDLA_LAYERS_HPP

#include "nvdla/layer_tensors.hpp"

#endif  // NVDLA_LAYERS_HPP
