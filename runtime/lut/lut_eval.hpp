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

// One table alone. `real` is fp16 arithmetic, in which `x` is bits of fp32.
LutAnswer lut_answer(const nvdla_lut& lut, LutTable table, bool real, std::int64_t x);

// Which table answers where inputs lie so. A hit goes before a miss; priorities decide the rest.
LutTable lut_choice(std::uint32_t flags, LutSide le, LutSide lo);

// Both together: what comes out of the unit's table.
std::int64_t lut_evaluate(const nvdla_lut& lut, bool real, std::int64_t x);

// x / 2^shift, halves away from zero; a negative shift multiplies. Whatever x is, it is done in
// numbers that do not overflow.
using LutWide = arith::Wide;
inline LutWide round_shift(LutWide x, int shift) { return arith::round_shift(x, shift); }

}  // namespace nvdla::detail

#endif  // NVDLA_LUT_LUT_EVAL_HPP
