// SPDX-License-Identifier: MIT
//
// Depthwise convolution of 3 x 3: one permutation puts a row's positions side by side for 16
// channels, and serves two neighbouring outputs.
#include <immintrin.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

constexpr unsigned kRows = 3;

// Weights of a row for 16 channels, for the first three of four positions and for the last three.
struct RowWeights {
  __m512i first, last;

  [[gnu::always_inline]] explicit RowWeights(const int8_t* weights)
      : first(_mm512_loadu_si512(weights)), last(_mm512_slli_epi32(first, 8)) {}
};

class Rows {
 public:
  explicit Rows(const DepthwiseTile& tile)
      : tile_(tile),
        weights_{{RowWeights(tile.weights), RowWeights(tile.weights + 64)},
                 {RowWeights(tile.weights + 128), RowWeights(tile.weights + 192)},
                 {RowWeights(tile.weights + 256), RowWeights(tile.weights + 320)}},
        starts_{_mm512_loadu_si512(tile.starts), _mm512_loadu_si512(tile.starts + 16)} {
    // Byte c of the four positions in two registers, for the first channels.
    const __m512i channels =
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i first = _mm512_add_epi32(
        _mm512_mullo_epi32(channels, _mm512_set1_epi32(0x1010101)), _mm512_set1_epi32(0x60402000));
    order_[0] = first;
    order_[1] = _mm512_add_epi8(first, _mm512_set1_epi8(16));
  }

  // Two outputs whose positions are neighbours.
  [[gnu::always_inline]] void two(unsigned at) const {
    __m512i even[2] = {starts_[0], starts_[1]}, odd[2] = {starts_[0], starts_[1]};
#pragma GCC unroll 3
    for (unsigned r = 0; r < kRows; ++r) {
      const uint8_t* const row = tile_.bases[at] + tile_.taps[4 * r];
      const __m512i low = positions(row), high = positions(row + size_t{2} * tile_.row_step);
#pragma GCC unroll 2
      for (unsigned half = 0; half < 2; ++half) {
        const __m512i data = _mm512_permutex2var_epi8(low, order_[half], high);
        even[half] = _mm512_dpbusd_epi32(even[half], data, weights_[r][half].first);
        odd[half] = _mm512_dpbusd_epi32(odd[half], data, weights_[r][half].last);
      }
    }
    int32_t* const to = tile_.sums + size_t{at} * kBlock;
    _mm512_storeu_si512(to, even[0]);
    _mm512_storeu_si512(to + 16, even[1]);
    _mm512_storeu_si512(to + kBlock, odd[0]);
    _mm512_storeu_si512(to + kBlock + 16, odd[1]);
  }

  [[gnu::always_inline]] void one(unsigned at) const {
    __m512i sums[2] = {starts_[0], starts_[1]};
#pragma GCC unroll 3
    for (unsigned r = 0; r < kRows; ++r) {
      const uint8_t* const row = tile_.bases[at] + tile_.taps[4 * r];
      const __m512i low = positions(row);
      // Nothing behind the third position is read.
      const __m512i high = _mm512_zextsi256_si512(position(row + size_t{2} * tile_.row_step));
#pragma GCC unroll 2
      for (unsigned half = 0; half < 2; ++half)
        sums[half] = _mm512_dpbusd_epi32(
            sums[half], _mm512_permutex2var_epi8(low, order_[half], high), weights_[r][half].first);
    }
    int32_t* const to = tile_.sums + size_t{at} * kBlock;
    _mm512_storeu_si512(to, sums[0]);
    _mm512_storeu_si512(to + 16, sums[1]);
  }

 private:
  [[gnu::always_inline]] static __m256i position(const uint8_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  // One and its neighbour.
  [[gnu::always_inline]] __m512i positions(const uint8_t* from) const {
    return _mm512_inserti64x4(_mm512_castsi256_si512(position(from)),
                              position(from + tile_.row_step), 1);
  }

  const DepthwiseTile& tile_;
  RowWeights weights_[kRows][2];
  __m512i starts_[2], order_[2];
};

}  // namespace

void avx512vbmi_depthwise_rows(const DepthwiseTile& tile) {
  const Rows rows(tile);
  for (unsigned at = 0; at < tile.count;) {
    const bool pair = at + 1 < tile.count && tile.bases[at + 1] == tile.bases[at] + tile.row_step;
    pair ? rows.two(at) : rows.one(at);
    at += pair ? 2 : 1;
  }
}

}  // namespace nvdla::model
