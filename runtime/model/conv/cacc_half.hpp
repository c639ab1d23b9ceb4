// SPDX-License-Identifier: MIT
//
// `HalfAccumulator` is an fp16 accumulator of CACC: wider than any of the named formats, normalised
// after each step, delivered as fp32.
#ifndef NVDLA_MODEL_CONV_CACC_HALF_HPP
#define NVDLA_MODEL_CONV_CACC_HALF_HPP

#include <algorithm>
#include <cstdint>

#include "model/simd/kernels.hpp"

namespace nvdla::model {

class HalfAccumulator {
 public:
  HalfAccumulator() = default;
  // Takes the sum that a HalfTile computed for a kernel.
  HalfAccumulator(const HalfSums& sums, unsigned kernel) noexcept
      : mantissa_(sums.mantissas[kernel]),
        exponent_(static_cast<std::int32_t>(sums.exponents[kernel])) {}

  // Adds `mantissa` * 2^(exponent - 50); `exponent` is a multiple of 4, as CMAC delivers it.
  void add(std::int64_t mantissa, std::uint32_t exponent) noexcept;
  // Makes the result this NaN (fp16), unless an earlier NaN did so.
  void add_nan(std::uint16_t nan) noexcept;
  // Returns the fp32 pattern that SDP takes.
  std::uint32_t deliver() const noexcept;

 private:
  // Two's complement, 2 integer and 38 fraction bits; bits 39 and 38 differ unless it is zero.
  std::int64_t mantissa_ = 0;
  std::int32_t exponent_ = 0;  // bias 63
  std::uint16_t nan_ = 0;
};

inline void clear(HalfSums& sums) noexcept {
  std::fill_n(sums.mantissas, kBlock, 0);
  std::fill_n(sums.exponents, kBlock, HalfSums::kZero);
}

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CACC_HALF_HPP
