// SPDX-License-Identifier: MIT
#include "model/sdp/sdp_float.hpp"

#include <cstddef>

#include "support/float.hpp"

namespace nvdla::model {
namespace {

using fp::Fp32;

std::uint32_t bits(std::int32_t value) noexcept { return static_cast<std::uint32_t>(value); }

const std::int32_t* row_of(const SdpOperand& operand, unsigned position) noexcept {
  return operand.values == nullptr ? nullptr
                                   : operand.values + std::size_t{position} * operand.stride;
}

// The stream is the first operand: its NaN wins.
std::uint32_t alu(Alu algorithm, std::uint32_t value, std::uint32_t operand) noexcept {
  switch (algorithm) {
    case Alu::kMax:
      return fp::max<Fp32>(value, operand);
    case Alu::kMin:
      return fp::min<Fp32>(value, operand);
    case Alu::kSum:
      return fp::add<Fp32>(value, operand);
    case Alu::kNone:
      break;
  }
  return value;
}

// PReLU lets pass whatever has no sign, NaN and zero too.
std::uint32_t multiply(bool prelu, std::uint32_t value, std::uint32_t operand) noexcept {
  if (prelu && (value & Fp32::kSign) == 0) return value;
  return fp::mul<Fp32>(value, operand);
}

// Calls `each(value, addend, factor)` for every lane; operands that are absent are 0.
template <typename Each>
void for_each(std::int32_t* values, unsigned count, unsigned lanes, const SdpOperand& addends,
              const SdpOperand& factors, Each each) noexcept {
  for (unsigned position = 0; position < count; ++position) {
    std::int32_t* row = values + std::size_t{position} * kBlock;
    const std::int32_t* addend = row_of(addends, position);
    const std::int32_t* factor = row_of(factors, position);
    for (unsigned lane = 0; lane < lanes; ++lane)
      row[lane] = static_cast<std::int32_t>(each(bits(row[lane]),
                                                 addend == nullptr ? 0 : bits(addend[lane]),
                                                 factor == nullptr ? 0 : bits(factor[lane])));
  }
}

}  // namespace

void sdp_y_float(std::int32_t* values, unsigned count, unsigned lanes, const SdpY& unit) noexcept {
  for_each(values, count, lanes, unit.alu_operand, unit.mul_operand,
           [&](std::uint32_t value, std::uint32_t addend, std::uint32_t factor) {
             if (unit.mul) value = multiply(unit.prelu, value, factor);
             return alu(unit.alu, value, addend);
           });
}

}  // namespace nvdla::model
