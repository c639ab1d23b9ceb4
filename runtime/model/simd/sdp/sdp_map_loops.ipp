// SPDX-License-Identifier: MIT
//
// Elements that are looked up, eight bytes of them in one load and one store.

template <typename Result>
static inline void map_eight_bytes(const Result* results, const char* in, char* out) {
  constexpr unsigned kBits = 8 * sizeof(Result);
  uint64_t word, result = 0;
  __builtin_memcpy(&word, in, sizeof(word));
  for (unsigned bit = 0; bit < 64; bit += kBits)
    result |= uint64_t{results[static_cast<Result>(word >> bit)]} << bit;
  __builtin_memcpy(out, &result, sizeof(result));
}

template <typename Result>
static void map_elements(const Result* results, const char* in, size_t count, char* out) {
  const size_t bytes = count * sizeof(Result);
  size_t at = 0;
  for (; at + 8 <= bytes; at += 8) map_eight_bytes(results, in + at, out + at);
  for (; at < bytes; at += sizeof(Result)) {
    Result element;
    __builtin_memcpy(&element, in + at, sizeof(element));
    __builtin_memcpy(out + at, results + element, sizeof(element));
  }
}

static void loop_sdp_map_bytes(const uint8_t* results, const void* in, size_t count, void* out) {
  map_elements(results, static_cast<const char*>(in), count, static_cast<char*>(out));
}

static HalfCounts loop_sdp_map_words(const uint16_t* results, const void* in, size_t count,
                                     void* out) {
  // Counts of so many fit 16 bits, and so many elements stay in cache.
  constexpr size_t kRun = 1024;
  HalfCounts sum{0, 0};
  for (size_t at = 0; at < count; at += kRun) {
    const size_t part = count - at < kRun ? count - at : kRun;
    uint16_t run[kRun];
    map_elements(results, static_cast<const char*>(in) + 2 * at, part,
                 reinterpret_cast<char*>(run));
    uint16_t nan = 0, largest = 0;
    for (size_t i = 0; i < part; ++i) {
      const auto magnitude = static_cast<int16_t>(run[i] & 0x7fff);
      nan = static_cast<uint16_t>(nan + (magnitude > 0x7c00 ? 1 : 0));
      largest = static_cast<uint16_t>(largest + (magnitude == 0x7bff ? 1 : 0));
    }
    __builtin_memcpy(static_cast<char*>(out) + 2 * at, run, 2 * part);
    sum.nan += nan;
    sum.largest += largest;
  }
  return sum;
}
