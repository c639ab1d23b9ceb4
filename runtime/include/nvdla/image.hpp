// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/lowlevel/images.hpp, which has what this header had; the next version drops
/// it.
#ifndef NVDLA_IMAGE_HPP
#define NVDLA_IMAGE_HPP

#include "nvdla/lowlevel/images.hpp"

#endif  // NVDLA_IMAGE_HPP
