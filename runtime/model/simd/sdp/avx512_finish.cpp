// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/sdp/avx512_finish.ipp"

}  // namespace

void avx512_finish(const int32_t* values, unsigned count, const SdpFinish& finish, int8_t* out) {
  finish_tile<Vector>(values, count, finish, out);
}

}  // namespace nvdla::model
