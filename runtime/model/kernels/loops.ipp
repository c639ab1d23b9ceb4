// SPDX-License-Identifier: MIT
//
// Loops that the compiler vectorises, included by each instruction set's translation unit into an
// unnamed namespace. Numbers as in the description of the datapath: exact wide intermediates, round
// half away from zero, saturate.

constexpr int64_t kMin32 = INT32_MIN;
constexpr int64_t kMax32 = INT32_MAX;

static inline int64_t clamp64(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

// Shift right with rounding half away from zero; shift 1..63.
static inline int64_t round_shift(int64_t value, unsigned shift, uint64_t half) {
  const uint64_t magnitude =
      value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const uint64_t rounded = (magnitude + half) >> shift;
  return value < 0 ? static_cast<int64_t>(0 - rounded) : static_cast<int64_t>(rounded);
}

// What a shift needs, worked out once per pass. A shift of 64 or more leaves nothing.
struct Shift {
  unsigned amount;
  uint64_t half;
  int64_t keep;  // all ones, or 0 where the shift leaves nothing
};

static inline Shift make_shift(unsigned amount) {
  if (amount == 0) return {0, 0, -1};
  if (amount > 63) return {63, 0, 0};
  return {amount, uint64_t{1} << (amount - 1), -1};
}

static inline int64_t apply(int64_t value, const Shift& shift) {
  return round_shift(value, shift.amount, shift.half) & shift.keep;
}

[[maybe_unused]] static void loop_wide(const WideTile& tile) {
  for (unsigned position = 0; position < tile.count; ++position) {
    int64_t sums[kBlock] = {};
    const int16_t* weights = tile.weights;
    for (unsigned run = 0; run < tile.run_count; ++run) {
      const int16_t* data = tile.bases[position] + tile.runs[run];
      for (unsigned i = 0; i < tile.elements; ++i, weights += kBlock) {
        const int32_t value = data[i];
        if (value == 0) continue;
        for (unsigned k = 0; k < kBlock; ++k) sums[k] += static_cast<int32_t>(weights[k]) * value;
      }
    }
    for (unsigned k = 0; k < kBlock; ++k) tile.sums[position * kBlock + k] = sums[k];
  }
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

template <Alu kAlu>
static inline int64_t alu(int64_t value, int64_t operand) {
  if constexpr (kAlu == Alu::kMax) return value > operand ? value : operand;
  if constexpr (kAlu == Alu::kMin) return value < operand ? value : operand;
  if constexpr (kAlu == Alu::kSum) return value + operand;
  return value;
}

enum class Multiply { kNone, kPlain, kPrelu };

template <Alu kAlu, Multiply kMultiply>
static void x_pass(int32_t* values, unsigned count, unsigned lanes, const SdpX& unit) {
  const Shift shift = make_shift(unit.shift);
  const int64_t low = unit.relu ? 0 : kMin32;
  for (unsigned position = 0; position < count; ++position) {
    int32_t* row = values + position * kBlock;
    const int32_t* addends =
        kAlu == Alu::kNone ? nullptr : unit.alu_operand.values + position * unit.alu_operand.stride;
    const int32_t* factors = kMultiply == Multiply::kNone
                                 ? nullptr
                                 : unit.mul_operand.values + position * unit.mul_operand.stride;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      int64_t value = row[lane];
      if constexpr (kAlu != Alu::kNone) value = alu<kAlu>(value, addends[lane]);
      int64_t product = value;
      if constexpr (kMultiply != Multiply::kNone) product *= factors[lane];
      // ReLU after saturation is the same as a lower bound of 0.
      int64_t result = clamp64(apply(product, shift), low, kMax32);
      if constexpr (kMultiply == Multiply::kPrelu)
        // What passes keeps its low 32 bits; ReLU sees them as they are.
        result = value < 0 ? result : clamp64(static_cast<int32_t>(value), low, kMax32);
      row[lane] = static_cast<int32_t>(result);
    }
  }
}

// Without multiplier and shift, what most biases are: 32 bits hold all.
template <Alu kAlu>
static void x_add(int32_t* values, unsigned count, unsigned lanes, const SdpX& unit) {
  const int32_t low = unit.relu ? 0 : INT32_MIN;
  for (unsigned position = 0; position < count; ++position) {
    int32_t* row = values + position * kBlock;
    const int32_t* operands =
        kAlu == Alu::kNone ? nullptr : unit.alu_operand.values + position * unit.alu_operand.stride;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      int32_t value = row[lane];
      if constexpr (kAlu == Alu::kMax) value = value > operands[lane] ? value : operands[lane];
      if constexpr (kAlu == Alu::kMin) value = value < operands[lane] ? value : operands[lane];
      if constexpr (kAlu == Alu::kSum) {
        const auto sum = static_cast<int32_t>(static_cast<uint32_t>(value) +
                                              static_cast<uint32_t>(operands[lane]));
        // Both operands have the sign that the sum has not.
        const bool overflow = ((value ^ sum) & (operands[lane] ^ sum)) < 0;
        value = overflow ? (value >> 31) ^ INT32_MAX : sum;
      }
      row[lane] = value < low ? low : value;
    }
  }
}

