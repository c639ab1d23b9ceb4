// SPDX-License-Identifier: MIT
//
// A register tile of up to 14 positions x 32 kernels, one vpdpbusd for 4 channels of 16 kernels.
#include "model/kernels/avx512mac.hpp"

#include <immintrin.h>

#include "model/kernels/avxvnni_dots.hpp"

namespace nvdla::model {
namespace {

#include "model/kernels/avx512finish.ipp"
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
  static constexpr bool kFactors = kWithFactors, kElements = kWithElements;
};

// What an SdpFinish needs in registers.
struct Finisher {
  __m512i low, half;
  __m512 scale;
  const float* factors;
  const int32_t* halves;

  // Where the converter changes nothing, a factor of 1 changes nothing either.
  explicit Finisher(const SdpFinish& finish)
      : low(Vector::spread(finish.relu ? 0 : INT32_MIN)),
        half(Vector::spread(kFloatHalf)),
        scale(Vector::spread_float(finish.scale == 0 ? 1 : finish.scale)),
        factors(finish.factors),
        halves(finish.halves) {}

  // 16 sums of a position.
  template <typename Output>
  [[gnu::always_inline]] __m512i sums(__m512i x, const int32_t* elements, unsigned at) const {
    if constexpr (Output::kFactors)
      x = finish_scale<Vector>(x, Vector::load_floats(factors + at), Vector::load(halves + at));
    if constexpr (Output::kElements) x = Vector::add(x, Vector::load(elements + at));
    return finish_scale<Vector>(Vector::max(x, low), scale, half);
  }
  // All of them, as 16-bit words: packing works in 128-bit parts, which leaves fours apart.
  template <typename Output>
  [[gnu::always_inline]] __m512i row(__m512i first, __m512i second, const int32_t* elements) const {
    return _mm512_packs_epi32(sums<Output>(first, elements, 0), sums<Output>(second, elements, 16));
  }
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
    const Finisher finisher(output.finish);
    const unsigned stride = output.finish.elements.stride;
    const int32_t* elements = output.finish.elements.values + size_t{first} * stride;
    int8_t* const out = output.out + size_t{first} * kBlock;
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    // Bytes of two positions are a register.
#pragma GCC unroll 7
    for (unsigned p = 0; p + 1 < kPositions; p += 2, elements += 2 * stride) {
      const __m512i even = finisher.row<Output>(low[p], high[p], elements);
      const __m512i odd = finisher.row<Output>(low[p + 1], high[p + 1], elements + stride);
      _mm512_storeu_si512(out + p * kBlock,
                          _mm512_permutexvar_epi32(order, _mm512_packs_epi16(even, odd)));
    }
    if constexpr (kPositions % 2 != 0) {
      const __m512i last =
          finisher.row<Output>(low[kPositions - 1], high[kPositions - 1], elements);
      const __m512i bytes = _mm512_permutexvar_epi32(order, _mm512_packs_epi16(last, last));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + (kPositions - 1) * kBlock),
                          _mm512_castsi512_si256(bytes));
    }
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
