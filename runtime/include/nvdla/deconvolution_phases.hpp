// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/lowlevel/deconvolution_phases.hpp, which has what this header had; the next
/// version drops it.
#ifndef NVDLA_DECONVOLUTION_PHASES_HPP
#define NVDLA_DECONVOLUTION_PHASES_HPP

#include "nvdla/lowlevel/deconvolution_phases.hpp"

#endif  // NVDLA_DECONVOLUTION_PHASES_HPP
