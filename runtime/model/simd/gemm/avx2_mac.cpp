// SPDX-License-Identifier: MIT
//
// int8 in AVX2. There is no exact dot product of bytes: vpmaddubsw saturates in between. Where no
// activation is negative, as behind a ReLU, it does not. Else operands are 16 bits wide, and two
// products take one multiplication:
//
//   a0 w0 + a1 w1 = (a0 + w1) (a1 + w0) - a0 a1 - w0 w1
//
// of which the last two are the same for all kernels, and for all positions. A multiplier takes one
// of two ports, an addition any of four.
#include <immintrin.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/gemm/depthwise.ipp"
#include "model/simd/gemm/parts.ipp"

constexpr unsigned kRow = 8;  // kernels of a register of sums
constexpr unsigned kRows = kBlock / kRow;
constexpr unsigned kHalves = 2;
constexpr unsigned kHalfRows = kRows / kHalves;
// Eight registers of sums and four of weights leave four for a position's activations and the
// factors.
constexpr unsigned kPositions = 4;
// Where nothing is widened: two of weights, 12 of sums.
constexpr unsigned kBytePositions = 6;
constexpr size_t kStepBytes = size_t{kKr} * kBlock;
constexpr size_t kRowBytes = size_t{kKr} * kRow;
// Steps whose weights, widened, leave room in the first cache.
constexpr unsigned kChunk = 64;
// How many bytes before they are used weights of a single position are asked for, where to
// multiply takes less than to load.
constexpr size_t kAhead = 2048;
// Words of a register, which has a half of the bytes of kRow steps of a position, or of a step of
// kRow kernels.
constexpr unsigned kWords = 16;

__m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
void store(void* to, __m256i value) { _mm256_storeu_si256(static_cast<__m256i*>(to), value); }

// The sum stays in its register. Left to itself g++ adds products first, for which there are no
// registers, or adds into the product's and moves the sum back.
void add(__m256i& sum, __m256i products) {
  __asm__("vpaddd %1, %0, %0" : "+x"(sum) : "x"(products));
}

// The even and the odd bytes, each in 16 bits.
struct Split {
  __m256i even, odd;

  explicit Split(__m256i bytes)
      : even(_mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8)), odd(_mm256_srai_epi16(bytes, 8)) {}
  __m256i products() const { return _mm256_madd_epi16(even, odd); }
};

// Some steps of a tile, of any runs.
struct Chunk {
  const MacTile& tile;
  unsigned first, count;  // steps, counted over all runs

  // What sums begin with.
  const int32_t* starts(unsigned position) const {
    return first == 0 ? tile.starts : tile.sums + size_t{position} * kBlock;
  }
  const int8_t* weights() const { return tile.weights + first * kStepBytes; }
};

struct ChunkWeights {
  alignas(32) int16_t words[kHalves][kChunk][kHalfRows][2][kWords];  // odd ones first
  alignas(32) int32_t products[kBlock];                              // sums of even * odd

  explicit ChunkWeights(const Chunk& chunk) {
    const int8_t* from = chunk.weights();
    __m256i sums[kRows];
    for (__m256i& sum : sums) sum = _mm256_setzero_si256();
    for (unsigned step = 0; step < chunk.count; ++step)
#pragma GCC unroll 4
      for (unsigned r = 0; r < kRows; ++r, from += kRowBytes) {
        const Split split(load(from));
        auto& to = words[r / kHalfRows][step][r % kHalfRows];
        store(to[0], split.odd);
        store(to[1], split.even);
        add(sums[r], split.products());
      }
    for (unsigned r = 0; r < kRows; ++r) store(products + r * kRow, sums[r]);
  }
};

// What a position multiplies in a chunk: two bytes in a pair of words for each step.
struct ChunkData {
  // The last register may reach beyond the last step.
  int32_t even[kChunk + kRow], odd[kChunk + kRow];
  int32_t products;  // their sum

  void widen(const Chunk& chunk, const uint8_t* base) {
    const unsigned steps = chunk.tile.steps;
    unsigned run = chunk.first / steps, step = chunk.first % steps;
    __m256i sum = _mm256_setzero_si256();
    for (unsigned done = 0; done < chunk.count; ++run, step = 0) {
      const unsigned left = chunk.count - done;
      const unsigned end = steps - step < left ? done + steps - step : chunk.count;
      const uint8_t* from = base + chunk.tile.runs[run] + size_t{step} * kKr;
      for (; done < end; done += kRow, from += kRow * kKr) {
        const Split split(end - done < kRow ? load_steps(from, end - done) : load(from));
        store(even + done, split.even);
        store(odd + done, split.odd);
        add(sum, split.products());
      }
      done = end;
    }
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    four = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
    products = _mm_cvtsi128_si32(four) + _mm_extract_epi32(four, 1);
  }

 private:
  // Not a byte more is read, and the rest is 0.
  static __m256i load_steps(const uint8_t* from, unsigned count) {
    static constexpr int32_t kMask[2 * kRow] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_maskload_epi32(reinterpret_cast<const int*>(from), load(kMask + kRow - count));
  }
};

struct ChunkParts {
  const Chunk& chunk;
  const ChunkWeights& weights;
};

