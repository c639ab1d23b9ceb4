// SPDX-License-Identifier: MIT
//
// Streams of SDP, for anything that is in them: a run of elements at a time, step by step.

// As many elements stay in cache, and whole blocks of channels.
constexpr unsigned kStreamRun = 4 * kBlock;

static inline unsigned stream_bytes(StreamFormat format) {
  return format == StreamFormat::kInt8 ? 1 : 2;
}

// Elements of a stream or of an operand. They may be read as they are written elsewhere.
static void stream_load(const void* from, unsigned bytes, unsigned count, int32_t* to) {
  const auto* bytes_of = static_cast<const LooseInt8*>(from);
  const auto* words_of = static_cast<const LooseInt16*>(from);
  if (bytes == 1) {
    for (unsigned i = 0; i < count; ++i) to[i] = bytes_of[i].value;
  } else {
    for (unsigned i = 0; i < count; ++i) to[i] = words_of[i].value;
  }
}

static void stream_scale(const StepScale& scale, unsigned count, int32_t* values) {
  const int32_t half = scale.shift == 0 ? 0 : 1 << (scale.shift - 1);
  const int32_t tie = scale.shift == 0 ? 0 : -1;
  for (unsigned i = 0; i < count; ++i) {
    const int32_t product = (values[i] - scale.offset) * scale.scale;
    // Half away from zero is half up, less the last bit where the product is negative.
    values[i] = (product + half + ((product >> 31) & tie)) >> scale.shift;
  }
}

template <StepKind kKind>
static inline int32_t stream_integer(int32_t value, int32_t operand, unsigned shift) {
  if constexpr (kKind == StepKind::kAdd) return value + operand;
  if constexpr (kKind == StepKind::kMax) return value > operand ? value : operand;
  if constexpr (kKind == StepKind::kMin) return value < operand ? value : operand;
  const int32_t product = value * operand;
  const int32_t half = shift == 0 ? 0 : 1 << (shift - 1);
  const int32_t tie = shift == 0 ? 0 : product >> 31;
  const int32_t result = (product + half + tie) >> shift;
  return kKind == StepKind::kPrelu && value >= 0 ? value : result;
}

template <StepKind kKind>
static inline int32_t stream_float(int32_t value, int32_t operand) {
  if constexpr (kKind == StepKind::kAdd) return lane_add<Lane32>(value, operand);
  if constexpr (kKind == StepKind::kMax) return lane_max(value, operand);
  if constexpr (kKind == StepKind::kMin) return lane_min(value, operand);
  const int32_t product = lane_mul<Lane32>(value, operand);
  return kKind == StepKind::kPrelu && value >= 0 ? value : product;
}

template <StepKind kKind>
static void stream_step(bool real, unsigned shift, unsigned count, const int32_t* operands,
                        int32_t* values) {
  if (real) {
    for (unsigned i = 0; i < count; ++i) values[i] = stream_float<kKind>(values[i], operands[i]);
  } else {
    for (unsigned i = 0; i < count; ++i)
      values[i] = stream_integer<kKind>(values[i], operands[i], shift);
  }
}

static void stream_relu(unsigned count, int32_t* values) {
  for (unsigned i = 0; i < count; ++i) {
    const bool keep = (values[i] >= 0) | ((values[i] & kLaneMagnitude) > kLaneInfinite);
    values[i] = keep ? values[i] : 0;
  }
}

static void stream_relu_of_integers(unsigned count, int32_t* values) {
  for (unsigned i = 0; i < count; ++i) values[i] = values[i] < 0 ? 0 : values[i];
}

static void stream_operands(const SdpStream& stream, const SdpStep& step, size_t at, unsigned count,
                            int32_t* to) {
  if (step.channels != nullptr) {
    for (unsigned i = 0; i < count; ++i) to[i] = step.channels[(at + i) % kBlock];
    return;
  }
  stream_load(static_cast<const char*>(step.elements) + at * step.bytes, step.bytes, count, to);
  if (stream.format == StreamFormat::kHalf) {
    const int32_t most = most_of_half(stream.flush_nan);
    for (unsigned i = 0; i < count; ++i) to[i] = widen_half<Lane32>(to[i], most);
  } else if (step.converts) {
    stream_scale(step.scale, count, to);
  }
}

static void stream_apply(const SdpStream& stream, const SdpStep& step, size_t at, unsigned count,
                         int32_t* values) {
  const bool real = stream.format == StreamFormat::kHalf;
  if (step.kind == StepKind::kRelu)
    return real ? stream_relu(count, values) : stream_relu_of_integers(count, values);
  if (step.kind == StepKind::kScale) return stream_scale(step.scale, count, values);
  int32_t operands[kStreamRun];
  stream_operands(stream, step, at, count, operands);
  switch (step.kind) {
    case StepKind::kAdd:
      return stream_step<StepKind::kAdd>(real, 0, count, operands, values);
    case StepKind::kMax:
      return stream_step<StepKind::kMax>(real, 0, count, operands, values);
    case StepKind::kMin:
      return stream_step<StepKind::kMin>(real, 0, count, operands, values);
    case StepKind::kPrelu:
      return stream_step<StepKind::kPrelu>(real, step.shift, count, operands, values);
    default:
      return stream_step<StepKind::kMultiply>(real, step.shift, count, operands, values);
  }
}

// `count` elements from the one at `at` on, kStreamRun at most.
static HalfCounts stream_run(const SdpStream& stream, const void* in, size_t at, unsigned count,
                             void* out) {
  const unsigned bytes = stream_bytes(stream.format);
  int32_t values[kStreamRun];
  stream_load(static_cast<const char*>(in) + at * bytes, bytes, count, values);
  if (stream.format == StreamFormat::kHalf) {
    const int32_t most = most_of_half(stream.flush_nan);
    for (unsigned i = 0; i < count; ++i) values[i] = widen_half<Lane32>(values[i], most);
  }
  for (unsigned i = 0; i < stream.steps; ++i)
    stream_apply(stream, stream.step[i], at, count, values);
  auto* bytes_out = static_cast<LooseInt8*>(out) + at;
  auto* words_out = static_cast<LooseInt16*>(out) + at;
  if (stream.format == StreamFormat::kHalf) {
    int16_t halves[kStreamRun];
    const HalfCounts counts = narrow_row(values, count, halves, lane_narrow);
    for (unsigned i = 0; i < count; ++i) words_out[i].value = halves[i];
    return counts;
  }
  const int32_t low = bytes == 1 ? INT8_MIN : INT16_MIN, high = bytes == 1 ? INT8_MAX : INT16_MAX;
  for (unsigned i = 0; i < count; ++i)
    values[i] = values[i] < low ? low : values[i] > high ? high : values[i];
  if (bytes == 1) {
    for (unsigned i = 0; i < count; ++i) bytes_out[i].value = static_cast<int8_t>(values[i]);
  } else {
    for (unsigned i = 0; i < count; ++i) words_out[i].value = static_cast<int16_t>(values[i]);
  }
  return {0, 0};
}

[[maybe_unused]] static HalfCounts loop_sdp_stream(const SdpStream& stream, const void* in,
                                                   size_t count, void* out) {
  HalfCounts sum{0, 0};
  for (size_t at = 0; at < count; at += kStreamRun) {
    const size_t left = count - at;
    const HalfCounts counts = stream_run(
        stream, in, at, static_cast<unsigned>(left < kStreamRun ? left : kStreamRun), out);
    sum.nan += counts.nan;
    sum.largest += counts.largest;
  }
  return sum;
}
