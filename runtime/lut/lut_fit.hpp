// SPDX-License-Identifier: MIT
//
// Fitting both tables of a unit to a function: where they lie, how fine they are, how they go on
// beyond their ends, and which of them answers where. Inputs are integers or fp16 numbers; the
// function is of real numbers.
#ifndef NVDLA_LUT_LUT_FIT_HPP
#define NVDLA_LUT_LUT_FIT_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace nvdla::detail {

// Room for the samples of a fit, with those that it adds.
constexpr std::size_t kMaxLutSamples = 704;

// An input as the unit sees it, and what is wanted for it.
struct LutSample {
  std::int64_t raw = 0;  // integer, or bits of fp32
  double at = 0;         // the same as a number
  double wanted = 0;     // the function there
  double weight = 0;     // of an error there
};

// What is to be approximated. Real numbers belong to numbers of the unit as
// x = (at - zero) * scale and entry = y * entry_scale + entry_zero.
struct LutProblem {
  std::uint32_t unit = NVDLA_LUT_SDP;
  bool real = false;     // fp16 arithmetic
  bool squared = false;  // `real`: inputs are squares of fp16 numbers, not these themselves
  unsigned bits = 32;    // of the inputs that the unit takes, as integers
  double scale = 1;
  double zero = 0;
  double entry_scale = 1;
  double entry_zero = 0;
  // First and last input. Functions are not evaluated beyond; integers if not `real`.
  double first = 0;
  double last = 0;
  // What results can be; wanted values are held to this when they are compared.
  double least = 0;
  double greatest = 0;
  double enough = 0;  // an error that rounding alone makes: better is not looked for
  std::function<double(double x)> function;          // never NaN
  std::function<double(std::int64_t value)> result;  // real result for an answer of a table
  std::function<double(double at)> weight;           // of an error of a result

  std::int64_t raw(double at) const;
  LutSample sample(double at) const;
  double error(const LutSample& sample, std::int64_t value) const;  // weighed
};

// Inputs that show where a problem is hard: densest where the function curves most.
std::vector<LutSample> lut_samples(const LutProblem& problem);

// The greatest error of tables over all inputs of a problem, and where it is.
struct LutWorst {
  double error = -1;
  double at = 0;
  bool every_input = true;
};
LutWorst lut_worst(const LutProblem& problem, const nvdla_lut& lut);

// Fits tables until they are good enough, or do not become better: each time with the input that
// was worst before.
struct LutFitted {
  nvdla_lut lut;
  LutWorst worst;
};
LutFitted lut_fit_all(const LutProblem& problem);

}  // namespace nvdla::detail

#endif  // NVDLA_LUT_LUT_FIT_HPP
