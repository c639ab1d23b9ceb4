// SPDX-License-Identifier: MIT
//
// The fp16 multipliers and accumulators as the description of the datapath tells them: rows of
// bits, one adder at a time. Slow, obvious, and sharing nothing with the model.
#pragma once

#include <cstdint>
#include <vector>

namespace nvdla::test {

inline bool is_nan(std::uint16_t half) { return (half & 0x7fff) > 0x7c00; }

// What 64 lanes of one step come to: mantissa * 2^(exponent - 50).
struct RefStep {
  bool is_nan = false;
  std::uint16_t nan = 0;
  int exponent = 0;
  std::vector<std::int64_t> products;  // of each lane, aligned
  std::int64_t sum() const;
};

RefStep multiply_step(const std::vector<std::uint16_t>& data,
                      const std::vector<std::uint16_t>& weights);

class RefAccumulator {
 public:
  void add(const RefStep& step) { add(step, step.is_nan ? 0 : step.sum()); }
  // Of a Winograd result, which has a sum of its own.
  void add(const RefStep& step, std::int64_t mantissa);
  std::uint32_t fp32() const;

 private:
  bool is_nan_ = false;
  std::uint16_t nan_ = 0;
  std::int64_t mantissa_ = 0;  // 40 bits, 38 of them fraction
  int exponent_ = 0;
};

}  // namespace nvdla::test
