// SPDX-License-Identifier: MIT
//
// int8 in AVX-VNNI: one vpdpbusd for 4 channels of 8 kernels. Half of a block's kernels at a time,
// for as many positions as leave registers for two rows of weights and one of activations.
#include "model/simd/gemm/avxvnni_dots.hpp"
#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/gemm/depthwise.ipp"
#include "model/simd/gemm/dot_quads.ipp"
#include "model/simd/gemm/parts.ipp"

constexpr unsigned kPositions = 6;
// Kernels of a register.
constexpr unsigned kRow = 8;
constexpr unsigned kRows = kBlock / kRow;
// How many bytes before they are used weights of a single position are asked for.
constexpr size_t kAhead = 2048;

__m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }

[[gnu::always_inline]] inline __m256i four_bytes(const uint8_t* from) {
  int32_t four;
  __builtin_memcpy(&four, from, sizeof(four));
  return _mm256_set1_epi32(four);
}

// The kernels from the `kernel` on for the positions from the `first` on.
template <unsigned kCount>
[[gnu::noinline]] void half_part(const MacTile& tile, unsigned first, unsigned kernel) {
  __m256i sums0[kCount], sums1[kCount];
#pragma GCC unroll 6
  for (unsigned p = 0; p < kCount; ++p) {
    sums0[p] = load(tile.starts + kernel);
    sums1[p] = load(tile.starts + kernel + kRow);
  }
  const int8_t* weights = tile.weights + size_t{kernel} * kKr;
  const size_t bytes = size_t{tile.steps} * kKr;
  for (unsigned run = 0; run < tile.run_count; ++run) {
    const uint8_t* data[kCount];
#pragma GCC unroll 6
    for (unsigned p = 0; p < kCount; ++p) data[p] = tile.bases[first + p] + tile.runs[run];
    for (size_t at = 0; at < bytes; at += kKr, weights += kBlock * kKr) {
      const __m256i w0 = load(weights);
      const __m256i w1 = load(weights + size_t{kRow} * kKr);
#pragma GCC unroll 6
      for (unsigned p = 0; p < kCount; ++p) {
        const __m256i a = four_bytes(data[p] + at);
        sums0[p] = NVDLA_DPBUSD(sums0[p], a, w0);
        sums1[p] = NVDLA_DPBUSD(sums1[p], a, w1);
      }
    }
  }
  int32_t* to = tile.sums + size_t{first} * kBlock + kernel;
#pragma GCC unroll 6
  for (unsigned p = 0; p < kCount; ++p, to += kBlock) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sums0[p]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + kRow), sums1[p]);
  }
}

// Of a single position weights are used once: they come from memory as fast as that goes, line by
// line, while sums of two steps side by side do not wait for one another.
[[gnu::noinline]] void single(const MacTile& tile, unsigned first) {
  __m256i even[kRows], odd[kRows];
#pragma GCC unroll 4
  for (unsigned r = 0; r < kRows; ++r) {
    even[r] = load(tile.starts + r * kRow);
    odd[r] = _mm256_setzero_si256();
  }
  const int8_t* weights = tile.weights;
  const auto step = [&](const uint8_t* from, __m256i(&sums)[kRows]) __attribute__((always_inline)) {
    __builtin_prefetch(weights + kAhead);
    __builtin_prefetch(weights + kAhead + 64);
    const __m256i a = four_bytes(from);
#pragma GCC unroll 4
    for (unsigned r = 0; r < kRows; ++r, weights += kRow * kKr)
      sums[r] = NVDLA_DPBUSD(sums[r], a, load(weights));
  };
  for (unsigned run = 0; run < tile.run_count; ++run) {
    const uint8_t* data = tile.bases[first] + tile.runs[run];
    unsigned left = tile.steps;
    for (; left >= 2; left -= 2, data += 2 * size_t{kKr}) {
      step(data, even);
      step(data + kKr, odd);
    }
    if (left != 0) step(data, even);
  }
  int32_t* const to = tile.sums + size_t{first} * kBlock;
#pragma GCC unroll 4
  for (unsigned r = 0; r < kRows; ++r)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + r * kRow),
                        _mm256_add_epi32(even[r], odd[r]));
}

template <unsigned kCount>
void part(const MacTile& tile, unsigned first) {
  for (unsigned kernel = 0; kernel < kBlock; kernel += 2 * kRow)
    half_part<kCount>(tile, first, kernel);
}

}  // namespace

void avxvnni_depthwise(const DepthwiseTile& tile) { depthwise<DotQuads<1>>(tile); }

void avxvnni_mac(const MacTile& tile) {
  constexpr void (*kParts[])(const MacTile&, unsigned) = {single,  part<2>, part<3>,
                                                          part<4>, part<5>, part<kPositions>};
  in_parts(tile, tile.count, kParts);
}

}  // namespace nvdla::model
