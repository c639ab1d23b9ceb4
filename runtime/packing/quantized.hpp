// SPDX-License-Identifier: MIT
//
// Fits to quantised layers have this in common: checks, and real factors as products of the
// integers that operators multiply with.
#ifndef NVDLA_PACKING_QUANTIZED_HPP
#define NVDLA_PACKING_QUANTIZED_HPP

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nvdla/operators/quantized_elements.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla::detail {

// The least and the greatest element of integers.
struct ElementRange {
  std::int32_t least = -128, greatest = 127;

  std::int32_t size() const { return greatest - least + 1; }
  std::int32_t distance(std::int32_t zero_point) const {
    return std::max(zero_point - least, greatest - zero_point);
  }
};
constexpr ElementRange element_range(Precision precision) {
  return precision == Precision::kInt16 ? ElementRange{-32768, 32767} : ElementRange{};
}

void check_scale(const std::string& what, double scale);
void check_quantization(const std::string& what, const Quantization& quantization,
                        Precision precision);
// Returns what the converter makes of a value of up to 47 bits, before it saturates.
std::int64_t converted(std::int64_t value, const Converter& converter);
// Saturated, too.
std::int16_t held_element(std::int64_t value, const ElementBounds& bounds, Precision precision);
// The results of an activation for all elements of int16 from the least on, not rounded yet.
std::vector<double> wide_activation_results(const Activation& activation);

// `WantedResult` describes the result of one kernel, (sum + bias) * factor, where integers of int16
// may have fractions: they count what is left of the sums behind their shift.
struct WantedResult {
  double factor = 1;
  double bias = 0;
  double greatest = 0;  // |sum + bias|
  // The bias without the input's zero point, and the largest |sum| with it.
  double own_bias = 0, products = 0;
  // Its products cannot reach half a step, and its numbers lie beyond what steps can express.
  bool only_bias = false;

  // Its products cannot reach half a step of the result, which is that of its bias then.
  bool is_dead() const { return products * factor < 0.5; }
};

// `StepLimits` says how far results reach in a precision.
struct StepLimits {
  // In units of the result: beyond this it saturates, whatever the zero point.
  double greatest_result = 256;
  // One unit of the result is up to 2^22 of what the first step makes (int16: 2^14), so that 32
  // bits hold twice of what does not saturate.
  int fraction_shift = 36;
};
constexpr StepLimits step_limits(Precision precision) {
  return precision == Precision::kInt16 ? StepLimits{65536, 28} : StepLimits{};
}

// Steps that come close to what is wanted, and how close, in units of the result.
struct FittedSteps {
  QuantizedOperators::Step first, second;  // the second may be empty
  double error = 0;
  // The largest error of a kernel that is not dead, and which kernel that is.
  double live_error = 0;
  std::size_t worst = 0;

  void add_error(std::size_t kernel, bool dead, double kernel_error);
};

FittedSteps fit_one_step(std::span<const WantedResult> kernels, const StepLimits& limits);
FittedSteps fit_two_steps(std::span<const WantedResult> kernels, const StepLimits& limits);
// Fits two steps to kernels whose numbers lie far apart: dead ones neither limit the others nor
// lose their bias, and small factors have fewer bits.
FittedSteps fit_far_steps(std::span<const WantedResult> kernels, const StepLimits& limits);

}  // namespace nvdla::detail

#endif  // NVDLA_PACKING_QUANTIZED_HPP