template <Alu kAlu>
static void x_alu(int32_t* values, unsigned count, unsigned lanes, const SdpX& unit) {
  if (!unit.mul && unit.shift == 0) {
    x_add<kAlu>(values, count, lanes, unit);
  } else if (!unit.mul) {
    x_pass<kAlu, Multiply::kNone>(values, count, lanes, unit);
  } else if (!unit.prelu) {
    x_pass<kAlu, Multiply::kPlain>(values, count, lanes, unit);
  } else {
    x_pass<kAlu, Multiply::kPrelu>(values, count, lanes, unit);
  }
}

static void loop_sdp_x(int32_t* values, unsigned count, unsigned lanes, const SdpX& unit) {
  switch (unit.alu) {
    case Alu::kMax:
      return x_alu<Alu::kMax>(values, count, lanes, unit);
    case Alu::kMin:
      return x_alu<Alu::kMin>(values, count, lanes, unit);
    case Alu::kSum:
      return x_alu<Alu::kSum>(values, count, lanes, unit);
    case Alu::kNone:
      return x_alu<Alu::kNone>(values, count, lanes, unit);
  }
}

template <Alu kAlu>
static void y_alu(int32_t* values, unsigned count, unsigned lanes, const SdpY& unit) {
  for (unsigned position = 0; position < count; ++position) {
    int32_t* row = values + position * kBlock;
    const int32_t* operands = unit.alu_operand.values + position * unit.alu_operand.stride;
    for (unsigned lane = 0; lane < lanes; ++lane)
      row[lane] = static_cast<int32_t>(
          clamp64(alu<kAlu>(static_cast<int64_t>(row[lane]), operands[lane]), kMin32, kMax32));
  }
}

static void loop_sdp_y(int32_t* values, unsigned count, unsigned lanes, const SdpY& unit) {
  if (unit.mul) {
    const Shift shift = make_shift(unit.truncate);
    for (unsigned position = 0; position < count; ++position) {
      int32_t* row = values + position * kBlock;
      const int32_t* factors = unit.mul_operand.values + position * unit.mul_operand.stride;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const int64_t value = row[lane];
        const int64_t result = clamp64(apply(value * factors[lane], shift), kMin32, kMax32);
        row[lane] = static_cast<int32_t>(unit.prelu && value >= 0 ? value : result);
      }
    }
  }
  switch (unit.alu) {
    case Alu::kMax:
      return y_alu<Alu::kMax>(values, count, lanes, unit);
    case Alu::kMin:
      return y_alu<Alu::kMin>(values, count, lanes, unit);
    case Alu::kSum:
      return y_alu<Alu::kSum>(values, count, lanes, unit);
    case Alu::kNone:
      return;
  }
}

[[maybe_unused]] static uint32_t loop_sdp_convert(int32_t* values, unsigned count, unsigned lanes,
                                                  const SdpConverter& converter) {
  const Shift shift = make_shift(converter.shift);
  const int64_t offset = converter.offset;
  const int64_t scale = converter.scale;
  uint64_t saturated = 0;
  for (unsigned position = 0; position < count; ++position) {
    int32_t* row = values + position * kBlock;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const int64_t product = (row[lane] - offset) * scale;
      const int64_t rounded = apply(product, shift);
      const int64_t result = clamp64(rounded, -65536, 65535);
      const int64_t truncated = product >> shift.amount;
      const int64_t difference = truncated - result;
      const bool counted = converter.lenient_count ? (difference > 1) | (difference < -1)
                                                   : (rounded > 65535) | (truncated < -65536);
      saturated += counted;
      row[lane] = static_cast<int32_t>(result);
    }
  }
  return converter.count ? static_cast<uint32_t>(saturated) : 0;
}

static void loop_convert_to_int8(const int32_t* values, unsigned count,
                                 const SdpConverter& converter, int8_t* out) {
  const Shift shift = make_shift(converter.shift);
  const int64_t offset = converter.offset;
  const int64_t scale = converter.scale;
  for (unsigned i = 0; i < count * kBlock; ++i)
    out[i] = static_cast<int8_t>(clamp64(apply((values[i] - offset) * scale, shift), -128, 127));
}

[[maybe_unused]] static void loop_to_int8(const int32_t* values, unsigned count, int8_t* out) {
  for (unsigned i = 0; i < count * kBlock; ++i) {
    const int32_t value = values[i];
    out[i] = static_cast<int8_t>(value < -128 ? -128 : value > 127 ? 127 : value);
  }
}

static void loop_to_int16(const int32_t* values, unsigned count, int16_t* out) {
  for (unsigned i = 0; i < count * kBlock; ++i) {
    const int32_t value = values[i];
    out[i] = static_cast<int16_t>(value < -32768 ? -32768 : value > 32767 ? 32767 : value);
  }
}
