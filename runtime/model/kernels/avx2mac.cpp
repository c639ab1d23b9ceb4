// SPDX-License-Identifier: MIT
//
// int8 in AVX2. There is no exact dot product of bytes: vpmaddubsw saturates in between, so both
// operands are widened to 16 bits and multiplied in pairs, which is exact. Weights are widened for
// all positions of a tile at once, activations for all its kernels. Where no activation is
// negative, as behind a ReLU, vpmaddubsw does not saturate.
#include "model/kernels/avx2mac.hpp"

#include <immintrin.h>

namespace nvdla::model {
namespace {

#include "model/kernels/depthwise.ipp"
#include "model/kernels/parts.ipp"

constexpr unsigned kRow = 8;  // kernels of a register of sums
constexpr unsigned kRows = kBlock / kRow;
// Two registers of weights and 12 of sums leave one for a position's activations and one for a
// product: every product takes both operands from registers.
constexpr unsigned kPositions = 6;
constexpr size_t kStepBytes = size_t{kStep} * kBlock;
constexpr size_t kRowBytes = size_t{kStep} * kRow;
// Steps whose weights, widened, leave room in the first cache.
constexpr unsigned kChunk = 64;
constexpr size_t kPair = 2;  // of weights, which one lane multiplies
constexpr size_t kChunkPairs = kChunk * kStep / kPair;
constexpr size_t kHalfBlock = kBlock / 2;

// Some steps of a tile, of any runs.
struct Chunk {
  const MacTile& tile;
  unsigned first, count;   // steps, counted over all runs
  const int16_t* weights;  // [2][kChunkPairs][kHalfBlock][kPair]

