// SPDX-License-Identifier: MIT
//
// PDP in vectors: the greatest and the least. Averages are in pdp_average_vectors.ipp, before.

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

static PoolElements pool_along(const PoolRule& rule, const PoolLine& line, PoolElements at_most,
                               const void* in, void* values) {
  const bool plain = at_most != PoolElements::kAny;
  if (plain && rule.kind == PoolKind::kAverageHalf && line.lanes == kHalvesOfAtom)
    return average_along(rule, line, at_most, static_cast<const uint16_t*>(in),
                         static_cast<int32_t*>(values));
  const bool atoms = line.lanes * element_bytes(rule.kind) == kAtomBytes;
  if (atoms && with_extreme(rule.kind, plain, [&]<typename Extreme>(Extreme) {
        extreme_along<Extreme>(line, static_cast<const char*>(in), static_cast<char*>(values));
        return true;
      }))
    return plain ? PoolElements::kPlain : PoolElements::kAny;
  return loop_pool_along(rule, line, at_most, in, values);
}

static void pool_down(const PoolRule& rule, const PoolRows& rows, PoolElements elements,
                      void* out) {
  const bool plain = elements != PoolElements::kAny;
  if (plain && rule.kind == PoolKind::kAverageHalf) {
    const bool signs =
        elements != PoolElements::kUnsigned || (rows.missing != nullptr && *rows.missing < 0);
    const auto average = signs ? average_down<Care::kFindOut> : average_down<Care::kNone>;
    return average(rule, rows, static_cast<uint16_t*>(out));
  }
  const size_t bytes = rows.count * element_bytes(rule.kind);
  const bool atoms = bytes % kAtomBytes == 0;
  if (atoms && with_extreme(rule.kind, plain, [&]<typename Extreme>(Extreme) {
        extreme_down<Extreme>(rows, bytes, static_cast<char*>(out));
        return true;
      }))
    return;
  loop_pool_down(rule, rows, elements, out);
}
