// SPDX-License-Identifier: MIT
//
// The greatest error that the device model makes with a table, over every element, and whether it
// is what the table's report says.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_LUT_WORST_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_LUT_WORST_HPP

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "common/runtime/lut_layer.hpp"

namespace nvdla::test {

using Function = std::function<double(double)>;

struct Worst {
  double error = 0;
  std::vector<double> inputs;  // all that have it, within a rounding of double
  void see(double found, double wanted, double input) {
    const double e = std::abs(found - wanted);
    if (e < error - 1e-12) return;
    if (e > error + 1e-12) inputs.clear();
    error = std::max(error, e);
    inputs.push_back(input);
  }
};

inline void expect_report(const Lut& lut, const Worst& worst) {
  EXPECT_NEAR(lut.report().error, worst.error, 1e-12);
  EXPECT_TRUE(std::any_of(worst.inputs.begin(), worst.inputs.end(),
                          [&](double input) { return input == lut.report().input; }))
      << "reported at " << lut.report().input << ", found at " << worst.inputs.at(0);
}

// Every element of In in `range`.
template <typename In, typename Out>
Worst integer_worst(const Lut& lut, const Function& function, const Range& range = {}) {
  LutRun run = sdp_run<In, Out>(lut);
  const std::vector<In> inputs = every<In>();
  const std::vector<Out> outputs = look_up<Out>(run, inputs);
  const Quantization in = lut.format().input;
  const Quantization out = lut.format().output;
  const auto real = [&](double q) { return (q - out.zero_point) * out.scale; };
  Worst worst;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const double x = (inputs[i] - static_cast<double>(in.zero_point)) * in.scale;
    if (x < range.lo || x > range.hi) continue;
    worst.see(real(outputs[i]),
              std::clamp(function(x), real(std::numeric_limits<Out>::min()),
                         real(std::numeric_limits<Out>::max())),
              x);
  }
  return worst;
}

inline Worst fp16_worst(const Lut& lut, const Function& function, const Range& range = {}) {
  LutRun run = sdp_run<std::uint16_t, std::uint16_t>(lut);
  const std::vector<std::uint16_t> inputs = every<std::uint16_t>();
  const std::vector<std::uint16_t> outputs = look_up<std::uint16_t>(run, inputs);
  Worst worst;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const double x = number_of(inputs[i]);
    if (std::isnan(x) || x < range.lo || x > range.hi) continue;
    const double wanted = std::clamp(function(x), -65504.0, 65504.0);
    const double unit = std::max(1.0, std::abs(wanted));
    worst.see(number_of(outputs[i]) / unit, wanted / unit, x);
  }
  return worst;
}

inline LutFormat integers(Precision precision, double in, double out, std::int32_t out_zero,
                          std::uint32_t bits, std::int32_t in_zero = 0) {
  LutFormat format;
  format.precision = precision;
  format.input = {static_cast<float>(in), in_zero};
  format.output = {static_cast<float>(out), out_zero};
  format.input_bits = bits;
  return format;
}

inline LutFormat halves() {
  LutFormat format;
  format.precision = Precision::kFp16;
  return format;
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_LUT_WORST_HPP
