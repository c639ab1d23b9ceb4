// SPDX-License-Identifier: MIT
//
// Averages of fp16 of plain elements in vectors. All sums are multiples of 2^-24 and far from the
// ends of fp17, so the processor's fp32 and a rounding to 11 bits are the hardware's arithmetic but
// for two things that only signs bring about: just below a power of two the hardware may round up,
// and a zero has the sign of the first number. Sums of which that may be true are few, and are
// added again with care; those in doubt even so are computed as pdp_loops.ipp does.

// The mantissa of a sum that is less than half of the last place below a power of two by so little
// that the hardware drops it, and rounds up.
constexpr int32_t kAlmostTie = 0x007feffc;
constexpr int32_t kLargestHalf = 0x477fe000;
// So many sums side by side do not wait for each other.
constexpr unsigned kSums = 4;

// A number's product with a factor of 11 bits, rounded as round_17() does.
class RoundedFactor {
 public:
  explicit RoundedFactor(int32_t factor)
      : less_(Vector::multiply(Vector::fill(factor), Vector::fill(kRoundLess))),
        more_(Vector::multiply(Vector::fill(factor), Vector::fill(kRoundMore))) {}
  Floats times(Floats value) const {
    return Vector::multiply_add(Vector::multiply(value, less_), value, more_);
  }

 private:
  Floats less_, more_;
};

// kNone: nothing has a sign. kFindOut: whether kEach is needed.
enum class Care { kNone, kFindOut, kEach };

template <Care kCare>
class HalfSums {
 public:
  Floats add(Floats a, Floats b) {
    const Floats sum = Vector::add(a, b);
    if constexpr (kCare != Care::kNone) doubt_.where_mantissa(sum, kAlmostTie);
    if constexpr (kCare != Care::kEach) return round_17(sum);
    return Vector::sign_of_zero(round_17(sum), a);
  }
  // Adds no more to these.
  template <unsigned kNumber>
  void end(const Floats (&sums)[kNumber]) {
    if constexpr (kCare == Care::kFindOut)
      for (const Floats& sum : sums) doubt_.where_zero(sum);
  }
  Floats multiply(Floats sum, int32_t pattern, const RoundedFactor& factor) const {
    if constexpr (kCare != Care::kEach) return factor.times(sum);
    return Vector::round_to_17(Vector::multiply(sum, Vector::fill(pattern)));
  }
  // Whether there is more to do than was done.
  bool doubtful() const { return kCare != Care::kNone && doubt_.any(); }

 private:
  Doubt doubt_;
};

// Windows that do not reach beyond the line, begin to end.
static inline PoolWindow whole_windows(const PoolLine& line) {
  const unsigned begin = (line.left + line.stride - 1) / line.stride;
  const unsigned room = line.left + line.width;
  const unsigned fit = room < line.kernel ? 0 : (room - line.kernel) / line.stride + 1;
  const unsigned end = fit < line.out_width ? fit : line.out_width;
  return begin < end ? PoolWindow{begin, end} : PoolWindow{0, 0};
}

// Calls `one` with each window and `many` with the first one of kMany whole ones: the last of these
// once more rather than one by one.
template <unsigned kMany, typename One, typename Many>
[[gnu::always_inline]] static inline void each_window(const PoolLine& line, One one, Many many) {
  PoolWindow whole = whole_windows(line);
  if (whole.end - whole.begin < kMany) whole = {0, 0};
  for (unsigned x = 0; x < whole.begin; ++x) one(x);
  for (unsigned x = whole.begin; x < whole.end; x += kMany)
    many(whole.end - x < kMany ? whole.end - kMany : x);
  for (unsigned x = whole.end; x < line.out_width; ++x) one(x);
}

// Elements of fp16 that an atom has.
constexpr unsigned kHalvesOfAtom = 16;

