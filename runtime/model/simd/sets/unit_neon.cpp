// SPDX-License-Identifier: MIT
#include <arm_neon.h>

#include "model/simd/kernels.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/sets/unit_loops.ipp"

using Floats = float32x4_t;
using Ints = int32x4_t;

struct Vector {
  static constexpr unsigned kLanes = 4;

  static Floats load(const int32_t* from) { return floats(vld1q_s32(from)); }
  static void store(Floats values, int32_t* to) { vst1q_s32(to, ints(values)); }
  static Floats fill(int32_t bits) { return floats(vdupq_n_s32(bits)); }
  static Floats from_halves(const void* from) {
    return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(static_cast<const uint8_t*>(from))));
  }
  static void to_halves(Floats values, void* to) {
    vst1_u8(static_cast<uint8_t*>(to), vreinterpret_u8_f16(vcvt_f16_f32(values)));
  }
  static Floats add(Floats a, Floats b) { return vaddq_f32(a, b); }
  static Floats multiply(Floats a, Floats b) { return vmulq_f32(a, b); }
  static Floats multiply_add(Floats sum, Floats a, Floats b) { return vfmaq_f32(sum, a, b); }

  static Floats floats(Ints bits) { return vreinterpretq_f32_s32(bits); }
  static Ints ints(Floats values) { return vreinterpretq_s32_f32(values); }
  static Ints load_ints(const int32_t* from) { return vld1q_s32(from); }
  static Ints same(int32_t value) { return vdupq_n_s32(value); }
  static Ints from_int8(const void* from) {
    uint32_t four;
    __builtin_memcpy(&four, from, sizeof(four));
    return vmovl_s16(vget_low_s16(vmovl_s8(vcreate_s8(four))));
  }
  static Ints from_int16(const void* from) {
    return vmovl_s16(vreinterpret_s16_u8(vld1_u8(static_cast<const uint8_t*>(from))));
  }
  // What is too large saturates.
  static void to_int8(Ints values, void* to) {
    const int16x4_t words = vqmovn_s32(values);
    const int8x8_t bytes = vqmovn_s16(vcombine_s16(words, words));
    const uint32_t four = vget_lane_u32(vreinterpret_u32_s8(bytes), 0);
    __builtin_memcpy(to, &four, sizeof(four));
  }
  static void to_int16(Ints values, void* to) {
    vst1_u8(static_cast<uint8_t*>(to), vreinterpret_u8_s16(vqmovn_s32(values)));
  }
  static Ints add(Ints a, Ints b) { return vaddq_s32(a, b); }
  static Ints subtract(Ints a, Ints b) { return vsubq_s32(a, b); }
  static Ints multiply(Ints a, Ints b) { return vmulq_s32(a, b); }
  static Ints both(Ints a, Ints b) { return vandq_s32(a, b); }
  static Ints either(Ints a, Ints b) { return vorrq_s32(a, b); }
  static Ints most(Ints a, Ints b) { return vmaxq_s32(a, b); }
  static Ints least(Ints a, Ints b) { return vminq_s32(a, b); }
  static Floats most(Floats a, Floats b) { return vmaxq_f32(a, b); }
  static Floats least(Floats a, Floats b) { return vminq_f32(a, b); }
  static bool any_bit(Ints a) { return vmaxvq_u32(vreinterpretq_u32_s32(a)) != 0; }
  // Patterns of fp32 as integers of the same order, and back.
  static Ints order(Ints bits) {
    return veorq_s32(bits, vandq_s32(vshrq_n_s32(bits, 31), same(kLaneMagnitude)));
  }
  static Ints where_negative(Ints value, Ints then) {
    return vbslq_s32(vcltzq_s32(value), then, value);
  }
  // Half away from zero is half up, less the last bit of a negative number.
  static Ints round_right(Ints value, unsigned shift) {
    if (shift == 0) return value;
    const Ints up = vaddq_s32(value, same(1 << (shift - 1)));
    return vshlq_s32(vaddq_s32(up, vshrq_n_s32(value, 31)), same(-static_cast<int32_t>(shift)));
  }

  // A zero has the sign of `a`.
  static Floats sign_of_zero(Floats sum, Floats a) {
    const Ints zero = vreinterpretq_s32_u32(vceqzq_s32(ints(sum)));
    const Ints sign = vandq_s32(ints(a), same(kLaneSign));
    return floats(vorrq_s32(ints(sum), vandq_s32(zero, sign)));
  }
  // To 11 bits.
  static Floats round_to_17(Floats values) {
    const Ints bits = ints(values);
    const Ints odd = vandq_s32(vshrq_n_s32(bits, 13), same(1));
    const Ints sum = vaddq_s32(vaddq_s32(bits, same(0xfff)), odd);
    return floats(vandq_s32(sum, same(~0x1fff)));
  }

  // False if a half is no number.
  static bool widen_halves(const void* from, int32_t* to) {
    const uint16x4_t halves = vreinterpret_u16_u8(vld1_u8(static_cast<const uint8_t*>(from)));
    const uint16x4_t exponent = vdup_n_u16(0x7c00);
    if (vmaxv_u16(vceq_u16(vand_u16(halves, exponent), exponent)) != 0) return false;
    store(vcvt_f32_f16(vreinterpret_f16_u16(halves)), to);
    return true;
  }

  // False if a magnitude is `most` or more.
  static bool narrow_halves(const int32_t* from, int32_t most, int16_t* to) {
    const Ints values = vld1q_s32(from);
    if (vmaxvq_s32(vandq_s32(values, same(kLaneMagnitude))) >= most) return false;
    to_halves(floats(values), to);
    return true;
  }
};

