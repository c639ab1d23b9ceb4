// SPDX-License-Identifier: MIT
#ifndef NVDLA_MODEL_KERNELS_AVX2MAC_HPP
#define NVDLA_MODEL_KERNELS_AVX2MAC_HPP

#include "model/kernels/kernels.hpp"

namespace nvdla::model {

void avx2_mac(const MacTile& tile);
void avx2_depthwise(const DepthwiseTile& tile);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_KERNELS_AVX2MAC_HPP
