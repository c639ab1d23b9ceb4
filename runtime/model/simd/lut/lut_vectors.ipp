// SPDX-License-Identifier: MIT
//
// The tables of CDP in vectors, from the number to what the tables answer, in registers: both are
// searched, one is chosen, and one gathering load brings two neighbouring entries. Where an answer
// lies on a slope beyond a table, or could differ from the hardware's, table_loops.ipp computes it.

// Where numbers lie in one of the tables, and what they are beyond. Of `fraction` the low 16 bits
// are the way to the next entry.
struct PlacesOf {
  Ints place, fraction;
  Mask under, over;
};

// What is the same for all numbers stays in registers.
class PlaceOfIndex {
 public:
  explicit PlaceOfIndex(const TableSearch& search)
      : first_(Vector::same(search.first)),
        most_(Vector::same(search.last - 1)),
        under_(Vector::same(search.first + search.last)),
        over_(Vector::same(search.first + search.last + 1)) {}

  PlacesOf of(Ints index, Ints fraction, Mask under) const {
    const Mask over = Vector::without(Vector::above(index, most_), under);
    const Ints place = Vector::choose(over, over_, Vector::add(index, first_));
    return {Vector::choose(under, under_, place), fraction, under, over};
  }

 private:
  Ints first_, most_, under_, over_;
};

// Of distances above 0, as fp32: the index is their exponent, the fraction their mantissa.
class ExponentialPlaces {
 public:
  explicit ExponentialPlaces(const TableSearch& search)
      : place_(search), bias_(Vector::same(127 + search.offset)) {}

  PlacesOf of(Floats distance, Mask under) const {
    const Ints bits = Vector::ints(distance);
    const Ints index = Vector::subtract(Vector::right(bits, kLaneMantissaBits), bias_);
    under = Vector::either(under, Vector::above(Vector::same(0), index));
    return place_.of(index, Vector::right(bits, kLaneMantissaBits - 16), under);
  }

 private:
  PlaceOfIndex place_;
  Ints bias_;
};

// Of integers whose distances have 24 bits at most.
template <bool kExponential>
class IntPlaces {
 public:
  explicit IntPlaces(const IntTableSearch& search)
      : place_(search.places),
        exponential_(search.places),
        start_(Vector::same(static_cast<int32_t>(search.start))),
        most_(Vector::same(static_cast<int32_t>(search.most < kMost ? search.most : kMost))),
        has_fraction_(Vector::same(search.right == 0 ? 0 : -1)),
        left_(search.left),
        right_(search.right),
        fraction_left_(search.right < 16 ? 16 - search.right : 0),
        fraction_right_(search.right > 16 ? search.right - 16 : 0) {}

  PlacesOf of(Ints x) const {
    const Ints distance = Vector::subtract(x, start_);
    const Mask under = Vector::opposite(Vector::above(x, start_));
    if constexpr (kExponential) return exponential_.of(Vector::to_floats(distance), under);
    const Ints steps = Vector::left(Vector::least(distance, most_), left_);
    const Ints fraction = Vector::right(Vector::left(distance, fraction_left_), fraction_right_);
    return place_.of(Vector::right(steps, right_), Vector::both(fraction, has_fraction_), under);
  }

 private:
  static constexpr int32_t kMost = 1 << 24;

  PlaceOfIndex place_;
  ExponentialPlaces exponential_;
  Ints start_, most_, has_fraction_;
  unsigned left_, right_, fraction_left_, fraction_right_;
};

// Of patterns of fp32.
template <bool kExponential>
class FloatPlaces {
 public:
  explicit FloatPlaces(const FloatTableSearch& search)
      : place_(search.places),
        exponential_(search.places),
        minus_start_(Vector::fill(search.minus_start)),
        parts_(Vector::fill(kExponential ? 0 : (127 + 16 - search.select) << kLaneMantissaBits)) {}

  PlacesOf of(Ints x, Doubt& doubt) const {
    const Floats distance = Vector::add(as_floats(x), minus_start_);
    // Where little more than half of the last place is taken from a power of two.
    doubt.where_mantissa(distance, kLaneMantissa);
    const Mask under = Vector::above(Vector::same(1), Vector::ints(distance));
    if constexpr (kExponential) return exponential_.of(distance, under);
    // In parts of 2^-16 of a step, no more than are far beyond the table.
    const Floats parts = Vector::least(Vector::multiply(distance, parts_),
                                       Vector::fill((127 + 26) << kLaneMantissaBits));
    const Ints whole = Vector::truncate(parts);
    return place_.of(Vector::right_signed(whole, 16), whole, under);
  }

