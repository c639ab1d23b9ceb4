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

// The product of numbers without a sign in 64 bits, shifted to what 32 bits hold, with halves
// rounded up.
HWY_INLINE Vector multiply_wide(Vector x, Vector factor, unsigned shift) {
  const auto half = hn::Set(Products(), shift == 0 ? 0 : uint64_t{1} << (shift - 1));
  const auto shifted = [&](Vector a, Vector b) {
    const hn::RebindToUnsigned<Words> words;
    const auto product = hn::MulEven(hn::BitCast(words, a), hn::BitCast(words, b));
    return hn::ShiftRightSame(hn::Add(product, half), static_cast<int>(shift));
  };
  const auto odd = hn::ShiftLeft<32>(shifted(second_of_pairs(x), second_of_pairs(factor)));
  return hn::OddEven(hn::BitCast(Words(), odd), hn::BitCast(Words(), shifted(x, factor)));
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
        half_(hn::Set(Words(), block.shift == 0 ? 0 : int32_t{1} << ((block.shift - 1) & 31))),
        shift_(block.shift) {}

  HWY_INLINE Vector operator()(Vector sum) const {
    const Vector x = hn::Min(hn::Max(sum, low_), high_);
    if constexpr (kFirst == EpilogueStep::kWide) {
      const Vector value = hn::Add(x, addends_);
      const Vector result = multiply_wide(hn::Abs(value), hn::Abs(factors_), shift_);
      const Vector sign = hn::Xor(value, factors_);
      return hn::Add(hn::IfNegativeThenElse(sign, hn::Neg(result), result), between_);
    } else {
      const Vector value = hn::Add(hn::Mul(x, factors_), addends_);
      if constexpr (kFirst == EpilogueStep::kPlain) return value;
      // Half away from zero is half up, less the last bit where the number is negative.
      const Vector biased = hn::Add(value, hn::Add(half_, hn::ShiftRight<31>(value)));
      return hn::Add(hn::ShiftRightSame(biased, static_cast<int>(shift_)), between_);
    }
  }

 private:
  Vector low_, high_, factors_, addends_, between_, half_;
  unsigned shift_;
};

// Sums that a tile has seen.
class Guard {
 public:
  // A constructor that is not written out would not have this namespace's target.
  HWY_INLINE Guard() : least_(hn::Zero(Words())), greatest_(least_) {}

  HWY_INLINE void see(Vector sum) {
    least_ = hn::Min(least_, sum);
    greatest_ = hn::Max(greatest_, sum);
  }
  HWY_INLINE bool holds(const EpilogueBlock& block, unsigned at) const {
    const auto under = hn::Lt(least_, hn::LoadU(Words(), block.least + at));
    const auto over = hn::Gt(greatest_, hn::LoadU(Words(), block.greatest + at));
    return hn::AllFalse(Words(), hn::Or(under, over));
  }

 private:
  Vector least_, greatest_;
};

enum class SecondStep { kNone, kRelu, kSigned };

HWY_INLINE void store_bytes(Vector values, int8_t* to) {
  hn::StoreU(hn::DemoteTo(Bytes(), values), Bytes(), to);
}

template <EpilogueStep kFirst, SecondStep kSecond, bool kConverter, bool kGuards>
HWY_NOINLINE bool epilogue_rows(const int32_t* values, unsigned count, const EpilogueBlock& block,
                                int8_t* out) {
  constexpr unsigned kLanes = hn::MaxLanes(Words());
  const HighShift shift(kSecond == SecondStep::kNone ? 1 : block.second_shift);
  const HighShift converter_shift(kConverter ? block.converter_shift : 1);
  const Vector converter_factor = hn::Set(Words(), block.converter_factor);
  const Vector offset = hn::Set(Words(), block.offset);
  bool guarded = true;
  for (unsigned at = 0; at < kBlock; at += kLanes) {
    const FirstStep<kFirst> first(block, at);
    Vector factor = offset;
    if constexpr (kSecond != SecondStep::kNone)
      factor = hn::LoadU(Words(), block.second_factors + at);
    Guard guard;
    const int32_t* from = values + at;
    int8_t* to = out + at;
    for (unsigned i = 0; i < count; ++i, from += kBlock, to += kBlock) {
      const Vector sum = hn::LoadU(Words(), from);
      if constexpr (kGuards) guard.see(sum);
      Vector value = first(sum);
      if constexpr (kSecond == SecondStep::kRelu)
        value = multiply(hn::Max(value, hn::Zero(Words())), factor, shift);
      if constexpr (kSecond == SecondStep::kSigned) value = multiply_signed(value, factor, shift);
      value = hn::Add(value, offset);
      if constexpr (kConverter) value = multiply_signed(value, converter_factor, converter_shift);
      store_bytes(value, to);
    }
    if constexpr (kGuards) guarded = guard.holds(block, at) && guarded;
  }
  return guarded;
}

