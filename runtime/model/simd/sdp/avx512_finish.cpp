// SPDX-License-Identifier: MIT
#include "model/simd/sdp/avx512_finish.hpp"

#include <immintrin.h>

namespace nvdla::model {
namespace {

#include "model/simd/sdp/avx512_finish.ipp"

}  // namespace

void avx512_finish(const int32_t* values, unsigned count, const SdpFinish& finish, int8_t* out) {
  finish_tile<Vector>(values, count, finish, out);
}

}  // namespace nvdla::model
