// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include "model/simd/sdp/epilogue.ipp"
#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/sdp/avx512_finish.ipp"

}  // namespace

void avx512_finish(const int32_t* values, unsigned count, const SdpFinish& finish, int8_t* out) {
  finish_tile<Vector>(values, count, finish, out);
}

bool avx512_epilogue(const int32_t* values, unsigned count, const EpilogueBlock& block,
                     int8_t* out) {
  return HWY_NAMESPACE::epilogue(values, count, block, out);
}

}  // namespace nvdla::model