// A vector of each of kNumber windows, all of whose line.kernel columns are there. Columns of two
// windows are loaded once where kColumns and kStride, which are the line's then, say how windows
// lie. Returns whether a sum is doubtful.
template <Care kCare, unsigned kColumns, unsigned kStride, unsigned kNumber>
[[gnu::always_inline]] static inline bool sum_columns(const PoolLine& line, const uint16_t* at,
                                                      int32_t* out) {
  HalfSums<kCare> all;
  Floats sums[kNumber];
  if constexpr (kColumns != 0) {
    constexpr unsigned kAll = (kNumber - 1) * kStride + kColumns;
    Floats columns[kAll];
    for (unsigned i = 0; i < kAll; ++i) columns[i] = Vector::from_halves(at + i * kHalvesOfAtom);
    for (unsigned k = 0; k < kNumber; ++k) sums[k] = columns[k * kStride];
    for (unsigned i = 1; i < kColumns; ++i)
      for (unsigned k = 0; k < kNumber; ++k) sums[k] = all.add(sums[k], columns[k * kStride + i]);
  } else {
    const size_t step = size_t{line.stride} * kHalvesOfAtom;
    for (unsigned k = 0; k < kNumber; ++k) sums[k] = Vector::from_halves(at + k * step);
    for (unsigned i = 1; i < line.kernel; ++i) {
      at += kHalvesOfAtom;
      for (unsigned k = 0; k < kNumber; ++k)
        sums[k] = all.add(sums[k], Vector::from_halves(at + k * step));
    }
  }
  for (unsigned k = 0; k < kNumber; ++k) Vector::store(sums[k], out + k * kHalvesOfAtom);
  all.end(sums);
  return all.doubtful();
}

// The same again, of sums that turned out to be doubtful.
template <unsigned kNumber>
[[gnu::noinline]] static bool sum_columns_again(const PoolLine& line, const uint16_t* at,
                                                int32_t* out) {
  return sum_columns<Care::kEach, 0, 0, kNumber>(line, at, out);
}

// A vector of a window of so many columns.
template <Care kCare>
static inline bool sum_window(const PoolLine& line, const uint16_t* at, unsigned columns,
                              int32_t* out) {
  HalfSums<kCare> all;
  Floats sums[1] = {Vector::from_halves(at)};
  for (unsigned i = 1; i < columns; ++i)
    sums[0] = all.add(sums[0], Vector::from_halves(at + size_t{i} * kHalvesOfAtom));
  if (const unsigned missing = line.kernel - columns; missing != 0)
    sums[0] = all.add(sums[0], Vector::fill(line.missing[missing]));
  Vector::store(sums[0], out);
  all.end(sums);
  return all.doubtful();
}

// False where a sum is in doubt.
template <Care kCare, unsigned kColumns = 0, unsigned kStride = 0>
static bool average_along_in(const PoolLine& of, const uint16_t* in, int32_t* out) {
  const PoolLine line = of;
  bool certain = true;
  each_window<kSums>(
      line,
      [&](unsigned x) {
        const PoolWindow window = pool_window(line, x);
        const unsigned columns = window.end - window.begin;
        const uint16_t* at = in + size_t{window.begin} * kHalvesOfAtom;
        int32_t* to = out + size_t{x} * kHalvesOfAtom;
        for (unsigned lane = 0; lane < kHalvesOfAtom; lane += Vector::kLanes)
          if (sum_window<kCare>(line, at + lane, columns, to + lane)) [[unlikely]]
            certain &= !sum_window<Care::kEach>(line, at + lane, columns, to + lane);
      },
      [&](unsigned x) {
        const uint16_t* at = in + size_t{x * line.stride - line.left} * kHalvesOfAtom;
        int32_t* to = out + size_t{x} * kHalvesOfAtom;
        for (unsigned lane = 0; lane < kHalvesOfAtom; lane += Vector::kLanes)
          if (sum_columns<kCare, kColumns, kStride, kSums>(line, at + lane, to + lane)) [[unlikely]]
            certain &= !sum_columns_again<kSums>(line, at + lane, to + lane);
      });
  return certain;
}

template <Care kCare>
static bool average_along_with(const PoolLine& line, const uint16_t* in, int32_t* out) {
  const bool twos = line.kernel == 2 && line.stride == 2;
  const bool threes_by_two = line.kernel == 3 && line.stride == 2;
  const bool threes = line.kernel == 3 && line.stride == 1;
  const auto average = twos            ? average_along_in<kCare, 2, 2>
                       : threes_by_two ? average_along_in<kCare, 3, 2>
                       : threes        ? average_along_in<kCare, 3, 1>
                                       : average_along_in<kCare>;
  return average(line, in, out);
}

