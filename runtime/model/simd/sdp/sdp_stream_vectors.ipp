// SPDX-License-Identifier: MIT
//
// Streams of SDP in vectors, several of them at once, which stay in registers from the first step
// to the last. Where the processor's arithmetic could differ from the hardware's, a strip is in
// doubt and goes through sdp_stream_loops.ipp.

constexpr unsigned kStripVectors = Vector::kLanes == 8 ? 4 : 8;
constexpr unsigned kStrip = kStripVectors * Vector::kLanes;
static_assert(kStrip % kBlock == 0 && kStrip <= kStreamRun);

struct Strip {
  Ints part[kStripVectors];
};

static inline Floats as_floats(Ints values) { return Vector::floats(values); }

template <StreamFormat kFormat>
static inline Ints strip_load(const char* from, unsigned bytes, Doubt& doubt) {
  if constexpr (kFormat == StreamFormat::kHalf) {
    const Floats values = Vector::from_halves(from);
    doubt.where_above(values, kLargestHalf);
    return Vector::ints(values);
  }
  return bytes == 1 ? Vector::from_int8(from) : Vector::from_int16(from);
}

static inline Ints strip_scale(Ints value, const StepScale& scale) {
  const Ints product = Vector::multiply(Vector::subtract(value, Vector::same(scale.offset)),
                                        Vector::same(scale.scale));
  return Vector::round_right(product, scale.shift);
}

template <StreamFormat kFormat, StepKind kKind>
static inline Ints strip_of(Ints value, Ints operand, unsigned shift, Doubt& doubt) {
  if constexpr (kFormat == StreamFormat::kHalf) {
    const Floats a = as_floats(value), b = as_floats(operand);
    if constexpr (kKind == StepKind::kAdd) {
      const Floats sum = Vector::add(a, b);
      // Where little more than half of the last place is taken from a power of two.
      doubt.where_mantissa(sum, kLaneMantissa);
      return Vector::ints(Vector::sign_of_zero(sum, a));
    }
    const Ints key_a = Vector::order(value), key_b = Vector::order(operand);
    if constexpr (kKind == StepKind::kMax) return Vector::order(Vector::most(key_a, key_b));
    if constexpr (kKind == StepKind::kMin) return Vector::order(Vector::least(key_a, key_b));
    const Ints product = Vector::ints(Vector::multiply(a, b));
    return kKind == StepKind::kPrelu ? Vector::where_negative(value, product) : product;
  } else {
    if constexpr (kKind == StepKind::kAdd) return Vector::add(value, operand);
    if constexpr (kKind == StepKind::kMax) return Vector::most(value, operand);
    if constexpr (kKind == StepKind::kMin) return Vector::least(value, operand);
    const Ints result = Vector::round_right(Vector::multiply(value, operand), shift);
    return kKind == StepKind::kPrelu ? Vector::where_negative(value, result) : result;
  }
}

template <StreamFormat kFormat, StepKind kKind>
[[gnu::always_inline]] static inline void strip_operate(const SdpStep& step, size_t at,
                                                        Strip& strip, Doubt& doubt) {
  if (step.channels != nullptr) {
    for (unsigned i = 0; i < kStripVectors; ++i)
      strip.part[i] = strip_of<kFormat, kKind>(
          strip.part[i], Vector::load_ints(step.channels + i * Vector::kLanes % kBlock), step.shift,
          doubt);
    return;
  }
  const char* from = static_cast<const char*>(step.elements) + at * step.bytes;
  for (unsigned i = 0; i < kStripVectors; ++i) {
    Ints operand =
        strip_load<kFormat>(from + size_t{i} * Vector::kLanes * step.bytes, step.bytes, doubt);
    if (kFormat != StreamFormat::kHalf && step.converts) operand = strip_scale(operand, step.scale);
    strip.part[i] = strip_of<kFormat, kKind>(strip.part[i], operand, step.shift, doubt);
  }
}

// Inline, so that the strip stays in registers.
template <StreamFormat kFormat>
[[gnu::always_inline]] static inline void strip_step(const SdpStep& step, size_t at, Strip& strip,
                                                     Doubt& doubt) {
  switch (step.kind) {
    case StepKind::kAdd:
      return strip_operate<kFormat, StepKind::kAdd>(step, at, strip, doubt);
    case StepKind::kMax:
      return strip_operate<kFormat, StepKind::kMax>(step, at, strip, doubt);
    case StepKind::kMin:
      return strip_operate<kFormat, StepKind::kMin>(step, at, strip, doubt);
    case StepKind::kMultiply:
      return strip_operate<kFormat, StepKind::kMultiply>(step, at, strip, doubt);
    case StepKind::kPrelu:
      return strip_operate<kFormat, StepKind::kPrelu>(step, at, strip, doubt);
    case StepKind::kRelu:
      for (Ints& values : strip.part) values = Vector::most(values, Vector::same(0));
      return;
    case StepKind::kScale:
      for (Ints& values : strip.part) values = strip_scale(values, step.scale);
      return;
  }
}

template <StreamFormat kFormat>
static HalfCounts stream_strips(const SdpStream& stream, const char* in, size_t count, char* out) {
  constexpr unsigned kBytes = kFormat == StreamFormat::kInt8 ? 1 : 2;
  HalfCounts sum{0, 0};
  size_t at = 0;
  for (; at + kStrip <= count; at += kStrip) {
    Doubt doubt;
    Strip strip;
    for (unsigned i = 0; i < kStripVectors; ++i)
      strip.part[i] = strip_load<kFormat>(in + (at + i * Vector::kLanes) * kBytes, kBytes, doubt);
    for (unsigned i = 0; i < stream.steps; ++i)
      strip_step<kFormat>(stream.step[i], at, strip, doubt);
    if constexpr (kFormat == StreamFormat::kHalf) {
      for (const Ints& values : strip.part)
        doubt.where_above(as_floats(values), kAlmostLargest - 1);
      if (doubt.any()) {
        const HalfCounts counts = stream_run(stream, in, at, kStrip, out);
        sum.nan += counts.nan;
        sum.largest += counts.largest;
        continue;
      }
    }
    for (unsigned i = 0; i < kStripVectors; ++i) {
      char* to = out + (at + i * Vector::kLanes) * kBytes;
      if constexpr (kFormat == StreamFormat::kHalf) Vector::to_halves(as_floats(strip.part[i]), to);
      if constexpr (kFormat == StreamFormat::kInt8) Vector::to_int8(strip.part[i], to);
      if constexpr (kFormat == StreamFormat::kInt16) Vector::to_int16(strip.part[i], to);
    }
  }
  if (at == count) return sum;
  const HalfCounts rest = stream_run(stream, in, at, static_cast<unsigned>(count - at), out);
  return {sum.nan + rest.nan, sum.largest + rest.largest};
}

static HalfCounts sdp_stream(const SdpStream& stream, const void* in, size_t count, void* out) {
  const auto* from = static_cast<const char*>(in);
  auto* to = static_cast<char*>(out);
  switch (stream.format) {
    case StreamFormat::kInt8:
      return stream_strips<StreamFormat::kInt8>(stream, from, count, to);
    case StreamFormat::kInt16:
      return stream_strips<StreamFormat::kInt16>(stream, from, count, to);
    case StreamFormat::kHalf:
      return stream_strips<StreamFormat::kHalf>(stream, from, count, to);
  }
  return {0, 0};
}