// The same where elements are added.
template <EpilogueStep kFirst, bool kSecond>
HWY_NOINLINE bool epilogue_with_elements(const int32_t* values, unsigned count,
                                         const EpilogueBlock& block, int8_t* out) {
  constexpr unsigned kLanes = hn::MaxLanes(Words());
  const HighShift shift(kSecond ? block.second_shift : 1);
  const Vector offset = hn::Set(Words(), block.offset), floor = hn::Set(Words(), block.floor);
  for (unsigned at = 0; at < kBlock; at += kLanes) {
    const FirstStep<kFirst> first(block, at);
    Vector factor = offset;
    if constexpr (kSecond) factor = hn::LoadU(Words(), block.second_factors + at);
    const int32_t* from = values + at;
    const int32_t* elements = block.elements.values + at;
    int8_t* to = out + at;
    for (unsigned i = 0; i < count; ++i, from += kBlock, to += kBlock) {
      Vector value = hn::Add(first(hn::LoadU(Words(), from)), hn::LoadU(Words(), elements));
      value = hn::Max(value, floor);
      if constexpr (kSecond) value = multiply_signed(value, factor, shift);
      store_bytes(hn::Add(value, offset), to);
      elements += block.elements.stride;
    }
  }
  return true;
}

// Both steps of 16 bits at once.
class MergedSteps {
 public:
  MergedSteps(const EpilogueBlock& block, unsigned at)
      : even_factors_(hn::LoadU(Words(), block.factors + at)),
        odd_factors_(second_of_pairs(even_factors_)),
        even_(hn::BitCast(Sums(), hn::LoadU(Words(), block.addends + at))),
        odd_(hn::BitCast(Sums(), hn::LoadU(Words(), block.between + at))),
        shift_(block.shift) {}

  HWY_INLINE Vector operator()(Vector sum) const {
    const auto even = hn::Add(hn::MulEven(sum, even_factors_), even_);
    const auto odd = hn::Add(hn::MulEven(second_of_pairs(sum), odd_factors_), odd_);
    const Vector upper =
        hn::OddEven(hn::BitCast(Words(), odd), second_of_pairs(hn::BitCast(Words(), even)));
    return hn::ShiftRightSame(upper, shift_);
  }

 private:
  using Sums = hn::RepartitionToWide<Words>;

  Vector even_factors_, odd_factors_;
  hn::Vec<Sums> even_, odd_;
  int shift_;
};

template <bool kRelu, bool kGuards>
HWY_NOINLINE bool merged_rows(const int32_t* values, unsigned count, const EpilogueBlock& block,
                              int8_t* out) {
  constexpr unsigned kLanes = hn::MaxLanes(Words());
  const Vector offset = hn::Set(Words(), block.offset);
  bool guarded = true;
  for (unsigned at = 0; at < kBlock; at += kLanes) {
    const MergedSteps steps(block, at);
    Guard guard;
    const int32_t* from = values + at;
    int8_t* to = out + at;
    for (unsigned i = 0; i < count; ++i, from += kBlock, to += kBlock) {
      const Vector sum = hn::LoadU(Words(), from);
      if constexpr (kGuards) guard.see(sum);
      Vector value = steps(sum);
      if constexpr (kRelu) value = hn::Max(value, hn::Zero(Words()));
      store_bytes(hn::Add(value, offset), to);
    }
    if constexpr (kGuards) guarded = guard.holds(block, at) && guarded;
  }
  return guarded;
}

HWY_NOINLINE bool merged_epilogue(const int32_t* values, unsigned count, const EpilogueBlock& block,
                                  int8_t* out) {
  if (block.relu)
    return block.guards ? merged_rows<true, true>(values, count, block, out)
                        : merged_rows<true, false>(values, count, block, out);
  return block.guards ? merged_rows<false, true>(values, count, block, out)
                      : merged_rows<false, false>(values, count, block, out);
}

template <EpilogueStep kFirst, bool kGuards>
HWY_NOINLINE bool epilogue_of(const int32_t* values, unsigned count, const EpilogueBlock& block,
                              int8_t* out) {
  using enum SecondStep;
  const bool converts = block.converter_factor != 0;
  if (block.second_factors == nullptr)
    return epilogue_rows<kFirst, kNone, false, kGuards>(values, count, block, out);
  if (block.relu)
    return converts ? epilogue_rows<kFirst, kRelu, true, kGuards>(values, count, block, out)
                    : epilogue_rows<kFirst, kRelu, false, kGuards>(values, count, block, out);
  return converts ? epilogue_rows<kFirst, kSigned, true, kGuards>(values, count, block, out)
                  : epilogue_rows<kFirst, kSigned, false, kGuards>(values, count, block, out);
}

template <EpilogueStep kFirst>
HWY_NOINLINE bool epilogue_from(const int32_t* values, unsigned count, const EpilogueBlock& block,
                                int8_t* out) {
  if (block.elements.values != nullptr)
    return block.second_factors != nullptr
               ? epilogue_with_elements<kFirst, true>(values, count, block, out)
               : epilogue_with_elements<kFirst, false>(values, count, block, out);
  return block.guards ? epilogue_of<kFirst, true>(values, count, block, out)
                      : epilogue_of<kFirst, false>(values, count, block, out);
}

HWY_NOINLINE bool epilogue(const int32_t* values, unsigned count, const EpilogueBlock& block,
                           int8_t* out) {
  switch (block.first) {
    case EpilogueStep::kPlain:
      return epilogue_from<EpilogueStep::kPlain>(values, count, block, out);
    case EpilogueStep::kShifted:
      return epilogue_from<EpilogueStep::kShifted>(values, count, block, out);
    case EpilogueStep::kMerged:
      return merged_epilogue(values, count, block, out);
    default:
      return epilogue_from<EpilogueStep::kWide>(values, count, block, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace nvdla::model
HWY_AFTER_NAMESPACE();
