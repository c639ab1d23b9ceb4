// SPDX-License-Identifier: MIT
//
// QuantizeLinear and DequantizeLinear.
#include <algorithm>
#include <cmath>

#include "import/operators/lowering.hpp"
#include "import/operators/operator.hpp"
#include "import/operators/quantized.hpp"

namespace nvdla::import {
namespace {

std::vector<Inferred> infer_quantize(const Operation& op) {
  return {{quantized_type(op), op.dims(0)}};
}

std::vector<Inferred> infer_dequantize(const Operation& op) { return {{Type::kFloat, op.dims(0)}}; }

// Calls `visit` with the number of each element and of its scale.
template <typename Visit>
void for_each_scale(const Dims& dims, std::size_t axis, std::size_t scales, const Visit& visit) {
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < dims.size(); ++i) inner *= dims[i];
  const std::int64_t count = elements(dims);
  for (std::int64_t i = 0; i < count; ++i)
    visit(i, scales == 1 ? 0 : static_cast<std::size_t>(i / inner % dims[axis]));
}

std::vector<Constant> fold_dequantize(const Operation& op) {
  const QuantizedConstant q = quantized_constant(op);
  std::vector<double> values(static_cast<std::size_t>(q.elements.size()));
  for_each_scale(q.elements.dims(), q.axis, q.scales.size(), [&](std::int64_t i, std::size_t s) {
    values[static_cast<std::size_t>(i)] =
        static_cast<double>(q.elements.integer(i) - q.zero_points[s]) *
        static_cast<double>(q.scales[s]);
  });
  return {Constant::of_doubles(Type::kFloat, q.elements.dims(), values)};
}

std::vector<Constant> fold_quantize(const Operation& op) {
  const Constant& x = op.need_constant(0, "its input");
  const Type type = quantized_type(op);
  // A pass makes int16, which no file has.
  if (type != Type::kInt8 && type != Type::kUint8 && type != Type::kInt16)
    refuse_node("it makes {}; expected int8 or uint8", type_name(type));
  const auto scales = op.need_constant(1, "the scale").floats();
  const auto zeros = op.has(2) ? op.need_constant(2, "the zero point").integers()
                               : std::vector<std::int64_t>(scales.size(), 0);
  const std::size_t axis =
      scales.size() == 1 ? 0
                         : Operation::axis(op.attribute("axis", std::int64_t{1}), x.dims().size());
  if (zeros.size() != scales.size() ||
      (scales.size() != 1 && static_cast<std::int64_t>(scales.size()) != x.dims()[axis]))
    refuse_node("{} scales and {} zero points do not go with {}", scales.size(), zeros.size(),
                dims_text(x.dims()));
  const std::int64_t low = type == Type::kInt8 ? -128 : type == Type::kInt16 ? -32768 : 0;
  const std::int64_t high = type == Type::kInt16 ? 32767 : low + 255;
  std::vector<std::int64_t> values(static_cast<std::size_t>(x.size()));
  for_each_scale(x.dims(), axis, scales.size(), [&](std::int64_t i, std::size_t s) {
    const double v =
        std::nearbyint(x.real(i) / static_cast<double>(scales[s])) + static_cast<double>(zeros[s]);
    values[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(
        std::clamp(v, static_cast<double>(low), static_cast<double>(high)));
  });
  return {Constant::of_integers(type, x.dims(), values)};
}

// An input of real numbers is written in integers by the application.
void lower_quantize(Lowering& l, const Operation& op) {
  const Quantization q = tensor_quantization(l, op, quantized_type(op));
  const ValueId id = op.input(0), out = op.node().outputs[0];
  if (l.is_free(id)) {
    const View view = l.input_view(id);
    l.add_quantized_input(id, view, q);
    return l.put(out, l.tensor(id), view);
  }
  if (l.is_placeholder(id)) return l.put_placeholder(out, q);
  if (!l.is_quantized(id))
    refuse_node("its input is in fp16, and no layer makes {} of that", l.integers_name());
  const View view = l.view(id);
  if (l.network().quantization(l.tensor(id)) == q) return l.put(out, l.tensor(id), view);
  const std::string layer = l.name();
  l.put(out,
        l.network().activation(
            l.tensor(id), {.name = layer, .output = q, .function = [](double x) { return x; }}),
        view);
}

// The elements stay integers; what they stand for is known from here on.
void lower_dequantize(Lowering& l, const Operation& op) {
  const Quantization q = tensor_quantization(l, op, op.type(0));
  const ValueId id = op.input(0);
  if (l.is_free(id)) l.add_quantized_input(id, l.input_view(id), q);
  const View view = l.view(id);
  const Tensor x = l.tensor(id);
  const auto known = l.network().quantization(x);
  if (!l.is_quantized(id) || (known && !(*known == q)))
    refuse_node("its scale and zero point are not those of the integers that it takes");
  l.put(op.node().outputs[0], x, view);
}

std::vector<Inferred> infer_dynamic(const Operation& op) {
  return {{Type::kUint8, op.dims(0)}, {Type::kFloat, {}}, {Type::kUint8, {}}};
}

void refuse_dynamic(Lowering&, const Operation&) {
  throw Refusal(
      "its scale follows from the elements of each run, and those of layers are constants",
      "quantise the model with constant scales (QuantizeLinear)");
}

constexpr OperatorRow kQuantizationRows[] = {
    {"DequantizeLinear", infer_dequantize, fold_dequantize, lower_dequantize,
     "The elements stay int8."},
    {"QuantizeLinear", infer_quantize, fold_quantize, lower_quantize,
     "Part of the layer before it; one scale for a tensor."},
    {"DynamicQuantizeLinear", infer_dynamic, nullptr, refuse_dynamic,
     "Refused: its scale is not known before a run."},
};

}  // namespace

void refuse_int32(Lowering&, const Operation&) {
  throw Refusal("its results are int32, which have no scale",
                "put a Cast to float, a Mul with a constant scale and a QuantizeLinear behind it");
}

Type quantized_type(const Operation& op) {
  if (op.has(2)) return op.type(2);
  return static_cast<Type>(op.attribute("output_dtype", static_cast<std::int64_t>(Type::kUint8)));
}

Quantization tensor_quantization(const Lowering& l, const Operation& op, Type type) {
  const bool wide = l.integers() == Precision::kInt16;
  if (wide ? type != Type::kInt16 : type != Type::kInt8 && type != Type::kUint8)
    refuse_node("its integers are {}; expected int8 or uint8", type_name(type));
  const Constant& scale = op.need_constant(1, "the scale");
  if (scale.size() != 1)
    refuse_node("it has {} scales of a tensor that is computed; expected 1", scale.size());
  const double s = scale.real(0);
  if (!(s > 0) || !std::isfinite(s)) refuse_node("its scale {} is no positive number", s);
  std::int64_t zero = 0;
  if (op.has(2)) {
    const Constant& c = op.need_constant(2, "the zero point");
    if (c.size() != 1 || c.type() != type)
      refuse_node("its zero point is not one number of {}", type_name(type));
    zero = c.integer(0);
  }
  // Elements without a sign are 128 less in int8.
  return {static_cast<float>(s),
          static_cast<std::int32_t>(type == Type::kUint8 ? zero - 128 : zero)};
}

QuantizedConstant quantized_constant(const Operation& op) {
  QuantizedConstant q;
  q.elements = op.need_constant(0, "its input");
  const Constant& scale = op.need_constant(1, "the scale");
  q.scales = scale.floats();
  q.zero_points.assign(q.scales.size(), 0);
  if (op.has(2)) q.zero_points = op.need_constant(2, "the zero point").integers();
  const Dims& dims = q.elements.dims();
  if (q.scales.size() != 1)
    q.axis = Operation::axis(op.attribute("axis", std::int64_t{1}), dims.size());
  if (!is_integer(q.elements.type()) || scale.dims().size() > 1 || q.scales.empty() ||
      q.zero_points.size() != q.scales.size() ||
      (q.scales.size() != 1 && static_cast<std::int64_t>(q.scales.size()) != dims[q.axis]))
    refuse_node("{} scales and {} zero points do not go with {} of {}", q.scales.size(),
                q.zero_points.size(), dims_text(dims), type_name(q.elements.type()));
  return q;
}

std::span<const OperatorRow> quantization_rows() noexcept { return kQuantizationRows; }

}  // namespace nvdla::import
