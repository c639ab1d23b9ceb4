// SPDX-License-Identifier: MIT
//
// What a look-up table answers, bit for bit, without a device: tables are judged by this before
// any hardware sees them. It serves SDP's operator Y and CDP in integers and in fp16.
#ifndef NVDLA_LUT_LUT_EVAL_HPP
#define NVDLA_LUT_LUT_EVAL_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

#include "support/integers.hpp"

namespace nvdla::detail {

// Where an input lies as one of the two tables sees it.
enum class LutSide : std::uint8_t { kUnderflow, kHit, kOverflow };

struct LutAnswer {
  LutSide side = LutSide::kHit;
  // SDP: int32 or bits of fp32. CDP: int16 or bits of fp17.
  std::int64_t value = 0;
};

enum class LutTable : std::uint8_t { kLe, kLo };

// `LutReader` answers for one of the two tables of a `nvdla_lut`, which it refers to. `real` is
// fp16 arithmetic, in which inputs are bits of fp32.
class LutReader {
 public:
  LutReader(const nvdla_lut& lut, LutTable table, bool real);

  // Returns where an input lies.
  LutSide side(std::int64_t x) const { return find(x).side; }
  LutAnswer answer(std::int64_t x) const;
  // Goes on from one end with another slope.
  void set_slope(LutSide end, const nvdla_lut_slope& slope) {
    (end == LutSide::kUnderflow ? underflow_ : overflow_) = slope;
  }

 private:
  struct Place {
    LutSide side = LutSide::kHit;
    unsigned index = 0;
    std::uint64_t fraction = 0;
  };
  // SDP has a fraction of 35 bits, CDP one of 16; what is below is dropped.
  int fraction_bits() const { return sdp_ ? 35 : 16; }
  Place hit_or_over(std::uint64_t index, std::uint64_t fraction) const;
  Place find(std::int64_t x) const {
    return real_ ? find_real(static_cast<std::uint32_t>(x)) : find_integer(x);
  }
  Place find_integer(std::int64_t x) const;
  Place find_real(std::uint32_t x) const;
  std::int64_t answer_integer(const Place& place, std::int64_t x) const;
  std::uint32_t answer_real(const Place& place, std::uint32_t x) const;

  bool sdp_ = true;
  bool real_ = false;
  bool exponential_ = false;
  int first_log_ = 0;  // of the first step, exponential
  int step_log_ = 0;   // of all steps, linear
  double steps_ = 1;   // the same: steps for a distance of 1
  const std::uint16_t* entries_ = nullptr;
  unsigned last_ = 0;
  std::int64_t start_ = 0, end_ = 0;
  nvdla_lut_slope underflow_ = {}, overflow_ = {};
};

// One table alone, for a single input.
inline LutAnswer lut_answer(const nvdla_lut& lut, LutTable table, bool real, std::int64_t x) {
  return LutReader(lut, table, real).answer(x);
}

// Which table answers where inputs lie so. A hit goes before a miss; priorities decide the rest.
LutTable lut_choice(std::uint32_t flags, LutSide le, LutSide lo);

// `LutPair` answers for both tables together: what comes out of the unit's table.
class LutPair {
 public:
  LutPair(const nvdla_lut& lut, bool real)
      : le_(lut, LutTable::kLe, real), lo_(lut, LutTable::kLo, real), flags_(lut.flags) {}

  std::int64_t evaluate(std::int64_t x) const;

 private:
  LutReader le_, lo_;
  std::uint32_t flags_;
};

// The same for a single input.
inline std::int64_t lut_evaluate(const nvdla_lut& lut, bool real, std::int64_t x) {
  return LutPair(lut, real).evaluate(x);
}

// x / 2^shift, halves away from zero; a negative shift multiplies. Whatever x is, it is done in
// numbers that do not overflow.
using LutWide = arith::Wide;
inline LutWide round_shift(LutWide x, int shift) { return arith::round_shift(x, shift); }

}  // namespace nvdla::detail

#endif  // NVDLA_LUT_LUT_EVAL_HPP
