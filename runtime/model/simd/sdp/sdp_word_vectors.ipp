// SPDX-License-Identifier: MIT
//
// Streams of SDP in int8 that fit 16 bits, two vectors of words for one of bytes: included behind
// sdp_stream_loops.ipp, and behind a struct StreamWords with the instructions. Words lie as
// they are unpacked, the first eight bytes of each sixteen in `low`, the others in `high`.

constexpr unsigned kWordPairs = 4;
constexpr unsigned kWordStrip = kWordPairs * StreamWords::kBytes;
static_assert(StreamWords::kBytes % kBlock == 0);

struct WordPair {
  WordVector low, high;
};

static inline WordPair load_words(const void* from) {
  WordPair pair;
  StreamWords::load(from, pair.low, pair.high);
  return pair;
}

// A factor as WordProduct wants it, and its sign.
struct WordFactor {
  WordPair number, sign;
};

static inline WordVector word_factor(WordVector number, const WordProduct& product) {
  const bool magnitudes =
      product.bits == WordBits::kUpper || (product.bits == WordBits::kFrom15 && !product.up);
  return StreamWords::left(magnitudes ? StreamWords::magnitude(number) : number,
                           product.factor_left);
}

static inline WordFactor word_factors(WordPair number, const WordProduct& product) {
  return {{word_factor(number.low, product), word_factor(number.high, product)}, number};
}

// What a step has in all of the stream.
struct WordConstants {
  WordPair channels;  // of the ALU
  WordFactor factor, conversion;
};

static void store_words(const int32_t* channels, WordPair& pair) {
  int16_t low[StreamWords::kBytes / 2], high[StreamWords::kBytes / 2];
  for (unsigned i = 0; i < StreamWords::kBytes; ++i)
    (i % 16 < 8 ? low : high)[i / 16 * 8 + i % 8] = static_cast<int16_t>(channels[i % kBlock]);
  __builtin_memcpy(&pair.low, low, sizeof(low));
  __builtin_memcpy(&pair.high, high, sizeof(high));
}

static inline WordPair same_words(int32_t number) {
  return {StreamWords::same(static_cast<int16_t>(number)),
          StreamWords::same(static_cast<int16_t>(number))};
}

static void find_constants(const SdpStep& step, WordConstants& constants) {
  if (step.kind == StepKind::kScale)
    constants.factor = word_factors(same_words(step.scale.scale), step.product);
  if (step.converts)
    constants.conversion = word_factors(same_words(step.scale.scale), step.conversion);
  if (step.channels == nullptr) return;
  store_words(step.channels, constants.channels);
  constants.factor = word_factors(constants.channels, step.product);
}

// Calls `with` with what multiplies a vector by a factor and its sign.
template <typename With>
[[gnu::always_inline]] static inline void with_product(const WordProduct& product, With with) {
  const unsigned left = product.left, right = product.right;
  switch (product.bits) {
    case WordBits::kLower:
      return with([](WordVector value, WordVector factor, WordVector) {
        return StreamWords::lower_product(value, factor);
      });
    case WordBits::kFrom15:
      if (product.up)
        return with([=](WordVector value, WordVector factor, WordVector) {
          return StreamWords::rounded_product(StreamWords::left(value, left), factor);
        });
      return with([=](WordVector value, WordVector factor, WordVector sign) {
        const WordVector result = StreamWords::rounded_product(
            StreamWords::left(StreamWords::magnitude(value), left), factor);
        return StreamWords::signed_by(result, StreamWords::differing(value, sign));
      });
    case WordBits::kUpper: {
      const WordVector half = StreamWords::same(static_cast<int16_t>(1 << (right - 1)));
      return with([=](WordVector value, WordVector factor, WordVector sign) {
        const WordVector upper = StreamWords::upper_product(
            StreamWords::left(StreamWords::magnitude(value), left), factor);
        return StreamWords::signed_by(StreamWords::right(StreamWords::add(upper, half), right),
                                      StreamWords::differing(value, sign));
      });
    }
  }
}

// (x - offset) times what is alike for all.
[[gnu::always_inline]] static inline void scale_words(const StepScale& scale,
                                                      const WordProduct& product,
                                                      const WordFactor& factor,
                                                      WordPair (&pairs)[kWordPairs]) {
  const WordVector offset = StreamWords::same(static_cast<int16_t>(scale.offset));
  with_product(product, [&](auto multiply) {
    for (WordPair& pair : pairs) {
      pair.low =
          multiply(StreamWords::subtract(pair.low, offset), factor.number.low, factor.sign.low);
      pair.high =
          multiply(StreamWords::subtract(pair.high, offset), factor.number.high, factor.sign.high);
    }
  });
}

