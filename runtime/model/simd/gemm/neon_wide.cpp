// SPDX-License-Identifier: MIT
//
// int16 in NEON: products by the upper byte of a weight and by the rest of it, summed in 32 bits of
// their own; or by the weight as it is, where 32 bits hold the sum.
#include <arm_neon.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/gemm/parts.ipp"
#include "model/simd/gemm/wide_place.ipp"

// Each has four registers of sums, which leaves room for two pairs of weights and the activations.
constexpr unsigned kPositions = 4;
// Kernels of a register of weights.
constexpr unsigned kRow = 8;

// Of kRow kernels.
struct Sums {
  int32x4_t low, high;
};

// sums += a's `kAt`-th element times the weights.
template <int kAt>
[[gnu::always_inline]] inline void add_products(Sums& sums, int16x8_t weights, int16x4_t a) {
  sums.low = vmlal_lane_s16(sums.low, vget_low_s16(weights), a, kAt);
  sums.high = vmlal_high_lane_s16(sums.high, weights, a, kAt);
}

// Of both elements of a pair.
template <int kPair>
[[gnu::always_inline]] inline void add_pair(Sums& sums, const int16x8x2_t& weights, int16x4_t a) {
  add_products<2 * kPair>(sums, weights.val[0], a);
  add_products<2 * kPair + 1>(sums, weights.val[1], a);
}

// to[0..7] += sums << kShift.
template <int kShift>
void add_sums(int64_t* to, const Sums& sums) {
  const auto add = [](int64_t* at, int64x2_t v) { vst1q_s64(at, vaddq_s64(vld1q_s64(at), v)); };
  add(to, vshlq_n_s64(vmovl_s32(vget_low_s32(sums.low)), kShift));
  add(to + 2, vshlq_n_s64(vmovl_high_s32(sums.low), kShift));
  add(to + 4, vshlq_n_s64(vmovl_s32(vget_low_s32(sums.high)), kShift));
  add(to + 6, vshlq_n_s64(vmovl_high_s32(sums.high), kShift));
}

// The weights of a pair and a row of kernels, from what is `w` the upper bytes, which `w` loses.
inline int16x8_t take_upper(int16x8_t& w) {
  // Saturation: upper_byte() of the greatest.
  const int16x8_t upper = vshrq_n_s16(vqaddq_s16(w, vdupq_n_s16(128)), 8);
  w = vsubq_s16(w, vshlq_n_s16(upper, 8));
  return upper;
}

// A pair of elements for two rows of sums: the rest and the upper bytes of kRow kernels' weights,
// or the weights of 2 * kRow.
template <int kPair, unsigned kCount, bool kUpper>
[[gnu::always_inline]] inline void pair(const int16_t* weights, const int16x4_t (&data)[kCount],
                                        Sums (&sums0)[kCount], Sums (&sums1)[kCount]) {
  int16x8x2_t w0 = vld2q_s16(weights), w1;
  if constexpr (kUpper) {
    w1.val[0] = take_upper(w0.val[0]);
    w1.val[1] = take_upper(w0.val[1]);
  } else {
    w1 = vld2q_s16(weights + 2 * kRow);
  }
#pragma GCC unroll 4
  for (unsigned p = 0; p < kCount; ++p) {
    add_pair<kPair>(sums0[p], w0, data[p]);
    add_pair<kPair>(sums1[p], w1, data[p]);
  }
}

// A chunk of steps for `kCount` positions from the `first` on, and for a row of kernels, or two
// where there are no upper bytes.
template <unsigned kCount, bool kUpper>
[[gnu::noinline]] WidePlace wide_chunk(const WideTile& tile, unsigned first, unsigned kernel,
                                       WidePlace at) {
  constexpr size_t kPairWords = size_t{2} * kBlock;
  Sums sums0[kCount], sums1[kCount];
#pragma GCC unroll 4
  for (unsigned p = 0; p < kCount; ++p)
    sums0[p].low = sums0[p].high = sums1[p].low = sums1[p].high = vdupq_n_s32(0);
  for (unsigned room = tile.chunk; room != 0 && at.in(tile);) {
    const unsigned count = at.together(tile, room);
    const int16_t* weights = tile.weights + at.steps_before(tile) * 2 * kPairWords + 2 * kernel;
    const int16_t* from[kCount];
#pragma GCC unroll 4
    for (unsigned p = 0; p < kCount; ++p)
      from[p] = tile.data + tile.bases[first + p] + tile.runs[at.run] + size_t{at.step} * kKr;
    for (size_t i = 0; i < size_t{count} * kKr; i += kKr, weights += 2 * kPairWords) {
      int16x4_t data[kCount];
#pragma GCC unroll 4
      for (unsigned p = 0; p < kCount; ++p) data[p] = vld1_s16(from[p] + i);
      pair<0, kCount, kUpper>(weights, data, sums0, sums1);
      pair<1, kCount, kUpper>(weights + kPairWords, data, sums0, sums1);
    }
    room -= count;
    at.advance(tile, count);
  }
#pragma GCC unroll 4
  for (unsigned p = 0; p < kCount; ++p) {
    int64_t* const to = tile.sums + size_t{first + p} * kBlock + kernel;
    add_sums<0>(to, sums0[p]);
    kUpper ? add_sums<8>(to, sums1[p]) : add_sums<0>(to + kRow, sums1[p]);
  }
  return at;
}

template <unsigned kCount, bool kUpper>
void wide_part(const WideTile& tile, unsigned first) {
  int64_t* const sums = tile.sums + size_t{first} * kBlock;
  for (unsigned i = 0; i < kCount * kBlock; ++i) sums[i] = 0;
  for (unsigned kernel = 0; kernel < kBlock; kernel += kUpper ? kRow : 2 * kRow)
    for (WidePlace at; at.in(tile);) at = wide_chunk<kCount, kUpper>(tile, first, kernel, at);
}

template <bool kUpper>
void wide(const WideTile& tile) {
  constexpr void (*kParts[])(const WideTile&, unsigned) = {
      wide_part<1, kUpper>, wide_part<2, kUpper>, wide_part<3, kUpper>,
      wide_part<kPositions, kUpper>};
  in_parts(tile, tile.count, kParts);
}

}  // namespace

void neon_wide(const WideTile& tile) {
  tile.upper_weights == nullptr ? wide<false>(tile) : wide<true>(tile);
}

}  // namespace nvdla::model
