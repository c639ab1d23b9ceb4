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

static void loop_wide(const WideTile& tile) {
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

template <Alu kAlu>
static void x_alu(int32_t* values, unsigned count, unsigned lanes, const SdpX& unit) {
  if (!unit.mul) {
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
  const int64_t tolerance = converter.lenient_count ? 1 : 0;
  uint64_t saturated = 0;
  for (unsigned position = 0; position < count; ++position) {
    int32_t* row = values + position * kBlock;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const int64_t product = (row[lane] - offset) * scale;
      const int64_t rounded = apply(product, shift);
      const int64_t result = clamp64(rounded, -65536, 65535);
      // The first generation compares with the truncated value, so that a result that rounding
      // has carried just past the limit is not counted.
      const int64_t reference = converter.lenient_count ? product >> shift.amount : rounded;
      const int64_t difference = reference - result;
      saturated += (difference > tolerance) | (difference < -tolerance);
      row[lane] = static_cast<int32_t>(result);
    }
  }
  return converter.count ? static_cast<uint32_t>(saturated) : 0;
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
