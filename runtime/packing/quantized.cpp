// SPDX-License-Identifier: MIT
#include "nvdla/operators/quantized.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "nvdla/types/conversion.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"
#include "packing/quantized.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla {
namespace {

using detail::check_quantization;
using detail::check_range;
using detail::check_scale;
using detail::held8;
using detail::refuse_argument;
using Limits8 = std::numeric_limits<std::int8_t>;

constexpr double kGreatestFactor = 1 << 14;
// The reciprocal of the least.
constexpr double kLeastFactor = 1.0 / (std::uint64_t{1} << 63) / 2;
// Steps of the output: a bias beyond that leaves nothing of the sum, whatever is multiplied.
constexpr double kGreatestBias = 1 << 22;
// Up to here steps stay as they are although other ones might be closer.
constexpr double kGoodError = 1.0 / 256;
// From there on results are not those that were asked for.
constexpr double kGreatestError = 0.25;

template <typename Layer>
void check_free(const Layer& layer) {
  const bool used = layer.x1.alu != NVDLA_ALU_NONE || layer.x1.mul != NVDLA_MUL_NONE ||
                    layer.x1.mul_shift != 0 || layer.x1.relu || layer.x2.alu != NVDLA_ALU_NONE ||
                    layer.x2.mul != NVDLA_MUL_NONE || layer.x2.mul_shift != 0 || layer.x2.relu;
  if (used) refuse_argument("x1 and x2 of a quantised layer are chosen by its scales: leave them");
  if (layer.output.offset != 0 || layer.output.scale != 1 || layer.output.shift != 0 ||
      layer.bounds != ElementBounds{} || layer.arithmetic.accumulator_shift != 0 ||
      layer.precision.value_or(Precision::kInt8) != Precision::kInt8)
    refuse_argument(
        "output converter, bounds, accumulator_shift and precision of a quantised layer are chosen "
        "by its scales: leave them");
}

std::span<const std::int8_t> int8_weights(const KernelSpan& weights, std::uint32_t kernels) {
  const auto* bytes = std::get_if<std::span<const std::int8_t>>(&weights);
  if (bytes == nullptr) refuse_argument("weights of a quantised layer are int8");
  if (kernels == 0 || bytes->empty() || bytes->size() % kernels != 0) {
    refuse_argument("{} weights cannot be those of {} kernels", bytes->size(), kernels);
  }
  return *bytes;
}

// Sums that a kernel's weights can make of inputs, and what the input's zero point adds.
struct KernelSums {
  std::int64_t least = 0, greatest = 0, weights = 0;

  void add(std::int8_t weight) {
    const std::int64_t low = std::int64_t{weight} * Limits8::min();
    const std::int64_t high = std::int64_t{weight} * Limits8::max();
    least += std::min(low, high);
    greatest += std::max(low, high);
    weights += weight;
  }
};

// Kernel k begins at weight k * kernel_stride, and has every stride-th one from there on.
std::vector<KernelSums> sums_of(std::span<const std::int8_t> weights, std::uint32_t kernels,
                                std::size_t kernel_stride, std::size_t stride) {
  std::vector<KernelSums> list(kernels);
  const std::size_t count = weights.size() / kernels;
  for (std::size_t k = 0; k < kernels; ++k)
    for (std::size_t i = 0; i < count; ++i) list[k].add(weights[k * kernel_stride + i * stride]);
  return list;
}

std::vector<KernelSums> sums_of_rows(std::span<const std::int8_t> weights, std::uint32_t kernels) {
  return sums_of(weights, kernels, weights.size() / kernels, 1);
}

// Phase by phase: tap r of a kernel is one of phase y if y * stride + r is a multiple of it.
std::vector<KernelSums> sums_of_phases(std::span<const std::int8_t> weights,
                                       const Deconvolution& d) {
  check_range("stride_height", d.stride_height, 1U, 32U);
  check_range("stride_width", d.stride_width, 1U, 32U);
  const std::uint64_t taps = std::uint64_t{d.kernel_height} * d.kernel_width;
  const std::size_t each = weights.size() / d.kernels;
  if (taps == 0 || each % taps != 0) {
    refuse_argument("{} weights cannot be those of {} kernels of {}x{}", weights.size(), d.kernels,
                    d.kernel_height, d.kernel_width);
  }
  std::vector<KernelSums> list(std::size_t{d.stride_height} * d.stride_width * d.kernels);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t r = i % taps / d.kernel_width, s = i % d.kernel_width;
    // Of output lines y with y + pad_top = r modulo the stride.
    const std::size_t y = (r + d.stride_height - d.pad_top % d.stride_height) % d.stride_height;
    const std::size_t x = (s + d.stride_width - d.pad_left % d.stride_width) % d.stride_width;
    list[(y * d.stride_width + x) * d.kernels + i / each].add(weights[i]);
  }
  return list;
}

