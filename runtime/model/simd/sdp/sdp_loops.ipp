// SPDX-License-Identifier: MIT
//
// Loops of SDP that the compiler vectorises, included by each instruction set's translation unit
// into an unnamed namespace. Numbers as in the description of the datapath: exact wide
// intermediates, round half away from zero, saturate. Where the caller has proved that 32 bits hold
// what comes out, or where the operands do, narrower arithmetic gives the same.

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

static void loop_sdp_shift(int32_t* values, unsigned count, unsigned shift) {
  // What is not between the limits saturates.
  const unsigned amount = shift < 31 ? shift : 31;
  const int32_t low = shift > 31 ? 0 : INT32_MIN >> amount;
  const int32_t high = INT32_MAX >> amount;
  for (unsigned i = 0; i < count; ++i) {
    const int32_t value = values[i];
    const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(value) << amount);
    values[i] = value < low ? INT32_MIN : value > high ? INT32_MAX : shifted;
  }
}

static void loop_sdp_operand(int32_t* values, unsigned count, const SdpOperandConverter& c) {
  const int64_t offset = c.offset, scale = c.scale;
  const int64_t reach = int64_t{c.largest} + (offset < 0 ? -offset : offset);
  const int64_t factor = scale < 0 ? -scale : scale > 0 ? scale : 1;
  // Neither the product nor what rounding adds to it has more than 30 bits.
  if (c.truncate <= 30 && reach * factor < 1 << 30) {
    const int32_t half = c.truncate == 0 ? 0 : 1 << (c.truncate - 1);
    const int32_t tie = c.truncate == 0 ? 0 : -1;
    for (unsigned i = 0; i < count; ++i) {
      const int32_t product = (values[i] - c.offset) * c.scale;
      // Half away from zero is half up, less the last bit where the product is negative.
      values[i] = (product + half + ((product >> 31) & tie)) >> c.truncate;
    }
    return;
  }
  const Shift shift = make_shift(c.truncate);
  for (unsigned i = 0; i < count; ++i)
    values[i] =
        static_cast<int32_t>(clamp64(apply((values[i] - offset) * scale, shift), kMin32, kMax32));
}

template <Alu kAlu>
static inline int64_t alu(int64_t value, int64_t operand) {
  if constexpr (kAlu == Alu::kMax) return value > operand ? value : operand;
  if constexpr (kAlu == Alu::kMin) return value < operand ? value : operand;
  if constexpr (kAlu == Alu::kSum) return value + operand;
  return value;
}

enum class Multiply { kNone, kPlain, kPrelu };

static inline const int32_t* row_of(const SdpOperand& operand, unsigned position) {
  return operand.values + size_t{position} * operand.stride;
}

// ALU, multiplier and shift for anything.
template <Alu kAlu, Multiply kMultiply>
static void wide_pass(int32_t* values, unsigned count, unsigned lanes, const SdpOperand& addends,
                      const SdpOperand& factors, unsigned right, int32_t low) {
  const Shift shift = make_shift(right);
  for (unsigned position = 0; position < count; ++position) {
    int32_t* row = values + position * kBlock;
    const int32_t* addend = kAlu == Alu::kNone ? nullptr : row_of(addends, position);
    const int32_t* factor = kMultiply == Multiply::kNone ? nullptr : row_of(factors, position);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      int64_t value = row[lane];
      if constexpr (kAlu != Alu::kNone) value = alu<kAlu>(value, addend[lane]);
      int64_t product = value;
      if constexpr (kMultiply != Multiply::kNone) product *= factor[lane];
      // ReLU after saturation is the same as a lower bound of 0.
      int64_t result = clamp64(apply(product, shift), low, kMax32);
      if constexpr (kMultiply == Multiply::kPrelu)
        // What passes keeps its low 32 bits; ReLU sees them as they are.
        result = value < 0 ? result : clamp64(static_cast<int32_t>(value), low, kMax32);
      row[lane] = static_cast<int32_t>(result);
    }
  }
}

// The same where 32 bits hold the sum and the result: of the product only the 32 bits that the
// shift (0..32) leaves at the bottom count.
template <Alu kAlu, Multiply kMultiply>
static void narrow_pass(int32_t* values, unsigned count, unsigned lanes, const SdpOperand& addends,
                        const SdpOperand& factors, unsigned right, int32_t low) {
  const uint64_t half = right == 0 ? 0 : uint64_t{1} << (right - 1);
  const uint64_t tie = right == 0 ? 0 : 1;
  for (unsigned position = 0; position < count; ++position) {
    int32_t* row = values + position * kBlock;
    const int32_t* addend = kAlu == Alu::kNone ? nullptr : row_of(addends, position);
    const int32_t* factor = row_of(factors, position);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      int32_t value = row[lane];
      if constexpr (kAlu != Alu::kNone)
        value = static_cast<int32_t>(alu<kAlu>(value, addend[lane]));
      const auto product = static_cast<uint64_t>(int64_t{value} * factor[lane]);
      const uint64_t rounded = product + half - ((product >> 63) & tie);
      auto result = static_cast<int32_t>(static_cast<uint32_t>(rounded >> right));
      if constexpr (kMultiply == Multiply::kPrelu) result = value < 0 ? result : value;
      row[lane] = result < low ? low : result;
    }
  }
}

// An addition that saturates, or a comparison: 32 bits hold all.
template <Alu kAlu>
static void add_pass(int32_t* values, unsigned count, unsigned lanes, const SdpOperand& addends,
                     int32_t low) {
  for (unsigned position = 0; position < count; ++position) {
    int32_t* row = values + position * kBlock;
    const int32_t* operands = kAlu == Alu::kNone ? nullptr : row_of(addends, position);
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
static void x_alu(int32_t* values, unsigned count, unsigned lanes, const SdpX& x) {
  const int32_t low = x.relu ? 0 : INT32_MIN;
  const auto pass = [&](auto run) {
    run(values, count, lanes, x.alu_operand, x.mul_operand, x.shift, low);
  };
  if (!x.mul && x.shift == 0) {
    add_pass<kAlu>(values, count, lanes, x.alu_operand, low);
  } else if (!x.mul) {
    pass(wide_pass<kAlu, Multiply::kNone>);
  } else if (!x.prelu) {
    pass(x.fits ? narrow_pass<kAlu, Multiply::kPlain> : wide_pass<kAlu, Multiply::kPlain>);
  } else {
    pass(x.fits ? narrow_pass<kAlu, Multiply::kPrelu> : wide_pass<kAlu, Multiply::kPrelu>);
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

static void loop_sdp_y(int32_t* values, unsigned count, unsigned lanes, const SdpY& unit) {
  if (unit.mul) {
    const auto pass = [&](auto run) {
      run(values, count, lanes, {}, unit.mul_operand, unit.truncate, INT32_MIN);
    };
    if (!unit.prelu) {
      pass(unit.fits ? narrow_pass<Alu::kNone, Multiply::kPlain>
                     : wide_pass<Alu::kNone, Multiply::kPlain>);
    } else {
      pass(unit.fits ? narrow_pass<Alu::kNone, Multiply::kPrelu>
                     : wide_pass<Alu::kNone, Multiply::kPrelu>);
    }
  }
  switch (unit.alu) {
    case Alu::kMax:
      return add_pass<Alu::kMax>(values, count, lanes, unit.alu_operand, INT32_MIN);
    case Alu::kMin:
      return add_pass<Alu::kMin>(values, count, lanes, unit.alu_operand, INT32_MIN);
    case Alu::kSum:
      return add_pass<Alu::kSum>(values, count, lanes, unit.alu_operand, INT32_MIN);
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
