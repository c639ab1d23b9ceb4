// SPDX-License-Identifier: MIT
#include <arm_neon.h>

#include "model/simd/sdp/epilogue.ipp"
#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/sdp/finish.ipp"

struct Vector {
  using Register = int32x4_t;
  using Floats = float32x4_t;
  static constexpr unsigned kLanes = 4;
  // The processor's mode, for who is called in between.
  class Truncation {
   public:
    Truncation() {
      __asm__ volatile("mrs %0, fpcr" : "=r"(before_));
      set(before_ | kTowardZero);
    }
    ~Truncation() { set(before_); }
    Truncation(const Truncation&) = delete;
    Truncation& operator=(const Truncation&) = delete;

   private:
    static constexpr uint64_t kTowardZero = 3 << 22;  // RMode

    static void set(uint64_t mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory"); }

    uint64_t before_;
  };

  static Register load(const int32_t* from) { return vld1q_s32(from); }
  static Floats load_floats(const float* from) { return vld1q_f32(from); }
  static Register spread(int32_t value) { return vdupq_n_s32(value); }
  static Floats spread_float(float value) { return vdupq_n_f32(value); }
  static Register add(Register a, Register b) { return vaddq_s32(a, b); }
  static Register max(Register a, Register b) { return vmaxq_s32(a, b); }
  static Floats to_float(Register x) { return vcvtq_f32_s32(x); }
  static Floats fma(Floats a, Floats b, Floats sum) { return vfmaq_f32(sum, a, b); }
  static Register truncate(Floats x) { return vcvtq_s32_f32(x); }
  // Changes the sign where `x` is negative.
  static Floats with_sign_of(Register value, Register x) {
    return vreinterpretq_f32_s32(veorq_s32(value, vandq_s32(x, vdupq_n_s32(INT32_MIN))));
  }
  static void store_int8(int8_t* to, const Register (&row)[kBlock / kLanes]) {
    const auto words = [&](unsigned r) { return vqmovn_high_s32(vqmovn_s32(row[r]), row[r + 1]); };
    vst1q_s8(to, vqmovn_high_s16(vqmovn_s16(words(0)), words(2)));
    vst1q_s8(to + kBlock / 2, vqmovn_high_s16(vqmovn_s16(words(4)), words(6)));
  }
};

}  // namespace

void neon_finish(const int32_t* values, unsigned count, const SdpFinish& finish, int8_t* out) {
  finish_tile<Vector>(values, count, finish, out);
}

bool neon_epilogue(const int32_t* values, unsigned count, const EpilogueBlock& block, int8_t* out) {
  return HWY_NAMESPACE::epilogue(values, count, block, out);
}

}  // namespace nvdla::model
