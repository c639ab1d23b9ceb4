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

// Of windows that begin `step` elements apart, with so many columns each: of kColumns, or of
// `columns`.
template <bool kSigns, unsigned kColumns = 0, unsigned kNumber>
[[gnu::always_inline]] static inline void sum_columns(const uint16_t* at, size_t step,
                                                      unsigned columns, unsigned lanes,
                                                      Floats (&sums)[kNumber], Doubt& doubt) {
  const unsigned number = kColumns != 0 ? kColumns : columns;
  for (unsigned k = 0; k < kNumber; ++k) sums[k] = Vector::from_halves(at + k * step);
  for (unsigned i = 1; i < number; ++i) {
    at += lanes;
    for (unsigned k = 0; k < kNumber; ++k)
      sums[k] = add_halves<kSigns>(sums[k], Vector::from_halves(at + k * step), doubt);
  }
}

// What is to be looked at again.
struct AverageDoubts {
  bool sums, zeros;
};

// Windows from x on, of which none reaches beyond the line: false if there are no such.
static inline bool whole_windows(const PoolLine& line, unsigned x) {
  return line.out_width - x >= kSums && x * line.stride >= line.left &&
         (x + kSums - 1) * line.stride + line.kernel <= line.left + line.width;
}

template <bool kSigns, unsigned kColumns = 0>
static AverageDoubts average_along_in(const PoolLine& of, const uint16_t* in, int32_t* out) {
  const PoolLine line = of;
  const size_t step = size_t{line.stride} * line.lanes;
  // The last ones once more rather than one by one.
  const unsigned last = line.out_width < kSums ? 0 : line.out_width - kSums;
  Doubt doubt, zeros;
  for (unsigned x = 0; x < line.out_width;) {
    const unsigned first = x < last ? x : last;
    const bool whole = whole_windows(line, first);
    if (whole) x = first;
    const PoolWindow window = pool_window(line, x);
    const unsigned missing = line.kernel - (window.end - window.begin);
    const uint16_t* at = in + size_t{window.begin} * line.lanes;
    int32_t* to = out + size_t{x} * line.lanes;
    for (unsigned lane = 0; lane < line.lanes; lane += Vector::kLanes) {
      if (whole) {
        Floats sums[kSums];
        sum_columns<kSigns, kColumns>(at + lane, step, line.kernel, line.lanes, sums, doubt);
        find_zeros<kSigns>(sums, zeros);
        for (unsigned k = 0; k < kSums; ++k)
          Vector::store(sums[k], to + size_t{k} * line.lanes + lane);
      } else {
        Floats sum[1];
        sum_columns<kSigns>(at + lane, 0, window.end - window.begin, line.lanes, sum, doubt);
        if (missing != 0)
          sum[0] = add_halves<kSigns>(sum[0], Vector::fill(line.missing[missing]), doubt);
        find_zeros<kSigns>(sum, zeros);
        Vector::store(sum[0], to + lane);
      }
    }
    x += whole ? kSums : 1;
  }
  return {doubt.any(), zeros.any()};
}

// False where a sum is in doubt.
static bool average_along(const PoolLine& line, const uint16_t* in, int32_t* out) {
  const auto average = line.kernel == 2   ? average_along_in<false, 2>
                       : line.kernel == 3 ? average_along_in<false, 3>
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

// The greatest and the least, by atoms of 32 bytes. Numbers of fp16 are ordered as integers.
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
static void extreme_along(const PoolLine& line, const char* in, char* out) {
  for (unsigned x = 0; x < line.out_width; ++x, out += kAtomBytes) {
    const PoolWindow window = pool_window(line, x);
    Atom atom = Extreme::load(Atoms::load(in + window.begin * kAtomBytes));
    for (size_t i = window.begin + 1; i < window.end; ++i)
      atom = Extreme::of(atom, Extreme::load(Atoms::load(in + i * kAtomBytes)));
    Atoms::store(Extreme::store(atom), out);
  }
}

template <typename Extreme>
static void extreme_down(const PoolRows& rows, size_t bytes, char* out) {
  const auto row = [&](unsigned y, size_t at) {
    return Extreme::load(Atoms::load(static_cast<const char*>(rows.values[y]) + at));
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
