// SPDX-License-Identifier: MIT
#ifndef NVDLA_MODEL_SIMD_GEMM_AVX2_HALF_HPP
#define NVDLA_MODEL_SIMD_GEMM_AVX2_HALF_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

void avx2_half(const HalfStep& step, HalfProducts& result);
void avx2_half_tile(const HalfTile& tile);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_GEMM_AVX2_HALF_HPP