// Each vector with its operand.
template <typename Of>
[[gnu::always_inline]] static inline void each_word(const SdpStep& step,
                                                    const WordConstants& constants,
                                                    const WordPair (&operands)[kWordPairs],
                                                    WordPair (&pairs)[kWordPairs], Of of) {
  const bool elements = step.channels == nullptr;
  for (unsigned i = 0; i < kWordPairs; ++i) {
    const WordPair operand = elements ? operands[i] : constants.channels;
    pairs[i].low = of(pairs[i].low, operand.low);
    pairs[i].high = of(pairs[i].high, operand.high);
  }
}

[[gnu::always_inline]] static inline void multiply_words(const SdpStep& step,
                                                         const WordConstants& constants,
                                                         const WordPair (&operands)[kWordPairs],
                                                         WordPair (&pairs)[kWordPairs]) {
  const bool elements = step.channels == nullptr, prelu = step.kind == StepKind::kPrelu;
  with_product(step.product, [&](auto multiply) {
    const auto apply = [&](WordVector value, WordVector factor, WordVector sign) {
      const WordVector result = multiply(value, factor, sign);
      return prelu ? StreamWords::where_negative(value, result) : result;
    };
    for (unsigned i = 0; i < kWordPairs; ++i) {
      const WordFactor factor =
          elements ? word_factors(operands[i], step.product) : constants.factor;
      pairs[i].low = apply(pairs[i].low, factor.number.low, factor.sign.low);
      pairs[i].high = apply(pairs[i].high, factor.number.high, factor.sign.high);
    }
  });
}

[[gnu::always_inline]] static inline void step_words(const SdpStep& step,
                                                     const WordConstants& constants, size_t at,
                                                     WordPair (&pairs)[kWordPairs]) {
  WordPair operands[kWordPairs];
  if (step.elements != nullptr) {
    const char* from = static_cast<const char*>(step.elements) + at;
    for (unsigned i = 0; i < kWordPairs; ++i)
      operands[i] = load_words(from + i * StreamWords::kBytes);
    if (step.converts) scale_words(step.scale, step.conversion, constants.conversion, operands);
  }
  switch (step.kind) {
    case StepKind::kAdd:
      return each_word(step, constants, operands, pairs,
                       [](WordVector a, WordVector b) { return StreamWords::add(a, b); });
    case StepKind::kMax:
      return each_word(step, constants, operands, pairs,
                       [](WordVector a, WordVector b) { return StreamWords::most(a, b); });
    case StepKind::kMin:
      return each_word(step, constants, operands, pairs,
                       [](WordVector a, WordVector b) { return StreamWords::least(a, b); });
    case StepKind::kMultiply:
    case StepKind::kPrelu:
      return multiply_words(step, constants, operands, pairs);
    case StepKind::kRelu:
      for (WordPair& pair : pairs) {
        pair.low = StreamWords::most(pair.low, StreamWords::same(0));
        pair.high = StreamWords::most(pair.high, StreamWords::same(0));
      }
      return;
    case StepKind::kScale:
      return scale_words(step.scale, step.product, constants.factor, pairs);
  }
}

static void sdp_words(const SdpStream& stream, const void* in, size_t count, void* out) {
  WordConstants constants[SdpStream::kMostSteps];
  for (unsigned i = 0; i < stream.steps; ++i) find_constants(stream.step[i], constants[i]);
  const auto* from = static_cast<const char*>(in);
  auto* to = static_cast<char*>(out);
  size_t at = 0;
  for (; at + kWordStrip <= count; at += kWordStrip) {
    WordPair pairs[kWordPairs];
    for (unsigned i = 0; i < kWordPairs; ++i)
      pairs[i] = load_words(from + at + i * StreamWords::kBytes);
    for (unsigned i = 0; i < stream.steps; ++i) step_words(stream.step[i], constants[i], at, pairs);
    for (unsigned i = 0; i < kWordPairs; ++i)
      StreamWords::store(pairs[i].low, pairs[i].high, to + at + i * StreamWords::kBytes);
  }
  for (unsigned part = 0; at < count; at += part) {
    const size_t left = count - at;
    part = static_cast<unsigned>(left < kStreamRun ? left : kStreamRun);
    stream_run(stream, in, at, part, out);
  }
}
