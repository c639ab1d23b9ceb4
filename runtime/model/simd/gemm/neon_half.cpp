// SPDX-License-Identifier: MIT
//
// fp16 in NEON, as the compiler vectorises it.
#include <arm_neon.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

HalfReach half_reach(const int16_t* distances) {
  constexpr unsigned kRow = 8;
  int16x8_t most = vdupq_n_s16(0);
  for (unsigned k = 0; k < kBlock; k += kRow) {
    const int16x8_t row = vld1q_s16(distances + k);
    const int16x8_t near = vreinterpretq_s16_u16(vcltq_s16(row, vdupq_n_s16(8)));
    most = vmaxq_s16(most, vandq_s16(row, near));
  }
  const int16_t reach = vmaxvq_s16(most);
  if (reach <= 2) return reach == 0 ? HalfReach::kNone : HalfReach::kTwo;
  return reach <= 4 ? HalfReach::kFour : HalfReach::kAny;
}
#define NVDLA_HALF_REACH

#include "model/simd/gemm/half_loops.ipp"

}  // namespace

void neon_half(const HalfStep& step, HalfProducts& result) { loop_half(step, result); }
void neon_half_tile(const HalfTile& tile) { loop_half_tile(tile); }

}  // namespace nvdla::model
