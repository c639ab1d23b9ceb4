// SPDX-License-Identifier: MIT
//
// Loops of PDP. A rule says how elements become values of a reduced line, how values are combined,
// and what becomes of them.

template <typename ElementOf, bool kMax>
struct ExtremeRule {
  using Element = ElementOf;
  using Value = ElementOf;

  explicit ExtremeRule(const PoolRule&) {}
  inline Value load(Element element) const { return element; }
  inline Value along(Value so_far, Value next) const {
    if constexpr (kMax) return so_far > next ? so_far : next;
    return so_far < next ? so_far : next;
  }
  inline Value across(Value so_far, Value next) const { return along(so_far, next); }
  inline Element store(Value value) const { return value; }
};

// Values are numbers of the same order as the halves. A NaN wins: in a line the leftmost, between
// lines that of the lowest.
template <bool kMax>
struct ExtremeHalfRule {
  using Element = uint16_t;
  using Value = int16_t;

  // And back.
  static inline int16_t order(int16_t bits) {
    return static_cast<int16_t>(bits ^ ((bits >> 15) & 0x7fff));
  }
  static inline bool is_nan(Value value) { return (value > 0x7c00) | (value < ~0x7c00); }
  static inline Value of(Value a, Value b) {
    const bool a_nan = is_nan(a), b_nan = is_nan(b);
    const bool a_wins = kMax ? a >= b : a <= b;
    return a_nan | (!b_nan & a_wins) ? a : b;
  }
  explicit ExtremeHalfRule(const PoolRule&) {}
  inline Value load(Element element) const { return order(static_cast<int16_t>(element)); }
  inline Value along(Value so_far, Value next) const { return of(so_far, next); }
  inline Value across(Value so_far, Value next) const { return of(next, so_far); }
  inline Element store(Value value) const { return static_cast<Element>(order(value)); }
};

// Of so many bytes.
template <unsigned kBytes>
struct Integer;
template <>
struct Integer<2> {
  using Type = int16_t;
};
template <>
struct Integer<4> {
  using Type = int32_t;
};
template <>
struct Integer<8> {
  using Type = int64_t;
};

// kNarrow: 32 bits hold the sum times either reciprocal. 16 bits hold sums of 64 bytes and 16 times
// what is missing, of 11 bits.
template <typename ElementOf, bool kNarrow>
struct AverageRule {
  using Element = ElementOf;
  using Value = typename Integer<sizeof(ElementOf) == 1 ? 2 : 4>::Type;
  using Wide = typename Integer<kNarrow ? 4 : 8>::Type;

  Wide width, height;
  Wide low, high;

  explicit AverageRule(const PoolRule& rule)
      : width(rule.reciprocal_width), height(rule.reciprocal_height) {
    constexpr Wide kMost = Wide{1} << (8 * sizeof(Element) - 1);
    constexpr Wide kAll = Wide{1} << (8 * sizeof(Wide) - 2);
    low = rule.saturates ? -kMost : -kAll;
    high = rule.saturates ? kMost - 1 : kAll;
  }
  inline Value load(Element element) const { return element; }
  inline Value along(Value so_far, Value next) const { return static_cast<Value>(so_far + next); }
  inline Value across(Value so_far, Value next) const { return along(so_far, next); }
  static inline Wide scale(Wide value, Wide reciprocal) {
    const Wide product = value * reciprocal;
    // Half away from zero.
    return (product + 0x8000 + (product >> (8 * sizeof(Wide) - 1))) >> 16;
  }
  inline Element store(Value sum) const {
    const Wide value = scale(scale(sum, width), height);
    return static_cast<Element>(value < low ? low : value > high ? high : value);
  }
};

struct AverageHalfRule {
  using Element = uint16_t;
  using Value = int32_t;

  int32_t width, height;

  explicit AverageHalfRule(const PoolRule& rule)
      : width(rule.reciprocal_width), height(rule.reciprocal_height) {}
  inline Value load(Element element) const { return lane_widen<Lane17>(element); }
  inline Value along(Value so_far, Value next) const { return lane_add<Lane17>(so_far, next); }
  inline Value across(Value so_far, Value next) const { return lane_add<Lane17>(next, so_far); }
  inline Element store(Value sum) const {
    const int32_t scaled = lane_mul<Lane17>(lane_mul<Lane17>(sum, width), height);
    return static_cast<Element>(lane_narrow(scaled));
  }
};

// Calls `with` with the rule.
template <typename With>
static inline void with_rule(const PoolRule& rule, With with) {
  switch (rule.kind) {
    case PoolKind::kMaxInt8:
      return with(ExtremeRule<int8_t, true>(rule));
    case PoolKind::kMinInt8:
      return with(ExtremeRule<int8_t, false>(rule));
    case PoolKind::kAverageInt8:
      return rule.narrow ? with(AverageRule<int8_t, true>(rule))
                         : with(AverageRule<int8_t, false>(rule));
    case PoolKind::kMaxInt16:
      return with(ExtremeRule<int16_t, true>(rule));
    case PoolKind::kMinInt16:
      return with(ExtremeRule<int16_t, false>(rule));
    case PoolKind::kAverageInt16:
      return rule.narrow ? with(AverageRule<int16_t, true>(rule))
                         : with(AverageRule<int16_t, false>(rule));
    case PoolKind::kMaxHalf:
      return with(ExtremeHalfRule<true>(rule));
    case PoolKind::kMinHalf:
      return with(ExtremeHalfRule<false>(rule));
    case PoolKind::kAverageHalf:
      return with(AverageHalfRule(rule));
  }
}

