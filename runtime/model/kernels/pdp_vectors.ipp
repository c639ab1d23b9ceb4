// SPDX-License-Identifier: MIT
//
// Averages of fp16 of plain elements in vectors. All sums are multiples of 2^-24 and far from the
// ends of fp17, so the processor's fp32 and a rounding to 11 bits are the hardware's arithmetic but
// for two things: a sum in doubt is computed again as pdp_loops.ipp does, and the sign of a zero
// takes a second look where anything has a sign.

// Half of the last place below a power of two, less a little: the hardware drops that bit, and
// rounds up.
constexpr int32_t kAlmostTie = 0x007feffc;
constexpr int32_t kLargestHalf = 0x477fe000;
// So many sums side by side do not wait for each other.
constexpr unsigned kSums = 4;

// To 11 bits, to nearest even: 2^13 - 1 times the sum is so much more that fp32 has 11 bits left
// for the sum, which is what is missing to 2^13 times. A zero loses its sign.
static inline Floats round_sum(Floats sum) {
  const Floats less = Vector::fill(static_cast<int32_t>(0xc5fff800));  // 1 - 2^13
  const Floats more = Vector::fill(0x46000000);                        // 2^13
  return Vector::multiply_add(Vector::multiply(sum, less), sum, more);
}

template <bool kSigns>
static inline Floats add_halves(Floats a, Floats b, Doubt& doubt) {
  const Floats sum = Vector::add(a, b);
  doubt.where_mantissa(sum, kAlmostTie);
  return kSigns ? Vector::sign_of_zero(round_sum(sum), a) : round_sum(sum);
}

template <bool kSigns>
static inline Floats round_product(Floats product) {
  return kSigns ? Vector::round_to_17(product) : round_sum(product);
}

// Of halves, or of patterns of fp32.
template <typename Pattern>
static bool any_sign(const Pattern* patterns, size_t count) {
  Pattern all = 0;
  for (size_t i = 0; i < count; ++i) all = static_cast<Pattern>(all | patterns[i]);
  return all < 0;
}

// Where sums are 0, in lanes that do not matter.
template <bool kSigns, unsigned kNumber>
static inline void find_zeros(const Floats (&sums)[kNumber], Doubt& zeros) {
  if constexpr (!kSigns)
    for (const Floats& sum : sums) zeros.where_zero(sum);
}

// Of windows of `columns` columns that begin `step` elements apart.
template <bool kSigns, unsigned kNumber>
[[gnu::always_inline]] static inline void sum_columns(const uint16_t* at, size_t step,
                                                      unsigned columns, unsigned lanes,
                                                      Floats (&sums)[kNumber], Doubt& doubt) {
  for (unsigned k = 0; k < kNumber; ++k) sums[k] = Vector::from_halves(at + k * step);
  for (unsigned i = 1; i < columns; ++i) {
    at += lanes;
    for (unsigned k = 0; k < kNumber; ++k)
      sums[k] = add_halves<kSigns>(sums[k], Vector::from_halves(at + k * step), doubt);
  }
}

// Of windows of kColumns columns that begin kStride columns apart. Columns of two windows are
// loaded once.
template <bool kSigns, unsigned kColumns, unsigned kStride, unsigned kNumber>
[[gnu::always_inline]] static inline void sum_shared_columns(const uint16_t* at, unsigned lanes,
                                                             Floats (&sums)[kNumber],
                                                             Doubt& doubt) {
  constexpr unsigned kAll = (kNumber - 1) * kStride + kColumns;
  Floats columns[kAll];
  for (unsigned i = 0; i < kAll; ++i) columns[i] = Vector::from_halves(at + size_t{i} * lanes);
  for (unsigned k = 0; k < kNumber; ++k) sums[k] = columns[k * kStride];
  for (unsigned i = 1; i < kColumns; ++i)
    for (unsigned k = 0; k < kNumber; ++k)
      sums[k] = add_halves<kSigns>(sums[k], columns[k * kStride + i], doubt);
}