class Doubt {
 public:
  void where_mantissa(Floats values, int32_t mantissa) {
    add(vceqq_s32(masked(values, kLaneMantissa), Vector::same(mantissa)));
  }
  void where_above(Floats values, int32_t magnitude) {
    add(vcgtq_s32(masked(values, kLaneMagnitude), Vector::same(magnitude)));
  }
  void where_zero(Floats values) { add(vceqzq_s32(Vector::ints(values))); }
  bool any() const { return vmaxvq_u32(mask_) != 0; }

 private:
  static Ints masked(Floats values, int32_t bits) {
    return vandq_s32(Vector::ints(values), Vector::same(bits));
  }
  void add(uint32x4_t mask) { mask_ = vorrq_u32(mask_, mask); }

  uint32x4_t mask_ = vdupq_n_u32(0);
};

// Of 32 bytes.
struct Atoms {
  using Atom = int8x16x2_t;

  static Atom load(const char* from) {
    const auto* bytes = reinterpret_cast<const int8_t*>(from);
    return {{vld1q_s8(bytes), vld1q_s8(bytes + 16)}};
  }
  static void store(Atom atom, char* to) {
    auto* bytes = reinterpret_cast<int8_t*>(to);
    vst1q_s8(bytes, atom.val[0]);
    vst1q_s8(bytes + 16, atom.val[1]);
  }
  static Atom most_int8(Atom a, Atom b) {
    return {{vmaxq_s8(a.val[0], b.val[0]), vmaxq_s8(a.val[1], b.val[1])}};
  }
  static Atom least_int8(Atom a, Atom b) {
    return {{vminq_s8(a.val[0], b.val[0]), vminq_s8(a.val[1], b.val[1])}};
  }
  static Atom most_int16(Atom a, Atom b) { return words<vmaxq_s16>(a, b); }
  static Atom least_int16(Atom a, Atom b) { return words<vminq_s16>(a, b); }
  // Patterns of fp16 as integers of the same order, and back.
  static Atom order(Atom atom) {
    const auto half = [](int8x16_t bytes) {
      const int16x8_t bits = vreinterpretq_s16_s8(bytes);
      const int16x8_t magnitude = vandq_s16(vshrq_n_s16(bits, 15), vdupq_n_s16(0x7fff));
      return vreinterpretq_s8_s16(veorq_s16(bits, magnitude));
    };
    return {{half(atom.val[0]), half(atom.val[1])}};
  }

 private:
  template <int16x8_t (*kOf)(int16x8_t, int16x8_t)>
  static Atom words(Atom a, Atom b) {
    const auto of = [](int8x16_t x, int8x16_t y) {
      return vreinterpretq_s8_s16(kOf(vreinterpretq_s16_s8(x), vreinterpretq_s16_s8(y)));
    };
    return {{of(a.val[0], b.val[0]), of(a.val[1], b.val[1])}};
  }
};

// clang-format off
#include "model/simd/half_vectors.ipp"
#include "model/simd/pool/pdp_average_vectors.ipp"
#include "model/simd/pool/pdp_vectors.ipp"
#include "model/simd/sdp/sdp_stream_vectors.ipp"
// clang-format on

constexpr UnitKernels unit_kernels() {
  UnitKernels set = unit_loops();
  set.sdp_load_half = load_half;
  set.sdp_float_to_half = float_to_half;
  set.sdp_stream = sdp_stream;
  set.pool_along = pool_along;
  set.pool_down = pool_down;
  return set;
}

}  // namespace

const UnitKernels kNeonUnits = unit_kernels();

}  // namespace nvdla::model
