// SPDX-License-Identifier: MIT
#ifndef NVDLA_MODEL_SIMD_GEMM_AVX2_FLOAT_HPP
#define NVDLA_MODEL_SIMD_GEMM_AVX2_FLOAT_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

void avx2_float_tile(const FloatTile& tile);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_GEMM_AVX2_FLOAT_HPP