constexpr std::int64_t kHigh32 = std::numeric_limits<std::int32_t>::max();

// Says which of its numbers steps cannot express, or nothing.
std::string fault_of(const detail::WantedResult& wanted, const KernelSums& sums,
                     const ConvolutionScales& scales, double scale) {
  if (!(wanted.factor >= kLeastFactor && wanted.factor <= kGreatestFactor)) {
    return fmt::format(
        "input scale {} * weight scale {} / output scale {} is {}: right are 2^-64 to "
        "2^14",
        scales.input->scale, scale, scales.output.scale, wanted.factor);
  }
  const std::int64_t least = std::min(sums.least, sums.least + wanted.bias);
  const std::int64_t greatest = std::max(sums.greatest, sums.greatest + wanted.bias);
  if (least < -kHigh32 || greatest > kHigh32 || std::abs(wanted.bias) > kHigh32) {
    return fmt::format("its sums reach {} to {}, more than 32 bits hold", least, greatest);
  }
  if (const double steps = std::abs(static_cast<double>(wanted.bias)) * wanted.factor;
      steps > kGreatestBias) {
    return fmt::format("its bias alone, {}, is {} steps of the output: right are 2^22 at most",
                       wanted.bias, steps);
  }
  return {};
}

// Describes the result of a kernel whose products have the scale `scale`.
detail::WantedResult wanted_of(std::int64_t own_bias, const ConvolutionScales& scales, double scale,
                               const KernelSums& sums) {
  detail::WantedResult wanted;
  wanted.factor = scales.input->scale * scale / scales.output.scale;
  wanted.own_bias = own_bias;
  const std::int64_t zero = scales.input->zero_point * sums.weights;
  wanted.bias = wanted.own_bias - zero;
  wanted.greatest =
      std::max(std::abs(sums.least + wanted.bias), std::abs(sums.greatest + wanted.bias));
  wanted.products = std::max(std::abs(sums.least - zero), std::abs(sums.greatest - zero));
  const std::string fault = fault_of(wanted, sums, scales, scale);
  // Sums pass the first step, whatever it multiplies them with.
  const bool sums_fit = sums.least >= -kHigh32 && sums.greatest <= kHigh32;
  wanted.only_bias = !fault.empty() && sums_fit && wanted.is_dead();
  if (!fault.empty() && !wanted.only_bias) refuse_argument("{}", fault);
  return wanted;
}

bool all_zero(const std::vector<std::int16_t>& values) {
  return std::all_of(values.begin(), values.end(), [](std::int16_t value) { return value == 0; });
}

void set_step(const QuantizedOperators::Step& step, Operator& op) {
  op = batch_norm(step.addends, step.factors, step.right_shift, step.left_shift);
  if (!all_zero(step.addends)) return;
  op.alu = NVDLA_ALU_NONE;
  op.alu_values = {};
  op.alu_shift = 0;
}

std::int32_t run_step(const QuantizedOperators::Step& step, std::uint32_t kernel, std::int32_t v) {
  const std::int64_t addend =
      arith::saturate32(arith::Wide{step.addends[kernel]} << step.left_shift);
  const arith::Wide product = arith::Wide{v + addend} * step.factors[kernel];
  return arith::saturate32(arith::round_shift(product, static_cast<int>(step.right_shift)));
}

}  // namespace

void detail::check_scale(const std::string& what, double scale) {
  if (std::isfinite(scale) && scale > 0) return;
  refuse_argument("{} scale {}: right are positive numbers", what, scale);
}

void detail::check_quantization(const std::string& what, const Quantization& quantization) {
  check_scale(what, quantization.scale);
  check_range(what + " zero point", quantization.zero_point, std::int32_t{Limits8::min()},
              std::int32_t{Limits8::max()});
}

std::int64_t detail::converted(std::int64_t value, const Converter& converter) {
  return arith::round_shift((value - converter.offset) * converter.scale,
                            static_cast<int>(converter.shift));
}

std::int8_t detail::held8(std::int64_t value, const ElementBounds& bounds) {
  value = std::clamp<std::int64_t>(value, bounds.least, bounds.greatest);
  return static_cast<std::int8_t>(std::clamp<std::int64_t>(value, Limits8::min(), Limits8::max()));
}

std::vector<std::int8_t> signed_bytes(std::span<const std::uint8_t> elements) {
  std::vector<std::int8_t> bytes;
  bytes.reserve(elements.size());
  for (const std::uint8_t element : elements)
    bytes.push_back(static_cast<std::int8_t>(element - 128));
  return bytes;
}

