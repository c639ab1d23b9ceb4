// SPDX-License-Identifier: MIT
//
// Convolutions and products of int8 tensors.
#include <algorithm>
#include <cmath>

#include "import/nodes/window.hpp"
#include "import/operators/operator.hpp"
#include "import/operators/quantized.hpp"

namespace nvdla::import {
namespace {

// Integers of kernels in int8 with a scale for each kernel.
struct QuantizedKernels {
  std::vector<std::int8_t> elements;
  std::vector<float> scales;
};

QuantizedKernels kernels_of(const Operation& op, std::size_t axis) {
  const Value& value = op.value(1);
  if (!value.quantized)
    throw Refusal("its kernels are no integers with scales",
                  "quantise the kernels (DequantizeLinear of a constant)");
  const QuantizedConstant& q = *value.quantized;
  const bool without_sign = q.elements.type() == Type::kUint8;
  if (q.elements.type() != Type::kInt8 && !without_sign)
    refuse_node("its kernels are {}; expected int8", type_name(q.elements.type()));
  if (q.scales.size() > 1 && q.axis != axis)
    refuse_node("its kernels have scales along axis {}; expected {}", q.axis, axis);
  for (const std::int64_t zero : q.zero_points)
    if (zero != (without_sign ? 128 : 0))
      refuse_node("its kernels have a zero point of {}, which the multipliers do not have", zero);
  QuantizedKernels kernels;
  for (const std::int64_t v : q.elements.integers())
    kernels.elements.push_back(static_cast<std::int8_t>(without_sign ? v - 128 : v));
  kernels.scales = q.scales;
  return kernels;
}

// Returns the bias in multiples of the scales of input and kernels.
std::vector<std::int32_t> integer_bias(const Operation& op, std::size_t index, double input,
                                       const std::vector<float>& scales, std::size_t kernels,
                                       double factor = 1) {
  if (!op.has(index)) return {};
  const Constant& c = op.need_constant(index, "the bias");
  if (c.size() != static_cast<std::int64_t>(kernels) && c.size() != 1)
    refuse_node("the bias has {} elements for {} kernels", c.size(), kernels);
  std::vector<std::int32_t> bias(kernels);
  for (std::size_t k = 0; k < kernels; ++k) {
    const double step = input * static_cast<double>(scales[scales.size() == 1 ? 0 : k]);
    const double v =
        std::nearbyint(factor * c.real(c.size() == 1 ? 0 : static_cast<std::int64_t>(k)) / step);
    if (!(std::fabs(v) < 0x1p31)) refuse_node("the bias of kernel {} is beyond 32 bits", k);
    bias[k] = static_cast<std::int32_t>(v);
  }
  return bias;
}

}  // namespace

void quantized_conv(Lowering& l, const Operation& op) {
  const Quantization input = quantization_of(l, op, 0);
  const Dims dims = find_operator(op)->infer(op)[0].dims;
  const Dims& w = op.dims(1);
  const std::vector<std::int64_t> sizes(w.begin() + 2, w.end());
  const Window window = two_axes(read_window(op, sizes));
  const char* const roles = window_roles(sizes.size());
  const QuantizedKernels kernels = kernels_of(op, 0);
  const auto bias = integer_bias(op, 2, static_cast<double>(input.scale), kernels.scales,
                                 static_cast<std::size_t>(w[0]));
  const Tensor x = l.tensor(op.input(0), make_view(op.dims(0), roles));
  const std::string layer = l.name();
  const QuantizedEnd end = follow_to_end(l, op.node().outputs[0], false);
  Convolution c;
  c.name = layer;
  c.kernels = u32(w[0]);
  c.groups = u32(op.attribute("group", std::int64_t{1}));
  set_window(c, window);
  c.weights = std::span<const std::int8_t>(kernels.elements);
  c.bias = bias;
  const ConvolutionScales scales{input, kernels.scales, end.output, end.bounds};
  l.put(end.last, l.network().convolution(x, c, scales), make_view(dims, roles));
}

void quantized_product(Lowering& l, const Operation& op) {
  const Quantization input = quantization_of(l, op, 0);
  const bool gemm = op.op() == "Gemm";
  const Dims& b = op.dims(1);
  const Dims& in = op.dims(0);
  if (b.size() != 2) refuse_node("its second input is {}; expected a matrix", dims_text(b));
  if (gemm && (op.attribute("transA", std::int64_t{0}) != 0 || op.attribute("alpha", 1.0) != 1))
    refuse_node("it has transA or alpha, which integers do not have");
  const bool transposed = gemm && op.attribute("transB", std::int64_t{0}) != 0;
  const QuantizedKernels matrix = kernels_of(op, transposed ? 0 : 1);
  const std::int64_t columns = b[transposed ? 0 : 1], depth = b[transposed ? 1 : 0];
  std::vector<std::int8_t> weights(matrix.elements.size());
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t d = 0; d < depth; ++d)
      weights[static_cast<std::size_t>(c * depth + d)] =
          matrix.elements[static_cast<std::size_t>(transposed ? c * depth + d : d * columns + c)];
  const auto bias =
      integer_bias(op, 2, static_cast<double>(input.scale), matrix.scales,
                   static_cast<std::size_t>(columns), gemm ? op.attribute("beta", 1.0) : 1);
  const View lies = l.view(op.input(0));
  const std::int64_t rows = in.size() == 2 ? in[0] : 1;
  const bool flat = in.size() <= 2 && lies.shape.batch == rows && is_row_major(lies) &&
                    lies.shape.height <= 32 && lies.shape.width <= 32;
  const std::string layer = l.name();
  if (flat) {
    const QuantizedEnd end = follow_to_end(l, op.node().outputs[0], false);
    FullyConnected f;
    f.name = layer;
    f.outputs = u32(columns);
    f.weights = std::span<const std::int8_t>(weights);
    f.bias = bias;
    View view;
    view.shape = {u32(columns), 1, 1, lies.shape.batch};
    return l.put(end.last,
                 l.network().fully_connected(l.tensor(op.input(0)), f,
                                             {input, matrix.scales, end.output, end.bounds}),
                 view);
  }
  std::string roles(in.size(), 'H');
  roles.back() = 'C';
  if (in.size() >= 3 && l.has_batch()) roles[0] = 'B';
  View view = make_view(in, roles);
  const Tensor x = l.tensor(op.input(0), view);
  const QuantizedEnd end = follow_to_end(l, op.node().outputs[0], false);
  Convolution c;
  c.name = layer;
  c.kernels = u32(columns);
  c.weights = std::span<const std::int8_t>(weights);
  c.bias = bias;
  view.shape.channels = u32(columns);
  l.put(end.last, l.network().convolution(x, c, {input, matrix.scales, end.output, end.bounds}),
        view);
}

}  // namespace nvdla::import
