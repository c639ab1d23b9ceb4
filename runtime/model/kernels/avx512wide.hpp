// SPDX-License-Identifier: MIT
#ifndef NVDLA_MODEL_KERNELS_AVX512WIDE_HPP
#define NVDLA_MODEL_KERNELS_AVX512WIDE_HPP

#include "model/kernels/kernels.hpp"

namespace nvdla::model {

void avx512_wide(const WideTile& tile);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_KERNELS_AVX512WIDE_HPP
