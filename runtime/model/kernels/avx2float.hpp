// SPDX-License-Identifier: MIT
#ifndef NVDLA_MODEL_KERNELS_AVX2FLOAT_HPP
#define NVDLA_MODEL_KERNELS_AVX2FLOAT_HPP

#include "model/kernels/kernels.hpp"

namespace nvdla::model {

void avx2_float_tile(const FloatTile& tile);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_KERNELS_AVX2FLOAT_HPP
