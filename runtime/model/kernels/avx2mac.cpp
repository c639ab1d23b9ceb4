// SPDX-License-Identifier: MIT
//
// int8 in AVX2. There is no exact dot product of bytes: vpmaddubsw saturates in between, so both
// operands are widened to 16 bits and multiplied in pairs, which is exact. Weights are widened for
// all positions of a tile at once, activations for all its kernels.
#include "model/kernels/avx2mac.hpp"

#include <immintrin.h>

namespace nvdla::model {
namespace {

#include "model/kernels/depthwise.ipp"
#include "model/kernels/parts.ipp"

constexpr unsigned kRow = 8;  // kernels of a register
constexpr unsigned kRows = kBlock / kRow;
// Two registers of kernels and 12 sums leave one for a position's activations and one for a
// product: every product takes both operands from registers.
constexpr unsigned kPositions = 6;
constexpr unsigned kHalfRows = kRows / 2;
constexpr size_t kPair = 2;
constexpr size_t kPairBytes = kPair * kBlock;
// Steps whose weights, widened, leave room in the first cache.
constexpr unsigned kChunk = 64;
constexpr size_t kChunkPairs = size_t{kChunk} * kStep / kPair;

// Some steps of a tile, of any runs.
struct Chunk {
  const MacTile& tile;
  unsigned first, count;   // steps, counted over all runs
  const int16_t* weights;  // [2][kChunkPairs][kBlock / 2][2]

  size_t pairs() const { return size_t{count} * kStep / kPair; }
};

__m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
void store(void* to, __m256i value) { _mm256_storeu_si256(static_cast<__m256i*>(to), value); }

// A row of kernels with a pair each.
__m256i widen_row(const int8_t* from) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

__m256i spread_pair(const int16_t* from) {
  int32_t two;
  __builtin_memcpy(&two, from, sizeof(two));
  return _mm256_set1_epi32(two);
}

// The sum stays in its register. Left to itself g++ adds products first, for which there are no
// registers, or adds into the product's and moves the sum back.
void add_products(__m256i& sum, __m256i a, __m256i weights) {
  __asm__("vpaddd %1, %0, %0" : "+x"(sum) : "x"(_mm256_madd_epi16(a, weights)));
}

void widen_weights(const int8_t* from, size_t pairs, int16_t* to) {
  constexpr size_t kHalf = kPair * kBlock / 2;
  for (size_t pair = 0; pair < pairs; ++pair, from += kPairBytes)
#pragma GCC unroll 4
    for (unsigned r = 0; r < kRows; ++r)
      store(to + (r / kHalfRows * kChunkPairs + pair) * kHalf + r % kHalfRows * kPair * kRow,
            widen_row(from + r * kPair * kRow));
}

// Not a byte more is read.
void widen_bytes(const uint8_t* from, unsigned steps, int16_t* to) {
  for (; steps >= 4; steps -= 4, from += 16, to += 16)
    store(to, _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  for (; steps != 0; --steps, from += kStep, to += kStep) {
    int32_t four;
    __builtin_memcpy(&four, from, sizeof(four));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_cvtepi8_epi16(_mm_cvtsi32_si128(four)));
  }
}

// What a position multiplies in a chunk.
void widen_data(const Chunk& chunk, const uint8_t* base, int16_t* to) {
  const unsigned steps = chunk.tile.steps;
  unsigned run = chunk.first / steps, step = chunk.first % steps;
  for (unsigned left = chunk.count; left != 0; ++run, step = 0) {
    const unsigned count = steps - step < left ? steps - step : left;
    widen_bytes(base + chunk.tile.runs[run] + size_t{step} * kStep, count, to);
    to += size_t{count} * kStep;
    left -= count;
  }
}

template <unsigned kCount>
[[gnu::noinline]] void part(const Chunk& chunk, unsigned first) {
  int16_t data[kCount][kChunk * kStep];
  for (unsigned p = 0; p < kCount; ++p) widen_data(chunk, chunk.tile.bases[first + p], data[p]);
  const size_t pairs = chunk.pairs();
  for (unsigned half = 0; half < 2; ++half) {
    int32_t* const to = chunk.tile.sums + size_t{first} * kBlock + half * kHalfRows * kRow;
    const int32_t* const starts = chunk.tile.starts + half * kHalfRows * kRow;
    __m256i sums[kCount][kHalfRows];
#pragma GCC unroll 6
    for (unsigned p = 0; p < kCount; ++p)
#pragma GCC unroll 2
      for (unsigned r = 0; r < kHalfRows; ++r)
        sums[p][r] = load((chunk.first == 0 ? starts : to + p * kBlock) + r * kRow);
    const int16_t* weights = chunk.weights + half * kChunkPairs * kPair * kBlock / 2;
    for (size_t pair = 0; pair < pairs; ++pair, weights += kPair * kBlock / 2) {
      const __m256i w0 = load(weights), w1 = load(weights + kPair * kRow);
#pragma GCC unroll 6
      for (unsigned p = 0; p < kCount; ++p) {
        const __m256i a = spread_pair(data[p] + pair * kPair);
        add_products(sums[p][0], a, w0);
        add_products(sums[p][1], a, w1);
      }
    }
#pragma GCC unroll 6
    for (unsigned p = 0; p < kCount; ++p)
#pragma GCC unroll 2
      for (unsigned r = 0; r < kHalfRows; ++r) store(to + p * kBlock + r * kRow, sums[p][r]);
  }
}

// Of a single position weights are used once: they are widened on the way.
void single(const Chunk& chunk) {
  int16_t data[kChunk * kStep];
  widen_data(chunk, chunk.tile.bases[0], data);
  const int8_t* weights = chunk.tile.weights + size_t{chunk.first} * kStep * kBlock;
  const int32_t* const from = chunk.first == 0 ? chunk.tile.starts : chunk.tile.sums;
  __m256i sums[kRows];
#pragma GCC unroll 4
  for (unsigned r = 0; r < kRows; ++r) sums[r] = load(from + r * kRow);
  const size_t pairs = chunk.pairs();
  for (size_t pair = 0; pair < pairs; ++pair, weights += kPairBytes) {
    const __m256i a = spread_pair(data + pair * kPair);
#pragma GCC unroll 4
    for (unsigned r = 0; r < kRows; ++r)
      add_products(sums[r], a, widen_row(weights + r * kPair * kRow));
  }
#pragma GCC unroll 4
  for (unsigned r = 0; r < kRows; ++r) store(chunk.tile.sums + r * kRow, sums[r]);
}

}  // namespace

void avx2_depthwise(const DepthwiseTile& tile) { depthwise<PairQuads>(tile); }

void avx2_mac(const MacTile& tile) {
  constexpr void (*kParts[])(const Chunk&, unsigned) = {part<1>, part<2>, part<3>,
                                                        part<4>, part<5>, part<kPositions>};
  alignas(32) int16_t weights[kChunkPairs * kPairBytes];
  const unsigned steps = tile.run_count * tile.steps;
  for (unsigned first = 0; first < steps; first += kChunk) {
    const Chunk chunk{tile, first, steps - first < kChunk ? steps - first : kChunk, weights};
    if (tile.count == 1) {
      single(chunk);
      continue;
    }
    widen_weights(tile.weights + size_t{first} * kStep * kBlock, chunk.pairs(), weights);
    in_parts(chunk, tile.count, kParts);
  }
}

}  // namespace nvdla::model
