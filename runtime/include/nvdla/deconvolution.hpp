// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/operators/deconvolution.hpp, which has what this header had; the next version
/// drops it.
#ifndef NVDLA_DECONVOLUTION_HPP
#define NVDLA_DECONVOLUTION_HPP

#include "nvdla/operators/deconvolution.hpp"

#endif  // NVDLA_DECONVOLUTION_HPP
