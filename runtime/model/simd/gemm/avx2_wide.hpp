// SPDX-License-Identifier: MIT
#ifndef NVDLA_MODEL_SIMD_GEMM_AVX2_WIDE_HPP
#define NVDLA_MODEL_SIMD_GEMM_AVX2_WIDE_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

void avx2_wide(const WideTile& tile);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_GEMM_AVX2_WIDE_HPP
