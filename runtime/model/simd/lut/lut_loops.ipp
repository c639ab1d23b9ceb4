// SPDX-License-Identifier: MIT
//
// Loops of the tables of SDP and CDP: a search without branches, one look-up after the other, and
// an interpolation. What lies beyond a table has a place with the same entry twice there, and where
// that is not all, a loop of its own.

// Of an int32_t x - start fits 32 bits, of the index of CDP in int16 a double.
static inline int32_t table_log(uint32_t distance) {
  // Without the bit below the leading one, no rounding carries.
  const auto even = static_cast<int32_t>((distance & ~(distance >> 1)) >> 1);
  const int32_t log = (lane_bits(static_cast<float>(even)) >> kLaneMantissaBits) - 126;
  return log > 0 ? log : 0;
}

static inline int32_t table_log(uint64_t distance) {
  // Its value is that of the mantissa of a number from 2^52 on.
  const uint64_t bits = distance | 0x4330000000000000;
  double number;
  __builtin_memcpy(&number, &bits, sizeof(number));
  number -= 0x1p52;
  uint64_t result;
  __builtin_memcpy(&result, &number, sizeof(result));
  const int32_t log = static_cast<int32_t>(result >> 52) - 1023;
  return log < 0 ? 0 : log > 63 ? 63 : log;
}

struct TablePlace {
  int32_t side, place, fraction;
};

static inline TablePlace table_place(const TableSearch& search, bool under, int32_t index,
                                     int32_t fraction) {
  const bool over = index >= search.last;
  int32_t place = search.first + (over ? search.last + 1 : index);
  place = under ? search.first + search.last : place;
  int32_t side = over ? kTableOver : kTableHit;
  side = under ? kTableUnder : side;
  return {side, place, fraction};
}

template <bool kExponential, typename Unsigned, typename Signed>
static inline TablePlace table_find_in(const IntTableSearch& search, Signed x) {
  constexpr unsigned kBits = 8 * sizeof(Unsigned);
  const auto start = static_cast<Signed>(search.start);
  const Unsigned distance = static_cast<Unsigned>(x) - static_cast<Unsigned>(start);
  if constexpr (kExponential) {
    const int32_t log = table_log(distance);
    const int32_t index = log - search.places.offset;
    const Unsigned fraction = distance << (kBits - 1 - static_cast<unsigned>(log));
    return table_place(search.places, (x <= start) | (index < 0), index,
                       static_cast<int32_t>(fraction >> (kBits - 32)) & kLaneMagnitude);
  } else {
    const auto most = static_cast<Unsigned>(search.most);
    const Unsigned limited = distance < most ? distance : most;
    const Unsigned steps = (limited << search.left) >> search.right;
    const int32_t index = static_cast<int32_t>(steps < 511 ? steps : 511);
    // A shift by all bits is none.
    const Unsigned below = search.right == 0 ? 0 : ~Unsigned{0};
    const Unsigned fraction = distance << ((kBits - search.right) % kBits) & below;
    return table_place(search.places, x <= start, index,
                       static_cast<int32_t>(fraction >> (kBits - 31)));
  }
}

// Where a run lies in one of the tables. Loops that are short and leave everything in memory are
// what the compiler vectorises.
struct TablePlaces {
  int32_t side[kTableRun], place[kTableRun], fraction[kTableRun];

  inline void set(unsigned i, const TablePlace& found) {
    side[i] = found.side;
    place[i] = found.place;
    fraction[i] = found.fraction;
  }
};

static void table_choose(const TableChoice& of, const TablePlaces& le, const TablePlaces& lo,
                         TableRun& run) {
  const TableChoice choice = of;
  const unsigned count = run.count;
  for (unsigned i = 0; i < count; ++i) {
    const int32_t side_le = le.side[i], side_lo = lo.side[i];
    const int32_t beyond = side_le == kTableUnder ? choice.under : choice.over;
    const bool alike = (side_le == side_lo) & (side_le != kTableHit);
    const bool only_le = (side_le == kTableHit) & (side_lo != kTableHit);
    const bool only_lo = (side_le != kTableHit) & (side_lo == kTableHit);
    int32_t choose = alike ? beyond : choice.hybrid;
    choose = only_le ? 0 : choose;
    choose = only_lo ? 1 : choose;
    run.place[i] = choose != 0 ? lo.place[i] : le.place[i];
    run.fraction[i] = choose != 0 ? lo.fraction[i] : le.fraction[i];
    run.sides[i] = side_le + 4 * side_lo + 16 * (choose != 0 ? side_lo : side_le);
  }
}

