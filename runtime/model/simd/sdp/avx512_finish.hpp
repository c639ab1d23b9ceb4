// SPDX-License-Identifier: MIT
#ifndef NVDLA_MODEL_SIMD_SDP_AVX512_FINISH_HPP
#define NVDLA_MODEL_SIMD_SDP_AVX512_FINISH_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

void avx512_finish(const int32_t* values, unsigned count, const SdpFinish& finish, int8_t* out);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_SDP_AVX512_FINISH_HPP
