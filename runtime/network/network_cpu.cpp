// SPDX-License-Identifier: MIT
//
// Adding functions of elements and of positions, which the CPU computes, to a network.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/compute.hpp"
#include "network/add_layer.hpp"
#include "network/cpu_layer.hpp"

namespace nvdla {
namespace {

using cpu::Elements;
using detail::check_stands_for;
using detail::commit_cpu;
using detail::cpu_source;
using detail::cpu_target;
using detail::CpuForm;
using detail::CpuNode;
using detail::no_form;
using detail::quantization_of;
using detail::refuse_argument;
using detail::TensorNode;

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
    check_stands_for("output", in.precision, to);
    const InAndOut elements =
        elements_of(CpuForm::Kind::kSoftmax, in.precision, from, to, layer.as_loadables);
    CpuNode node;
    node.form = elements.form;
    node.run = [elements](auto sources, const auto& place) {
      cpu::softmax(cpu_source(sources[0], elements.in), cpu_target(place, elements.out));
    };
    return commit_cpu(impl(), layer.name, {&input, 1}, std::move(node),
                      {in.shape, in.precision, to});
  });
}

Tensor Network::power(Tensor input, const Power& layer) {
  return detail::add_layer(impl(), layer.name, [&] {
    const TensorNode& in = impl().cube("input", input);
    const Quantization from = quantization_of("input", in, layer.input);
    check_stands_for("output", in.precision, layer.output);
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
      cpu::power(cpu_source(sources[0], elements.in), cpu_target(place, elements.out), numbers);
    };
    return commit_cpu(impl(), layer.name, {&input, 1}, std::move(node),
                      {in.shape, in.precision, layer.output});
  });
}

Tensor Network::apply(Tensor input, const ElementFunction& layer) {
  return detail::add_layer(impl(), layer.name, [&] {
    const TensorNode& in = impl().cube("input", input);
    const Quantization from = quantization_of("input", in, layer.input);
    check_stands_for("output", in.precision, layer.output);
    if (!layer.function) refuse_argument("the function is empty");
    const Elements elements = {in.precision, from}, results = {in.precision, layer.output};
    // By the bits of an element.
    const std::size_t bytes = in.precision == Precision::kInt8 ? 1 : 2;
    const auto table = std::make_shared<std::vector<std::byte>>(bytes << (std::size_t{8} * bytes));
    for (std::size_t bits = 0; bits * bytes < table->size(); ++bits) {
      std::byte* const at = table->data() + bits * bytes;
      std::memcpy(at, &bits, bytes);
      double real = 0;
      elements.get(at, {&real, 1});
      real = layer.function(real);
      results.put({&real, 1}, at);
    }
    CpuNode node;
    node.form = no_form("function of elements");
    node.run = [elements, results, table](auto sources, const auto& place) {
      cpu::look_up(cpu_source(sources[0], elements), cpu_target(place, results), *table);
    };
    return commit_cpu(impl(), layer.name, {&input, 1}, std::move(node),
                      {in.shape, in.precision, layer.output});
  });
}

Tensor Network::layer_normalization(Tensor input, const LayerNormalization& layer) {
  return detail::add_layer(impl(), layer.name, [&] {
    const TensorNode& in = impl().cube("input", input);
    const Quantization from = quantization_of("input", in, layer.input);
    check_stands_for("output", in.precision, layer.output);
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
      cpu::normalise(cpu_source(sources[0], elements), cpu_target(place, results),
                     {gamma, beta, epsilon});
    };
    return commit_cpu(impl(), layer.name, {&input, 1}, std::move(node),
                      {in.shape, in.precision, layer.output});
  });
}

}  // namespace nvdla
