// SPDX-License-Identifier: MIT
//
// Evaluates look-up tables bit for bit without a device, to judge a table before it is used. Serves
// SDP's operator Y and CDP, in integers and in fp16.
#ifndef NVDLA_LUT_LUT_EVAL_HPP
#define NVDLA_LUT_LUT_EVAL_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

#include "support/integers.hpp"

namespace nvdla::detail {

// The position of an input relative to the range of one table.
enum class LutSide : std::uint8_t { kUnderflow, kHit, kOverflow };

struct LutAnswer {
  LutSide side = LutSide::kHit;
  // SDP: int32 or bits of fp32. CDP: int16 or bits of fp17.
  std::int64_t value = 0;
};

enum class LutTable : std::uint8_t { kLe, kLo };

// `LutReader` evaluates one of the two tables of an `nvdla_lut`, which it refers to. `real` selects
// fp16 arithmetic, in which inputs are bits of fp32.
class LutReader {
 public:
  LutReader(const nvdla_lut& lut, LutTable table, bool real);

  // Returns the side on which an input lies.
  LutSide side(std::int64_t x) const { return find(x).side; }
  LutAnswer answer(std::int64_t x) const;
  // Replaces the slope beyond one end.
  void set_slope(LutSide end, const nvdla_lut_slope& slope) {
    (end == LutSide::kUnderflow ? underflow_ : overflow_) = slope;
  }

 private:
  struct Place {
    LutSide side = LutSide::kHit;
    unsigned index = 0;
    std::uint64_t fraction = 0;
  };
  // SDP has 35 bits of fraction, CDP 16; lower bits are dropped.
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
  int first_log_ = 0;  // log2 of the first step, exponential
  int step_log_ = 0;   // log2 of each step, linear
  double steps_ = 1;   // the same: steps for a distance of 1
  const std::uint16_t* entries_ = nullptr;
  unsigned last_ = 0;
  std::int64_t start_ = 0, end_ = 0;
  nvdla_lut_slope underflow_ = {}, overflow_ = {};
};

// Evaluates one table alone, for a single input.
inline LutAnswer lut_answer(const nvdla_lut& lut, LutTable table, bool real, std::int64_t x) {
  return LutReader(lut, table, real).answer(x);
}

// Returns the table that answers, given the input's side in each. A hit precedes a miss; otherwise
// the priorities in `flags` decide.
LutTable lut_choice(std::uint32_t flags, LutSide le, LutSide lo);

// `LutPair` evaluates both tables together, as the unit does.
class LutPair {
 public:
  LutPair(const nvdla_lut& lut, bool real)
      : le_(lut, LutTable::kLe, real), lo_(lut, LutTable::kLo, real), flags_(lut.flags) {}

  std::int64_t evaluate(std::int64_t x) const;

 private:
  LutReader le_, lo_;
  std::uint32_t flags_;
};

// Does the same for a single input.
inline std::int64_t lut_evaluate(const nvdla_lut& lut, bool real, std::int64_t x) {
  return LutPair(lut, real).evaluate(x);
}

// Returns x / 2^shift, rounded with halves away from zero; a negative shift multiplies. No x
// overflows.
using LutWide = arith::Wide;
inline LutWide round_shift(LutWide x, int shift) { return arith::round_shift(x, shift); }

}  // namespace nvdla::detail

#endif  // NVDLA_LUT_LUT_EVAL_HPP
