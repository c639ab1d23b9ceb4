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
using detail::element_range;
using detail::ElementRange;
using detail::held_element;
using detail::throw_invalid_argument;

constexpr double kGreatestFactor = 1 << 14;
// The reciprocal of the least.
constexpr double kLeastFactor = 1.0 / (std::uint64_t{1} << 63) / 2;
// Steps of the output: a bias beyond that leaves nothing of the sum, whatever is multiplied.
constexpr double kGreatestBias = 1 << 22;
// Up to here steps stay as they are although other ones might be closer.
constexpr double kGoodError = 1.0 / 256;
// From there on results are not those that were asked for: a thousandth of all elements.
constexpr double kGreatestError = 1.0 / 1024;
// Bits that the accumulator may drop of sums.
constexpr std::uint32_t kGreatestShift = 16;

template <typename Layer>
void check_free(const Layer& layer, Precision precision) {
  const bool used = layer.x1.alu != NVDLA_ALU_NONE || layer.x1.mul != NVDLA_MUL_NONE ||
                    layer.x1.mul_shift != 0 || layer.x1.relu || layer.x2.alu != NVDLA_ALU_NONE ||
                    layer.x2.mul != NVDLA_MUL_NONE || layer.x2.mul_shift != 0 || layer.x2.relu;
  if (used)
    throw_invalid_argument("x1 and x2 of a quantised layer are chosen by its scales: leave them");
  if (layer.output.offset != 0 || layer.output.scale != 1 || layer.output.shift != 0 ||
      layer.bounds != ElementBounds{} || layer.arithmetic.accumulator_shift != 0 ||
      layer.precision.value_or(precision) != precision)
    throw_invalid_argument(
        "output converter, bounds, accumulator_shift and precision of a quantised layer are chosen "
        "by its scales: leave them");
}

Precision precision_of(const KernelSpan& weights) {
  if (std::holds_alternative<std::span<const std::int8_t>>(weights)) return Precision::kInt8;
  if (std::holds_alternative<std::span<const std::int16_t>>(weights)) return Precision::kInt16;
  throw_invalid_argument("weights of a quantised layer are int8 or int16");
}

// `Weights` reads kernels of either width.
class Weights {
 public:
  Weights(const KernelSpan& weights, std::uint32_t kernels) {
    if (precision_of(weights) == Precision::kInt8)
      bytes_ = std::get<std::span<const std::int8_t>>(weights);
    else
      words_ = std::get<std::span<const std::int16_t>>(weights);
    if (kernels == 0 || size() == 0 || size() % kernels != 0)
      throw_invalid_argument("{} weights cannot be those of {} kernels", size(), kernels);
  }

  std::size_t size() const { return bytes_.size() + words_.size(); }
  bool are_wide() const { return bytes_.empty(); }
  std::int16_t operator[](std::size_t i) const { return are_wide() ? words_[i] : bytes_[i]; }

 private:
  std::span<const std::int8_t> bytes_;
  std::span<const std::int16_t> words_;
};

// Sums that a kernel's weights can make of inputs, and what the input's zero point adds.
struct KernelSums {
  std::int64_t least = 0, greatest = 0, weights = 0;

  void add(std::int16_t weight, const ElementRange& inputs) {
    const std::int64_t low = std::int64_t{weight} * inputs.least;
    const std::int64_t high = std::int64_t{weight} * inputs.greatest;
    least += std::min(low, high);
    greatest += std::max(low, high);
    weights += weight;
  }
};

ElementRange inputs_of(const Weights& weights) {
  return element_range(weights.are_wide() ? Precision::kInt16 : Precision::kInt8);
}

// Kernel k begins at weight k * kernel_stride, and has every stride-th one from there on.
std::vector<KernelSums> sums_of(const Weights& weights, std::uint32_t kernels,
                                std::size_t kernel_stride, std::size_t stride) {
  std::vector<KernelSums> list(kernels);
  const std::size_t count = weights.size() / kernels;
  const ElementRange inputs = inputs_of(weights);
  for (std::size_t k = 0; k < kernels; ++k)
    for (std::size_t i = 0; i < count; ++i)
      list[k].add(weights[k * kernel_stride + i * stride], inputs);
  return list;
}

std::vector<KernelSums> sums_of_rows(const Weights& weights, std::uint32_t kernels) {
  return sums_of(weights, kernels, weights.size() / kernels, 1);
}

