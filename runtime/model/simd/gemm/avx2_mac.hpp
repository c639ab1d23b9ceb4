// SPDX-License-Identifier: MIT
#ifndef NVDLA_MODEL_SIMD_GEMM_AVX2_MAC_HPP
#define NVDLA_MODEL_SIMD_GEMM_AVX2_MAC_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

void avx2_mac(const MacTile& tile);
void avx2_depthwise(const DepthwiseTile& tile);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_GEMM_AVX2_MAC_HPP
