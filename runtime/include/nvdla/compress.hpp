// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/lowlevel/compression.hpp, which has what this header had; the next version
/// drops it.
#ifndef NVDLA_COMPRESS_HPP
#define NVDLA_COMPRESS_HPP

#include "nvdla/lowlevel/compression.hpp"

#endif  // NVDLA_COMPRESS_HPP
