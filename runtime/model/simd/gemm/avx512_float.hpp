// SPDX-License-Identifier: MIT
#ifndef NVDLA_MODEL_SIMD_GEMM_AVX512_FLOAT_HPP
#define NVDLA_MODEL_SIMD_GEMM_AVX512_FLOAT_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

void avx512_float_tile(const FloatTile& tile);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_GEMM_AVX512_FLOAT_HPP