// Phase by phase: tap r of a kernel is one of phase y if y * stride + r is a multiple of it.
std::vector<KernelSums> sums_of_phases(const Weights& weights, const Deconvolution& d) {
  check_range("stride_height", d.stride_height, 1U, 32U);
  check_range("stride_width", d.stride_width, 1U, 32U);
  const std::uint64_t taps = std::uint64_t{d.kernel_height} * d.kernel_width;
  const std::size_t each = weights.size() / d.kernels;
  if (taps == 0 || each % taps != 0) {
    throw_invalid_argument("{} weights cannot be those of {} kernels of {}x{}", weights.size(),
                           d.kernels, d.kernel_height, d.kernel_width);
  }
  const ElementRange inputs = inputs_of(weights);
  std::vector<KernelSums> list(std::size_t{d.stride_height} * d.stride_width * d.kernels);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t r = i % taps / d.kernel_width, s = i % d.kernel_width;
    // The weight is in output lines y with y + pad_top = r modulo the stride.
    const std::size_t y = (r + d.stride_height - d.pad_top % d.stride_height) % d.stride_height;
    const std::size_t x = (s + d.stride_width - d.pad_left % d.stride_width) % d.stride_width;
    list[(y * d.stride_width + x) * d.kernels + i / each].add(weights[i], inputs);
  }
  return list;
}

constexpr double kHigh32 = std::numeric_limits<std::int32_t>::max();

// The greatest sum behind which 32 bits are left.
double greatest_sum(Precision precision) {
  return precision == Precision::kInt16 ? std::ldexp(kHigh32, int{kGreatestShift}) : kHigh32;
}

// `Reach` is what a kernel and its bias can add up to.
struct Reach {
  double least = 0, greatest = 0;

  Reach(const KernelSums& sums, double bias)
      : least(std::min(static_cast<double>(sums.least), static_cast<double>(sums.least) + bias)),
        greatest(std::max(static_cast<double>(sums.greatest),
                          static_cast<double>(sums.greatest) + bias)) {}

  double farthest() const { return std::max(-least, greatest); }
};

// Says which of its numbers steps cannot express, or nothing.
std::string fault_of(const detail::WantedResult& wanted, const KernelSums& sums,
                     const ConvolutionScales& scales, double scale, double most) {
  if (!(wanted.factor >= kLeastFactor && wanted.factor <= kGreatestFactor)) {
    return fmt::format(
        "input scale {} * weight scale {} / output scale {} is {}: right are 2^-64 to "
        "2^14",
        scales.input->scale, scale, scales.output.scale, wanted.factor);
  }
  const Reach reach(sums, wanted.bias);
  if (std::max(reach.farthest(), std::abs(wanted.bias)) > most) {
    return fmt::format("its sums reach {:.0f} to {:.0f}, more than {} bits hold", reach.least,
                       reach.greatest, most > kHigh32 ? 48 : 32);
  }
  if (const double steps = std::abs(wanted.bias) * wanted.factor; steps > kGreatestBias) {
    return fmt::format("its bias alone, {}, is {} steps of the output: right are 2^22 at most",
                       wanted.bias, steps);
  }
  return {};
}

// Describes the result of a kernel whose products have the scale `scale`.
detail::WantedResult wanted_of(double own_bias, const ConvolutionScales& scales, double scale,
                               const KernelSums& sums, Precision precision) {
  detail::WantedResult wanted;
  wanted.factor = scales.input->scale * scale / scales.output.scale;
  wanted.own_bias = own_bias;
  const auto zero = static_cast<double>(scales.input->zero_point * sums.weights);
  wanted.bias = wanted.own_bias - zero;
  const auto farthest = [&](double addend) {
    return std::max(std::abs(static_cast<double>(sums.least) + addend),
                    std::abs(static_cast<double>(sums.greatest) + addend));
  };
  wanted.greatest = farthest(wanted.bias);
  wanted.products = farthest(-zero);
  const double most = greatest_sum(precision);
  const std::string fault = fault_of(wanted, sums, scales, scale, most);
  // Sums pass the first step, whatever it multiplies them with.
  const bool sums_fit = Reach(sums, 0).farthest() <= most;
  wanted.only_bias = !fault.empty() && sums_fit && wanted.is_dead();
  if (!fault.empty() && !wanted.only_bias) throw_invalid_argument("{}", fault);
  return wanted;
}