 private:
  PlaceOfIndex place_;
  ExponentialPlaces exponential_;
  Floats minus_start_, parts_;
};

// Which table answers.
class TableChooser {
 public:
  explicit TableChooser(const TableChoice& choice)
      : under_(Vector::condition(choice.under != 0)),
        over_(Vector::condition(choice.over != 0)),
        hybrid_(Vector::condition(choice.hybrid != 0)) {}

  struct Chosen {
    Ints place, fraction;
    Mask le_missed, lo_missed, both_under, both_over;
  };

  Chosen of(const PlacesOf& le, const PlacesOf& lo) const {
    Chosen chosen;
    chosen.le_missed = Vector::either(le.under, le.over);
    chosen.lo_missed = Vector::either(lo.under, lo.over);
    chosen.both_under = Vector::both(le.under, lo.under);
    chosen.both_over = Vector::both(le.over, lo.over);
    Mask of_lo = Vector::choose(chosen.both_under, under_, hybrid_);
    of_lo = Vector::choose(chosen.both_over, over_, of_lo);
    of_lo =
        Vector::choose(Vector::one_of(chosen.le_missed, chosen.lo_missed), chosen.le_missed, of_lo);
    chosen.place = Vector::choose(of_lo, lo.place, le.place);
    chosen.fraction =
        Vector::both(Vector::choose(of_lo, lo.fraction, le.fraction), Vector::same(0xffff));
    return chosen;
  }

 private:
  Mask under_, over_, hybrid_;
};

struct SideCounters {
  LaneCounter le_missed, lo_missed, both_under, both_over, any_missed;

  void add(const TableChooser::Chosen& chosen) {
    le_missed.add(chosen.le_missed);
    lo_missed.add(chosen.lo_missed);
    both_under.add(chosen.both_under);
    both_over.add(chosen.both_over);
    any_missed.add(Vector::either(chosen.le_missed, chosen.lo_missed));
  }
  SideCounts of(unsigned count) const {
    return {count - le_missed.sum(), count - lo_missed.sum(), both_under.sum(),
            count - any_missed.sum(), both_over.sum()};
  }
};

// Places from which a slope leads on.
class SlopedPlaces {
 public:
  void add(int32_t place) { places_[count_++] = Vector::same(place); }
  bool has(Ints place) const {
    if (count_ == 0) return false;
    Mask found = Vector::equal(place, places_[0]);
    for (unsigned i = 1; i < count_; ++i)
      found = Vector::either(found, Vector::equal(place, places_[i]));
    return Vector::any(found);
  }

 private:
  Ints places_[4];
  unsigned count_ = 0;
};

// Runs vectors of numbers through look(numbers, counters, out), which is false where the loop has
// to: loop(numbers, count, out).
template <typename Look, typename Loop>
[[gnu::always_inline]] static inline SideCounts look_up_vectors(const int32_t* x, unsigned count,
                                                                int32_t* out, const Look& look,
                                                                const Loop& loop) {
  SideCounters counters;
  SideCounts sum{};
  unsigned at = 0, looked_up = 0;
  for (; at + Vector::kLanes <= count; at += Vector::kLanes) {
    if (look(Vector::load_ints(x + at), counters, out + at)) {
      looked_up += Vector::kLanes;
    } else {
      add_counts(loop(x + at, Vector::kLanes, out + at), sum);
    }
  }
  add_counts(counters.of(looked_up), sum);
  if (at != count) add_counts(loop(x + at, count - at, out + at), sum);
  return sum;
}

