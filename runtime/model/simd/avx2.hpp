// SPDX-License-Identifier: MIT
//
// The functions of `Kernels` that the set of AVX2 has its own of; that of AVX-512 takes its input
// from here.
#ifndef NVDLA_MODEL_SIMD_AVX2_HPP
#define NVDLA_MODEL_SIMD_AVX2_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

void avx2_mac(const MacTile& tile);
void avx2_depthwise(const DepthwiseTile& tile);
void avx2_wide(const WideTile& tile);
void avx2_half(const HalfStep& step, HalfProducts& result);
void avx2_half_tile(const HalfTile& tile);
void avx2_float_tile(const FloatTile& tile);
void avx2_pack_atoms(const FewChannels& line);
void avx2_convert_bytes(const ByteConverter& converter, const uint8_t* from, size_t size,
                        uint8_t* to);
void avx2_finish(const int32_t* values, unsigned count, const SdpFinish& finish, int8_t* out);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_AVX2_HPP
