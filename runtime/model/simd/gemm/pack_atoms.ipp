// SPDX-License-Identifier: MIT
//
// Kernels::pack_atoms in vectors of 16 bytes, the compiler's own, included by translation units
// into an unnamed namespace.

using AtomBytes [[gnu::vector_size(16)]] = uint8_t;
using AtomWords [[gnu::vector_size(16)]] = uint32_t;

// Of each of four words the first bytes, without gaps.
template <unsigned kUsed>
static AtomBytes without_gaps(AtomBytes four) {
  if constexpr (kUsed == 1)
    return __builtin_shufflevector(four, four, 0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                   -1, -1);
  if constexpr (kUsed == 2)
    return __builtin_shufflevector(four, four, 0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1,
                                   -1);
  if constexpr (kUsed == 3)
    return __builtin_shufflevector(four, four, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1,
                                   -1);
  return four;
}

// Of an atom no more than a word is read. What is stored too much the next store overwrites, and
// there is one as long as more than a vector is left.
template <unsigned kUsed>
static void pack_words(const FewChannels& line) {
  const uint8_t* from = line.from;
  uint8_t* to = line.to;
  AtomBytes flip;
  __builtin_memset(&flip, line.flip, sizeof(flip));
  size_t left = line.count;
  for (; left * kUsed >= sizeof(flip); left -= 4, to += size_t{4} * kUsed) {
    uint32_t words[4];
    for (uint32_t& word : words) {
      __builtin_memcpy(&word, from, sizeof(word));
      from += line.atom;
    }
    const AtomWords four = {words[0], words[1], words[2], words[3]};
    const AtomBytes bytes = without_gaps<kUsed>(reinterpret_cast<AtomBytes>(four)) ^ flip;
    __builtin_memcpy(to, &bytes, sizeof(bytes));
  }
  for (; left != 0; --left, from += line.atom)
    for (unsigned i = 0; i < kUsed; ++i) *to++ = from[i] ^ line.flip;
}

static void pack_atoms(const FewChannels& line) {
  switch (line.used) {
    case 1:
      return pack_words<1>(line);
    case 2:
      return pack_words<2>(line);
    case 3:
      return pack_words<3>(line);
    default:
      return pack_words<4>(line);
  }
}
