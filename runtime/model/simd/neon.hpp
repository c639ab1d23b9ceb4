// SPDX-License-Identifier: MIT
//
// The loops of NEON that are no shared ones, each in a translation unit of its own.
#ifndef NVDLA_MODEL_SIMD_NEON_HPP
#define NVDLA_MODEL_SIMD_NEON_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

void neon_mac(const MacTile& tile);
void neondot_mac(const MacTile& tile);  // needs the dot product
void neon_depthwise(const DepthwiseTile& tile);
void neon_wide(const WideTile& tile);
void neon_half(const HalfStep& step, HalfProducts& result);
void neon_half_tile(const HalfTile& tile);
void neon_float_tile(const FloatTile& tile);
void neon_finish(const int32_t* values, unsigned count, const SdpFinish& finish, int8_t* out);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_NEON_HPP
