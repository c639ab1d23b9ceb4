// SPDX-License-Identifier: MIT
//
// What a real result of a quantised layer has to become.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_ROUNDED_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_ROUNDED_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace nvdla::test {

// int8 from `low` to `high`: the integer nearest to `real`, which is in steps of the output, or one
// of the two that it lies between, as far as `error` goes.
inline bool is_rounded(std::int32_t found, long double real, std::int32_t zero_point, double error,
                       int low = -128, int high = 127) {
  const auto held = [&](long double value) {
    return std::clamp(value + zero_point, static_cast<long double>(low),
                      static_cast<long double>(high));
  };
  const long double slack = error * (1 + 1e-9L) + 1e-12L;
  return found >= held(std::ceil(real - 0.5L - slack)) &&
         found <= held(std::floor(real + 0.5L + slack));
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_ROUNDED_HPP
