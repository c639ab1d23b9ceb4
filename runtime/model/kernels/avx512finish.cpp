// SPDX-License-Identifier: MIT
#include "model/kernels/avx512finish.hpp"

#include <immintrin.h>

namespace nvdla::model {
namespace {

#include "model/kernels/avx512finish.ipp"

}  // namespace

void avx512_finish(const int32_t* values, unsigned count, const SdpFinish& finish, int8_t* out) {
  finish_tile<Vector>(values, count, finish, out);
}

}  // namespace nvdla::model
