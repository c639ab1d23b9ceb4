// SPDX-License-Identifier: MIT
//
// The arithmetic of support/float.hpp as the processor's own, lane by lane and without branches, so
// that the compiler vectorises it; included by each instruction set's translation unit into an
// unnamed namespace. Numbers of fp32 and of fp17 are patterns of fp32, of which fp17 uses some.
//
// The processor rounds to nearest even as the hardware does. What differs is put right: there are
// neither infinities nor denormals, a zero has the sign of the first operand, a NaN is handed on as
// it is, and a sum drops what is aligned too far to the right before it rounds. That only matters
// where it makes a tie of what is none: where little more than half of the last place is taken from
// a power of two.

constexpr int32_t kLaneSign = INT32_MIN;
constexpr int32_t kLaneMagnitude = 0x7fffffff;
constexpr int32_t kLaneInfinite = 0x7f800000;
constexpr int32_t kLaneMantissa = 0x007fffff;
constexpr int kLaneMantissaBits = 23;

struct Lane32 {
  static constexpr int kMantissaBits = 23;
  static constexpr int32_t kLeast = 0x00800000;  // normal number
  static constexpr int32_t kMost = 0x7f7fffff;
};

struct Lane17 {
  static constexpr int kMantissaBits = 10;
  static constexpr int32_t kLeast = (127 - 30) << 23;
  static constexpr int32_t kMost = ((127 + 31) << 23) | 0x007fe000;
};

static inline float lane_float(int32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

static inline int32_t lane_bits(float value) {
  int32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// To nearest even; of a magnitude.
template <typename F>
static inline int32_t lane_round(int32_t magnitude) {
  if constexpr (F::kMantissaBits == kLaneMantissaBits) {
    return magnitude;
  } else {
    constexpr unsigned kDropped = kLaneMantissaBits - F::kMantissaBits;
    const auto bits = static_cast<uint32_t>(magnitude);
    const uint32_t odd = bits >> kDropped & 1;
    const uint32_t half = (1u << (kDropped - 1)) - 1 + odd;
    return static_cast<int32_t>((bits + half) >> kDropped << kDropped);
  }
}

template <typename F>
static inline int32_t lane_limit(int32_t magnitude) {
  const int32_t limited = magnitude > F::kMost ? F::kMost : magnitude;
  return limited < F::kLeast ? 0 : limited;
}

// The first NaN of the two, else `result`.
static inline int32_t lane_nan(int32_t a, int32_t b, int32_t result) {
  result = (b & kLaneMagnitude) > kLaneInfinite ? b : result;
  return (a & kLaneMagnitude) > kLaneInfinite ? a : result;
}

// Not for NaN.
template <typename F>
static inline int32_t lane_plain_add(int32_t a, int32_t b) {
  const int32_t of_a = a & kLaneMagnitude, of_b = b & kLaneMagnitude;
  const bool swap = of_b > of_a;
  const int32_t large = swap ? of_b : of_a, small = swap ? of_a : of_b;
  const int32_t sign = (swap ? b : a) & kLaneSign;
  const float sum = lane_float(a) + lane_float(b);
  const int32_t rounded = lane_limit<F>(lane_round<F>(lane_bits(sum) & kLaneMagnitude));
  // Half of the last place below a power of two, and the one bit that is dropped.
  constexpr int32_t kTie =
      ((F::kMantissaBits + 2) << kLaneMantissaBits) - (1 << (kLaneMantissaBits - F::kMantissaBits));
  const bool tie = ((a ^ b) < 0) & ((large & kLaneMantissa) == 0) & (small == large - kTie);
  return sign | (tie ? large : rounded);
}

template <typename F>
static inline int32_t lane_add(int32_t a, int32_t b) {
  return lane_nan(a, b, lane_plain_add<F>(a, b));
}

template <typename F>
static inline int32_t lane_mul(int32_t a, int32_t b) {
  const int32_t sign = (a ^ b) & kLaneSign;
  const float of_a = lane_float(a & kLaneMagnitude), of_b = lane_float(b & kLaneMagnitude);
  int32_t product = lane_bits(of_a * of_b) & kLaneMagnitude;
  if constexpr (F::kMantissaBits == kLaneMantissaBits) {
    // What the processor makes a denormal has lost bits that could have rounded it up.
    const int32_t scaled = lane_bits(of_a * 0x1p64f * of_b);
    constexpr int32_t kScaledLeast = Lane32::kLeast + (64 << kLaneMantissaBits);
    product = scaled < kScaledLeast ? 0 : product;
    product = product > F::kMost ? F::kMost : product;
  } else {
    product = lane_limit<F>(lane_round<F>(product));
  }
  return lane_nan(a, b, sign | product);
}

// Orders numbers by sign and magnitude.
static inline int32_t lane_order(int32_t value) { return value ^ ((value >> 31) & kLaneMagnitude); }

static inline int32_t lane_max(int32_t a, int32_t b) {
  return lane_nan(a, b, lane_order(a) >= lane_order(b) ? a : b);
}

static inline int32_t lane_min(int32_t a, int32_t b) {
  return lane_nan(a, b, lane_order(a) <= lane_order(b) ? a : b);
}

static inline int32_t lane_flush_nan(int32_t value) {
  return (value & kLaneMagnitude) > kLaneInfinite ? 0 : value;
}

// fp16 in the low half, exact.
template <typename F>
static inline int32_t lane_widen(int32_t bits) {
  const int32_t sign = static_cast<int32_t>(static_cast<uint32_t>(bits) << 16) & kLaneSign;
  const int32_t magnitude = bits & 0x7fff;
  // A denormal is its mantissa times 2^-24, exactly and in the normal range.
  const int32_t denormal = lane_bits(static_cast<float>(magnitude) * 0x1p-24f);
  const int32_t normal = (magnitude << 13) + (112 << 23);
  int32_t value = magnitude < 0x400 ? denormal : normal;
  value = magnitude == 0x7c00 ? F::kMost : value;
  value = magnitude > 0x7c00 ? kLaneInfinite | (magnitude & 0x3ff) : value;
  return sign | value;
}

// A NaN is 0 if it is greater than `most`.
template <typename F>
static inline int32_t widen_half(int32_t bits, int32_t most) {
  const int32_t value = lane_widen<F>(bits);
  return (value & kLaneMagnitude) > most ? 0 : value;
}

// What a NaN is greater than, if it is flushed.
static inline int32_t most_of_half(bool flush_nan) {
  return flush_nan ? kLaneInfinite : kLaneMagnitude;
}

// To fp16, with denormals.
static inline int32_t lane_narrow(int32_t value) {
  const int32_t sign = (value >> 16) & 0x8000;
  const int32_t magnitude = value & kLaneMagnitude;
  // The last place of a half is that of a denormal.
  const int32_t denormal = lane_bits(lane_float(magnitude) + 0.5f) - 0x3f000000;
  const int32_t normal =
      static_cast<int32_t>(static_cast<uint32_t>(lane_round<Lane17>(magnitude)) >> 13) -
      (112 << 10);
  int32_t half = magnitude < (113 << 23) ? denormal : normal;
  half = half > 0x7bff ? 0x7bff : half;
  half = magnitude > kLaneInfinite ? 0x7c00 | (value & 0x3ff) : half;
  return sign | half;
}
