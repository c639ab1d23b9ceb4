// SPDX-License-Identifier: MIT
//
// Loops of SDP in fp16 processing: the stream and the operands are fp32, shifts and converters take
// no part. The stream is the first operand: its NaN wins.

static void loop_sdp_load_half(const SdpElements& from, int32_t* to, bool flush_nan) {
  const int32_t most = most_of_half(flush_nan);
  loop_sdp_widen(from, to);
  for (unsigned i = 0; i < from.count; ++i, to += kBlock)
    for (unsigned lane = 0; lane < from.lanes; ++lane)
      to[lane] = widen_half<Lane32>(to[lane], most);
}

static void loop_sdp_float_flush(int32_t* values, unsigned count) {
  for (unsigned i = 0; i < count * kBlock; ++i) values[i] = lane_flush_nan(values[i]);
}

template <Alu kAlu>
static inline int32_t float_alu(int32_t value, int32_t operand) {
  if constexpr (kAlu == Alu::kMax) return lane_max(value, operand);
  if constexpr (kAlu == Alu::kMin) return lane_min(value, operand);
  if constexpr (kAlu == Alu::kSum) return lane_add<Lane32>(value, operand);
  return value;
}

// Calls `with` with the algorithm as a type's value.
template <typename With>
static inline void with_alu(Alu algorithm, With with) {
  switch (algorithm) {
    case Alu::kMax:
      return with.template operator()<Alu::kMax>();
    case Alu::kMin:
      return with.template operator()<Alu::kMin>();
    case Alu::kSum:
      return with.template operator()<Alu::kSum>();
    case Alu::kNone:
      return with.template operator()<Alu::kNone>();
  }
}

template <Alu kAlu>
static void float_alu_pass(int32_t* values, unsigned count, const SdpOperand& operand) {
  if constexpr (kAlu == Alu::kNone) return;
  for (unsigned position = 0; position < count; ++position) {
    int32_t* __restrict row = values + size_t{position} * kBlock;
    const int32_t* __restrict addend = operand.values + size_t{position} * operand.stride;
    for (unsigned lane = 0; lane < kBlock; ++lane)
      row[lane] = float_alu<kAlu>(row[lane], addend[lane]);
  }
}

// PReLU lets pass whatever has no sign, NaN and zero too.
template <bool kPrelu>
static void float_mul_pass(int32_t* values, unsigned count, const SdpOperand& operand) {
  for (unsigned position = 0; position < count; ++position) {
    int32_t* __restrict row = values + size_t{position} * kBlock;
    const int32_t* __restrict factor = operand.values + size_t{position} * operand.stride;
    for (unsigned lane = 0; lane < kBlock; ++lane) {
      const int32_t product = lane_mul<Lane32>(row[lane], factor[lane]);
      row[lane] = kPrelu && row[lane] >= 0 ? row[lane] : product;
    }
  }
}

static void float_mul(int32_t* values, unsigned count, bool prelu, const SdpOperand& operand) {
  prelu ? float_mul_pass<true>(values, count, operand)
        : float_mul_pass<false>(values, count, operand);
}

static void loop_sdp_float_x(int32_t* values, unsigned count, const SdpX& unit) {
  with_alu(unit.alu, [&]<Alu kAlu>() { float_alu_pass<kAlu>(values, count, unit.alu_operand); });
  if (unit.mul) float_mul(values, count, unit.prelu, unit.mul_operand);
  if (!unit.relu) return;
  for (unsigned i = 0; i < count * kBlock; ++i) {
    const int32_t value = values[i];
    const bool keep = (value >= 0) | ((value & kLaneMagnitude) > kLaneInfinite);
    values[i] = keep ? value : 0;
  }
}

static void loop_sdp_float_y(int32_t* values, unsigned count, const SdpY& unit) {
  if (unit.mul) float_mul(values, count, unit.prelu, unit.mul_operand);
  with_alu(unit.alu, [&]<Alu kAlu>() { float_alu_pass<kAlu>(values, count, unit.alu_operand); });
}

template <typename Narrow>
static inline HalfCounts narrow_row(const int32_t* __restrict from, unsigned count,
                                    int16_t* __restrict to, Narrow narrow) {
  HalfCounts counts{0, 0};
  for (unsigned i = 0; i < count; ++i) {
    const int32_t half = narrow(from[i]);
    counts.nan += (half & 0x7fff) > 0x7c00 ? 1 : 0;
    counts.largest += (half & 0x7fff) == 0x7bff ? 1 : 0;
    to[i] = static_cast<int16_t>(half);
  }
  return counts;
}

// Calls `row(from, elements, to)` for the lanes of each of `count` positions, which lie together
// where all lanes are wanted.
template <typename Row>
static inline HalfCounts for_each_lanes(const int32_t* values, unsigned count, unsigned lanes,
                                        int16_t* out, Row row) {
  if (lanes == kBlock) return row(values, count * kBlock, out);
  HalfCounts sum{0, 0};
  for (unsigned i = 0; i < count; ++i, values += kBlock, out += kBlock) {
    const HalfCounts counts = row(values, lanes, out);
    sum.nan += counts.nan;
    sum.largest += counts.largest;
  }
  return sum;
}

[[maybe_unused]] static HalfCounts loop_sdp_float_to_half(const int32_t* values, unsigned count,
                                                          unsigned lanes, int16_t* out) {
  return for_each_lanes(values, count, lanes, out,
                        [](const int32_t* from, unsigned elements, int16_t* to) {
                          return narrow_row(from, elements, to, lane_narrow);
                        });
}

static HalfCounts loop_sdp_int_to_half(const int32_t* values, unsigned count, unsigned lanes,
                                       int16_t* out) {
  const auto narrow = [](int32_t value) {
    return lane_narrow(lane_bits(static_cast<float>(value)));
  };
  return for_each_lanes(values, count, lanes, out,
                        [&](const int32_t* from, unsigned elements, int16_t* to) {
                          return narrow_row(from, elements, to, narrow);
                        });
}

// Half away from zero; a NaN gives the most negative number.
static void loop_sdp_float_to_int16(const int32_t* values, unsigned count, int16_t* out) {
  for (unsigned i = 0; i < count * kBlock; ++i) {
    const int32_t half = lane_narrow(values[i]);
    const int32_t magnitude = half & 0x7fff;
    // All that is left of a denormal is that it is less than a half. 65536 for a NaN without
    // payload, which fp16 takes for a number.
    const float number = lane_float((magnitude << 13) + (112 << 23));
    const auto rounded = static_cast<int32_t>(number + 0.5f);
    const int32_t low = rounded < 32768 ? rounded : 32768;
    const int32_t high = rounded < 32767 ? rounded : 32767;
    const int32_t result = (half & 0x8000) != 0 ? -low : high;
    out[i] = static_cast<int16_t>(magnitude > 0x7c00 ? INT16_MIN : result);
  }
}
