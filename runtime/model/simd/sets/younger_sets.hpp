// SPDX-License-Identifier: MIT
//
// Sets that have a better multiplier than the one that they are built on, and are like it else.
#ifndef NVDLA_MODEL_SIMD_SETS_YOUNGER_SETS_HPP
#define NVDLA_MODEL_SIMD_SETS_YOUNGER_SETS_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

const Kernels& avxvnni_kernels();
const Kernels& amx_kernels();

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_SETS_YOUNGER_SETS_HPP
