// SPDX-License-Identifier: MIT
#include "model/sdp/sdp_finishing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "support/integers.hpp"

namespace nvdla::model {
namespace {

using arith::magnitude;

constexpr std::uint64_t kMostFinished = INT32_MAX;
// fp32 represents every integer below this one.
constexpr std::uint64_t kWhole = std::uint64_t{1} << 24;
constexpr std::uint64_t kNever = UINT64_MAX;
// Results from this magnitude on are saturated.
constexpr std::uint64_t kSaturated = 129;
// Longer shifts leave nothing, or exceed 64 bits in between.
constexpr unsigned kLongestShift = 38;

std::uint64_t scaled(std::uint64_t value, std::uint64_t factor, unsigned shift) noexcept {
  return (value * factor + (shift == 0 ? 0 : std::uint64_t{1} << (shift - 1))) >> shift;
}

}  // namespace

bool SdpFinishing::begin(const SdpLayer& layer, const SdpOperands (&operands)[3],
                         std::uint64_t largest, std::uint32_t channels) {
  channels_ = adder_ = kNone;
  relu_ = false;
  most_ = largest;
  added_ = 0;
  least_cut_ = kNever;
  blocks_ = (channels + kBlock - 1) / kBlock;
  factors_.clear();
  if (layer.proc == Precision::kFp16 || layer.out != Precision::kInt8 || layer.count_saturation)
    return false;
  for (unsigned unit = 0; unit < 3; ++unit)
    if ((unit < 2 ? layer.x[unit].active : layer.y.active) && !take(layer, operands, unit))
      return false;
  return most_ <= kMostFinished && scale_exactly(layer);
}

// Adds the next operator; ReLU must be the last step before the converter.
bool SdpFinishing::take(const SdpLayer& layer, const SdpOperands (&operands)[3], unsigned unit) {
  if (relu_) return false;
  const SdpOperands& of = operands[unit];
  if (unit == 2) {
    const OperatorY& y = layer.y;
    if (y.lut || y.equal || y.mul.active || y.algorithm != Alu::kSum || !of.per_element())
      return false;
  } else {
    const OperatorX& x = layer.x[unit];
    if (x.algorithm != Alu::kSum && x.algorithm != Alu::kNone) return false;
    relu_ = x.relu;
    if (!of.per_element()) return take_channels(x, of, unit);
    if (x.mul.active || x.mul_shift != 0) return false;
  }
  if (adder_ != kNone) return false;
  adder_ = unit;
  added_ = of.largest_alu();
  most_ += added_;
  return most_ <= kMostFinished;
}

bool SdpFinishing::take_channels(const OperatorX& x, const SdpOperands& operands, unsigned unit) {
  if (channels_ != kNone || adder_ != kNone) return false;
  channels_ = unit;
  if (x.algorithm == Alu::kSum) most_ += operands.largest_alu();
  if (most_ > kMostFinished) return false;
  if (!x.mul.active) return x.mul_shift == 0;
  if (x.prelu || x.mul_shift > kLongestShift) return false;
  factors_.resize(std::size_t{blocks_} * kBlock);
  halves_.resize(factors_.size());
  const float step = std::ldexp(1.0F, -static_cast<int>(x.mul_shift));
  std::uint64_t least = kNever;
  for (unsigned block = 0; block < blocks_; ++block) {
    const std::int32_t* values = operands.mul(block, {}).values;
    for (unsigned k = 0; k < kBlock; ++k) {
      const std::size_t at = std::size_t{block} * kBlock + k;
      factors_[at] = static_cast<float>(values[k]) * step;
      halves_[at] = std::bit_cast<std::int32_t>(values[k] < 0 ? -0.5F : 0.5F);
      if (values[k] != 0) least = std::min(least, magnitude(values[k]));
    }
  }
  const std::uint64_t before = most_;
  most_ = scaled(most_, operands.largest_mul(), x.mul_shift);
  if ((before >= kWhole || most_ >= kWhole) && least != kNever)
    least_cut_ = std::min(kWhole, scaled(kWhole, least, x.mul_shift));
  return most_ <= kMostFinished;
}

// Adds the converter. Returns false unless all results that fp32 cannot represent before it
// saturate anyway.
bool SdpFinishing::scale_exactly(const SdpLayer& layer) {
  scale_ = 0;
  if (layer.offset != 0 || layer.scale <= 0 || layer.shift > kLongestShift) return false;
  const auto factor = static_cast<std::uint64_t>(layer.scale);
  const std::uint64_t needed = kSaturated << layer.shift;
  if (least_cut_ != kNever && least_cut_ < added_ + (needed + factor - 1) / factor) return false;
  if (layer.scale == 1 && layer.shift == 0) return true;
  scale_ = std::ldexp(static_cast<float>(layer.scale), -static_cast<int>(layer.shift));
  // The same applies to great numbers, and every result must fit 32 bits.
  return (most_ < kWhole || factor * kWhole >= needed) &&
         scaled(most_, factor, layer.shift) <= kMostFinished;
}

SdpFinish SdpFinishing::block(unsigned number, const SdpOperands (&operands)[3],
                              const SdpOperands::Tile& elements) const noexcept {
  static constexpr std::int32_t kNothing[kBlock] = {};
  const std::size_t at = std::size_t{number} * kBlock;
  SdpFinish finish{kNothing, nullptr, nullptr, {nullptr, 0}, relu_, scale_};
  if (channels_ != kNone) {
    if (const SdpOperand alu = operands[channels_].alu(number, elements); alu.values != nullptr)
      finish.addends = alu.values;
    if (!factors_.empty()) {
      finish.factors = factors_.data() + at;
      finish.halves = halves_.data() + at;
    }
  }
  if (adder_ != kNone) finish.elements = operands[adder_].alu(number, elements);
  return finish;
}

}  // namespace nvdla::model