// Of halves, or of patterns of fp32.
template <typename Pattern>
static bool any_sign(const Pattern* patterns, size_t count) {
  Pattern all = 0;
  for (size_t i = 0; i < count; ++i) all = static_cast<Pattern>(all | patterns[i]);
  return all < 0;
}

static PoolElements average_along(const PoolRule& rule, const PoolLine& line, PoolElements at_most,
                                  const uint16_t* in, int32_t* out) {
  if (at_most == PoolElements::kUnsigned &&
      !any_sign(reinterpret_cast<const int16_t*>(in), size_t{line.width} * kHalvesOfAtom) &&
      !any_sign(line.missing + 1, line.kernel - 1)) {
    average_along_with<Care::kNone>(line, in, out);
    return PoolElements::kUnsigned;
  }
  if (!average_along_with<Care::kFindOut>(line, in, out))
    loop_pool_along(rule, line, PoolElements::kPlain, in, out);
  return PoolElements::kPlain;
}

struct AverageFactors {
  const PoolRule& rule;
  RoundedFactor width{rule.reciprocal_width}, height{rule.reciprocal_height};
};

// kNumber vectors of an average from `at` on. Returns whether one is doubtful.
template <Care kCare, unsigned kNumber>
[[gnu::always_inline]] static inline bool average_vectors(const AverageFactors& factors,
                                                          const PoolRows& rows, size_t at,
                                                          uint16_t* out) {
  const auto row = [&](unsigned y, unsigned k) {
    return Vector::load(static_cast<const int32_t*>(rows.values[y]) + at + k * Vector::kLanes);
  };
  HalfSums<kCare> all;
  Floats sums[kNumber];
  for (unsigned k = 0; k < kNumber; ++k) sums[k] = row(0, k);
  for (unsigned y = 1; y < rows.rows; ++y)
    for (unsigned k = 0; k < kNumber; ++k) sums[k] = all.add(row(y, k), sums[k]);
  if (rows.missing != nullptr)
    for (Floats& sum : sums) sum = all.add(sum, Vector::fill(*rows.missing));
  for (Floats& sum : sums) {
    sum = all.multiply(sum, factors.rule.reciprocal_width, factors.width);
    sum = all.multiply(sum, factors.rule.reciprocal_height, factors.height);
    sum = Vector::least(Vector::most(sum, Vector::fill(kLargestHalf | kLaneSign)),
                        Vector::fill(kLargestHalf));
  }
  all.end(sums);
  for (unsigned k = 0; k < kNumber; ++k) Vector::to_halves(sums[k], out + at + k * Vector::kLanes);
  return all.doubtful();
}

// The same again.
template <unsigned kNumber>
[[gnu::noinline]] static bool average_vectors_again(const AverageFactors& factors,
                                                    const PoolRows& rows, size_t at,
                                                    uint16_t* out) {
  return average_vectors<Care::kEach, kNumber>(factors, rows, at, out);
}

template <Care kCare>
static void average_down(const PoolRule& rule, const PoolRows& of, uint16_t* out) {
  const PoolRows rows = of;
  const AverageFactors factors{rule};
  // False where a sum is in doubt.
  const auto vectors = [&]<unsigned kNumber>(size_t at) {
    return !average_vectors<kCare, kNumber>(factors, rows, at, out) ||
           !average_vectors_again<kNumber>(factors, rows, at, out);
  };
  const auto one_by_one = [&](size_t begin, size_t end) {
    for (size_t at = begin, count = 0; at < end; at += count) {
      count = end - at < Vector::kLanes ? end - at : Vector::kLanes;
      if (count == Vector::kLanes && vectors.template operator()<1>(at)) continue;
      PoolRows part = rows;
      for (unsigned y = 0; y < rows.rows; ++y)
        part.values[y] = static_cast<const int32_t*>(rows.values[y]) + at;
      part.count = count;
      loop_pool_down(rule, part, PoolElements::kPlain, out + at);
    }
  };
  constexpr size_t kMany = size_t{kSums} * Vector::kLanes;
  if (rows.count < kMany) return one_by_one(0, rows.count);
  for (size_t next = 0; next < rows.count; next += kMany) {
    // The last of many once more rather than one by one.
    const size_t at = rows.count - next < kMany ? rows.count - kMany : next;
    if (!vectors.template operator()<kSums>(at)) one_by_one(at, at + kMany);
  }
}
