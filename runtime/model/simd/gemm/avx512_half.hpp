// SPDX-License-Identifier: MIT
#ifndef NVDLA_MODEL_SIMD_GEMM_AVX512_HALF_HPP
#define NVDLA_MODEL_SIMD_GEMM_AVX512_HALF_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

// Kernels::half and half_tile; need AVX-512 F, BW, VL, DQ and VNNI.
void avx512_half(const HalfStep& step, HalfProducts& result);
void avx512_half_tile(const HalfTile& tile);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_GEMM_AVX512_HALF_HPP