template <unsigned kCount>
[[gnu::noinline]] void part(const ChunkParts& parts, unsigned first) {
  const Chunk& chunk = parts.chunk;
  ChunkData data[kCount];
  for (unsigned p = 0; p < kCount; ++p) data[p].widen(chunk, chunk.tile.bases[first + p]);
  for (unsigned half = 0; half < kHalves; ++half) {
    const size_t at = half * kHalfRows * kRow;
    __m256i sums[kCount][kHalfRows];
#pragma GCC unroll 4
    for (unsigned p = 0; p < kCount; ++p)
#pragma GCC unroll 2
      for (unsigned r = 0; r < kHalfRows; ++r)
        sums[p][r] = _mm256_sub_epi32(load(chunk.starts(first + p) + at + r * kRow),
                                      _mm256_add_epi32(load(parts.weights.products + at + r * kRow),
                                                       _mm256_set1_epi32(data[p].products)));
    const auto* weights = parts.weights.words[half];
    for (unsigned step = 0; step < chunk.count; ++step, ++weights) {
      const __m256i odd[] = {load((*weights)[0][0]), load((*weights)[1][0])};
      const __m256i even[] = {load((*weights)[0][1]), load((*weights)[1][1])};
#pragma GCC unroll 4
      for (unsigned p = 0; p < kCount; ++p) {
        const __m256i a_even = _mm256_set1_epi32(data[p].even[step]);
        const __m256i a_odd = _mm256_set1_epi32(data[p].odd[step]);
#pragma GCC unroll 2
        for (unsigned r = 0; r < kHalfRows; ++r)
          add(sums[p][r], _mm256_madd_epi16(_mm256_add_epi16(a_even, odd[r]),
                                            _mm256_add_epi16(a_odd, even[r])));
      }
    }
    int32_t* const to = chunk.tile.sums + size_t{first} * kBlock + at;
#pragma GCC unroll 4
    for (unsigned p = 0; p < kCount; ++p)
#pragma GCC unroll 2
      for (unsigned r = 0; r < kHalfRows; ++r) store(to + p * kBlock + r * kRow, sums[p][r]);
  }
}

// Of a single position weights are used once: they are widened on the way, to 256 times what they
// are, which takes an instruction less. Such sums of a chunk are less than 2^31 away.
void single(const Chunk& chunk) {
  const __m256i upper = _mm256_set1_epi16(-256);
  ChunkData data;
  data.widen(chunk, chunk.tile.bases[0]);
  const int8_t* weights = chunk.weights();
  __m256i sums[kRows][2];
#pragma GCC unroll 4
  for (unsigned r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
  for (unsigned step = 0; step < chunk.count; ++step, weights += kStepBytes) {
    const __m256i a_even = _mm256_set1_epi32(data.even[step]);
    const __m256i a_odd = _mm256_set1_epi32(data.odd[step]);
#pragma GCC unroll 4
    for (unsigned r = 0; r < kRows; ++r) {
      const __m256i w = load(weights + r * kRowBytes);
      add(sums[r][0], _mm256_madd_epi16(a_even, _mm256_slli_epi16(w, 8)));
      add(sums[r][1], _mm256_madd_epi16(a_odd, _mm256_and_si256(w, upper)));
    }
  }
#pragma GCC unroll 4
  for (unsigned r = 0; r < kRows; ++r) {
    const __m256i sum = _mm256_srai_epi32(_mm256_add_epi32(sums[r][0], sums[r][1]), 8);
    store(chunk.tile.sums + r * kRow, _mm256_add_epi32(load(chunk.starts(0) + r * kRow), sum));
  }
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
      for (size_t at = 0; at < size_t{tile.steps} * kKr; at += kKr, weights += kStepBytes) {
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

// The same for a single position, of which weights are used once: line by line.
[[gnu::noinline]] void nonnegative_single(const MacTile& tile, unsigned first) {
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sums[kRows];
#pragma GCC unroll 4
  for (unsigned r = 0; r < kRows; ++r) sums[r] = load(tile.starts + r * kRow);
  const int8_t* weights = tile.weights;
  for (unsigned run = 0; run < tile.run_count; ++run) {
    const uint8_t* const data = tile.bases[first] + tile.runs[run];
    for (size_t at = 0; at < size_t{tile.steps} * kKr; at += kKr, weights += kStepBytes) {
      __builtin_prefetch(weights + kAhead);
      __builtin_prefetch(weights + kAhead + kStepBytes / 2);
      int32_t four;
      __builtin_memcpy(&four, data + at, sizeof(four));
      const __m256i a = _mm256_set1_epi32(four);
#pragma GCC unroll 4
      for (unsigned r = 0; r < kRows; ++r)
        add(sums[r],
            _mm256_madd_epi16(_mm256_maddubs_epi16(a, load(weights + r * kRowBytes)), ones));
    }
  }
  int32_t* const to = tile.sums + size_t{first} * kBlock;
#pragma GCC unroll 4
  for (unsigned r = 0; r < kRows; ++r) store(to + r * kRow, sums[r]);
}

}  // namespace

void avx2_depthwise(const DepthwiseTile& tile) { depthwise<PairQuads>(tile); }

void avx2_mac(const MacTile& tile) {
  if (tile.nonnegative) {
    constexpr void (*kParts[])(const MacTile&, unsigned) = {
        nonnegative_single, nonnegative<2>, nonnegative<3>,
        nonnegative<4>,     nonnegative<5>, nonnegative<kBytePositions>};
    return in_parts(tile, tile.count, kParts);
  }
  constexpr void (*kParts[])(const ChunkParts&, unsigned) = {part<1>, part<2>, part<3>,
                                                             part<kPositions>};
  const unsigned steps = tile.run_count * tile.steps;
  for (unsigned first = 0; first < steps; first += kChunk) {
    const Chunk chunk{tile, first, steps - first < kChunk ? steps - first : kChunk};
    if (tile.count == 1) {
      single(chunk);
      continue;
    }
    const ChunkWeights weights(chunk);
    in_parts(ChunkParts{chunk, weights}, tile.count, kParts);
  }
}

}  // namespace nvdla::model