// What is to be looked at again.
struct AverageDoubts {
  bool sums, zeros;
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

template <bool kSigns, unsigned kColumns = 0, unsigned kStride = 0>
static AverageDoubts average_along_in(const PoolLine& of, const uint16_t* in, int32_t* out) {
  const PoolLine line = of;
  Doubt doubt, zeros;
  each_window<kSums>(
      line,
      [&](unsigned x) {
        const PoolWindow window = pool_window(line, x);
        const unsigned columns = window.end - window.begin, missing = line.kernel - columns;
        const uint16_t* at = in + size_t{window.begin} * line.lanes;
        for (unsigned lane = 0; lane < line.lanes; lane += Vector::kLanes) {
          Floats sum[1];
          sum_columns<kSigns>(at + lane, 0, columns, line.lanes, sum, doubt);
          if (missing != 0)
            sum[0] = add_halves<kSigns>(sum[0], Vector::fill(line.missing[missing]), doubt);
          find_zeros<kSigns>(sum, zeros);
          Vector::store(sum[0], out + size_t{x} * line.lanes + lane);
        }
      },
      [&](unsigned x) {
        const uint16_t* at = in + size_t{x * line.stride - line.left} * line.lanes;
        for (unsigned lane = 0; lane < line.lanes; lane += Vector::kLanes) {
          Floats sums[kSums];
          if constexpr (kColumns != 0) {
            sum_shared_columns<kSigns, kColumns, kStride>(at + lane, line.lanes, sums, doubt);
          } else {
            sum_columns<kSigns>(at + lane, size_t{line.stride} * line.lanes, line.kernel,
                                line.lanes, sums, doubt);
          }
          find_zeros<kSigns>(sums, zeros);
          for (unsigned k = 0; k < kSums; ++k)
            Vector::store(sums[k], out + size_t{x + k} * line.lanes + lane);
        }
      });
  return {doubt.any(), zeros.any()};
}

// False where a sum is in doubt.
static bool average_along(const PoolLine& line, const uint16_t* in, int32_t* out) {
  const bool twos = line.kernel == 2 && line.stride == 2;
  const bool threes_by_two = line.kernel == 3 && line.stride == 2;
  const bool threes = line.kernel == 3 && line.stride == 1;
  const auto average = twos            ? average_along_in<false, 2, 2>
                       : threes_by_two ? average_along_in<false, 3, 2>
                       : threes        ? average_along_in<false, 3, 1>
                                       : average_along_in<false>;
  const AverageDoubts doubts = average(line, in, out);
  const bool signs = doubts.zeros && (any_sign(reinterpret_cast<const int16_t*>(in),
                                               size_t{line.width} * line.lanes) ||
                                      any_sign(line.missing, line.kernel));
  return !doubts.sums && (!signs || !average_along_in<true>(line, in, out).sums);
}

// kNumber vectors of an average from `at` on.
template <bool kSigns, unsigned kNumber>
static inline AverageDoubts average_vectors(const PoolRule& rule, const PoolRows& rows, size_t at,
                                            uint16_t* out) {
  Doubt doubt, zeros;
  const auto row = [&](unsigned y, unsigned k) {
    return Vector::load(static_cast<const int32_t*>(rows.values[y]) + at + k * Vector::kLanes);
  };
  Floats sums[kNumber];
  for (unsigned k = 0; k < kNumber; ++k) sums[k] = row(0, k);
  for (unsigned y = 1; y < rows.rows; ++y)
    for (unsigned k = 0; k < kNumber; ++k) sums[k] = add_halves<kSigns>(row(y, k), sums[k], doubt);
  if (rows.missing != nullptr)
    for (Floats& sum : sums) sum = add_halves<kSigns>(sum, Vector::fill(*rows.missing), doubt);
  for (Floats& sum : sums) {
    sum = round_product<kSigns>(Vector::multiply(sum, Vector::fill(rule.reciprocal_width)));
    sum = round_product<kSigns>(Vector::multiply(sum, Vector::fill(rule.reciprocal_height)));
    sum = Vector::least(Vector::most(sum, Vector::fill(kLargestHalf | kLaneSign)),
                        Vector::fill(kLargestHalf));
  }
  find_zeros<kSigns>(sums, zeros);
  for (unsigned k = 0; k < kNumber; ++k) Vector::to_halves(sums[k], out + at + k * Vector::kLanes);
  return {doubt.any(), zeros.any()};
}

// False where a sum is in doubt.
template <unsigned kNumber>
static bool average_down_in(const PoolRule& rule, const PoolRows& rows, size_t at, uint16_t* out) {
  const AverageDoubts doubts = average_vectors<false, kNumber>(rule, rows, at, out);
  bool signs = doubts.zeros && rows.missing != nullptr && any_sign(rows.missing, 1);
  for (unsigned y = 0; y < rows.rows && doubts.zeros; ++y)
    signs |= any_sign(static_cast<const int32_t*>(rows.values[y]) + at, kNumber * Vector::kLanes);
  return !doubts.sums && (!signs || !average_vectors<true, kNumber>(rule, rows, at, out).sums);
}

// The greatest and the least, by atoms of 32 bytes. Reduced lines of fp16 are integers of the same
// order.
using Atom = Atoms::Atom;

struct MaxOfInt8 {
  static Atom load(Atom atom) { return atom; }
  static Atom store(Atom atom) { return atom; }
  static Atom of(Atom a, Atom b) { return Atoms::most_int8(a, b); }
};

struct MinOfInt8 : MaxOfInt8 {
  static Atom of(Atom a, Atom b) { return Atoms::least_int8(a, b); }
};

struct MaxOfInt16 : MaxOfInt8 {
  static Atom of(Atom a, Atom b) { return Atoms::most_int16(a, b); }
};

struct MinOfInt16 : MaxOfInt8 {
  static Atom of(Atom a, Atom b) { return Atoms::least_int16(a, b); }
};

struct MaxOfHalf : MaxOfInt16 {
  static Atom load(Atom atom) { return Atoms::order(atom); }
  static Atom store(Atom atom) { return Atoms::order(atom); }
};

struct MinOfHalf : MaxOfHalf {
  static Atom of(Atom a, Atom b) { return Atoms::least_int16(a, b); }
};

constexpr size_t kAtomBytes = 32;

template <typename Extreme>
static inline Atom extreme_load(const char* in, size_t column) {
  return Extreme::load(Atoms::load(in + column * kAtomBytes));
}

// Columns of two windows are loaded once where kColumns and kStride say how windows lie.
template <typename Extreme, unsigned kColumns = 0, unsigned kStride = 0>
static void extreme_along_in(const PoolLine& of, const char* in, char* out) {
  constexpr unsigned kMany = 4;
  const PoolLine line = of;
  const auto one = [&](unsigned x) {
    const PoolWindow window = pool_window(line, x);
    Atom atom = extreme_load<Extreme>(in, window.begin);
    for (size_t i = window.begin + 1; i < window.end; ++i)
      atom = Extreme::of(atom, extreme_load<Extreme>(in, i));
    Atoms::store(atom, out + x * kAtomBytes);
  };
  if constexpr (kColumns == 0) {
    for (unsigned x = 0; x < line.out_width; ++x) one(x);
  } else {
    each_window<kMany>(line, one, [&](unsigned x) {
      const size_t first = x * kStride - line.left;
      constexpr unsigned kAll = (kMany - 1) * kStride + kColumns;
      Atom columns[kAll];
      for (unsigned i = 0; i < kAll; ++i) columns[i] = extreme_load<Extreme>(in, first + i);
      for (unsigned k = 0; k < kMany; ++k) {
        Atom atom = columns[k * kStride];
        for (unsigned i = 1; i < kColumns; ++i) atom = Extreme::of(atom, columns[k * kStride + i]);
        Atoms::store(atom, out + (x + k) * kAtomBytes);
      }
    });
  }
}

template <typename Extreme>
static void extreme_along(const PoolLine& line, const char* in, char* out) {
  if (line.kernel == 2 && line.stride == 2) return extreme_along_in<Extreme, 2, 2>(line, in, out);
  if (line.kernel == 3 && line.stride == 2) return extreme_along_in<Extreme, 3, 2>(line, in, out);
  if (line.kernel == 3 && line.stride == 1) return extreme_along_in<Extreme, 3, 1>(line, in, out);
  extreme_along_in<Extreme>(line, in, out);
}

template <typename Extreme>
static void extreme_down(const PoolRows& rows, size_t bytes, char* out) {
  const auto row = [&](unsigned y, size_t at) {
    return Atoms::load(static_cast<const char*>(rows.values[y]) + at);
  };
  for (size_t at = 0; at < bytes; at += kAtomBytes) {
    Atom atom = row(0, at);
    for (unsigned y = 1; y < rows.rows; ++y) atom = Extreme::of(atom, row(y, at));
    Atoms::store(Extreme::store(atom), out + at);
  }
}

// Calls `with` with what computes the greatest or the least; false if there is nothing.
template <typename With>
static inline bool with_extreme(PoolKind kind, bool plain, With with) {
  switch (kind) {
    case PoolKind::kMaxInt8:
      return with(MaxOfInt8{});
    case PoolKind::kMinInt8:
      return with(MinOfInt8{});
    case PoolKind::kMaxInt16:
      return with(MaxOfInt16{});
    case PoolKind::kMinInt16:
      return with(MinOfInt16{});
    case PoolKind::kMaxHalf:
      return plain && with(MaxOfHalf{});
    case PoolKind::kMinHalf:
      return plain && with(MinOfHalf{});
    default:
      return false;
  }
}

static inline size_t element_bytes(PoolKind kind) {
  return kind == PoolKind::kMaxInt8 || kind == PoolKind::kMinInt8 ? 1 : 2;
}

static void pool_along(const PoolRule& rule, const PoolLine& line, bool plain, const void* in,
                       void* values) {
  if (plain && rule.kind == PoolKind::kAverageHalf && line.lanes % Vector::kLanes == 0 &&
      average_along(line, static_cast<const uint16_t*>(in), static_cast<int32_t*>(values)))
    return;
  const bool atoms = line.lanes * element_bytes(rule.kind) == kAtomBytes;
  if (atoms && with_extreme(rule.kind, plain, [&]<typename Extreme>(Extreme) {
        extreme_along<Extreme>(line, static_cast<const char*>(in), static_cast<char*>(values));
        return true;
      }))
    return;
  loop_pool_along(rule, line, plain, in, values);
}

static void average_down(const PoolRule& rule, const PoolRows& rows, bool plain, uint16_t* out) {
  constexpr size_t kMany = size_t{kSums} * Vector::kLanes;
  for (size_t at = 0, count = 0; at < rows.count; at += count) {
    const size_t left = rows.count - at;
    count = left < kMany ? left : kMany;
    if (count == kMany && average_down_in<kSums>(rule, rows, at, out)) continue;
    count = left < Vector::kLanes ? left : Vector::kLanes;
    if (count == Vector::kLanes && average_down_in<1>(rule, rows, at, out)) continue;
    PoolRows part = rows;
    for (unsigned y = 0; y < rows.rows; ++y)
      part.values[y] = static_cast<const int32_t*>(rows.values[y]) + at;
    part.count = count;
    loop_pool_down(rule, part, plain, out + at);
  }
}

static void pool_down(const PoolRule& rule, const PoolRows& rows, bool plain, void* out) {
  if (plain && rule.kind == PoolKind::kAverageHalf)
    return average_down(rule, rows, plain, static_cast<uint16_t*>(out));
  const size_t bytes = rows.count * element_bytes(rule.kind);
  const bool atoms = bytes % kAtomBytes == 0;
  if (atoms && with_extreme(rule.kind, plain, [&]<typename Extreme>(Extreme) {
        extreme_down<Extreme>(rows, bytes, static_cast<char*>(out));
        return true;
      }))
    return;
  loop_pool_down(rule, rows, plain, out);
}