// One for each kernel, phase by phase.
struct QuantizedOperators::Fit {
  const ConvolutionScales& scales;
  std::span<const std::int32_t> bias;
  std::uint32_t kernels = 0;
  bool relu = false;

  QuantizedOperators of(const std::vector<KernelSums>& sums) const;
  QuantizedOperators meeting(const std::vector<detail::WantedResult>& wanted) const;
  void check() const;
  [[noreturn]] void refuse_kernel(const std::vector<detail::WantedResult>& wanted,
                                  const detail::FittedSteps& best) const;
};

void QuantizedOperators::Fit::check() const {
  if (!scales.input) refuse_argument("the quantisation of the input is not known: say it");
  check_quantization("input", *scales.input);
  check_quantization("output", scales.output);
  if (!bias.empty() && bias.size() != kernels) {
    refuse_argument("{} bias values given, {} kernels need as many or none", bias.size(), kernels);
  }
  if (scales.weights.size() != 1 && scales.weights.size() != kernels) {
    refuse_argument("{} weight scales given, right are 1 or one for each of {} kernels",
                    scales.weights.size(), kernels);
  }
  if (!(scales.tolerance >= 0))
    refuse_argument("tolerance {}: right is 0 or more", scales.tolerance);
}

ElementBounds element_bounds(const Bounds& bounds, const Quantization& quantization) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (!(bounds.low <= bounds.high) || bounds.low == kInfinity || bounds.high == -kInfinity) {
    refuse_argument("bounds {}..{}: right are two numbers, the lower one first", bounds.low,
                    bounds.high);
  }
  check_quantization("output", quantization);
  const auto element = [&](double bound) {
    const double steps = std::round(bound / quantization.scale) + quantization.zero_point;
    return static_cast<std::int32_t>(std::clamp<double>(steps, Limits8::min(), Limits8::max()));
  };
  return {element(bounds.low), element(bounds.high)};
}

// Names the kernel that no steps meet, its numbers, and what to change.
void QuantizedOperators::Fit::refuse_kernel(const std::vector<detail::WantedResult>& wanted,
                                            const detail::FittedSteps& best) const {
  const detail::WantedResult& worst = wanted[best.worst];
  std::size_t largest = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i].factor > wanted[largest].factor) largest = i;
  const double unit = scales.output.scale / double{scales.input->scale};
  refuse_argument(
      "kernel {}: its scale lies too far from that of kernel {}: {} steps of the output for each "
      "unit of a sum beside {}, with bias {}; results would be {} steps beside those wanted; right "
      "is a weight scale of {} or more, or an output scale that makes biases fewer steps",
      best.worst % kernels, largest % kernels, worst.factor, wanted[largest].factor, worst.own_bias,
      best.live_error, std::ldexp(wanted[largest].factor, -14) * unit);
}

QuantizedOperators QuantizedOperators::Fit::of(const std::vector<KernelSums>& sums) const {
  check();
  std::vector<detail::WantedResult> wanted;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto k = static_cast<std::uint32_t>(i % kernels);
    detail::at_place(fmt::format("kernel {}", k), std::nullopt, [&] {
      const double scale = scales.weights[scales.weights.size() == 1 ? 0 : k];
      check_scale("weight", scale);
      wanted.push_back(wanted_of(bias.empty() ? 0 : bias[k], scales, scale, sums[i]));
    });
  }
  return meeting(wanted);
}

QuantizedOperators QuantizedOperators::Fit::meeting(
    const std::vector<detail::WantedResult>& wanted) const {
  // A kernel that is only its bias has it in the second step.
  const bool far = std::any_of(wanted.begin(), wanted.end(),
                               [](const detail::WantedResult& kernel) { return kernel.only_bias; });
  QuantizedOperators fitted;
  detail::FittedSteps best;
  if (!far) best = detail::fit_one_step(wanted);
  if (far || best.error > scales.tolerance) {
    if (!far) {
      detail::FittedSteps two = detail::fit_two_steps(wanted);
      fitted.two_ = two.error < best.error;
      if (fitted.two_) best = std::move(two);
    }
    if (far || best.error > kGoodError) {
      detail::FittedSteps apart = detail::fit_far_steps(wanted);
      if (far || apart.error < best.error ||
          (best.error > kGreatestError && apart.live_error <= kGreatestError)) {
        fitted.two_ = true;
        best = std::move(apart);
      }
    }
  }
  if (best.live_error > kGreatestError) refuse_kernel(wanted, best);
  fitted.first_ = std::move(best.first);
  fitted.second_ = std::move(best.second);
  fitted.phases_ = static_cast<std::uint32_t>(wanted.size() / kernels);
  fitted.error_ = best.error;
  fitted.relu_ = relu;
  fitted.bounds_ = element_bounds(scales.bounds, scales.output);
  fitted.input_zero_point_ = scales.input->zero_point;
  fitted.output_zero_point_ = scales.output.zero_point;
  return fitted;
}