  // What sums begin with.
  const int32_t* starts(unsigned position) const {
    return first == 0 ? tile.starts : tile.sums + size_t{position} * kBlock;
  }
};

__m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
void store(void* to, __m256i value) { _mm256_storeu_si256(static_cast<__m256i*>(to), value); }

// A step of half a row of kernels.
__m256i widen(const int8_t* from) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

// The sum stays in its register. Left to itself g++ adds products first, for which there are no
// registers, or adds into the product's and moves the sum back.
void add(__m256i& sum, __m256i products) {
  __asm__("vpaddd %1, %0, %0" : "+x"(sum) : "x"(products));
}

// Shuffles work in 128-bit halves: puts the quarters back in order.
__m256i in_order(__m256i quarters) { return _mm256_permute4x64_epi64(quarters, 0xd8); }

void widen_weights(const int8_t* from, unsigned steps, int16_t* to) {
  for (unsigned step = 0; step < steps; ++step, to += 2 * kPair * kHalfBlock)
#pragma GCC unroll 4
    for (unsigned r = 0; r < kRows; ++r, from += kRowBytes) {
      const __m256 low = _mm256_castsi256_ps(widen(from));
      const __m256 high = _mm256_castsi256_ps(widen(from + kRowBytes / 2));
      int16_t* const row = to + r / 2 * kChunkPairs * kPair * kHalfBlock + r % 2 * kPair * kRow;
      store(row, in_order(_mm256_castps_si256(_mm256_shuffle_ps(low, high, 0x88))));
      store(row + kPair * kHalfBlock,
            in_order(_mm256_castps_si256(_mm256_shuffle_ps(low, high, 0xdd))));
    }
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
  for (unsigned half = 0; half < 2; ++half) {
    const size_t at = half * kHalfBlock;
    __m256i sums[kCount][2];
#pragma GCC unroll 6
    for (unsigned p = 0; p < kCount; ++p) {
      sums[p][0] = load(chunk.starts(first + p) + at);
      sums[p][1] = load(chunk.starts(first + p) + at + kRow);
    }
    const int16_t* weights = chunk.weights + half * kChunkPairs * kPair * kHalfBlock;
    for (size_t i = 0; i < size_t{chunk.count} * kStep; i += kPair, weights += kPair * kHalfBlock) {
      const __m256i w0 = load(weights), w1 = load(weights + kPair * kRow);
#pragma GCC unroll 6
      for (unsigned p = 0; p < kCount; ++p) {
        int32_t pair;
        __builtin_memcpy(&pair, data[p] + i, sizeof(pair));
        const __m256i a = _mm256_set1_epi32(pair);
        add(sums[p][0], _mm256_madd_epi16(a, w0));
        add(sums[p][1], _mm256_madd_epi16(a, w1));
      }
    }
    int32_t* const to = chunk.tile.sums + size_t{first} * kBlock + at;
#pragma GCC unroll 6
    for (unsigned p = 0; p < kCount; ++p) {
      store(to + p * kBlock, sums[p][0]);
      store(to + p * kBlock + kRow, sums[p][1]);
    }
  }
}

// Of a single position weights are used once: they are widened on the way, as they lie. Each kernel
// has two sums until the end.
void single(const Chunk& chunk) {
  int16_t data[kChunk * kStep];
  widen_data(chunk, chunk.tile.bases[0], data);
  const int8_t* weights = chunk.tile.weights + chunk.first * kStepBytes;
  __m256i sums[kRows][2];
#pragma GCC unroll 4
  for (unsigned r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
  for (size_t at = 0; at < size_t{chunk.count} * kStep; at += kStep, weights += kStepBytes) {
    int64_t step;
    __builtin_memcpy(&step, data + at, sizeof(step));
    const __m256i a = _mm256_set1_epi64x(step);
#pragma GCC unroll 4
    for (unsigned r = 0; r < kRows; ++r) {
      add(sums[r][0], _mm256_madd_epi16(a, widen(weights + r * kRowBytes)));
      add(sums[r][1], _mm256_madd_epi16(a, widen(weights + r * kRowBytes + kRowBytes / 2)));
    }
  }
#pragma GCC unroll 4
  for (unsigned r = 0; r < kRows; ++r)
    store(chunk.tile.sums + r * kRow,
          _mm256_add_epi32(load(chunk.starts(0) + r * kRow),
                           in_order(_mm256_hadd_epi32(sums[r][0], sums[r][1]))));
}

// Activations of 7 bits without a sign: two products of such with a weight have a magnitude of
// 32512 at most, which vpmaddubsw holds.
template <unsigned kCount>
[[gnu::noinline]] void nonnegative(const MacTile& tile, unsigned first) {
  const __m256i ones = _mm256_set1_epi16(1);
  for (unsigned r = 0; r < kRows; r += 2) {
    __m256i sums[kCount][2];
#pragma GCC unroll 6
    for (unsigned p = 0; p < kCount; ++p) {
      sums[p][0] = load(tile.starts + r * kRow);
      sums[p][1] = load(tile.starts + (r + 1) * kRow);
    }
    const int8_t* weights = tile.weights + r * kRowBytes;
    for (unsigned run = 0; run < tile.run_count; ++run) {
      const uint8_t* data[kCount];
#pragma GCC unroll 6
      for (unsigned p = 0; p < kCount; ++p) data[p] = tile.bases[first + p] + tile.runs[run];
      for (size_t at = 0; at < size_t{tile.steps} * kStep; at += kStep, weights += kStepBytes) {
        const __m256i w0 = load(weights), w1 = load(weights + kRowBytes);
#pragma GCC unroll 6
        for (unsigned p = 0; p < kCount; ++p) {
          int32_t four;
          __builtin_memcpy(&four, data[p] + at, sizeof(four));
          const __m256i a = _mm256_set1_epi32(four);
          add(sums[p][0], _mm256_madd_epi16(_mm256_maddubs_epi16(a, w0), ones));
          add(sums[p][1], _mm256_madd_epi16(_mm256_maddubs_epi16(a, w1), ones));
        }
      }
    }
    int32_t* const to = tile.sums + size_t{first} * kBlock + r * kRow;
#pragma GCC unroll 6
    for (unsigned p = 0; p < kCount; ++p) {
      store(to + p * kBlock, sums[p][0]);
      store(to + p * kBlock + kRow, sums[p][1]);
    }
  }
}

}  // namespace

void avx2_depthwise(const DepthwiseTile& tile) { depthwise<PairQuads>(tile); }

void avx2_mac(const MacTile& tile) {
  if (tile.nonnegative) {
    constexpr void (*kParts[])(const MacTile&, unsigned) = {
        nonnegative<1>, nonnegative<2>, nonnegative<3>,
        nonnegative<4>, nonnegative<5>, nonnegative<kPositions>};
    return in_parts(tile, tile.count, kParts);
  }
  constexpr void (*kParts[])(const Chunk&, unsigned) = {part<1>, part<2>, part<3>,
                                                        part<4>, part<5>, part<kPositions>};
  alignas(32) int16_t weights[2 * kChunkPairs * kPair * kHalfBlock];
  const unsigned steps = tile.run_count * tile.steps;
  for (unsigned first = 0; first < steps; first += kChunk) {
    const Chunk chunk{tile, first, steps - first < kChunk ? steps - first : kChunk, weights};
    if (tile.count == 1) {
      single(chunk);
      continue;
    }
    widen_weights(tile.weights + first * kStepBytes, chunk.count, weights);
    in_parts(chunk, tile.count, kParts);
  }
}

}  // namespace nvdla::model
