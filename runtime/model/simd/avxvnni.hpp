// SPDX-License-Identifier: MIT
//
// AVX-VNNI: the set of AVX2 with dot products of bytes and of words.
#ifndef NVDLA_MODEL_SIMD_AVXVNNI_HPP
#define NVDLA_MODEL_SIMD_AVXVNNI_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

void avxvnni_mac(const MacTile& tile);
void avxvnni_depthwise(const DepthwiseTile& tile);
void avxvnni_wide(const WideTile& tile);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_AVXVNNI_HPP