// Shifts sums until 32 bits hold them; returns by how much. A dead kernel has its bias later where
// these do not hold that.
std::uint32_t shift_sums(std::vector<detail::WantedResult>& wanted,
                         const std::vector<KernelSums>& sums) {
  double greatest = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool dead = wanted[i].only_bias || wanted[i].is_dead();
    greatest = std::max(greatest, Reach(sums[i], dead ? 0 : wanted[i].bias).farthest());
  }
  std::uint32_t shift = 0;
  while (shift < kGreatestShift && std::ldexp(greatest, -static_cast<int>(shift)) >= kHigh32)
    ++shift;
  const double unit = std::ldexp(1.0, static_cast<int>(shift));
  for (detail::WantedResult& kernel : wanted) {
    kernel.factor *= unit;
    for (double* const steps : {&kernel.bias, &kernel.greatest, &kernel.own_bias, &kernel.products})
      *steps /= unit;
    kernel.only_bias = kernel.only_bias || (kernel.is_dead() && std::abs(kernel.bias) > kHigh32);
  }
  return shift;
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

std::int32_t run_step(const QuantizedOperators::Step& step, std::uint32_t kernel, std::int64_t v) {
  const std::int64_t addend =
      arith::saturate32(arith::Wide{step.addends[kernel]} << step.left_shift);
  const arith::Wide product = arith::Wide{v + addend} * step.factors[kernel];
  return arith::saturate32(arith::round_shift(product, static_cast<int>(step.right_shift)));
}

}  // namespace

void detail::check_scale(const std::string& what, double scale) {
  if (std::isfinite(scale) && scale > 0) return;
  throw_invalid_argument("{} scale {}: right are positive numbers", what, scale);
}

void detail::check_quantization(const std::string& what, const Quantization& quantization,
                                Precision precision) {
  check_scale(what, quantization.scale);
  // The opposite of a zero point is an operand of 16 bits.
  const ElementRange range = element_range(precision);
  check_range(what + " zero point", quantization.zero_point,
              std::max(range.least, -std::numeric_limits<std::int16_t>::max()), range.greatest);
}

std::int64_t detail::converted(std::int64_t value, const Converter& converter) {
  return arith::round_shift((value - converter.offset) * converter.scale,
                            static_cast<int>(converter.shift));
}

std::int16_t detail::held_element(std::int64_t value, const ElementBounds& bounds,
                                  Precision precision) {
  const ElementRange range = element_range(precision);
  value = std::clamp<std::int64_t>(value, bounds.least, bounds.greatest);
  return static_cast<std::int16_t>(std::clamp<std::int64_t>(value, range.least, range.greatest));
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
  Precision precision = Precision::kInt8;
  std::span<const std::int32_t> bias;
  std::span<const float> bias_reals;
  std::uint32_t kernels = 0;
  bool relu = false;

  QuantizedOperators of(const std::vector<KernelSums>& sums) const;
  QuantizedOperators meeting(std::vector<detail::WantedResult> wanted,
                             const std::vector<KernelSums>& sums) const;
  double bias_of(std::uint32_t kernel, double scale) const;
  void check() const;
  [[noreturn]] void refuse_kernel(const std::vector<detail::WantedResult>& wanted,
                                  const detail::FittedSteps& best, std::uint32_t sums_shift) const;
};

void QuantizedOperators::Fit::check() const {
  if (!scales.input) throw_invalid_argument("the quantisation of the input is not known: say it");
  check_quantization("input", *scales.input, precision);
  check_quantization("output", scales.output, precision);
  if (!bias.empty() && !bias_reals.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "the bias is given as integers and as real numbers: right is one of them");
  if (const std::size_t count = bias.size() + bias_reals.size(); count != 0 && count != kernels)
    throw_invalid_argument("{} bias values given, {} kernels need as many or none", count, kernels);
  if (scales.weights.size() != 1 && scales.weights.size() != kernels) {
    throw_invalid_argument("{} weight scales given, right are 1 or one for each of {} kernels",
                           scales.weights.size(), kernels);
  }
  if (!(scales.tolerance >= 0))
    throw_invalid_argument("tolerance {}: right is 0 or more", scales.tolerance);
}

