// SPDX-License-Identifier: MIT
//
// Loops of the convolution that the compiler vectorises, included by each instruction set's
// translation unit into an unnamed namespace. Numbers as in the description of the datapath.

[[maybe_unused]] static void loop_wide(const WideTile& tile) {
  for (unsigned position = 0; position < tile.count; ++position) {
    int64_t sums[kBlock] = {};
    const int16_t* weights = tile.weights;
    for (unsigned run = 0; run < tile.run_count; ++run) {
      const int16_t* data = tile.data + tile.bases[position] + tile.runs[run];
      for (unsigned pair = 0; pair < 2 * tile.steps; ++pair, data += 2, weights += 2 * kBlock)
        for (unsigned k = 0; k < kBlock; ++k)
          sums[k] += int64_t{weights[2 * k] * data[0]} + weights[2 * k + 1] * data[1];
    }
    for (unsigned k = 0; k < kBlock; ++k) tile.sums[position * kBlock + k] = sums[k];
  }
}

static uint32_t loop_wide_clip(const int64_t* sums, unsigned count, const WideClip& clip,
                               int32_t* values) {
  const int64_t half = clip.rounded == 0 ? 0 : int64_t{1} << (clip.rounded - 1);
  const int64_t low = -clip.limit - 1, high = clip.limit;
  uint32_t saturated = 0;
  for (unsigned i = 0; i < count * kBlock; ++i) {
    int64_t sum = sums[i];
    sum = sum < low ? low : sum > high ? high : sum;
    const int64_t kept = sum >> clip.dropped;
    // Half away from zero is half up, less the last bit where the sum is negative.
    const int64_t rounded =
        clip.rounded == 0 ? kept : (kept + half - (kept < 0 ? 1 : 0)) >> clip.rounded;
    const int64_t value = rounded < INT32_MIN   ? INT32_MIN
                          : rounded > INT32_MAX ? INT32_MAX
                                                : rounded;
    saturated += value != rounded;
    values[i] = static_cast<int32_t>(value);
  }
  return saturated;
}

// The multiplier of fp16 mantissas: radix-4 Booth digits of the weight in ten rows, a fixed tree of
// 3:2 adders, and a shift of both words that are left before they are added. Digit by digit, since
// what the shift cuts off depends on how the tree splits a product into two words.
struct Words {
  uint32_t a, b;
};

static inline Words add3(uint32_t x, uint32_t y, uint32_t z) {
  return {x ^ y ^ z, ((x & y) | (x & z) | (y & z)) << 1};
}

static inline Words add5(uint32_t v, uint32_t w, uint32_t x, uint32_t y, uint32_t z) {
  const Words first = add3(v, w, x);
  const Words second = add3(first.a, first.b, y);
  return add3(second.a, second.b, z);
}

struct Digit {
  uint32_t product;   // 17 bits, a bias of 2^16 in it
  uint32_t negative;  // 0 or 1: what ones' complement lacks
};

template <unsigned kIndex>
static inline Digit booth_digit(uint32_t data, uint32_t weight, uint32_t invert) {
  const uint32_t code = ((weight << 1) >> (2 * kIndex) & 7) ^ invert;
  const uint32_t once = (code ^ (code >> 1)) & 1;
  const uint32_t twice = ((code >> 1) ^ (code >> 2)) & 1 & ~once;
  const uint32_t magnitude = (data & (0 - once)) | ((data << 1) & (0 - twice));
  const uint32_t negative = (code >> 2) & (once | twice);
  return {(magnitude ^ (0xffff & (0 - negative))) | ((negative ^ 1) << 16), negative};
}

