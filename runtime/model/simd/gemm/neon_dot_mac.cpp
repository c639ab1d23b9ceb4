// SPDX-License-Identifier: MIT
//
// int8 in NEON with the dot product of bytes: four products of a kernel in one instruction,
// exactly.
#include <arm_neon.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/gemm/neon_bytes.ipp"
#include "model/simd/gemm/parts.ipp"

// With 8 registers of kernels 24 sums, which leaves one for each position's activations and some
// for weights.
constexpr unsigned kPositions = 3;
constexpr unsigned kRow = 4;  // kernels of a register
constexpr unsigned kRows = kBlock / kRow;
// Steps of a register of activations.
constexpr unsigned kSteps = 4;

template <unsigned kCount>
struct Sums {
  int32x4_t of[kCount][kRows];
};

// Adds the products of step `kAt` of the four that the activations are of.
template <unsigned kAt, unsigned kCount>
[[gnu::always_inline]] inline void step(const int8_t* weights, const int8x16_t (&data)[kCount],
                                        Sums<kCount>& sums) {
#pragma GCC unroll 8
  for (unsigned r = 0; r < kRows; ++r) {
    const int8x16_t w = vld1q_s8(weights + r * kRow * kKr);
#pragma GCC unroll 3
    for (unsigned p = 0; p < kCount; ++p)
      sums.of[p][r] = vdotq_laneq_s32(sums.of[p][r], w, data[p], kAt);
  }
}

template <unsigned kCount>
[[gnu::noinline]] void part(const MacTile& tile, unsigned first) {
  constexpr size_t kStepBytes = size_t{kKr} * kBlock;
  Sums<kCount> sums;
#pragma GCC unroll 3
  for (unsigned p = 0; p < kCount; ++p)
#pragma GCC unroll 8
    for (unsigned r = 0; r < kRows; ++r) sums.of[p][r] = vld1q_s32(tile.starts + r * kRow);
  const int8_t* weights = tile.weights;
  for (unsigned run = 0; run < tile.run_count; ++run) {
    const uint8_t* from[kCount];
#pragma GCC unroll 3
    for (unsigned p = 0; p < kCount; ++p) from[p] = tile.bases[first + p] + tile.runs[run];
    int8x16_t data[kCount];
    unsigned left = tile.steps;
    for (; left >= kSteps; left -= kSteps, weights += kSteps * kStepBytes) {
#pragma GCC unroll 3
      for (unsigned p = 0; p < kCount; ++p) {
        data[p] = load_bytes(from[p]);
        from[p] += kSteps * kKr;
      }
      step<0>(weights, data, sums);
      step<1>(weights + kStepBytes, data, sums);
      step<2>(weights + 2 * kStepBytes, data, sums);
      step<3>(weights + 3 * kStepBytes, data, sums);
    }
    // Not a byte more is read.
    for (; left != 0; --left, weights += kStepBytes) {
#pragma GCC unroll 3
      for (unsigned p = 0; p < kCount; ++p) {
        data[p] = spread_step(from[p]);
        from[p] += kKr;
      }
      step<0>(weights, data, sums);
    }
  }
#pragma GCC unroll 3
  for (unsigned p = 0; p < kCount; ++p)
#pragma GCC unroll 8
    for (unsigned r = 0; r < kRows; ++r)
      vst1q_s32(tile.sums + size_t{first + p} * kBlock + r * kRow, sums.of[p][r]);
}

}  // namespace

void neondot_mac(const MacTile& tile) {
  constexpr void (*kParts[])(const MacTile&, unsigned) = {part<1>, part<2>, part<kPositions>};
  in_parts(tile, tile.count, kParts);
}

}  // namespace nvdla::model
