// SPDX-License-Identifier: MIT
//
// Adding layers that the CPU computes to a network.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "cpu/compute.hpp"
#include "layout/precision.hpp"
#include "network/add_layer.hpp"
#include "network/axis.hpp"
#include "network/network_impl.hpp"
#include "nvdla/half.hpp"

namespace nvdla {
namespace {

using cpu::Elements;
using detail::check_range;
using detail::CpuForm;
using detail::CpuNode;
using detail::refuse_argument;
using detail::TensorNode;

void check_quantization(std::string_view what, Precision precision, const Quantization& q) {
  if (!std::isfinite(q.scale) || q.scale <= 0)
    refuse_argument("{} scale {} is not a positive number", what, q.scale);
  if (precision == Precision::kFp16) {
    if (q.zero_point != 0) refuse_argument("{} zero point {}: fp16 has none", what, q.zero_point);
    return;
  }
  const std::int32_t low = precision == Precision::kInt8 ? -128 : -32768;
  check_range(fmt::format("{} zero point", what), q.zero_point, low, -low - 1);
}

// What is said of an input, or else known.
Quantization quantization_of(std::string_view what, const TensorNode& tensor,
                             const std::optional<Quantization>& said) {
  std::optional<Quantization> known = said ? said : tensor.quantization;
  if (!known && tensor.precision == Precision::kFp16) known.emplace();
  if (!known) refuse_argument("the quantisation of {} is not known: say it", what);
  check_quantization(what, tensor.precision, *known);
  return *known;
}

cpu::Source source(const CpuNode::From& from, const Elements& elements) {
  return {cpu::CubeLayout(from.desc), elements, from.bytes};
}

// With zeros beyond the last channel.
cpu::Target target(const CpuNode::To& to, const Elements& elements) {
  const cpu::Target target(cpu::CubeLayout(to.desc), elements, to.bytes);
  target.clear_lanes();
  return target;
}

struct Result {
  Shape shape;
  Precision precision = Precision::kInt8;
  std::optional<Quantization> quantization;
};

Tensor commit(Network::Impl& net, std::string_view name, std::span<const Tensor> inputs,
              CpuNode node, const Result& result) {
  detail::LayerNode layer;
  layer.name = name;
  layer.input = net.index("input", inputs[0]);
  for (const Tensor& operand : inputs.subspan(1))
    layer.operands.push_back(net.index("input", operand));
  layer.part = std::move(node);
  const Tensor output = net.commit(std::move(layer), result.shape, result.precision);
  net.tensors[net.index("output", output)].quantization = result.quantization;
  return output;
}

CpuForm no_form(std::string_view kind) {
  CpuForm form;
  form.why_none = fmt::format("a loadable has no {}", kind);
  return form;
}

// Elements of source and target of an operator that loadables have, too.
struct InAndOut {
  Elements in, out;
  CpuForm form;
};

InAndOut elements_of(CpuForm::Kind kind, Precision precision, const Quantization& input,
                     const Quantization& output, bool as_loadables) {
  InAndOut all;
  const auto rounding = as_loadables ? Elements::Rounding::kLoadable : Elements::Rounding::kNearest;
  all.in = {precision, input, rounding};
  all.out = {precision, output, rounding};
  if (!as_loadables) {
    all.form.why_none = "a loadable rounds it otherwise: as_loadables does, too";
    return all;
  }
  if (precision == Precision::kInt16) refuse_argument("as_loadables: int16 is none of int8, fp16");
  for (const Quantization& q : {input, output}) {
    if (q.zero_point != 0)
      refuse_argument("as_loadables: zero point {}, a loadable has none", q.zero_point);
    if (precision == Precision::kFp16 && q.scale != 1)
      refuse_argument("as_loadables: scale {} of fp16, which has none in a loadable", q.scale);
  }
  all.form.kind = kind;
  all.form.input_scale = input.scale;
  all.form.output_scale = output.scale;
  return all;
}

Quantization probabilities(Precision precision) {
  if (precision == Precision::kInt8) return {1 / 256.0F, -128};
  return {precision == Precision::kInt16 ? 1 / 32768.0F : 1.0F, 0};
}

}  // namespace

Tensor Network::softmax(Tensor input, const Softmax& layer) {
  return detail::add_layer(impl(), layer.name, [&] {
    const TensorNode& in = impl().cube("input", input);
    Quantization to = probabilities(in.precision);
    if (layer.as_loadables && in.precision == Precision::kInt8) to = {1 / 127.0F, 0};
    if (layer.output) to = *layer.output;
    const Quantization from = quantization_of("input", in, layer.input);
    check_quantization("output", in.precision, to);
    const InAndOut elements =
        elements_of(CpuForm::Kind::kSoftmax, in.precision, from, to, layer.as_loadables);
    CpuNode node;
    node.form = elements.form;
    node.run = [elements](auto sources, const auto& place) {
      cpu::softmax(source(sources[0], elements.in), target(place, elements.out));
    };
    return commit(impl(), layer.name, {&input, 1}, std::move(node), {in.shape, in.precision, to});
  });
}

Tensor Network::power(Tensor input, const Power& layer) {
  return detail::add_layer(impl(), layer.name, [&] {
    const TensorNode& in = impl().cube("input", input);
    const Quantization from = quantization_of("input", in, layer.input);
    check_quantization("output", in.precision, layer.output);
    for (const float number : {layer.power, layer.scale, layer.shift})
      if (!std::isfinite(number))
        refuse_argument("power {}, scale {}, shift {}: all are finite", layer.power, layer.scale,
                        layer.shift);
    const cpu::PowerOf numbers = {layer.power, layer.scale, layer.shift};
    InAndOut elements =
        elements_of(CpuForm::Kind::kPower, in.precision, from, layer.output, layer.as_loadables);
    elements.form.power = layer.power;
    elements.form.scale = layer.scale;
    elements.form.shift = layer.shift;
    CpuNode node;
    node.form = elements.form;
    node.run = [elements, numbers](auto sources, const auto& place) {
      cpu::power(source(sources[0], elements.in), target(place, elements.out), numbers);
    };
    return commit(impl(), layer.name, {&input, 1}, std::move(node),
                  {in.shape, in.precision, layer.output});
  });
}

Tensor Network::apply(Tensor input, const ElementFunction& layer) {
  return detail::add_layer(impl(), layer.name, [&] {
    const TensorNode& in = impl().cube("input", input);
    const Quantization from = quantization_of("input", in, layer.input);
    check_quantization("output", in.precision, layer.output);
    if (!layer.function) refuse_argument("the function is empty");
    const std::int32_t low = in.precision == Precision::kInt8 ? -128 : -32768;
    const auto table = std::make_shared<std::vector<double>>();
    for (std::int32_t i = low; i < -low; ++i) {
      const double element = in.precision == Precision::kFp16
                                 ? from_half(static_cast<std::uint16_t>(i - low))
                                 : i - from.zero_point;
      table->push_back(layer.function(element * from.scale));
    }
    CpuNode node;
    node.form = no_form("function of elements");
    const Elements elements = {in.precision, from}, results = {in.precision, layer.output};
    node.run = [elements, results, table](auto sources, const auto& place) {
      cpu::look_up(source(sources[0], elements), target(place, results), *table);
    };
    return commit(impl(), layer.name, {&input, 1}, std::move(node),
                  {in.shape, in.precision, layer.output});
  });
}

Tensor Network::layer_normalization(Tensor input, const LayerNormalization& layer) {
  return detail::add_layer(impl(), layer.name, [&] {
    const TensorNode& in = impl().cube("input", input);
    const Quantization from = quantization_of("input", in, layer.input);
    check_quantization("output", in.precision, layer.output);
    for (const auto& [what, values] : {std::pair("gamma", layer.gamma), {"beta", layer.beta}}) {
      if (!values.empty() && values.size() != in.shape.channels)
        refuse_argument("{} values of {} for {} channels", values.size(), what, in.shape.channels);
      for (std::size_t c = 0; c < values.size(); ++c)
        if (!std::isfinite(values[c])) refuse_argument("{} {} is {}", what, c, values[c]);
    }
    if (!(layer.epsilon >= 0) || !std::isfinite(layer.epsilon))
      refuse_argument("epsilon {} is not 0 or a positive number", layer.epsilon);
    CpuNode node;
    node.form = no_form("layer normalisation");
    const Elements elements = {in.precision, from}, results = {in.precision, layer.output};
    node.run = [elements, results, epsilon = layer.epsilon,
                gamma = std::vector(layer.gamma.begin(), layer.gamma.end()),
                beta = std::vector(layer.beta.begin(), layer.beta.end())](auto sources,
                                                                          const auto& place) {
      cpu::normalise(source(sources[0], elements), target(place, results), {gamma, beta, epsilon});
    };
    return commit(impl(), layer.name, {&input, 1}, std::move(node),
                  {in.shape, in.precision, layer.output});
  });
}

Tensor Network::product(Tensor a, Tensor b, const TensorProduct& layer) {
  return detail::add_layer(impl(), layer.name, [&] {
    const TensorNode &first = impl().cube("a", a), &second = impl().cube("b", b);
    if (first.precision != second.precision)
      refuse_argument("a is {}, b is {}", detail::precision_name(first.precision),
                      detail::precision_name(second.precision));
    if (first.shape.batch != second.shape.batch)
      refuse_argument("a has {} cubes, b has {}", first.shape.batch, second.shape.batch);
    const std::uint32_t positions = second.shape.height * second.shape.width;
    const std::uint32_t channels = second.shape.channels;
    const std::uint32_t length = layer.transposed ? channels : positions;
    if (first.shape.channels != length)
      refuse_argument("a has {} channels, which are multiplied with the {} {} of b",
                      first.shape.channels, length, layer.transposed ? "channels" : "positions");
    Shape out = first.shape;
    out.channels = layer.transposed ? positions : channels;
    check_range("output channels", out.channels, 1U, detail::kMaxSide);
    const Quantization qa = quantization_of("a", first, layer.a);
    const Quantization qb = quantization_of("b", second, layer.b);
    check_quantization("output", first.precision, layer.output);
    if (!std::isfinite(layer.factor)) refuse_argument("factor {} is not finite", layer.factor);
    const double factor =
        layer.factor * double{qa.scale} * double{qb.scale} / double{layer.output.scale};
    CpuNode node;
    node.form = no_form("product of tensors");
    const Precision precision = first.precision;
    node.run = [precision, qa, qb, result = layer.output, transposed = layer.transposed, factor](
                   auto sources, const auto& place) {
      cpu::multiply(source(sources[0], {precision, qa}), source(sources[1], {precision, qb}),
                    target(place, {precision, result}), transposed, factor);
    };
    const std::array inputs = {a, b};
    return commit(impl(), layer.name, inputs, std::move(node), {out, precision, layer.output});
  });
}

Tensor Network::argmax(Tensor input, const Argmax& layer) {
  return detail::add_layer(impl(), layer.name, [&] {
    const TensorNode& in = impl().cube("input", input);
    if (layer.precision != Precision::kInt8 && layer.precision != Precision::kInt16)
      refuse_argument("precision {}: channels are numbered in int8 (0) or int16 (1)",
                      static_cast<std::uint32_t>(layer.precision));
    if (layer.precision == Precision::kInt8 && in.shape.channels > 128)
      refuse_argument("int8 has numbers for 128 channels, the input has {}", in.shape.channels);
    Shape out = in.shape;
    out.channels = 1;
    CpuNode node;
    node.form = no_form("argmax");
    node.run = [of = in.precision, result = layer.precision](auto sources, const auto& place) {
      cpu::argmax(source(sources[0], {of}), target(place, {result}));
    };
    return commit(impl(), layer.name, {&input, 1}, std::move(node),
                  {out, layer.precision, Quantization{}});
  });
}

Tensor Network::transpose(Tensor input, const Transpose& layer) {
  return detail::add_layer(impl(), layer.name, [&] {
    const TensorNode& in = impl().cube("input", input);
    Shape out = in.shape;
    std::array<std::uint32_t, 3> order{};
    std::array<bool, 3> named{};
    constexpr std::array kAxes = {Axis::kChannels, Axis::kHeight, Axis::kWidth};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto from = detail::axis_of(layer.order[i]);
      order[i] = static_cast<std::uint32_t>(layer.order[i]);
      if (std::exchange(named[order[i]], true)) refuse_argument("order names {} twice", from.name);
      out.*detail::axis_of(kAxes[i]).size = in.shape.*from.size;
    }
    CpuNode node;
    node.form = no_form("transposition");
    const Elements elements = {in.precision};
    node.run = [elements, order](auto sources, const auto& place) {
      cpu::permute(source(sources[0], elements), target(place, elements), order);
    };
    return commit(impl(), layer.name, {&input, 1}, std::move(node),
                  {out, in.precision, in.quantization});
  });
}

}  // namespace nvdla
