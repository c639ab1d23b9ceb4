// SPDX-License-Identifier: MIT
//
// The functions of `Kernels` that the set of AVX-512 has its own of: they need F, BW, VL, DQ and
// VNNI.
#ifndef NVDLA_MODEL_SIMD_AVX512_HPP
#define NVDLA_MODEL_SIMD_AVX512_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

void avx512_mac(const MacTile& tile);
void avx512_depthwise(const DepthwiseTile& tile);
void avx512_mac_finish(const MacTile& tile, const SdpFinish& finish, int8_t* out);
void avx512_wide(const WideTile& tile);
void avx512_half(const HalfStep& step, HalfProducts& result);
void avx512_half_tile(const HalfTile& tile);
void avx512_float_tile(const FloatTile& tile);
void avx512_finish(const int32_t* values, unsigned count, const SdpFinish& finish, int8_t* out);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_AVX512_HPP
