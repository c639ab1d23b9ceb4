// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/operators/convolution.hpp, which has what this header had; the next version
/// drops it.
#ifndef NVDLA_CONVOLUTION_HPP
#define NVDLA_CONVOLUTION_HPP

#include "nvdla/operators/convolution.hpp"

#endif  // NVDLA_CONVOLUTION_HPP
