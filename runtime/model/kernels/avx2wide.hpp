// SPDX-License-Identifier: MIT
#ifndef NVDLA_MODEL_KERNELS_AVX2WIDE_HPP
#define NVDLA_MODEL_KERNELS_AVX2WIDE_HPP

#include "model/kernels/kernels.hpp"

namespace nvdla::model {

void avx2_wide(const WideTile& tile);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_KERNELS_AVX2WIDE_HPP
