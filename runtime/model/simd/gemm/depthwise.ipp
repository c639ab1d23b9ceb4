// SPDX-License-Identifier: MIT
//
// Depthwise convolution in 256-bit registers, included by the translation units of instruction
// sets that have them into an unnamed namespace. `Quads` says how a set adds four products of
// bytes to each sum of 32 bits:
//
//   struct Quads {
//     static constexpr unsigned kPositions;  // whose sums there are registers for
//     explicit Quads(__m256i weights);
//     __m256i add(__m256i sums, __m256i activations) const;
//   };

// Signed activations: the even and the odd bytes of both operands, each in 16 bits.
class PairQuads {
 public:
  static constexpr unsigned kPositions = 1;
  explicit PairQuads(__m256i weights) : even_(even(weights)), odd_(odd(weights)) {}
  __m256i add(__m256i sums, __m256i activations) const {
    return _mm256_add_epi32(sums, _mm256_add_epi32(_mm256_madd_epi16(even(activations), even_),
                                                   _mm256_madd_epi16(odd(activations), odd_)));
  }

 private:
  static __m256i even(__m256i bytes) { return odd(_mm256_slli_epi16(bytes, 8)); }
  static __m256i odd(__m256i bytes) { return _mm256_srai_epi16(bytes, 8); }

  __m256i even_, odd_;
};

constexpr unsigned kQuadRegisters = 4;

// Interleaved bytes come in this order: channels 4 i to 4 i + 3 in the lower half of register i,
// and those 16 further in the upper half.
inline __m256i two_halves(const void* low, const void* high) {
  return _mm256_loadu2_m128i(static_cast<const __m128i*>(high), static_cast<const __m128i*>(low));
}

// Of 32 channels the bytes of four taps side by side.
inline void interleave_taps(const uint8_t* base, const int32_t* taps, __m256i* quads) {
  const auto load = [&](unsigned i) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(base + taps[i]));
  };
  const __m256i a = load(0), b = load(1), c = load(2), d = load(3);
  const __m256i low_ab = _mm256_unpacklo_epi8(a, b), high_ab = _mm256_unpackhi_epi8(a, b);
  const __m256i low_cd = _mm256_unpacklo_epi8(c, d), high_cd = _mm256_unpackhi_epi8(c, d);
  quads[0] = _mm256_unpacklo_epi16(low_ab, low_cd);
  quads[1] = _mm256_unpackhi_epi16(low_ab, low_cd);
  quads[2] = _mm256_unpacklo_epi16(high_ab, high_cd);
  quads[3] = _mm256_unpackhi_epi16(high_ab, high_cd);
}

template <typename Quads, unsigned kPositions>
[[gnu::noinline]] void depthwise_part(const DepthwiseTile& tile, unsigned first) {
  __m256i sums[kPositions][kQuadRegisters];
#pragma GCC unroll 4
  for (unsigned i = 0; i < kQuadRegisters; ++i)
#pragma GCC unroll 4
    for (unsigned p = 0; p < kPositions; ++p)
      sums[p][i] = two_halves(tile.starts + 4 * i, tile.starts + 16 + 4 * i);
  const int8_t* weights = tile.weights;
  for (unsigned quad = 0; quad < tile.quads; ++quad, weights += kBlock * 4) {
    __m256i data[kPositions][kQuadRegisters];
#pragma GCC unroll 4
    for (unsigned p = 0; p < kPositions; ++p)
      interleave_taps(tile.bases[first + p], tile.taps + quad * 4, data[p]);
#pragma GCC unroll 4
    for (unsigned i = 0; i < kQuadRegisters; ++i) {
      const Quads quads(two_halves(weights + 16 * i, weights + 64 + 16 * i));
#pragma GCC unroll 4
      for (unsigned p = 0; p < kPositions; ++p) sums[p][i] = quads.add(sums[p][i], data[p][i]);
    }
  }
#pragma GCC unroll 4
  for (unsigned p = 0; p < kPositions; ++p) {
    const auto store = [&](unsigned channel, unsigned even, int halves) {
      const __m256i eight = halves == 0
                                ? _mm256_permute2x128_si256(sums[p][even], sums[p][even + 1], 0x20)
                                : _mm256_permute2x128_si256(sums[p][even], sums[p][even + 1], 0x31);
      _mm256_storeu_si256(
          reinterpret_cast<__m256i*>(tile.sums + size_t{first + p} * kBlock + channel), eight);
    };
    store(0, 0, 0);
    store(8, 2, 0);
    store(16, 0, 1);
    store(24, 2, 1);
  }
}

template <typename Quads>
void depthwise(const DepthwiseTile& tile) {
  unsigned first = 0;
  for (; first + Quads::kPositions <= tile.count; first += Quads::kPositions)
    depthwise_part<Quads, Quads::kPositions>(tile, first);
  for (; first < tile.count; ++first) depthwise_part<Quads, 1>(tile, first);
}
