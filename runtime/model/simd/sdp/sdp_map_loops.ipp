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

// Flags in fields of 12 bits.
struct SpreadFlags {
  static constexpr unsigned kBits = 12;
  uint64_t of[1u << kPatternFlags];

  constexpr SpreadFlags() : of{} {
    for (unsigned flags = 0; flags < 1u << kPatternFlags; ++flags)
      for (unsigned i = 0; i < kPatternFlags; ++i)
        of[flags] |= uint64_t{flags >> i & 1} << (i * kBits);
  }
};

static void loop_sdp_count_flags(const uint8_t* flags, const void* in, size_t count,
                                 uint64_t* counts) {
  static constexpr SpreadFlags kSpread;
  constexpr size_t kMost = (size_t{1} << SpreadFlags::kBits) - 1;  // that a field holds
  const auto* from = static_cast<const uint8_t*>(in);
  while (count != 0) {
    const size_t part = count < kMost ? count : kMost;
    uint64_t even = 0, odd = 0;
    size_t i = 0;
    // Eight bytes come in one load, and sums of two do not wait for one another.
    for (; i + 8 <= part; i += 8) {
      uint64_t word;
      __builtin_memcpy(&word, from + i, sizeof(word));
      for (unsigned bit = 0; bit < 64; bit += 16) {
        even += kSpread.of[flags[word >> bit & 0xff]];
        odd += kSpread.of[flags[word >> (bit + 8) & 0xff]];
      }
    }
    for (; i < part; ++i) even += kSpread.of[flags[from[i]]];
    for (unsigned field = 0; field < kPatternFlags; ++field)
      counts[field] += (even + odd) >> (field * SpreadFlags::kBits) & kMost;
    from += part;
    count -= part;
  }
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
