// SPDX-License-Identifier: MIT
//
// A register tile of up to 14 positions x 32 kernels, one vpdpbusd for 4 channels of 16 kernels.
#include <immintrin.h>

#include "model/simd/gemm/avxvnni_dots.hpp"
#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

// Each needs the ones before it.
// clang-format off
#include "model/simd/sdp/avx512_finish.ipp"
#include "model/simd/gemm/avx512_rows.ipp"
#include "model/simd/gemm/depthwise.ipp"
#include "model/simd/gemm/dot_quads.ipp"
#include "model/simd/gemm/parts.ipp"
// clang-format on

constexpr size_t kStepBytes = size_t{kKr} * kBlock;
// How many bytes before they are used weights are asked for.
constexpr size_t kAhead = 2048;

// What becomes of a tile: its sums are stored, or finished while they are in registers.
struct Sums {
  const MacTile& tile;

  static constexpr bool kFinishes = false, kMerges = false;
};
template <bool kWithFactors, bool kWithElements>
struct Results {
  const MacTile& tile;
  const SdpFinish& finish;
  int8_t* out;

  static constexpr bool kFinishes = true, kMerges = false;
  using Rows = FinishedRows<kWithFactors, kWithElements>;
};

template <bool kRelu>
struct MergedResults {
  const MacTile& tile;
  const EpilogueBlock& block;
  int8_t* out;

  static constexpr bool kFinishes = false, kMerges = true;
  using Rows = MergedRows<kRelu>;
};

// What sums begin with.
struct Starts {
  __m512i low, high;

  template <typename Output>
  [[gnu::always_inline]] explicit Starts(const Output& output)
      : low(_mm512_loadu_si512(output.tile.starts)),
        high(_mm512_loadu_si512(output.tile.starts + 16)) {
    if constexpr (Output::kFinishes) {
      low = _mm512_add_epi32(low, _mm512_loadu_si512(output.finish.addends));
      high = _mm512_add_epi32(high, _mm512_loadu_si512(output.finish.addends + 16));
    }
  }
};

template <unsigned kPositions, typename Output>
[[gnu::always_inline]] inline void deliver(const Output& output, unsigned first,
                                           __m512i (&low)[kPositions],
                                           __m512i (&high)[kPositions]) {
  if constexpr (Output::kFinishes) {
    // What follows wants other registers; without this g++ copies all sums in every step.
#pragma GCC unroll 14
    for (unsigned p = 0; p < kPositions; ++p) __asm__("" : "+v"(low[p]), "+v"(high[p]));
    const typename Output::Rows rows(output.finish);
    const unsigned stride = output.finish.elements.stride;
    const int32_t* elements = output.finish.elements.values + size_t{first} * stride;
    int8_t* const out = output.out + size_t{first} * kBlock;
#pragma GCC unroll 7
    for (unsigned p = 0; p + 1 < kPositions; p += 2, elements += 2 * stride)
      rows.store_two(out + p * kBlock, rows.words(low[p], high[p], elements),
                     rows.words(low[p + 1], high[p + 1], elements + stride));
    if constexpr (kPositions % 2 != 0)
      rows.store_one(out + (kPositions - 1) * kBlock,
                     rows.words(low[kPositions - 1], high[kPositions - 1], elements));
  } else if constexpr (Output::kMerges) {
#pragma GCC unroll 14
    for (unsigned p = 0; p < kPositions; ++p) __asm__("" : "+v"(low[p]), "+v"(high[p]));
    const typename Output::Rows rows(output.block);
    int8_t* const out = output.out + size_t{first} * kBlock;
#pragma GCC unroll 7
    for (unsigned p = 0; p + 1 < kPositions; p += 2)
      rows.store_two(out + p * kBlock, rows.words(low[p], high[p]),
                     rows.words(low[p + 1], high[p + 1]));
    if constexpr (kPositions % 2 != 0)
      rows.store_one(out + (kPositions - 1) * kBlock,
                     rows.words(low[kPositions - 1], high[kPositions - 1]));
  } else {
    int32_t* const sums = output.tile.sums + size_t{first} * kBlock;
#pragma GCC unroll 14
    for (unsigned p = 0; p < kPositions; ++p) {
      _mm512_storeu_si512(sums + p * kBlock, low[p]);
      _mm512_storeu_si512(sums + p * kBlock + 16, high[p]);
    }
  }
}

[[gnu::always_inline]] inline __m512i four_bytes(const uint8_t* from) {
  int32_t four;
  __builtin_memcpy(&four, from, sizeof(four));
  return _mm512_set1_epi32(four);
}

