// SPDX-License-Identifier: MIT
//
// RUBIK in vectors of 32 bytes: squares of 8 x 8 halves or 16 x 16 bytes, two at a time in the
// halves of the vectors, change rows for columns.

template <unsigned kBytes>
struct Square {
  static constexpr unsigned kSide = 16 / kBytes;

  __m256i row[kSide];

  // Interleaving what is half of them apart moves each bit of an element's place by one.
  void transpose() {
    for (unsigned round = 1; round < kSide; round *= 2) {
      __m256i next[kSide];
      for (unsigned i = 0; i < kSide / 2; ++i) {
        const __m256i a = row[i], b = row[i + kSide / 2];
        next[2 * i] = kBytes == 1 ? _mm256_unpacklo_epi8(a, b) : _mm256_unpacklo_epi16(a, b);
        next[2 * i + 1] = kBytes == 1 ? _mm256_unpackhi_epi8(a, b) : _mm256_unpackhi_epi16(a, b);
      }
      for (unsigned i = 0; i < kSide; ++i) row[i] = next[i];
    }
  }
};

static inline __m128i load_row(const char* from, bool is_there) {
  return is_there ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)) : _mm_setzero_si128();
}

static inline void store_row(__m128i row, char* to) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), row);
}

template <unsigned kBytes>
static void split_squares(const char* atoms, unsigned width, unsigned lanes, char* lines,
                          size_t stride) {
  using Rows = Square<kBytes>;
  unsigned x = 0;
  for (; x + Rows::kSide <= width; x += Rows::kSide) {
    Rows square;
    for (unsigned i = 0; i < Rows::kSide; ++i)
      square.row[i] = Atoms::load(atoms + size_t{x + i} * kAtomSize);
    square.transpose();
    char* to = lines + size_t{x} * kBytes;
    for (unsigned i = 0; i < Rows::kSide && i < lanes; ++i)
      store_row(_mm256_castsi256_si128(square.row[i]), to + i * stride);
    for (unsigned i = Rows::kSide; i < lanes; ++i)
      store_row(_mm256_extracti128_si256(square.row[i - Rows::kSide], 1), to + i * stride);
  }
  split_from(x, atoms, width, kBytes, lanes, lines, stride);
}

template <unsigned kBytes>
static void merge_squares(const char* lines, size_t stride, unsigned width, unsigned lanes,
                          char* atoms) {
  using Rows = Square<kBytes>;
  unsigned x = 0;
  for (; x + Rows::kSide <= width; x += Rows::kSide) {
    Rows square;
    const char* from = lines + size_t{x} * kBytes;
    for (unsigned i = 0; i < Rows::kSide; ++i) {
      const unsigned high = i + Rows::kSide;
      const __m128i low = load_row(from + i * stride, i < lanes);
      square.row[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(low),
                                              load_row(from + high * stride, high < lanes), 1);
    }
    square.transpose();
    for (unsigned i = 0; i < Rows::kSide; ++i)
      Atoms::store(square.row[i], atoms + size_t{x + i} * kAtomSize);
  }
  merge_from(x, lines, stride, width, kBytes, lanes, atoms);
}

static void split_atoms(const void* atoms, unsigned width, unsigned bytes, unsigned lanes,
                        void* lines, size_t stride) {
  const auto* from = static_cast<const char*>(atoms);
  auto* to = static_cast<char*>(lines);
  bytes == 1 ? split_squares<1>(from, width, lanes, to, stride)
             : split_squares<2>(from, width, lanes, to, stride);
}

static void merge_atoms(const void* lines, size_t stride, unsigned width, unsigned bytes,
                        unsigned lanes, void* atoms) {
  const auto* from = static_cast<const char*>(lines);
  auto* to = static_cast<char*>(atoms);
  bytes == 1 ? merge_squares<1>(from, stride, width, lanes, to)
             : merge_squares<2>(from, stride, width, lanes, to);
}
