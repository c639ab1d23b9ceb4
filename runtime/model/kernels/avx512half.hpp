// SPDX-License-Identifier: MIT
#ifndef NVDLA_MODEL_KERNELS_AVX512HALF_HPP
#define NVDLA_MODEL_KERNELS_AVX512HALF_HPP

#include "model/kernels/kernels.hpp"

namespace nvdla::model {

// Kernels::half; needs AVX-512 F, BW, VL, DQ and VNNI.
void avx512_half(const HalfStep& step, HalfProducts& result);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_KERNELS_AVX512HALF_HPP