// The count is a template parameter and everything is unrolled, so that the accumulators stay in
// registers.
template <unsigned kPositions, typename Output>
[[gnu::noinline]] void tile_mac(const Output& output, unsigned first) {
  const MacTile& tile = output.tile;
  __m512i low[kPositions];
  __m512i high[kPositions];
  const Starts starts(output);
#pragma GCC unroll 14
  for (unsigned p = 0; p < kPositions; ++p) {
    low[p] = starts.low;
    high[p] = starts.high;
  }
  const int8_t* weights = tile.weights;
  const size_t bytes = size_t{tile.steps} * kKr;
  for (unsigned run = 0; run < tile.run_count; ++run) {
    const uint8_t* data[kPositions];
#pragma GCC unroll 14
    for (unsigned p = 0; p < kPositions; ++p) data[p] = tile.bases[first + p] + tile.runs[run];
    for (size_t at = 0; at < bytes; at += kKr, weights += kStepBytes) {
      const __m512i w0 = _mm512_loadu_si512(weights);
      const __m512i w1 = _mm512_loadu_si512(weights + 64);
#pragma GCC unroll 14
      for (unsigned p = 0; p < kPositions; ++p) {
        const __m512i a = four_bytes(data[p] + at);
        low[p] = _mm512_dpbusd_epi32(low[p], a, w0);
        high[p] = _mm512_dpbusd_epi32(high[p], a, w1);
      }
    }
  }
  deliver(output, first, low, high);
}

// Of a single position weights are used once: they come from memory as fast as that goes, while
// sums of several steps side by side do not wait for one another.
template <typename Output>
[[gnu::noinline]] void single_mac(const Output& output, unsigned first) {
  constexpr unsigned kSide = 4;
  const MacTile& tile = output.tile;
  const Starts starts(output);
  __m512i low[kSide], high[kSide];
#pragma GCC unroll 4
  for (unsigned i = 0; i < kSide; ++i) low[i] = high[i] = _mm512_setzero_si512();
  low[0] = starts.low;
  high[0] = starts.high;
  const int8_t* weights = tile.weights;
  const auto step = [&](const uint8_t* from, __m512i& low_sum, __m512i& high_sum)
      __attribute__((always_inline)) {
    __builtin_prefetch(weights + kAhead);
    __builtin_prefetch(weights + kAhead + 64);
    const __m512i a = four_bytes(from);
    low_sum = _mm512_dpbusd_epi32(low_sum, a, _mm512_loadu_si512(weights));
    high_sum = _mm512_dpbusd_epi32(high_sum, a, _mm512_loadu_si512(weights + 64));
    weights += kStepBytes;
  };
  for (unsigned run = 0; run < tile.run_count; ++run) {
    const uint8_t* data = tile.bases[first] + tile.runs[run];
    unsigned left = tile.steps;
    for (; left >= kSide; left -= kSide)
#pragma GCC unroll 4
      for (unsigned i = 0; i < kSide; ++i, data += kKr) step(data, low[i], high[i]);
    for (; left != 0; --left, data += kKr) step(data, low[0], high[0]);
  }
  __m512i low_sum[] = {
      _mm512_add_epi32(_mm512_add_epi32(low[0], low[1]), _mm512_add_epi32(low[2], low[3]))};
  __m512i high_sum[] = {
      _mm512_add_epi32(_mm512_add_epi32(high[0], high[1]), _mm512_add_epi32(high[2], high[3]))};
  deliver(output, first, low_sum, high_sum);
}

template <typename Output>
void mac(const Output& output) {
  constexpr void (*kParts[])(const Output&, unsigned) = {
      single_mac,   tile_mac<2>,  tile_mac<3>,  tile_mac<4>, tile_mac<5>,
      tile_mac<6>,  tile_mac<7>,  tile_mac<8>,  tile_mac<9>, tile_mac<10>,
      tile_mac<11>, tile_mac<12>, tile_mac<13>, tile_mac<14>};
  in_parts(output, output.tile.count, kParts);
}

}  // namespace

void avx512_depthwise(const DepthwiseTile& tile) {
  static const bool has_vbmi = __builtin_cpu_supports("avx512vbmi") != 0;
  constexpr unsigned kQuads = 3;
  if (has_vbmi && tile.row_step != 0 && tile.quads == kQuads)
    avx512vbmi_depthwise_rows(tile);
  else
    depthwise<DotQuads<4>>(tile);
}

void avx512_mac(const MacTile& tile) { mac(Sums{tile}); }

void avx512_mac_finish(const MacTile& tile, const SdpFinish& finish, int8_t* out) {
  if (finish.factors != nullptr)
    finish.elements.values != nullptr ? mac(Results<true, true>{tile, finish, out})
                                      : mac(Results<true, false>{tile, finish, out});
  else
    finish.elements.values != nullptr ? mac(Results<false, true>{tile, finish, out})
                                      : mac(Results<false, false>{tile, finish, out});
}

void avx512_mac_epilogue(const MacTile& tile, const EpilogueBlock& block, int8_t* out) {
  block.relu ? mac(MergedResults<true>{tile, block, out})
             : mac(MergedResults<false>{tile, block, out});
}

}  // namespace nvdla::model