// The columns of a window that there are, begin to end.
struct PoolWindow {
  unsigned begin, end;
};

static inline PoolWindow pool_window(const PoolLine& line, unsigned x) {
  const int from = static_cast<int>(x * line.stride) - static_cast<int>(line.left);
  const auto to = static_cast<unsigned>(from + static_cast<int>(line.kernel));
  return {from < 0 ? 0 : static_cast<unsigned>(from), to < line.width ? to : line.width};
}

// Elements of an atom of kAtomLanes, or of `lanes`.
template <unsigned kAtomLanes, typename Rule>
static void pool_windows(const Rule& rule, const PoolLine& line,
                         const typename Rule::Element* __restrict in,
                         typename Rule::Value* __restrict out) {
  const unsigned lanes = kAtomLanes != 0 ? kAtomLanes : line.lanes;
  for (unsigned x = 0; x < line.out_width; ++x, out += lanes) {
    const PoolWindow window = pool_window(line, x);
    const typename Rule::Element* at = in + size_t{window.begin} * lanes;
    for (unsigned lane = 0; lane < lanes; ++lane) out[lane] = rule.load(at[lane]);
    for (unsigned i = window.begin + 1; i < window.end; ++i) {
      at += lanes;
      for (unsigned lane = 0; lane < lanes; ++lane)
        out[lane] = rule.along(out[lane], rule.load(at[lane]));
    }
    if (line.missing == nullptr) continue;
    // One look-up and one addition, whether they are missing on the left, on the right or on both.
    const unsigned missing = line.kernel - (window.end - window.begin);
    if (missing == 0) continue;
    for (unsigned lane = 0; lane < lanes; ++lane)
      out[lane] = rule.along(out[lane], static_cast<typename Rule::Value>(line.missing[missing]));
  }
}

static PoolElements loop_pool_along(const PoolRule& rule, const PoolLine& line,
                                    PoolElements at_most, const void* in, void* values) {
  with_rule(rule, [&]<typename Rule>(const Rule& as) {
    constexpr unsigned kAtomLanes = 32 / sizeof(typename Rule::Element);
    const auto* from = static_cast<const typename Rule::Element*>(in);
    auto* to = static_cast<typename Rule::Value*>(values);
    line.lanes == kAtomLanes ? pool_windows<kAtomLanes>(as, line, from, to)
                             : pool_windows<0>(as, line, from, to);
  });
  return at_most == PoolElements::kAny ? PoolElements::kAny : PoolElements::kPlain;
}

// So many values stay in cache from row to row.
constexpr size_t kPoolRun = 256;

template <typename Rule>
static void pool_run(const Rule& rule, const PoolRows& rows, size_t first, size_t count,
                     typename Rule::Element* __restrict out) {
  using Value = typename Rule::Value;
  Value sums[kPoolRun];
  const auto row = [&](unsigned y) { return static_cast<const Value*>(rows.values[y]) + first; };
  const Value* __restrict top = row(0);
  for (size_t i = 0; i < count; ++i) sums[i] = top[i];
  for (unsigned y = 1; y < rows.rows; ++y) {
    const Value* __restrict next = row(y);
    for (size_t i = 0; i < count; ++i) sums[i] = rule.across(sums[i], next[i]);
  }
  if (rows.missing != nullptr) {
    const auto more = static_cast<Value>(*rows.missing);
    for (size_t i = 0; i < count; ++i) sums[i] = rule.along(sums[i], more);
  }
  for (size_t i = 0; i < count; ++i) out[first + i] = rule.store(sums[i]);
}

static void loop_pool_down(const PoolRule& rule, const PoolRows& rows, PoolElements /*elements*/,
                           void* out) {
  with_rule(rule, [&]<typename Rule>(const Rule& as) {
    for (size_t i = 0; i < rows.count; i += kPoolRun)
      pool_run(as, rows, i, rows.count - i < kPoolRun ? rows.count - i : kPoolRun,
               static_cast<typename Rule::Element*>(out));
  });
}

static HalfSpecials loop_count_specials(const uint16_t* halves, size_t count) {
  // Counts of so many fit 16 bits.
  constexpr size_t kRun = 32768;
  HalfSpecials sum{0, 0};
  for (size_t at = 0; at < count; at += kRun) {
    const size_t end = count - at < kRun ? count : at + kRun;
    // Mostly there are none.
    int16_t most = 0;
    for (size_t i = at; i < end; ++i) {
      const auto magnitude = static_cast<int16_t>(halves[i] & 0x7fff);
      most = magnitude > most ? magnitude : most;
    }
    if (most < 0x7c00) continue;
    uint16_t nan = 0, infinite = 0;
    for (size_t i = at; i < end; ++i) {
      const auto magnitude = static_cast<int16_t>(halves[i] & 0x7fff);
      nan = static_cast<uint16_t>(nan + (magnitude > 0x7c00 ? 1 : 0));
      infinite = static_cast<uint16_t>(infinite + (magnitude == 0x7c00 ? 1 : 0));
    }
    sum.nan += nan;
    sum.infinite += infinite;
  }
  return sum;
}