ElementBounds element_bounds(const Bounds& bounds, const Quantization& quantization,
                             Precision precision) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (!(bounds.low <= bounds.high) || bounds.low == kInfinity || bounds.high == -kInfinity) {
    throw_invalid_argument("bounds {}..{}: right are two numbers, the lower one first", bounds.low,
                           bounds.high);
  }
  check_quantization("output", quantization, precision);
  const ElementRange range = element_range(precision);
  const auto element = [&](double bound) {
    const double steps = std::round(bound / quantization.scale) + quantization.zero_point;
    return static_cast<std::int32_t>(std::clamp<double>(steps, range.least, range.greatest));
  };
  return {element(bounds.low), element(bounds.high)};
}

// Names the kernel that no steps meet, its numbers, and what to change.
void QuantizedOperators::Fit::refuse_kernel(const std::vector<detail::WantedResult>& wanted,
                                            const detail::FittedSteps& best,
                                            std::uint32_t sums_shift) const {
  const detail::WantedResult& worst = wanted[best.worst];
  std::size_t largest = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i].factor > wanted[largest].factor) largest = i;
  const double unit = scales.output.scale / double{scales.input->scale};
  // In units of the sums before their shift.
  const int shift = static_cast<int>(sums_shift);
  const double factor = std::ldexp(worst.factor, -shift);
  const double largest_factor = std::ldexp(wanted[largest].factor, -shift);
  throw_invalid_argument(
      "kernel {}: its scale lies too far from that of kernel {}: {} steps of the output for each "
      "unit of a sum beside {}, with bias {}; results would be {} steps beside those wanted; right "
      "is a weight scale of {} or more, or an output scale that makes biases fewer steps",
      best.worst % kernels, largest % kernels, factor, largest_factor,
      std::ldexp(worst.own_bias, shift), best.live_error, std::ldexp(largest_factor, -14) * unit);
}

QuantizedOperators QuantizedOperators::Fit::of(const std::vector<KernelSums>& sums) const {
  check();
  std::vector<detail::WantedResult> wanted;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto k = static_cast<std::uint32_t>(i % kernels);
    detail::with_error_context(fmt::format("kernel {}", k), std::nullopt, [&] {
      const double scale = scales.weights[scales.weights.size() == 1 ? 0 : k];
      check_scale("weight", scale);
      wanted.push_back(wanted_of(bias_of(k, scale), scales, scale, sums[i], precision));
    });
  }
  return meeting(std::move(wanted), sums);
}

// In steps of input * weight.
double QuantizedOperators::Fit::bias_of(std::uint32_t kernel, double scale) const {
  if (!bias.empty()) return bias[kernel];
  if (bias_reals.empty()) return 0;
  const auto real = static_cast<double>(bias_reals[kernel]);
  if (!std::isfinite(real))
    throw Error(ErrorCode::kInvalidArgument, fmt::format("its bias {} is no number", real));
  return real / (static_cast<double>(scales.input->scale) * scale);
}

QuantizedOperators QuantizedOperators::Fit::meeting(std::vector<detail::WantedResult> wanted,
                                                    const std::vector<KernelSums>& sums) const {
  const detail::StepLimits limits = detail::step_limits(precision);
  const double greatest_error = kGreatestError * element_range(precision).size();
  QuantizedOperators fitted;
  fitted.precision_ = precision;
  if (precision == Precision::kInt16) fitted.accumulator_shift_ = shift_sums(wanted, sums);
  // A kernel that is only its bias has it in the second step.
  const bool far = std::any_of(wanted.begin(), wanted.end(),
                               [](const detail::WantedResult& kernel) { return kernel.only_bias; });
  detail::FittedSteps best;
  if (!far) best = detail::fit_one_step(wanted, limits);
  if (far || best.error > scales.tolerance) {
    if (!far) {
      detail::FittedSteps two = detail::fit_two_steps(wanted, limits);
      fitted.two_ = two.error < best.error;
      if (fitted.two_) best = std::move(two);
    }
    if (far || best.error > kGoodError) {
      detail::FittedSteps apart = detail::fit_far_steps(wanted, limits);
      if (far || apart.error < best.error ||
          (best.error > greatest_error && apart.live_error <= greatest_error)) {
        fitted.two_ = true;
        best = std::move(apart);
      }
    }
  }
  if (best.live_error > greatest_error) refuse_kernel(wanted, best, fitted.accumulator_shift_);
  fitted.first_ = std::move(best.first);
  fitted.second_ = std::move(best.second);
  fitted.phases_ = static_cast<std::uint32_t>(wanted.size() / kernels);
  fitted.error_ = best.error;
  // The shift rounds away up to half a step of what it leaves.
  if (fitted.accumulator_shift_ != 0) {
    double greatest = 0;
    for (const detail::WantedResult& kernel : wanted) greatest = std::max(greatest, kernel.factor);
    fitted.error_ += greatest / 2;
  }
  fitted.relu_ = relu;
  fitted.bounds_ = element_bounds(scales.bounds, scales.output, precision);
  fitted.input_zero_point_ = scales.input->zero_point;
  fitted.output_zero_point_ = scales.output.zero_point;
  return fitted;
}

