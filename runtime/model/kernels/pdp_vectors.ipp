// SPDX-License-Identifier: MIT
//
// Averages of fp16 of plain elements in vectors: between two additions a sum has the 11 bits of a
// half and no smaller last place, so the processor's conversion rounds it. What that does not cover
// is in doubt, and computed again as pdp_loops.ipp does.

// Half of the last place below a power of two, less a little: the hardware drops that bit, and
// rounds up.
constexpr int32_t kAlmostTie = 0x007feffc;
constexpr int32_t kLargestHalf = 0x477fe000;

static inline Floats add_halves(Floats a, Floats b, Doubt& doubt) {
  Floats sum = Vector::add(a, b);
  doubt.where_mantissa(sum, kAlmostTie);
  sum = Vector::sign_of_zero(sum, a);
  return Vector::round_to_half(sum);
}

// False where a sum is in doubt.
static bool average_along(const PoolLine& line, const uint16_t* in, int32_t* out) {
  Doubt doubt;
  for (unsigned x = 0; x < line.out_width; ++x, out += line.lanes) {
    const PoolWindow window = pool_window(line, x);
    const unsigned missing = line.kernel - (window.end - window.begin);
    for (unsigned lane = 0; lane < line.lanes; lane += Vector::kLanes) {
      const uint16_t* at = in + size_t{window.begin} * line.lanes + lane;
      Floats sum = Vector::from_halves(at);
      for (unsigned i = window.begin + 1; i < window.end; ++i) {
        at += line.lanes;
        sum = add_halves(sum, Vector::from_halves(at), doubt);
      }
      if (missing != 0) sum = add_halves(sum, Vector::fill(line.missing[missing]), doubt);
      doubt.where_above(sum, kLargestHalf);
      Vector::store(sum, out + lane);
    }
  }
  return !doubt.any();
}

// False where a sum is in doubt.
static inline bool average_vector(const PoolRule& rule, const PoolRows& rows, size_t at,
                                  uint16_t* out) {
  Doubt doubt;
  const auto row = [&](unsigned y) {
    return Vector::load(static_cast<const int32_t*>(rows.values[y]) + at);
  };
  Floats sum = row(0);
  for (unsigned y = 1; y < rows.rows; ++y) sum = add_halves(row(y), sum, doubt);
  if (rows.missing != nullptr) sum = add_halves(sum, Vector::fill(*rows.missing), doubt);
  doubt.where_above(sum, kLargestHalf);
  if (doubt.any()) return false;
  const Floats wide = Vector::multiply(sum, Vector::fill(rule.reciprocal_width));
  const Floats scaled =
      Vector::multiply(Vector::round_to_17(wide), Vector::fill(rule.reciprocal_height));
  Vector::to_halves(Vector::round_to_17(scaled), out + at);
  return true;
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
  for (size_t at = 0; at < rows.count; at += Vector::kLanes) {
    const size_t left = rows.count - at;
    if (left >= Vector::kLanes && average_vector(rule, rows, at, out)) continue;
    PoolRows part = rows;
    for (unsigned y = 0; y < rows.rows; ++y)
      part.values[y] = static_cast<const int32_t*>(rows.values[y]) + at;
    part.count = left < Vector::kLanes ? left : Vector::kLanes;
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