QuantizedOperators QuantizedOperators::fit(const Convolution& layer,
                                           const ConvolutionScales& scales) {
  check_free(layer);
  const auto weights = int8_weights(layer.weights, layer.kernels);
  const Fit fit = {scales, layer.bias, layer.kernels, layer.relu};
  return fit.of(sums_of_rows(weights, layer.kernels));
}

QuantizedOperators QuantizedOperators::fit(const FullyConnected& layer,
                                           const ConvolutionScales& scales) {
  check_free(layer);
  const auto weights = int8_weights(layer.weights, layer.outputs);
  const Fit fit = {scales, layer.bias, layer.outputs, layer.relu};
  return fit.of(sums_of_rows(weights, layer.outputs));
}

QuantizedOperators QuantizedOperators::fit(const MatrixProduct& product,
                                           const ConvolutionScales& scales) {
  check_free(product);
  const auto matrix = int8_weights(product.matrix, product.columns);
  const Fit fit = {scales, product.bias, product.columns, product.relu};
  return fit.of(sums_of(matrix, product.columns, 1, product.columns));
}

QuantizedOperators QuantizedOperators::fit(const Deconvolution& layer,
                                           const ConvolutionScales& scales) {
  check_free(layer);
  if (layer.zero_point != 0) {
    refuse_argument("zero_point {} of a quantised layer is chosen by its scales: leave it",
                    layer.zero_point);
  }
  const auto weights = int8_weights(layer.weights, layer.kernels);
  const Fit fit = {scales, layer.bias, layer.kernels, layer.relu};
  return fit.of(sums_of_phases(weights, layer));
}

QuantizedOperators QuantizedOperators::average(std::uint64_t count, const Quantization& input,
                                               const Quantization& output) {
  check_quantization("input", input);
  check_quantization("output", output);
  ConvolutionScales scales;
  scales.input = input;
  scales.output = output;
  const auto all = static_cast<std::int64_t>(count);
  const KernelSums sums = {all * Limits8::min(), all * Limits8::max(), all};
  const Fit fit = {scales, {}, 1, false};
  return fit.meeting({wanted_of(0, scales, 1.0 / static_cast<double>(count), sums)});
}

template <typename Layer>
void QuantizedOperators::set(Layer& layer) const {
  if (phases_ != 1) refuse_argument("operators of {} phases: phase() has those of one", phases_);
  layer.bias = {};
  set_step(first_, layer.x1);
  if (two_) set_step(second_, layer.x2);
  layer.relu = relu_;
  layer.output = {.offset = -output_zero_point_};
  layer.bounds = bounds_;
}

void QuantizedOperators::apply(Convolution& layer) const {
  set(layer);
  layer.pad_value = input_zero_point_;
}

void QuantizedOperators::apply(FullyConnected& layer) const { set(layer); }
void QuantizedOperators::apply(MatrixProduct& product) const { set(product); }

QuantizedOperators QuantizedOperators::phase(std::uint32_t phase) const {
  if (phase >= phases_) refuse_argument("phase {}: there are operators of {}", phase, phases_);
  QuantizedOperators one = *this;
  one.phases_ = 1;
  const std::size_t kernels = first_.factors.size() / phases_;
  for (Step* step : {&one.first_, &one.second_}) {
    for (std::vector<std::int16_t>* values : {&step->addends, &step->factors}) {
      if (values->empty()) continue;
      const auto from = values->begin() + static_cast<std::ptrdiff_t>(phase * kernels);
      *values = std::vector(from, from + static_cast<std::ptrdiff_t>(kernels));
    }
  }
  return one;
}

std::int8_t QuantizedOperators::result(std::uint32_t kernel, std::int32_t sum,
                                       std::uint32_t phase) const {
  const auto kernels = static_cast<std::uint32_t>(first_.factors.size() / phases_);
  if (kernel >= kernels) refuse_argument("kernel {}: there are operators of {}", kernel, kernels);
  if (phase >= phases_) refuse_argument("phase {}: there are operators of {}", phase, phases_);
  const std::uint32_t at = phase * kernels + kernel;
  std::int32_t v = run_step(first_, at, sum);
  if (two_) v = run_step(second_, at, v);
  if (relu_) v = std::max(v, 0);
  return held8(std::int64_t{v} + output_zero_point_, bounds_);
}

}  // namespace nvdla