template <bool kExponential>
static SideCounts cdp_look_up_in(const IntTables& tables, const int32_t* x, unsigned count,
                                 int32_t* out) {
  const IntPlaces<kExponential> le(tables.le);
  const IntPlaces<false> lo(tables.lo);
  const TableChooser chooser(tables.choice);
  SlopedPlaces sloped;
  for (unsigned i = 0; i < tables.sloped; ++i) sloped.add(tables.beyond[i].place);
  const uint32_t* pairs = tables.pairs;
  const auto look = [&](Ints numbers, SideCounters & counters, int32_t * to)
      __attribute__((always_inline)) {
    const auto chosen = chooser.of(le.of(numbers), lo.of(numbers));
    if (sloped.has(chosen.place)) return false;
    counters.add(chosen);
    const Ints pair = Vector::gather(pairs, chosen.place);
    const Ints low = Vector::right_signed(Vector::left(pair, 16), 16);
    const Ints rise = Vector::subtract(Vector::right_signed(pair, 16), low);
    // Half away from zero, of a magnitude that takes all 32 bits.
    const Ints sign = Vector::right_signed(rise, 31);
    const Ints magnitude = Vector::subtract(Vector::differing(rise, sign), sign);
    const Ints product =
        Vector::add(Vector::multiply(magnitude, chosen.fraction), Vector::same(0x8000));
    const Ints rounded = Vector::right(product, 16);
    const Ints step = Vector::subtract(Vector::differing(rounded, sign), sign);
    Vector::store(as_floats(Vector::add(low, step)), to);
    return true;
  };
  return look_up_vectors(x, count, out, look,
                         [&](const int32_t* from, unsigned number, int32_t* to) {
                           return loop_cdp_look_up(tables, from, number, to);
                         });
}

static SideCounts cdp_look_up(const IntTables& tables, const int32_t* x, unsigned count,
                              int32_t* out) {
  return tables.le.places.exponential ? cdp_look_up_in<true>(tables, x, count, out)
                                      : cdp_look_up_in<false>(tables, x, count, out);
}

// The half in the upper 16 bits, which is normal or 0, times 2^-112.
static inline Floats scaled_half(Ints upper) {
  constexpr auto kBits = static_cast<int32_t>(0x8fffe000);
  return as_floats(Vector::both(Vector::right_signed(upper, 3), Vector::same(kBits)));
}

// The table that answers where both have an answer. What it has is its answer whatever the other
// one says, and where nobody counts which one says what, nothing else is looked for.
template <typename Pairs>
class NearTable {
 public:
  static constexpr bool kCounts = false;

  NearTable(const FloatTables& tables, const FloatTableSearch& search)
      : pairs_(tables, search.places.first),
        minus_start_(Vector::fill(search.minus_start)),
        parts_(Vector::fill((127 + 16 - search.select) << kLaneMantissaBits)),
        end_(Vector::ints(Vector::to_floats(Vector::same((search.places.last << 16) - 1)))),
        from_zero_((search.minus_start & kLaneMagnitude) == 0) {}

  // False where one is not in the table, or an answer could differ from the hardware's.
  bool answer(Ints numbers, int32_t* to) const {
    Doubt doubt;
    Floats distance = as_floats(numbers);
    if (!from_zero_) {
      distance = Vector::add(distance, minus_start_);
      doubt.where_mantissa(distance, kLaneMantissa);
    }
    const Floats parts = Vector::multiply(distance, parts_);
    const Mask under = Vector::above(Vector::same(1), Vector::ints(distance));
    if (Vector::any(Vector::either(under, Vector::above(Vector::ints(parts), end_)))) return false;
    const Ints whole = Vector::truncate(parts);
    Floats rise, low;
    pairs_.fetch(Vector::right(whole, 16), rise, low);
    // All in parts of 2^-16.
    const Floats weight = round_17(Vector::to_floats(Vector::both(whole, Vector::same(0xffff))));
    const Floats product = round_17(Vector::multiply(rise, weight));
    const Floats sum =
        Vector::multiply_add(low, product, Vector::fill((127 - 16) << kLaneMantissaBits));
    doubt.where_mantissa(sum, kAlmostTie);
    Doubt zero = doubt;
    zero.where_zero(sum);
    Floats result = round_17(sum);
    if (zero.any()) [[unlikely]] {
      if (doubt.any()) return false;
      // The product is the first operand, which decides the sign of an exact zero.
      result = Vector::sign_of_zero(result, rise);
    }
    Vector::store(result, to);
    return true;
  }

 private:
  Pairs pairs_;
  Floats minus_start_, parts_;
  Ints end_;
  bool from_zero_;
};

// Looks for all, and counts.
struct NoNearTable {
  static constexpr bool kCounts = true;
  static constexpr bool answer(Ints, int32_t*) { return false; }
};

