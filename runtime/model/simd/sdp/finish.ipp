// SPDX-License-Identifier: MIT
//
// SDP from sums to int8 in one pass, included by each instruction set's translation unit into an
// unnamed namespace. Vector has the set's instructions, Vector::Truncation lets its to_float() and
// fma() cut off what does not fit.
//
// A whole number x times a factor, rounded half away from zero, is what fp32 makes of |x| * factor
// + 1/2 if it cuts off: of x nothing is lost below 2^24, and what is lost of the sum cannot carry
// it below the whole number that it ends as. Beyond, results are too small, but never less than
// that of 2^24: SdpFinishing sees to it that those are saturated.

constexpr int32_t kFloatHalf = 0x3f000000;

template <typename Vector>
static typename Vector::Register finish_scale(typename Vector::Register x,
                                              typename Vector::Floats factor,
                                              typename Vector::Register half) {
  return Vector::truncate(Vector::fma(Vector::to_float(x), factor, Vector::with_sign_of(half, x)));
}

template <typename Vector, bool kFactors, bool kElements, bool kConvert>
[[gnu::noinline]] static void finish_rows(const int32_t* values, unsigned count,
                                          const SdpFinish& finish, int8_t* out) {
  constexpr unsigned kRegisters = kBlock / Vector::kLanes;
  using Register = typename Vector::Register;
  const Register low = Vector::spread(finish.relu ? 0 : INT32_MIN);
  const auto scale = Vector::spread_float(finish.scale);
  const Register half = Vector::spread(kFloatHalf);
  const int32_t* elements = finish.elements.values;
  for (unsigned i = 0; i < count; ++i, values += kBlock, out += kBlock) {
    Register row[kRegisters];
#pragma GCC unroll 8
    for (unsigned r = 0; r < kRegisters; ++r) {
      const unsigned at = r * Vector::kLanes;
      Register x = Vector::add(Vector::load(values + at), Vector::load(finish.addends + at));
      if constexpr (kFactors)
        x = finish_scale<Vector>(x, Vector::load_floats(finish.factors + at),
                                 Vector::load(finish.halves + at));
      if constexpr (kElements) x = Vector::add(x, Vector::load(elements + at));
      x = Vector::max(x, low);
      if constexpr (kConvert) x = finish_scale<Vector>(x, scale, half);
      row[r] = x;
    }
    Vector::store_int8(out, row);
    if constexpr (kElements) elements += finish.elements.stride;
  }
}

template <typename Vector>
static void finish_tile(const int32_t* values, unsigned count, const SdpFinish& finish,
                        int8_t* out) {
  using FinishRows = void (*)(const int32_t*, unsigned, const SdpFinish&, int8_t*);
  static constexpr FinishRows kRows[] = {
      finish_rows<Vector, false, false, false>, finish_rows<Vector, false, false, true>,
      finish_rows<Vector, false, true, false>,  finish_rows<Vector, false, true, true>,
      finish_rows<Vector, true, false, false>,  finish_rows<Vector, true, false, true>,
      finish_rows<Vector, true, true, false>,   finish_rows<Vector, true, true, true>};
  const typename Vector::Truncation truncation;
  kRows[(finish.factors != nullptr ? 4 : 0) + (finish.elements.values != nullptr ? 2 : 0) +
        (finish.scale != 0 ? 1 : 0)](values, count, finish, out);
}
