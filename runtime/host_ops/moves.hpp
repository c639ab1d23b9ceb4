// SPDX-License-Identifier: MIT
//
// Elements as they are in another place: source and target have the same precision.
#ifndef NVDLA_HOST_OPS_MOVES_HPP
#define NVDLA_HOST_OPS_MOVES_HPP

#include <array>
#include <cstdint>

#include "host_ops/cube.hpp"

namespace nvdla::cpu {

// Axis i of the target (0 channels, 1 height, 2 width) is axis order[i] of the source.
void permute(const Source& from, const Target& to, const std::array<std::uint32_t, 3>& order);

// As many elements in the same order, CHW, in another shape.
void reshape(const Source& from, const Target& to);

}  // namespace nvdla::cpu

#endif  // NVDLA_HOST_OPS_MOVES_HPP
