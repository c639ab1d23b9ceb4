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

// With 4 registers of kernels 12 sums, which leaves one for each position's activations and one
// for a product.
constexpr unsigned kPositions = 3;
constexpr unsigned kRow = 8;  // kernels of a register
constexpr unsigned kRows = kBlock / kRow;
constexpr size_t kStepBytes = size_t{kStep} * kBlock;
// Steps whose weights, widened, leave room in the first cache.
constexpr unsigned kChunk = 64;

// Some steps of a tile, of any runs.
struct Chunk {
  const MacTile& tile;
  unsigned first, count;   // steps, counted over all runs
  const int16_t* weights;  // [step][2][kBlock][2]
};

void widen_weights(const int8_t* from, unsigned steps, int16_t* to) {
  for (size_t i = 0; i < size_t{steps} * kRows; ++i, from += kRow * kStep) {
    const auto widen = [&](unsigned at) {
      return _mm256_castsi256_ps(
          _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at))));
    };
    const __m256 low = widen(0), high = widen(16);
    // Shuffles work in 128-bit halves: put the quarters back in order.
    const auto store = [&](__m256 pairs, unsigned half) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + (i / kRows * 2 + half) * 2 * kBlock +
                                                     i % kRows * 2 * kRow),
                          _mm256_permute4x64_epi64(_mm256_castps_si256(pairs), 0xd8));
    };
    store(_mm256_shuffle_ps(low, high, 0x88), 0);
    store(_mm256_shuffle_ps(low, high, 0xdd), 1);
  }
}

// Not a byte more is read.
void widen_bytes(const uint8_t* from, unsigned steps, int16_t* to) {
  for (; steps >= 4; steps -= 4, from += 16, to += 16)
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(to),
        _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  for (; steps != 0; --steps, from += kStep, to += kStep) {
    int32_t four;
    __builtin_memcpy(&four, from, sizeof(four));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_cvtepu8_epi16(_mm_cvtsi32_si128(four)));
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
  const auto at = [](auto* from) { return reinterpret_cast<__m256i*>(from); };
  const auto in = [](const void* from) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  };
  int32_t* const to = chunk.tile.sums + size_t{first} * kBlock;
  __m256i sums[kCount][kRows];
#pragma GCC unroll 3
  for (unsigned p = 0; p < kCount; ++p)
#pragma GCC unroll 4
    for (unsigned r = 0; r < kRows; ++r)
      sums[p][r] = in((chunk.first == 0 ? chunk.tile.starts : to + p * kBlock) + r * kRow);
  const int16_t* weights = chunk.weights;
  for (size_t i = 0; i < size_t{chunk.count} * kStep; i += kStep) {
#pragma GCC unroll 2
    for (unsigned pair = 0; pair < 2; ++pair, weights += 2 * kBlock)
#pragma GCC unroll 3
      for (unsigned p = 0; p < kCount; ++p) {
        int32_t two;
        __builtin_memcpy(&two, data[p] + i + 2 * pair, sizeof(two));
        const __m256i a = _mm256_set1_epi32(two);
#pragma GCC unroll 4
        for (unsigned r = 0; r < kRows; ++r) {
          sums[p][r] =
              _mm256_add_epi32(sums[p][r], _mm256_madd_epi16(a, in(weights + r * 2 * kRow)));
          // Keeps g++ from adding products first, for which there are no registers.
          __asm__("" : "+x"(sums[p][r]));
        }
      }
  }
#pragma GCC unroll 3
  for (unsigned p = 0; p < kCount; ++p)
#pragma GCC unroll 4
    for (unsigned r = 0; r < kRows; ++r)
      _mm256_storeu_si256(at(to + p * kBlock + r * kRow), sums[p][r]);
}

// The even and the odd bytes, each in 16 bits.
class PairQuads {
 public:
  static constexpr unsigned kPositions = 1;
  explicit PairQuads(__m256i weights)
      : even_(_mm256_srai_epi16(_mm256_slli_epi16(weights, 8), 8)),
        odd_(_mm256_srai_epi16(weights, 8)) {}
  __m256i add(__m256i sums, __m256i activations) const {
    const __m256i even = _mm256_and_si256(activations, _mm256_set1_epi16(0xff));
    const __m256i odd = _mm256_srli_epi16(activations, 8);
    return _mm256_add_epi32(
        sums, _mm256_add_epi32(_mm256_madd_epi16(even, even_), _mm256_madd_epi16(odd, odd_)));
  }

 private:
  __m256i even_, odd_;
};

}  // namespace

void avx2_depthwise(const DepthwiseTile& tile) { depthwise<PairQuads>(tile); }

void avx2_mac(const MacTile& tile) {
  constexpr void (*kParts[])(const Chunk&, unsigned) = {part<1>, part<2>, part<kPositions>};
  alignas(32) int16_t weights[kChunk * kStepBytes];
  const unsigned steps = tile.run_count * tile.steps;
  for (unsigned first = 0; first < steps; first += kChunk) {
    const unsigned count = steps - first < kChunk ? steps - first : kChunk;
    widen_weights(tile.weights + first * kStepBytes, count, weights);
    in_parts(Chunk{tile, first, count, weights}, tile.count, kParts);
  }
}

}  // namespace nvdla::model
