// SPDX-License-Identifier: MIT
//
// int8 in NEON without the dot product: products of 16 bits, of which pairs are added to 32. Two
// would not always fit in 16.
#include <arm_neon.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/gemm/neon_bytes.ipp"
#include "model/simd/gemm/parts.ipp"

// With 4 registers of weights 16 sums, which leaves room for each position's activations and for
// products.
constexpr unsigned kPositions = 2;
constexpr unsigned kRow = 4;  // kernels of a register of weights
constexpr unsigned kRows = 4;

template <unsigned kCount>
[[gnu::noinline]] void part(const MacTile& tile, unsigned first) {
  for (unsigned kernel = 0; kernel < kBlock; kernel += kRows * kRow) {
    // Of two kernels the sums of either half of each step.
    int32x4_t sums[kCount][2 * kRows];
#pragma GCC unroll 2
    for (unsigned p = 0; p < kCount; ++p)
#pragma GCC unroll 8
      for (unsigned r = 0; r < 2 * kRows; ++r) sums[p][r] = vdupq_n_s32(0);
    const int8_t* weights = tile.weights + size_t{kernel} * kKr;
    for (unsigned run = 0; run < tile.run_count; ++run) {
      const uint8_t* data[kCount];
#pragma GCC unroll 2
      for (unsigned p = 0; p < kCount; ++p) data[p] = tile.bases[first + p] + tile.runs[run];
      for (size_t i = 0; i < size_t{tile.steps} * kKr; i += kKr, weights += kBlock * kKr) {
        int8x16_t a[kCount];
#pragma GCC unroll 2
        for (unsigned p = 0; p < kCount; ++p) a[p] = spread_step(data[p] + i);
#pragma GCC unroll 4
        for (unsigned r = 0; r < kRows; ++r) {
          const int8x16_t w = vld1q_s8(weights + r * kRow * kKr);
#pragma GCC unroll 2
          for (unsigned p = 0; p < kCount; ++p) {
            sums[p][2 * r] =
                vpadalq_s16(sums[p][2 * r], vmull_s8(vget_low_s8(w), vget_low_s8(a[p])));
            sums[p][2 * r + 1] = vpadalq_s16(sums[p][2 * r + 1], vmull_high_s8(w, a[p]));
          }
        }
      }
    }
#pragma GCC unroll 2
    for (unsigned p = 0; p < kCount; ++p)
#pragma GCC unroll 4
      for (unsigned r = 0; r < kRows; ++r)
        vst1q_s32(tile.sums + size_t{first + p} * kBlock + kernel + r * kRow,
                  vaddq_s32(vld1q_s32(tile.starts + kernel + r * kRow),
                            vpaddq_s32(sums[p][2 * r], sums[p][2 * r + 1])));
  }
}

}  // namespace

void neon_mac(const MacTile& tile) {
  constexpr void (*kParts[])(const MacTile&, unsigned) = {part<1>, part<kPositions>};
  in_parts(tile, tile.count, kParts);
}

}  // namespace nvdla::model
