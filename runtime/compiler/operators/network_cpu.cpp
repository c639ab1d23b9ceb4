// SPDX-License-Identifier: MIT
//
// Adding functions of elements and of positions, which the CPU computes, to a network.
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/cpu_layer.hpp"
#include "host_ops/compute.hpp"

namespace nvdla {
namespace {

using cpu::Elements;
using detail::check_stands_for;
using detail::commit_cpu;
using detail::quantization_of;
using detail::TensorNode;
using detail::throw_invalid_argument;
using Rounding = cpu::Elements::Rounding;

// Returns the rounding of an operator that loadables have, too. Refuses precisions, scales and zero
// points that loadables do not have; softmax, which sees differences only, takes any zero point.
Rounding rounding_of(Precision precision, const Quantization& input, bool any_zero_point,
                     const Quantization& output, bool as_loadables) {
  if (!as_loadables) return Rounding::kNearest;
  if (precision == Precision::kInt16)
    throw_invalid_argument("as_loadables: int16 is none of int8, fp16");
  for (const Quantization* q : {&input, &output}) {
    if (q->zero_point != 0 && !(any_zero_point && q == &input))
      throw_invalid_argument("as_loadables: zero point {}, a loadable has none", q->zero_point);
    if (precision == Precision::kFp16 && q->scale != 1)
      throw_invalid_argument("as_loadables: scale {} of fp16, which has none in a loadable",
                             q->scale);
  }
  return Rounding::kLoadable;
}

Quantization probabilities(Precision precision) {
  if (precision == Precision::kInt8) return {1 / 256.0F, -128};
  return {precision == Precision::kInt16 ? 1 / 32768.0F : 1.0F, 0};
}

}  // namespace

Tensor detail::add_softmax(Network::Impl& net, Tensor input, const Softmax& layer) {
  const TensorNode& in = net.cube("input", input);
  Quantization to = probabilities(in.precision);
  if (layer.as_loadables && in.precision == Precision::kInt8) to = {1 / 127.0F, 0};
  if (layer.output) to = *layer.output;
  const Quantization from = quantization_of("input", in, layer.input);
  check_stands_for("output", in.precision, to);
  const Rounding rounding = rounding_of(in.precision, from, true, to, layer.as_loadables);
  return commit_cpu(net, layer.name, {&input, 1}, {{cpu::SoftmaxOperation{rounding, from, to}}},
                    {in.shape, in.precision, to});
}

Tensor Network::softmax(Tensor input, const Softmax& layer) {
  return detail::add_layer(impl(), layer.name,
                           [&] { return detail::add_softmax(impl(), input, layer); });
}

Tensor detail::add_power(Network::Impl& net, Tensor input, const Power& layer) {
  const TensorNode& in = net.cube("input", input);
  const Quantization from = quantization_of("input", in, layer.input);
  check_stands_for("output", in.precision, layer.output);
  for (const float number : {layer.power, layer.scale, layer.shift})
    if (!std::isfinite(number))
      throw_invalid_argument("power {}, scale {}, shift {}: all are finite", layer.power,
                             layer.scale, layer.shift);
  const cpu::PowerOf numbers = {layer.power, layer.scale, layer.shift};
  const Rounding rounding =
      rounding_of(in.precision, from, false, layer.output, layer.as_loadables);
  return commit_cpu(net, layer.name, {&input, 1},
                    {{cpu::PowerOperation{rounding, from, layer.output, numbers}}},
                    {in.shape, in.precision, layer.output});
}

Tensor Network::power(Tensor input, const Power& layer) {
  return detail::add_layer(impl(), layer.name,
                           [&] { return detail::add_power(impl(), input, layer); });
}

Tensor detail::add_element_function(Network::Impl& net, Tensor input,
                                    const ElementFunction& layer) {
  const TensorNode& in = net.cube("input", input);
  const Quantization from = quantization_of("input", in, layer.input);
  check_stands_for("output", in.precision, layer.output);
  if (!layer.function) throw_invalid_argument("the function is empty");
  const Elements elements = {in.precision, from}, results = {in.precision, layer.output};
  // The bits of an element are its index in the table.
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
  return commit_cpu(net, layer.name, {&input, 1}, {{cpu::TableOperation{table}}},
                    {in.shape, in.precision, layer.output});
}

Tensor Network::apply(Tensor input, const ElementFunction& layer) {
  return detail::add_layer(impl(), layer.name,
                           [&] { return detail::add_element_function(impl(), input, layer); });
}

namespace {

// Adds a normalisation by one of the two operations of the CPU.
template <typename Operation, typename Layer>
Tensor add_cpu_normalization(Network::Impl& net, Tensor input, const Layer& layer) {
  const TensorNode& in = net.cube("input", input);
  const Quantization from = quantization_of("input", in, layer.input);
  check_stands_for("output", in.precision, layer.output);
  for (const auto& [what, values] : {std::pair("gamma", layer.gamma), {"beta", layer.beta}}) {
    if (!values.empty() && values.size() != in.shape.channels)
      throw_invalid_argument("{} values of {} for {} channels", values.size(), what,
                             in.shape.channels);
    for (std::size_t c = 0; c < values.size(); ++c)
      if (!std::isfinite(values[c])) throw_invalid_argument("{} {} is {}", what, c, values[c]);
  }
  if (!(layer.epsilon >= 0) || !std::isfinite(layer.epsilon))
    throw_invalid_argument("epsilon {} is not 0 or a positive number", layer.epsilon);
  Operation normal = {{from, layer.output, layer.epsilon}};
  normal.gamma.assign(layer.gamma.begin(), layer.gamma.end());
  normal.beta.assign(layer.beta.begin(), layer.beta.end());
  return commit_cpu(net, layer.name, {&input, 1}, {{std::move(normal)}},
                    {in.shape, in.precision, layer.output});
}

}  // namespace

Tensor detail::add_layer_normalization(Network::Impl& net, Tensor input,
                                       const LayerNormalization& layer) {
  return add_cpu_normalization<cpu::NormalOperation>(net, input, layer);
}

Tensor Network::layer_normalization(Tensor input, const LayerNormalization& layer) {
  return detail::add_layer(impl(), layer.name,
                           [&] { return detail::add_layer_normalization(impl(), input, layer); });
}

Tensor detail::add_instance_normalization(Network::Impl& net, Tensor input,
                                          const InstanceNormalization& layer) {
  return add_cpu_normalization<cpu::InstanceOperation>(net, input, layer);
}

Tensor Network::instance_normalization(Tensor input, const InstanceNormalization& layer) {
  return detail::add_layer(
      impl(), layer.name, [&] { return detail::add_instance_normalization(impl(), input, layer); });
}

}  // namespace nvdla
