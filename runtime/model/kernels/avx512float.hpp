// SPDX-License-Identifier: MIT
#ifndef NVDLA_MODEL_KERNELS_AVX512FLOAT_HPP
#define NVDLA_MODEL_KERNELS_AVX512FLOAT_HPP

#include "model/kernels/kernels.hpp"

namespace nvdla::model {

void avx512_float_tile(const FloatTile& tile);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_KERNELS_AVX512FLOAT_HPP
