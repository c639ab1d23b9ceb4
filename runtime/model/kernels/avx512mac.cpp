// SPDX-License-Identifier: MIT
//
// A register tile of up to 14 positions x 32 kernels, one vpdpbusd for 4 channels of 16 kernels.
#include "model/kernels/avx512mac.hpp"

#include <immintrin.h>

#include "model/kernels/avxvnni_dots.hpp"

namespace nvdla::model {
namespace {

#include "model/kernels/avx512finish.ipp"
#include "model/kernels/avx512rows.ipp"
#include "model/kernels/depthwise.ipp"
#include "model/kernels/dot_quads.ipp"
#include "model/kernels/parts.ipp"

// What becomes of a tile: its sums are stored, or finished while they are in registers.
struct Sums {
  const MacTile& tile;

  static constexpr bool kFinishes = false;
};
template <bool kWithFactors, bool kWithElements>
struct Results {
  const MacTile& tile;
  const SdpFinish& finish;
  int8_t* out;

  static constexpr bool kFinishes = true;
  using Rows = FinishedRows<kWithFactors, kWithElements>;
};

// The count is a template parameter and everything is unrolled, so that the accumulators stay in
// registers.
template <unsigned kPositions, typename Output>
[[gnu::noinline]] void tile_mac(const Output& output, unsigned first) {
  const MacTile& tile = output.tile;
  __m512i low[kPositions];
  __m512i high[kPositions];
  {
    __m512i start_low = _mm512_loadu_si512(tile.starts);
    __m512i start_high = _mm512_loadu_si512(tile.starts + 16);
    if constexpr (Output::kFinishes) {
      start_low = _mm512_add_epi32(start_low, _mm512_loadu_si512(output.finish.addends));
      start_high = _mm512_add_epi32(start_high, _mm512_loadu_si512(output.finish.addends + 16));
    }
#pragma GCC unroll 14
    for (unsigned p = 0; p < kPositions; ++p) {
      low[p] = start_low;
      high[p] = start_high;
    }
  }
  const int8_t* weights = tile.weights;
  const size_t bytes = size_t{tile.steps} * kStep;
  for (unsigned run = 0; run < tile.run_count; ++run) {
    const uint8_t* data[kPositions];
#pragma GCC unroll 14
    for (unsigned p = 0; p < kPositions; ++p) data[p] = tile.bases[first + p] + tile.runs[run];
    for (size_t at = 0; at < bytes; at += kStep, weights += kBlock * kStep) {
      const __m512i w0 = _mm512_loadu_si512(weights);
      const __m512i w1 = _mm512_loadu_si512(weights + 64);
#pragma GCC unroll 14
      for (unsigned p = 0; p < kPositions; ++p) {
        int32_t four;
        __builtin_memcpy(&four, data[p] + at, sizeof(four));
        const __m512i a = _mm512_set1_epi32(four);
        low[p] = _mm512_dpbusd_epi32(low[p], a, w0);
        high[p] = _mm512_dpbusd_epi32(high[p], a, w1);
      }
    }
  }
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
  } else {
    int32_t* const sums = tile.sums + size_t{first} * kBlock;
#pragma GCC unroll 14
    for (unsigned p = 0; p < kPositions; ++p) {
      _mm512_storeu_si512(sums + p * kBlock, low[p]);
      _mm512_storeu_si512(sums + p * kBlock + 16, high[p]);
    }
  }
}

template <typename Output>
void mac(const Output& output) {
  constexpr void (*kParts[])(const Output&, unsigned) = {
      tile_mac<1>,  tile_mac<2>,  tile_mac<3>,  tile_mac<4>, tile_mac<5>,
      tile_mac<6>,  tile_mac<7>,  tile_mac<8>,  tile_mac<9>, tile_mac<10>,
      tile_mac<11>, tile_mac<12>, tile_mac<13>, tile_mac<14>};
  in_parts(output, output.tile.count, kParts);
}

}  // namespace

void avx512_depthwise(const DepthwiseTile& tile) { depthwise<DotQuads<4>>(tile); }

void avx512_mac(const MacTile& tile) { mac(Sums{tile}); }

void avx512_mac_finish(const MacTile& tile, const SdpFinish& finish, int8_t* out) {
  if (finish.factors != nullptr)
    finish.elements.values != nullptr ? mac(Results<true, true>{tile, finish, out})
                                      : mac(Results<true, false>{tile, finish, out});
  else
    finish.elements.values != nullptr ? mac(Results<false, true>{tile, finish, out})
                                      : mac(Results<false, false>{tile, finish, out});
}

}  // namespace nvdla::model
