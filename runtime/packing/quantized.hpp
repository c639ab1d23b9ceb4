// SPDX-License-Identifier: MIT
//
// What fits to quantised layers have in common: checks, and real factors as products of the
// integers that operators multiply with.
#ifndef NVDLA_PACKING_QUANTIZED_HPP
#define NVDLA_PACKING_QUANTIZED_HPP

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nvdla/operators/quantized.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla::detail {

void check_scale(const std::string& what, double scale);
void check_quantization(const std::string& what, const Quantization& quantization);
// What the converter makes of a value of up to 47 bits, before it saturates.
std::int64_t converted(std::int64_t value, const Converter& converter);
// Saturated, too.
std::int8_t held8(std::int64_t value, const ElementBounds& bounds);

// `WantedResult` describes the result of one kernel, (sum + bias) * factor.
struct WantedResult {
  double factor = 1;
  std::int64_t bias = 0;
  std::int64_t greatest = 0;  // |sum + bias|
  // The bias without the input's zero point, and the largest |sum| with it.
  std::int64_t own_bias = 0, products = 0;
  // Its products cannot reach half a step, and its numbers lie beyond what steps can express.
  bool only_bias = false;

  // Its products cannot reach half a step of the result, which is that of its bias then.
  bool is_dead() const { return static_cast<double>(products) * factor < 0.5; }
};

// Steps that come close to what is wanted, and how close, in units of the result. What is beyond
// 256 of them saturates.
struct FittedSteps {
  QuantizedOperators::Step first, second;  // the second may be empty
  double error = 0;
  // The largest error of a kernel that is not dead, and which kernel that is.
  double live_error = 0;
  std::size_t worst = 0;

  void add_error(std::size_t kernel, bool dead, double kernel_error);
};

FittedSteps fit_one_step(std::span<const WantedResult> kernels);
FittedSteps fit_two_steps(std::span<const WantedResult> kernels);
// Fits two steps to kernels whose numbers lie far apart: dead ones neither limit the others nor
// lose their bias, and small factors have fewer bits.
FittedSteps fit_far_steps(std::span<const WantedResult> kernels);

}  // namespace nvdla::detail

#endif  // NVDLA_PACKING_QUANTIZED_HPP
