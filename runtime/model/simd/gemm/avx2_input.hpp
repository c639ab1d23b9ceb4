// SPDX-License-Identifier: MIT
#ifndef NVDLA_MODEL_SIMD_GEMM_AVX2_INPUT_HPP
#define NVDLA_MODEL_SIMD_GEMM_AVX2_INPUT_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

// Kernels::pack_atoms and convert_bytes.
void avx2_pack_atoms(const FewChannels& line);
void avx2_convert_bytes(const ByteConverter& converter, const uint8_t* from, size_t size,
                        uint8_t* to);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_GEMM_AVX2_INPUT_HPP
