// SPDX-License-Identifier: MIT
//
// Convolutions and products of tensors with a scale.
#include <algorithm>
#include <cmath>
#include <optional>

#include "import/nodes/window.hpp"
#include "import/operators/exact.hpp"
#include "import/operators/operator.hpp"
#include "import/operators/quantized.hpp"
#include "import/operators/transposed.hpp"

namespace nvdla::import {
namespace {

// Integers of kernels with a scale for each kernel, and what is added to their sums.
struct QuantizedSums {
  std::vector<std::int16_t> weights;  // kernel by kernel, those of int8 too
  std::vector<float> scales;          // one, or one for each kernel
  std::vector<double> bias;           // one real number for each kernel, or none
  // The bias as the model has it, where nothing has changed it.
  std::optional<QuantizedConstant> exact_bias = {};
  std::vector<std::int32_t> integer_bias = {};
  // A layer takes the weights in its precision, and in int16 the bias as it is.
  KernelIntegers kernels = {};
  std::vector<float> real_bias = {};
};

// Returns the kernels of input 1 as the model has them.
QuantizedSums sums_of(const Lowering& l, const Operation& op, std::size_t axis) {
  const Value& value = op.value(1);
  if (!value.quantized)
    throw Refusal("its kernels are no integers with scales",
                  "quantise the kernels (DequantizeLinear of a constant)");
  const QuantizedConstant& q = *value.quantized;
  const bool without_sign = q.elements.type() == Type::kUint8;
  const bool wide = q.elements.type() == Type::kInt16 && l.integers() == Precision::kInt16;
  if (q.elements.type() != Type::kInt8 && !without_sign && !wide)
    refuse_node("its kernels are {}; expected int8", type_name(q.elements.type()));
  if (q.scales.size() > 1 && q.axis != axis)
    refuse_node("its kernels have scales along axis {}; expected {}", q.axis, axis);
  for (const std::int64_t zero : q.zero_points)
    if (zero != (without_sign ? 128 : 0))
      refuse_node("its kernels have a zero point of {}, which the multipliers do not have", zero);
  QuantizedSums sums;
  for (const std::int64_t v : q.elements.integers())
    sums.weights.push_back(static_cast<std::int16_t>(without_sign ? v - 128 : v));
  sums.scales = q.scales;
  return sums;
}

// Reads the bias, of real numbers.
void read_bias(QuantizedSums& sums, const Operation& op, std::size_t index, std::size_t kernels,
               double factor = 1) {
  if (!op.has(index)) return;
  const Constant& c = op.need_constant(index, "the bias");
  if (c.size() != static_cast<std::int64_t>(kernels) && c.size() != 1)
    refuse_node("the bias has {} elements for {} kernels", c.size(), kernels);
  for (std::size_t k = 0; k < kernels; ++k)
    sums.bias.push_back(factor * c.real(c.size() == 1 ? 0 : static_cast<std::int64_t>(k)));
  const auto& integers = op.value(index).quantized;
  if (factor == 1 && integers && integers->elements.type() == Type::kInt32 &&
      integers->elements.size() == static_cast<std::int64_t>(kernels))
    sums.exact_bias = integers;
}

// Takes factors and addends behind the sums into scales, signs of weights and bias.
void absorb_end(QuantizedSums& sums, const QuantizedEnd& end, std::size_t kernels,
                Precision precision) {
  if (end.factors.empty()) return;
  sums.exact_bias.reset();
  if (sums.scales.size() == 1) sums.scales.resize(kernels, sums.scales[0]);
  sums.bias.resize(kernels, 0);
  const std::size_t each = sums.weights.size() / kernels;
  for (std::size_t k = 0; k < kernels; ++k) {
    const double factor = end.factors[k];
    sums.bias[k] = sums.bias[k] * factor + end.addends[k];
    const std::span<std::int16_t> own(sums.weights.data() + k * each, each);
    if (factor == 0) std::fill(own.begin(), own.end(), std::int16_t{0});
    if (factor < 0) {
      for (std::int16_t& w : own) {
        if (w < -greatest_weight(precision))
          refuse_node(
              "kernel {} has the weight -128 and a factor of {} behind it; its opposite, "
              "128, is none of int8",
              k, factor);
        w = static_cast<std::int16_t>(-w);
      }
    }
    if (factor != 0)
      sums.scales[k] = static_cast<float>(static_cast<double>(sums.scales[k]) * std::fabs(factor));
  }
}

// Returns the integer that the model has for a kernel, if it counts in steps of `step`. A real
// number of 24 bits is not the same where it is large.
std::optional<std::int32_t> exact_bias(const QuantizedSums& sums, std::size_t k, double step) {
  if (!sums.exact_bias) return std::nullopt;
  const QuantizedConstant& q = *sums.exact_bias;
  const std::size_t s = q.scales.size() == 1 ? 0 : k;
  constexpr double kRounding = 0x1p-20;  // of a product of scales
  if (q.zero_points[s] != 0 ||
      !(std::fabs(static_cast<double>(q.scales[s]) / step - 1) < kRounding))
    return std::nullopt;
  return static_cast<std::int32_t>(q.elements.integer(static_cast<std::int64_t>(k)));
}

// Computes the bias in multiples of the scales of input and kernels. Kernels that are nothing but
// their bias may have scales of which it is more than 32 bits hold: it stays real then, and the
// layer adds it where it has steps of the result.
void round_bias(QuantizedSums& sums, double input) {
  for (std::size_t k = 0; k < sums.bias.size(); ++k) {
    const double step = input * static_cast<double>(sums.scales[sums.scales.size() == 1 ? 0 : k]);
    if (const auto exact = exact_bias(sums, k, step)) {
      sums.integer_bias.push_back(*exact);
      continue;
    }
    const double v = std::nearbyint(sums.bias[k] / step);
    if (!std::isfinite(sums.bias[k])) refuse_node("the bias of kernel {} is no number", k);
    if (!(std::fabs(v) < 0x1p31)) {
      sums.integer_bias.clear();
      sums.real_bias.assign(sums.bias.begin(), sums.bias.end());
      return;
    }
    sums.integer_bias.push_back(static_cast<std::int32_t>(v));
  }
}

// Follows the sums to their QuantizeLinear and finishes them.
QuantizedEnd finish_sums(Lowering& l, const Operation& op, QuantizedSums& sums,
                         const Kernels& kernels, const Quantization& input) {
  const QuantizedEnd end = follow_kernels(l, op.node().outputs[0], kernels);
  absorb_end(sums, end, kernels.count, l.integers());
  sums.kernels = KernelIntegers(sums.weights, l.integers());
  if (l.integers() == Precision::kInt16)
    sums.real_bias.assign(sums.bias.begin(), sums.bias.end());
  else
    round_bias(sums, static_cast<double>(input.scale));
  return end;
}

template <typename Layer>
void set_sums(Layer& layer, const QuantizedSums& sums) {
  layer.weights = sums.kernels.span();
  layer.bias = sums.integer_bias;
  layer.bias_reals = sums.real_bias;
}

ConvolutionScales scales_of(const Quantization& input, const QuantizedSums& sums,
                            const QuantizedEnd& end) {
  return {input, sums.scales, end.output, end.bounds};
}

}  // namespace

void quantized_conv(Lowering& l, const Operation& op) {
  const Quantization input = quantization_of(l, op, 0);
  const Dims dims = find_operator(op)->infer(op)[0].dims;
  const Dims& w = op.dims(1);
  const Window window = two_axes(read_window(op, kernel_sizes(op)));
  const char* const roles = window_roles(w.size() - 2);
  const auto count = static_cast<std::size_t>(w[0]);
  QuantizedSums sums = sums_of(l, op, 0);
  read_bias(sums, op, 2, count);
  const Tensor x = l.tensor(op.input(0), make_view(op.dims(0), roles));
  const View view = make_view(dims, roles);
  const std::string layer = l.name();
  const QuantizedEnd end = finish_sums(l, op, sums, {dims, view, count}, input);
  Convolution c;
  c.name = layer;
  c.kernels = u32(w[0]);
  c.groups = u32(op.attribute("group", std::int64_t{1}));
  set_window(c, window);
  set_sums(c, sums);
  l.put(end.last, l.network().convolution(x, c, scales_of(input, sums, end)), view);
}

void quantized_transposed(Lowering& l, const Operation& op) {
  const Quantization input = quantization_of(l, op, 0);
  const Dims dims = infer_transposed(op)[0].dims;
  const Dims& w = op.dims(1);
  const std::int64_t groups = op.attribute("group", std::int64_t{1});
  const Window window = two_axes(read_window(op, kernel_sizes(op), true));
  const char* const roles = window_roles(w.size() - 2);
  const auto count = static_cast<std::size_t>(dims[1]);
  const QuantizedSums own = sums_of(l, op, 1);
  const TransposedKernels kernels = transposed_kernels(w, groups, window);
  QuantizedSums sums;
  sums.weights.resize(kernels.size);
  for (std::size_t i = 0; i < own.weights.size(); ++i)
    sums.weights[kernels.places[i]] = own.weights[i];
  // Groups have their kernels one after the other, with the same scales in each.
  if (own.scales.size() == 1) sums.scales = own.scales;
  for (std::size_t k = 0; own.scales.size() > 1 && k < count; ++k)
    sums.scales.push_back(own.scales[k % own.scales.size()]);
  read_bias(sums, op, 2, count);
  const Tensor x = l.tensor(op.input(0), make_view(op.dims(0), roles));
  const View view = make_view(dims, roles);
  const std::string layer = l.name();
  const QuantizedEnd end = finish_sums(l, op, sums, {dims, view, count}, input);
  Deconvolution d;
  d.name = layer;
  set_transposed_window(d, dims, window);
  set_sums(d, sums);
  l.put(end.last, l.network().deconvolution(x, d, scales_of(input, sums, end)), view);
}

void quantized_product(Lowering& l, const Operation& op) {
  if (op.constant(1) == nullptr && op.constant(0) == nullptr && op.op() == "MatMul")
    return find_operator(op)->lower(l, op);
  const Quantization input = quantization_of(l, op, 0);
  const bool gemm = op.op() == "Gemm";
  const Dims& b = op.dims(1);
  const Dims& in = op.dims(0);
  const Dims dims = find_operator(op)->infer(op)[0].dims;
  if (b.size() != 2) refuse_node("its second input is {}; expected a matrix", dims_text(b));
  if (gemm && op.attribute("transA", std::int64_t{0}) != 0)
    refuse_node("its first input is transposed (transA)");
  const double alpha = gemm ? op.attribute("alpha", 1.0) : 1;
  if (!(alpha > 0))
    refuse_node("its alpha is {}; expected a positive number in {}", alpha, l.integers_name());
  const bool transposed = gemm && op.attribute("transB", std::int64_t{0}) != 0;
  QuantizedSums sums = sums_of(l, op, transposed ? 0 : 1);
  for (float& scale : sums.scales) scale = static_cast<float>(alpha * static_cast<double>(scale));
  const std::int64_t columns = b[transposed ? 0 : 1], depth = b[transposed ? 1 : 0];
  const std::vector<std::int16_t> matrix = sums.weights;
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t d = 0; d < depth; ++d)
      sums.weights[static_cast<std::size_t>(c * depth + d)] =
          matrix[static_cast<std::size_t>(transposed ? c * depth + d : d * columns + c)];
  const auto count = static_cast<std::size_t>(columns);
  read_bias(sums, op, 2, count, gemm ? op.attribute("beta", 1.0) : 1);
  const View lies = l.view(op.input(0));
  const std::int64_t rows = in.size() == 2 ? in[0] : 1;
  const bool flat = in.size() <= 2 && lies.shape.batch == rows && is_row_major(lies) &&
                    lies.shape.height <= 32 && lies.shape.width <= 32;
  const std::string layer = l.name();
  if (flat) {
    View view;
    view.shape = {u32(columns), 1, 1, lies.shape.batch};
    const QuantizedEnd end = finish_sums(l, op, sums, {dims, view, count}, input);
    FullyConnected f;
    f.name = layer;
    f.outputs = u32(columns);
    set_sums(f, sums);
    return l.put(end.last,
                 l.network().fully_connected(l.tensor(op.input(0)), f, scales_of(input, sums, end)),
                 view);
  }
  std::string roles(in.size(), 'H');
  roles.back() = 'C';
  if (in.size() >= 3 && l.has_batch()) roles[0] = 'B';
  if (const auto own = roles_in(lies, in)) {
    bool channels_last = own->back() == 'C';
    for (std::size_t i = 0; i + 1 < in.size(); ++i)
      channels_last = channels_last && (in[i] == 1 || (*own)[i] != 'C');
    if (channels_last) roles = *own;
  }
  View view = make_view(in, roles);
  const Tensor x = l.tensor(op.input(0), view);
  view.shape.channels = u32(columns);
  const QuantizedEnd end = finish_sums(l, op, sums, {dims, view, count}, input);
  Convolution c;
  c.name = layer;
  c.kernels = u32(columns);
  set_sums(c, sums);
  l.put(end.last, l.network().convolution(x, c, scales_of(input, sums, end)), view);
}

}  // namespace nvdla::import
