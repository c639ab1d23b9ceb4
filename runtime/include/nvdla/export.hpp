// SPDX-License-Identifier: MIT
//
/// @file
/// Forwards to nvdla/types/export.hpp, which has what this header had; the next version drops it.
#ifndef NVDLA_EXPORT_HPP
#define NVDLA_EXPORT_HPP

#include "nvdla/types/export.hpp"

#endif  // NVDLA_EXPORT_HPP
