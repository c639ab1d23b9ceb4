// SPDX-License-Identifier: MIT
//
// SDP from sums to int8 in exact steps of 32 bits, on Highway: included by the translation unit of
// each instruction set, whose flags choose Highway's target.
//
// Of a product 64 bits are made and the upper 32 are kept. With a shift of 33 bits or more that
// loses nothing: half of the last place, which rounds, is a multiple of 2^32 itself.

// Targets follow from the flags of the set alone, not from what processors of its age have besides.
#define HWY_COMPILE_ONLY_STATIC
#define HWY_DISABLE_BMI2_FMA
#define HWY_DISABLE_F16C
#define HWY_DISABLE_PCLMUL_AES
#include <hwy/highway.h>

#include "model/simd/set_loops.hpp"

HWY_BEFORE_NAMESPACE();
namespace nvdla::model {
namespace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<int32_t>;
using Bytes = hn::Rebind<int8_t, Words>;
using Products = hn::RepartitionToWide<hn::RebindToUnsigned<Words>>;
using Vector = hn::Vec<Words>;

// Places the second number of each pair where the first one is.
HWY_INLINE Vector second_of_pairs(Vector x) {
  return hn::BitCast(Words(), hn::ShiftRight<32>(hn::BitCast(Products(), x)));
}

// A shift to the right by 32 bits and `amount` more, which rounds halves up.
struct HighShift {
  Vector half;
  int amount;

  explicit HighShift(uint8_t beyond_32)
      : half(hn::Set(Words(), int32_t{1} << (beyond_32 - 1))), amount(beyond_32) {}
};

// The product of numbers that are not negative, shifted.
HWY_INLINE Vector multiply(Vector x, Vector factor, const HighShift& shift) {
  const Vector odd = hn::BitCast(Words(), hn::MulEven(second_of_pairs(x), second_of_pairs(factor)));
  const Vector even = second_of_pairs(hn::BitCast(Words(), hn::MulEven(x, factor)));
  return hn::ShiftRightSame(hn::Add(hn::OddEven(odd, even), shift.half), shift.amount);
}

// The same of any number and a factor that is not negative: halves go away from zero.
HWY_INLINE Vector multiply_signed(Vector x, Vector factor, const HighShift& shift) {
  const Vector result = multiply(hn::Abs(x), factor, shift);
  return hn::IfNegativeThenElse(x, hn::Neg(result), result);
}

template <EpilogueStep kFirst>
class FirstStep {
 public:
  FirstStep(const EpilogueBlock& block, unsigned at)
      : low_(hn::LoadU(Words(), block.low + at)),
        high_(hn::LoadU(Words(), block.high + at)),
        factors_(hn::LoadU(Words(), block.factors + at)),
        addends_(hn::LoadU(Words(), block.addends + at)),
        between_(hn::LoadU(Words(), block.between + at)),
        shift_(kFirst == EpilogueStep::kPlain ? 1 : block.shift) {}

  HWY_INLINE Vector operator()(Vector sum) const {
    const Vector x = hn::Min(hn::Max(sum, low_), high_);
    if constexpr (kFirst == EpilogueStep::kWide) {
      const Vector value = hn::Add(x, addends_);
      const Vector result = multiply(hn::Abs(value), hn::Abs(factors_), shift_);
      const Vector sign = hn::Xor(value, factors_);
      return hn::Add(hn::IfNegativeThenElse(sign, hn::Neg(result), result), between_);
    } else {
      const Vector value = hn::Add(hn::Mul(x, factors_), addends_);
      if constexpr (kFirst == EpilogueStep::kPlain) return value;
      // Half away from zero is half up, less the last bit where the number is negative.
      const Vector biased = hn::Add(value, hn::Add(shift_.half, hn::ShiftRight<31>(value)));
      return hn::Add(hn::ShiftRightSame(biased, shift_.amount), between_);
    }
  }

 private:
  Vector low_, high_, factors_, addends_, between_;
  HighShift shift_;
};

template <EpilogueStep kFirst, bool kRelu, bool kConverter, bool kGuards>
HWY_NOINLINE bool epilogue_rows(const int32_t* values, unsigned count, const EpilogueBlock& block,
                                int8_t* out) {
  constexpr unsigned kLanes = hn::MaxLanes(Words());
  const HighShift shift(block.second_shift);
  const HighShift converter_shift(kConverter ? block.converter_shift : 1);
  const Vector converter_factor = hn::Set(Words(), block.converter_factor);
  const Vector offset = hn::Set(Words(), block.offset);
  bool guarded = true;
  for (unsigned at = 0; at < kBlock; at += kLanes) {
    const FirstStep<kFirst> first(block, at);
    const Vector factor = hn::LoadU(Words(), block.second_factors + at);
    Vector least = hn::Zero(Words()), greatest = hn::Zero(Words());
    const int32_t* from = values + at;
    int8_t* to = out + at;
    for (unsigned i = 0; i < count; ++i, from += kBlock, to += kBlock) {
      const Vector sum = hn::LoadU(Words(), from);
      if constexpr (kGuards) {
        least = hn::Min(least, sum);
        greatest = hn::Max(greatest, sum);
      }
      Vector value = first(sum);
      if constexpr (kRelu) {
        value = multiply(hn::Max(value, hn::Zero(Words())), factor, shift);
      } else {
        value = multiply_signed(value, factor, shift);
      }
      value = hn::Add(value, offset);
      if constexpr (kConverter) value = multiply_signed(value, converter_factor, converter_shift);
      hn::StoreU(hn::DemoteTo(Bytes(), value), Bytes(), to);
    }
    if constexpr (kGuards) {
      const auto under = hn::Lt(least, hn::LoadU(Words(), block.least + at));
      const auto over = hn::Gt(greatest, hn::LoadU(Words(), block.greatest + at));
      guarded = guarded && hn::AllFalse(Words(), hn::Or(under, over));
    }
  }
  return guarded;
}

template <EpilogueStep kFirst, bool kGuards>
HWY_NOINLINE bool epilogue_of(const int32_t* values, unsigned count, const EpilogueBlock& block,
                              int8_t* out) {
  using Rows = bool (*)(const int32_t*, unsigned, const EpilogueBlock&, int8_t*);
  static constexpr Rows kRows[] = {
      epilogue_rows<kFirst, false, false, kGuards>, epilogue_rows<kFirst, false, true, kGuards>,
      epilogue_rows<kFirst, true, false, kGuards>, epilogue_rows<kFirst, true, true, kGuards>};
  return kRows[(block.relu ? 2 : 0) + (block.converter_factor != 0 ? 1 : 0)](values, count, block,
                                                                             out);
}

HWY_NOINLINE bool epilogue(const int32_t* values, unsigned count, const EpilogueBlock& block,
                           int8_t* out) {
  using enum EpilogueStep;
  using Kinds = bool (*)(const int32_t*, unsigned, const EpilogueBlock&, int8_t*);
  static constexpr Kinds kKinds[] = {epilogue_of<kPlain, false>,   epilogue_of<kPlain, true>,
                                     epilogue_of<kShifted, false>, epilogue_of<kShifted, true>,
                                     epilogue_of<kWide, false>,    epilogue_of<kWide, true>};
  return kKinds[static_cast<unsigned>(block.first) * 2 + (block.guards ? 1 : 0)](values, count,
                                                                                 block, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace nvdla::model
HWY_AFTER_NAMESPACE();