template <bool kExponential, typename Near>
static SideCounts cdp_look_up_plain_in(const FloatTables& tables, const int32_t* x, unsigned count,
                                       const Near& near, int32_t* out) {
  const FloatPlaces<kExponential> le(tables.le);
  const FloatPlaces<false> lo(tables.lo);
  const TableChooser chooser(tables.choice);
  SlopedPlaces sloped;
  for (unsigned i = 0; i < tables.sloped; ++i) sloped.add(tables.sloped_place[i]);
  const uint32_t* pairs = tables.pairs;
  const auto look = [&](Ints numbers, SideCounters & counters, int32_t * to)
      __attribute__((always_inline)) {
    if (near.answer(numbers, to)) return true;
    Doubt doubt;
    const auto chosen = chooser.of(le.of(numbers, doubt), lo.of(numbers, doubt));
    if (sloped.has(chosen.place)) return false;
    const Ints pair = Vector::gather(pairs, chosen.place);
    const Floats unscale = Vector::fill((127 + 112) << kLaneMantissaBits);
    const Floats low = Vector::multiply(scaled_half(Vector::left(pair, 16)), unscale);
    const Floats high = Vector::multiply(scaled_half(pair), unscale);
    const Floats rise = Vector::round_to_17(Vector::subtract(high, low));
    const Floats weight = Vector::multiply(Vector::round_to_17(Vector::to_floats(chosen.fraction)),
                                           Vector::fill((127 - 16) << kLaneMantissaBits));
    // The product is the first operand, which decides the sign of an exact zero.
    const Floats product = Vector::round_to_17(Vector::multiply(rise, weight));
    const Floats sum = Vector::add(product, low);
    doubt.where_mantissa(sum, kAlmostTie);
    if (doubt.any()) return false;
    if (Near::kCounts) counters.add(chosen);
    Vector::store(Vector::round_to_17(Vector::sign_of_zero(sum, product)), to);
    return true;
  };
  return look_up_vectors(x, count, out, look,
                         [&](const int32_t* from, unsigned number, int32_t* to) {
                           return loop_cdp_look_up_plain(tables, from, number, true, to);
                         });
}

template <bool kExponential>
static SideCounts cdp_look_up_plain_by(const FloatTables& tables, const int32_t* x, unsigned count,
                                       bool counts, int32_t* out) {
  if (!counts && tables.choice.hybrid != 0) {
    const NearTable<LoPairs> near(tables, tables.lo);
    return cdp_look_up_plain_in<kExponential>(tables, x, count, near, out);
  }
  if constexpr (!kExponential) {
    if (!counts) {
      const NearTable<LePairs> near(tables, tables.le);
      return cdp_look_up_plain_in<kExponential>(tables, x, count, near, out);
    }
  }
  return cdp_look_up_plain_in<kExponential>(tables, x, count, NoNearTable(), out);
}

static SideCounts cdp_look_up_plain(const FloatTables& tables, const int32_t* x, unsigned count,
                                    bool counts, int32_t* out) {
  return tables.le.places.exponential ? cdp_look_up_plain_by<true>(tables, x, count, counts, out)
                                      : cdp_look_up_plain_by<false>(tables, x, count, counts, out);
}

// Of int8: the loop has what saturates.
template <bool kMultiply>
static uint32_t cdp_out_bytes(const int32_t* results, const int32_t* values, unsigned count,
                              const CdpConverter& of, int8_t* elements) {
  const Ints offset = Vector::same(static_cast<int32_t>(of.offset));
  const Ints scale = Vector::same(static_cast<int32_t>(of.scale));
  const unsigned shift = of.shift;
  uint32_t saturated = 0;
  unsigned at = 0;
  for (; at + Vector::kLanes <= count; at += Vector::kLanes) {
    Ints result = Vector::load_ints(results + at);
    if constexpr (kMultiply) result = Vector::multiply(result, Vector::load_ints(values + at));
    result = Vector::multiply(Vector::subtract(result, offset), scale);
    result = Vector::round_right(result, shift);
    if (Vector::any(Vector::either(Vector::above(result, Vector::same(127)),
                                   Vector::above(Vector::same(-128), result)))) {
      saturated += cdp_give_bytes<kMultiply>(results + at, kMultiply ? values + at : values,
                                             Vector::kLanes, of, elements + at);
    } else {
      Vector::to_int8(result, elements + at);
    }
  }
  return saturated + cdp_give_bytes<kMultiply>(results + at, kMultiply ? values + at : values,
                                               count - at, of, elements + at);
}

static uint32_t cdp_out(const int32_t* results, const int32_t* values, unsigned count,
                        const CdpConverter& converter, bool bytes, void* elements) {
  if (!bytes || !cdp_fits(converter, values != nullptr))
    return loop_cdp_out(results, values, count, converter, bytes, elements);
  auto* to = static_cast<int8_t*>(elements);
  return values == nullptr ? cdp_out_bytes<false>(results, values, count, converter, to)
                           : cdp_out_bytes<true>(results, values, count, converter, to);
}