// `shift` 0..31.
static inline int32_t half_product(uint32_t data, uint32_t weight, uint32_t negative,
                                   uint32_t shift) {
  const uint32_t invert = (0 - negative) & 7;
  const Digit d0 = booth_digit<0>(data, weight, invert);
  const Digit d1 = booth_digit<1>(data, weight, invert);
  const Digit d2 = booth_digit<2>(data, weight, invert);
  const Digit d3 = booth_digit<3>(data, weight, invert);
  const Digit d4 = booth_digit<4>(data, weight, invert);
  const Digit d5 = booth_digit<5>(data, weight, invert);
  const Digit d6 = booth_digit<6>(data, weight, invert);
  const Digit d7 = booth_digit<7>(data, weight, invert);
  const Words low =
      add5(d0.product, d1.product << 2 | d0.negative, d2.product << 4 | d1.negative << 2,
           d3.product << 6 | d2.negative << 4, d3.negative << 6);
  const Words high = add5(d4.product << 8, d5.product << 10 | d4.negative << 8,
                          d6.product << 12 | d5.negative << 10,
                          d7.product << 14 | d6.negative << 12, d7.negative << 14);
  const Words three = add3(low.a, low.b, high.a);
  const Words two = add3(three.a, three.b, high.b);
  const uint32_t bias = shift > 28 ? 0 : 0x55550000u >> shift;
  return static_cast<int32_t>((two.a >> shift) + (two.b >> shift) - bias);
}

// An infinity is nothing special: exponent 31 with mantissa 0.
static inline uint32_t half_mantissa(uint32_t value) {
  const uint32_t exponent = value >> 10 & 31;
  const uint32_t shift = exponent == 0 ? 1 : exponent & 3;
  return ((value & 0x3ff) | (exponent == 0 ? 0 : 0x400)) << shift;
}

[[maybe_unused]] static void loop_half(const HalfStep& step, HalfProducts& result) {
  const unsigned lanes = step.lanes;
  result.nan = 0;
  uint32_t nans = 0;
  uint32_t groups[kLanes];
  uint32_t greatest = 0;
  for (unsigned i = 0; i < lanes; ++i) {
    const uint32_t data = step.data[i] & 0x7fff;
    const uint32_t weight = step.weights[i] & 0x7fff;
    nans |= (data > 0x7c00) | (weight > 0x7c00);
    // Zeros take no part, so that one cannot raise the exponent of the step: 0 if skipped.
    const uint32_t active = (data != 0) & (weight != 0);
    groups[i] = ((data >> 12) + (weight >> 12) + 1) & (0 - active);
    greatest = groups[i] > greatest ? groups[i] : greatest;
  }
  if (nans != 0) {
    const uint16_t* const operands[2] = {step.weights, step.data};
    for (const uint16_t* values : operands)
      for (unsigned i = 0; i < lanes; ++i)
        if ((values[i] & 0x7fff) > 0x7c00) {
          result.nan = values[i];
          return;
        }
  }
  result.exponent = greatest == 0 ? 0 : (greatest - 1) * 4;
  for (unsigned i = 0; i < lanes; ++i) {
    const uint32_t distance = (greatest - groups[i]) * 4;
    const uint32_t present = 0u - static_cast<uint32_t>((groups[i] != 0) & (distance < 32));
    const uint32_t product = static_cast<uint32_t>(
        half_product(half_mantissa(step.data[i]), half_mantissa(step.weights[i]),
                     (step.data[i] ^ step.weights[i]) >> 15 & 1u, distance & 31));
    result.products[i] = static_cast<int32_t>(product & present);
  }
  int64_t sum = 0;
  for (unsigned i = 0; i < lanes; ++i) sum += result.products[i];
  result.sum = sum;
}

static void loop_clip(int32_t* values, unsigned count, unsigned shift) {
  if (shift == 0) return;
  const uint32_t half = uint32_t{1} << (shift - 1);
  for (unsigned i = 0; i < count * kBlock; ++i) {
    const int32_t value = values[i];
    const uint32_t magnitude =
        value < 0 ? 0u - static_cast<uint32_t>(value) : static_cast<uint32_t>(value);
    const uint32_t rounded = (magnitude + half) >> shift;
    values[i] = static_cast<int32_t>(value < 0 ? 0u - rounded : rounded);
  }
}