static TableCounts loop_table_count(const TableRun& run) {
  const unsigned count = run.count;
  uint32_t answer_under = 0, answer_over = 0, le_hit = 0, lo_hit = 0;
  for (unsigned i = 0; i < count; ++i) {
    const int32_t sides = run.sides[i];
    answer_under += sides >> 4 == kTableUnder ? 1 : 0;
    answer_over += sides >> 4 == kTableOver ? 1 : 0;
    le_hit += (sides & 3) == kTableHit ? 1 : 0;
    lo_hit += (sides >> 2 & 3) == kTableHit ? 1 : 0;
  }
  uint32_t both_under = 0, both_hit = 0, both_over = 0;
  for (unsigned i = 0; i < count; ++i) {
    const int32_t both = run.sides[i] & 15;
    both_under += both == 5 * kTableUnder ? 1 : 0;
    both_hit += both == 5 * kTableHit ? 1 : 0;
    both_over += both == 5 * kTableOver ? 1 : 0;
  }
  return {answer_under, answer_over, le_hit, lo_hit, both_under, both_hit, both_over};
}

template <bool kExponential, typename Unsigned, typename Signed>
static void table_find_in(const IntTableSearch& of, const Signed* __restrict x, unsigned count,
                          TablePlaces& places) {
  const IntTableSearch search = of;
  for (unsigned i = 0; i < count; ++i)
    places.set(i, table_find_in<kExponential, Unsigned>(search, x[i]));
}

template <typename Unsigned, typename Signed>
static void table_find_ints(const IntTables& tables, const Signed* x, TableRun& run) {
  TablePlaces le, lo;
  tables.le.places.exponential ? table_find_in<true, Unsigned>(tables.le, x, run.count, le)
                               : table_find_in<false, Unsigned>(tables.le, x, run.count, le);
  table_find_in<false, Unsigned>(tables.lo, x, run.count, lo);
  table_choose(tables.choice, le, lo, run);
}

static void loop_table_find(const IntTables& tables, const int32_t* x, TableRun& run) {
  table_find_ints<uint32_t>(tables, x, run);
}

static void loop_table_find_wide(const IntTables& tables, const int64_t* x, TableRun& run) {
  table_find_ints<uint64_t>(tables, x, run);
}

template <bool kExponential>
static inline TablePlace table_find_float(const FloatTableSearch& search, int32_t distance) {
  // A NaN too.
  const bool under = (distance <= 0) | (distance > kLaneInfinite);
  const int32_t exponent = (distance >> kLaneMantissaBits) - 127;
  const int32_t mantissa = distance & kLaneMantissa;
  if constexpr (kExponential) {
    const int32_t index = exponent - search.places.offset;
    const float fraction = lane_float(0x3f800000 | mantissa) - 1.0f;
    return table_place(search.places, under | (index < 0), index, lane_bits(fraction));
  } else {
    // In steps of the table, as far as that matters.
    int32_t scale = exponent - search.select;
    scale = scale > 9 ? 9 : scale;
    scale = scale < -100 ? -100 : scale;
    const float steps = lane_float(((scale + 127) << kLaneMantissaBits) | mantissa);
    const auto index = static_cast<int32_t>(steps);
    const float fraction = steps - static_cast<float>(index);
    // 35 bits of a fraction take part: what is below 2^-12 has more. All differences are exact.
    constexpr int32_t kTiny = (127 - 12) << kLaneMantissaBits;
    const int32_t bits = lane_bits(steps);
    const float tiny = lane_float(bits < kTiny ? bits : kTiny);
    const float kept = static_cast<float>(static_cast<int32_t>(tiny * 0x1p35f)) * 0x1p-35f;
    return table_place(search.places, under, index, lane_bits(fraction - tiny + kept));
  }
}

template <bool kExponential>
static void table_find_float(const FloatTableSearch& of, const int32_t* __restrict x,
                             unsigned count, TablePlaces& places) {
  const FloatTableSearch search = of;
  int32_t distances[kTableRun];
  for (unsigned i = 0; i < count; ++i) distances[i] = lane_add<Lane32>(x[i], search.minus_start);
  for (unsigned i = 0; i < count; ++i)
    places.set(i, table_find_float<kExponential>(search, distances[i]));
}

static void loop_table_find_float(const FloatTables& tables, const int32_t* x, TableRun& run) {
  TablePlaces le, lo;
  tables.le.places.exponential ? table_find_float<true>(tables.le, x, run.count, le)
                               : table_find_float<false>(tables.le, x, run.count, le);
  table_find_float<false>(tables.lo, x, run.count, lo);
  table_choose(tables.choice, le, lo, run);
}

