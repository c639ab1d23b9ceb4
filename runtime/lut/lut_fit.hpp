// SPDX-License-Identifier: MIT
//
// Fits both tables of a unit to a function: their positions and resolutions, their slopes beyond
// the ends, and the priorities between them. Inputs are integers or fp16 numbers; the function is
// of real numbers.
#ifndef NVDLA_LUT_LUT_FIT_HPP
#define NVDLA_LUT_LUT_FIT_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace nvdla::detail {

// The greatest number of samples of a fit, including those that it adds.
constexpr std::size_t kMaxLutSamples = 704;

// An input of the unit, and the wanted output.
struct LutSample {
  std::int64_t raw = 0;  // integer, or bits of fp32
  double at = 0;         // its value
  double wanted = 0;     // the function's value
  double weight = 0;     // the weight of an error
};

// `LutProblem` is a function to approximate. Real numbers map to numbers of the unit by x = (at -
// zero) * scale and entry = y * entry_scale + entry_zero.
struct LutProblem {
  std::uint32_t unit = NVDLA_LUT_SDP;
  bool real = false;     // fp16 arithmetic
  bool squared = false;  // `real`: inputs are squares of fp16 numbers
  unsigned bits = 32;    // of the unit's inputs, as integers
  double scale = 1;
  double zero = 0;
  double entry_scale = 1;
  double entry_zero = 0;
  // The first and the last input, integers unless `real`. The function is not evaluated beyond
  // them.
  double first = 0;
  double last = 0;
  // The range of results, to which wanted values are clamped when they are compared.
  double least = 0;
  double greatest = 0;
  double enough = 0;  // an error due to rounding alone, below which the fit stops
  std::function<double(double x)> function;          // never NaN
  std::function<double(std::int64_t value)> result;  // the result for a table's output
  std::function<double(double at)> weight;           // the weight of an error of the result

  std::int64_t raw(double at) const;
  LutSample sample(double at) const;
  double error(const LutSample& sample, std::int64_t value) const;  // weighted
};

// Returns sample inputs, densest where the function curves most.
std::vector<LutSample> lut_samples(const LutProblem& problem);

// The greatest error of a table over all inputs of a problem, and the input where it occurs.
struct LutWorst {
  double error = -1;
  double at = 0;
  bool every_input = true;
};
LutWorst lut_worst(const LutProblem& problem, const nvdla_lut& lut);

// Fits tables until they are good enough or stop improving. Each round adds the worst input of the
// round before to the samples.
struct LutFitted {
  nvdla_lut lut;
  LutWorst worst;
};
LutFitted lut_fit_all(const LutProblem& problem);

}  // namespace nvdla::detail

#endif  // NVDLA_LUT_LUT_FIT_HPP
