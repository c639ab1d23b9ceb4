// SPDX-License-Identifier: MIT
//
// int8 convolution in AVX-512 with VNNI.
#ifndef NVDLA_MODEL_SIMD_GEMM_AVX512_MAC_HPP
#define NVDLA_MODEL_SIMD_GEMM_AVX512_MAC_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

void avx512_mac(const MacTile& tile);
void avx512_depthwise(const DepthwiseTile& tile);
void avx512_mac_finish(const MacTile& tile, const SdpFinish& finish, int8_t* out);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_GEMM_AVX512_MAC_HPP