QuantizedOperators QuantizedOperators::fit(const Convolution& layer,
                                           const ConvolutionScales& scales) {
  const Precision precision = precision_of(layer.weights);
  check_free(layer, precision);
  const Weights weights(layer.weights, layer.kernels);
  const Fit fit = {scales, precision, layer.bias, layer.bias_reals, layer.kernels, layer.relu};
  return fit.of(sums_of_rows(weights, layer.kernels));
}

QuantizedOperators QuantizedOperators::fit(const FullyConnected& layer,
                                           const ConvolutionScales& scales) {
  const Precision precision = precision_of(layer.weights);
  check_free(layer, precision);
  const Weights weights(layer.weights, layer.outputs);
  const Fit fit = {scales, precision, layer.bias, layer.bias_reals, layer.outputs, layer.relu};
  return fit.of(sums_of_rows(weights, layer.outputs));
}

QuantizedOperators QuantizedOperators::fit(const MatrixProduct& product,
                                           const ConvolutionScales& scales) {
  const Precision precision = precision_of(product.matrix);
  check_free(product, precision);
  const Weights matrix(product.matrix, product.columns);
  const Fit fit = {scales,          precision,   product.bias, product.bias_reals,
                   product.columns, product.relu};
  return fit.of(sums_of(matrix, product.columns, 1, product.columns));
}

QuantizedOperators QuantizedOperators::fit(const Deconvolution& layer,
                                           const ConvolutionScales& scales) {
  const Precision precision = precision_of(layer.weights);
  check_free(layer, precision);
  if (layer.zero_point != 0) {
    throw_invalid_argument("zero_point {} of a quantised layer is chosen by its scales: leave it",
                           layer.zero_point);
  }
  const Weights weights(layer.weights, layer.kernels);
  const Fit fit = {scales, precision, layer.bias, layer.bias_reals, layer.kernels, layer.relu};
  return fit.of(sums_of_phases(weights, layer));
}

QuantizedOperators QuantizedOperators::average(std::uint64_t count, const Quantization& input,
                                               const Quantization& output, Precision precision) {
  check_quantization("input", input, precision);
  check_quantization("output", output, precision);
  ConvolutionScales scales;
  scales.input = input;
  scales.output = output;
  const auto all = static_cast<std::int64_t>(count);
  const ElementRange range = element_range(precision);
  const KernelSums sums = {all * range.least, all * range.greatest, all};
  const Fit fit = {scales, precision, {}, {}, 1, false};
  const double weight = 1.0 / static_cast<double>(count);
  return fit.meeting({wanted_of(0, scales, weight, sums, precision)}, {sums});
}

template <typename Layer>
void QuantizedOperators::set(Layer& layer) const {
  if (phases_ != 1)
    throw_invalid_argument("operators of {} phases: phase() has those of one", phases_);
  layer.bias = {};
  layer.bias_reals = {};
  layer.arithmetic.accumulator_shift = accumulator_shift_;
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
  if (phase >= phases_)
    throw_invalid_argument("phase {}: there are operators of {}", phase, phases_);
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

std::int16_t QuantizedOperators::result(std::uint32_t kernel, std::int64_t sum,
                                        std::uint32_t phase) const {
  const auto kernels = static_cast<std::uint32_t>(first_.factors.size() / phases_);
  if (kernel >= kernels)
    throw_invalid_argument("kernel {}: there are operators of {}", kernel, kernels);
  if (phase >= phases_)
    throw_invalid_argument("phase {}: there are operators of {}", phase, phases_);
  const std::uint32_t at = phase * kernels + kernel;
  const int shift = static_cast<int>(accumulator_shift_);
  std::int32_t v = run_step(first_, at, arith::saturate32(arith::round_shift(sum, shift)));
  if (two_) v = run_step(second_, at, v);
  if (relu_) v = std::max(v, 0);
  return held_element(std::int64_t{v} + output_zero_point_, bounds_, precision_);
}

}  // namespace nvdla