static inline int64_t limit64(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

// Round half away from zero, which is half up less the last bit of a negative number.
static inline int64_t round_right(int64_t value, unsigned shift) {
  const int64_t half = shift == 0 ? 0 : int64_t{1} << (shift - 1);
  const int64_t tie = shift == 0 ? 0 : value >> 63;
  return (value + half + tie) >> shift;
}

// Beyond a table, of at most 48 bits of distance; both the step and the result saturate.
template <typename Signed>
static void table_beyond(const IntBeyond& beyond, const TableRun& run, const Signed* x,
                         int64_t step_limit, int64_t low, int64_t high, int32_t* out) {
  const unsigned count = run.count;
  const IntBeyond b = beyond;
  const unsigned right = b.shift > 0 ? static_cast<unsigned>(b.shift) : 0;
  const unsigned left = b.shift < 0 ? static_cast<unsigned>(-b.shift) : 0;
  // What is shifted to the left is limited by what the limit is then.
  const int64_t most = left == 0 ? INT64_MAX : step_limit;
  for (unsigned i = 0; i < count; ++i) {
    const int64_t product = limit64((x[i] - b.anchor) * b.slope, -most, most);
    const int64_t shifted = round_right(product, right) * (int64_t{1} << left);
    const int64_t step = limit64(shifted, -step_limit, step_limit - 1);
    const int64_t result = limit64(b.entry + step, low, high);
    out[i] = run.place[i] == b.place ? static_cast<int32_t>(result) : out[i];
  }
}

static void loop_sdp_table(const IntTables& tables, const TableRun& run, int32_t* values) {
  const unsigned count = run.count;
  uint32_t pairs[kTableRun];
  int32_t out[kTableRun];
  for (unsigned i = 0; i < count; ++i) pairs[i] = tables.pairs[run.place[i]];
  for (unsigned i = 0; i < count; ++i) {
    const int32_t low = static_cast<int16_t>(pairs[i]);
    const int32_t rise = (static_cast<int32_t>(pairs[i]) >> 16) - low;
    const int64_t sum = low * (int64_t{1} << 31) + int64_t{rise} * run.fraction[i];
    out[i] =
        static_cast<int32_t>(static_cast<uint64_t>(sum + (int64_t{1} << 30) + (sum >> 63)) >> 31);
  }
  for (unsigned i = 0; i < tables.sloped; ++i)
    table_beyond(tables.beyond[i], run, values, int64_t{1} << 31, INT32_MIN, INT32_MAX, out);
  for (unsigned i = 0; i < count; ++i) values[i] = out[i];
}

// Steps that are greater saturate the result, whatever the entry is.
constexpr int64_t kCdpStep = 1 << 20;

// 16 bits of a fraction take part.
template <typename Signed>
static void cdp_table_ints(const IntTables& tables, const TableRun& run, const Signed* x,
                           int32_t* __restrict out) {
  const unsigned count = run.count;
  uint32_t pairs[kTableRun];
  for (unsigned i = 0; i < count; ++i) pairs[i] = tables.pairs[run.place[i]];
  for (unsigned i = 0; i < count; ++i) {
    const int32_t low = static_cast<int16_t>(pairs[i]);
    const int32_t rise = (static_cast<int32_t>(pairs[i]) >> 16) - low;
    const auto magnitude = static_cast<uint32_t>(rise < 0 ? -rise : rise);
    const uint32_t product = magnitude * static_cast<uint32_t>(run.fraction[i] >> 15);
    const auto rounded = static_cast<int32_t>((product + 0x8000) >> 16);
    out[i] = low + (rise < 0 ? -rounded : rounded);
  }
  for (unsigned i = 0; i < tables.sloped; ++i)
    table_beyond(tables.beyond[i], run, x, kCdpStep, INT16_MIN, INT16_MAX, out);
}

static void loop_cdp_table(const IntTables& tables, const TableRun& run, const int32_t* x,
                           int32_t* out) {
  cdp_table_ints(tables, run, x, out);
}

static void loop_cdp_table_wide(const IntTables& tables, const TableRun& run, const int64_t* x,
                                int32_t* out) {
  cdp_table_ints(tables, run, x, out);
}

// fp32 to fp17: what would be a denormal rounds as one, to a zero or to the smallest number.
static inline int32_t lane_to17(int32_t value) {
  const int32_t magnitude = value & kLaneMagnitude;
  constexpr int32_t kAlmostLeast = Lane17::kLeast - (1 << 12);
  int32_t result = lane_round<Lane17>(magnitude);
  result = result > Lane17::kMost ? Lane17::kMost : result;
  const int32_t small = magnitude >= kAlmostLeast ? Lane17::kLeast : 0;
  result = magnitude < Lane17::kLeast ? small : result;
  result = magnitude > kLaneInfinite ? magnitude : result;
  return (value & kLaneSign) | result;
}

// A number from 0 up to 1, not a NaN, to fp17.
static inline int32_t lane_weight(int32_t bits) {
  return lane_limit<Lane17>(lane_round<Lane17>(bits));
}

// 1 less that, rounded once: what fp32 drops of the difference still decides at a tie.
static inline int32_t lane_rest(int32_t bits) {
  const float fraction = lane_float(bits);
  const float rest = 1.0f - fraction;
  const float back = 1.0f - rest;
  const int32_t down = lane_bits(rest) - (back < fraction ? 1 : 0);
  return lane_weight(down | (back != fraction ? 1 : 0));
}

static void float_beyond(const FloatTables& tables, const TableRun& run, const int32_t* x,
                         int32_t* __restrict out) {
  const unsigned count = run.count;
  for (const FloatBeyond& beyond : tables.beyond) {
    const FloatBeyond b = beyond;
    int32_t any = 0;
    for (unsigned i = 0; i < count; ++i) any |= run.place[i] == b.place ? 1 : 0;
    if (any == 0) continue;
    for (unsigned i = 0; i < count; ++i) {
      const int32_t distance = lane_to17(lane_add<Lane32>(x[i], b.minus_anchor));
      const int32_t step = lane_mul<Lane17>(distance, b.slope);
      const int32_t result = lane_add<Lane17>(b.entry, step);
      out[i] = run.place[i] == b.place ? result : out[i];
    }
  }
}

static void loop_sdp_table_float(const FloatTables& tables, const TableRun& run, int32_t* values) {
  const unsigned count = run.count;
  int32_t low[kTableRun], high[kTableRun], out[kTableRun];
  for (unsigned i = 0; i < count; ++i) {
    low[i] = tables.first[run.place[i]];
    high[i] = tables.second[run.place[i]];
  }
  for (unsigned i = 0; i < count; ++i) {
    const int32_t of_low = lane_mul<Lane17>(lane_rest(run.fraction[i]), low[i]);
    const int32_t of_high = lane_mul<Lane17>(lane_weight(run.fraction[i]), high[i]);
    out[i] = lane_add<Lane17>(of_low, of_high);
  }
  float_beyond(tables, run, values, out);
  for (unsigned i = 0; i < count; ++i) values[i] = out[i];
}

static void loop_cdp_table_float(const FloatTables& tables, const TableRun& run, const int32_t* x,
                                 int32_t* __restrict out) {
  const unsigned count = run.count;
  int32_t rise[kTableRun], low[kTableRun];
  for (unsigned i = 0; i < count; ++i) {
    rise[i] = tables.first[run.place[i]];
    low[i] = tables.second[run.place[i]];
  }
  for (unsigned i = 0; i < count; ++i) {
    const auto kept = static_cast<int32_t>(lane_float(run.fraction[i]) * 0x1p16f);
    const int32_t weight = lane_weight(lane_bits(static_cast<float>(kept) * 0x1p-16f));
    // The product is the first operand, which decides the sign of an exact zero.
    out[i] = lane_add<Lane17>(lane_mul<Lane17>(rise[i], weight), low[i]);
  }
  float_beyond(tables, run, x, out);
}

static inline void add_counts(const SideCounts& more, SideCounts& sum) {
  sum.le_hit += more.le_hit;
  sum.lo_hit += more.lo_hit;
  sum.both_under += more.both_under;
  sum.both_hit += more.both_hit;
  sum.both_over += more.both_over;
}

// kTableRun numbers at a time: look(x, run, out).
template <typename Look>
static inline SideCounts table_in_runs(const int32_t* x, unsigned count, int32_t* out, Look look) {
  SideCounts sum{};
  TableRun run;
  for (unsigned at = 0; at < count; at += run.count) {
    run.count = count - at < kTableRun ? count - at : kTableRun;
    look(x + at, run, out + at);
    const TableCounts counts = loop_table_count(run);
    add_counts({counts.le_hit, counts.lo_hit, counts.both_under, counts.both_hit, counts.both_over},
               sum);
  }
  return sum;
}

static SideCounts loop_cdp_look_up(const IntTables& tables, const int32_t* x, unsigned count,
                                   int32_t* out) {
  return table_in_runs(x, count, out, [&](const int32_t* from, TableRun& run, int32_t* to) {
    loop_table_find(tables, from, run);
    loop_cdp_table(tables, run, from, to);
  });
}

static SideCounts loop_cdp_look_up_plain(const FloatTables& tables, const int32_t* x,
                                         unsigned count, bool /*counts*/, int32_t* out) {
  return table_in_runs(x, count, out, [&](const int32_t* from, TableRun& run, int32_t* to) {
    loop_table_find_float(tables, from, run);
    loop_cdp_table_float(tables, run, from, to);
  });
}
