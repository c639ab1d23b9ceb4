// SPDX-License-Identifier: MIT
//
// Depthwise convolution of int8 in NEON: products of 16 bits of 16 channels, each added to 32.
#include <arm_neon.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/gemm/neon_bytes.ipp"
#include "model/simd/gemm/parts.ipp"

constexpr unsigned kPositions = 4;
constexpr unsigned kChannels = 16;

// Of kChannels channels.
struct Sums {
  int32x4_t of[4];

  [[gnu::always_inline]] void add(int8x16_t a, int8x16_t w) {
    const int16x8_t low = vmull_s8(vget_low_s8(a), vget_low_s8(w)), high = vmull_high_s8(a, w);
    of[0] = vaddw_s16(of[0], vget_low_s16(low));
    of[1] = vaddw_high_s16(of[1], low);
    of[2] = vaddw_s16(of[2], vget_low_s16(high));
    of[3] = vaddw_high_s16(of[3], high);
  }
};

template <unsigned kCount>
[[gnu::noinline]] void part(const DepthwiseTile& tile, unsigned first) {
  for (unsigned channel = 0; channel < kBlock; channel += kChannels) {
    Sums sums[kCount];
#pragma GCC unroll 4
    for (unsigned p = 0; p < kCount; ++p)
#pragma GCC unroll 4
      for (unsigned i = 0; i < 4; ++i) sums[p].of[i] = vld1q_s32(tile.starts + channel + 4 * i);
    for (size_t quad = 0; quad < tile.quads; ++quad) {
      const int32_t* taps = tile.taps + quad * 4;
      const int8x16x4_t w = vld4q_s8(tile.weights + (quad * kBlock + channel) * 4);
#pragma GCC unroll 4
      for (unsigned i = 0; i < 4; ++i)
#pragma GCC unroll 4
        for (unsigned p = 0; p < kCount; ++p)
          sums[p].add(load_bytes(tile.bases[first + p] + taps[i] + channel), w.val[i]);
    }
#pragma GCC unroll 4
    for (unsigned p = 0; p < kCount; ++p)
#pragma GCC unroll 4
      for (unsigned i = 0; i < 4; ++i)
        vst1q_s32(tile.sums + size_t{first + p} * kBlock + channel + 4 * i, sums[p].of[i]);
  }
}

}  // namespace

void neon_depthwise(const DepthwiseTile& tile) {
  constexpr void (*kParts[])(const DepthwiseTile&, unsigned) = {part<1>, part<2>, part<3>,
                                                                part<kPositions>};
  in_parts(tile, tile.count, kParts);
}

}  // namespace nvdla::model
