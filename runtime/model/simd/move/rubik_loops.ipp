// SPDX-License-Identifier: MIT
//
// Loops of RUBIK, an element at a time, from the position `x` on.

constexpr unsigned kAtomSize = 32;

static void split_from(unsigned x, const void* atoms, unsigned width, unsigned bytes,
                       unsigned lanes, void* lines, size_t stride) {
  const char* from = static_cast<const char*>(atoms);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    char* to = static_cast<char*>(lines) + lane * stride;
    for (unsigned i = x; i < width; ++i)
      if (bytes == 1) {
        to[i] = from[i * size_t{kAtomSize} + lane];
      } else {
        __builtin_memcpy(to + size_t{2} * i, from + i * size_t{kAtomSize} + size_t{2} * lane, 2);
      }
  }
}

static void merge_from(unsigned x, const void* lines, size_t stride, unsigned width, unsigned bytes,
                       unsigned lanes, void* atoms) {
  char* to = static_cast<char*>(atoms);
  for (unsigned lane = lanes; lane < kAtomSize / bytes; ++lane)
    for (unsigned i = x; i < width; ++i)
      __builtin_memset(to + i * size_t{kAtomSize} + size_t{lane} * bytes, 0, bytes);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const char* from = static_cast<const char*>(lines) + lane * stride;
    for (unsigned i = x; i < width; ++i)
      if (bytes == 1) {
        to[i * size_t{kAtomSize} + lane] = from[i];
      } else {
        __builtin_memcpy(to + i * size_t{kAtomSize} + size_t{2} * lane, from + size_t{2} * i, 2);
      }
  }
}

[[maybe_unused]] static void loop_split_atoms(const void* atoms, unsigned width, unsigned bytes,
                                              unsigned lanes, void* lines, size_t stride) {
  split_from(0, atoms, width, bytes, lanes, lines, stride);
}

[[maybe_unused]] static void loop_merge_atoms(const void* lines, size_t stride, unsigned width,
                                              unsigned bytes, unsigned lanes, void* atoms) {
  merge_from(0, lines, stride, width, bytes, lanes, atoms);
}
