// SPDX-License-Identifier: MIT
//
// Adding quantised layers that work element by element to a network.
#include <array>
#include <utility>

#include "layout/precision.hpp"
#include "network/add_layer.hpp"
#include "network/network_impl.hpp"

namespace nvdla {
namespace {

// The output of the layer that was added last stands for that.
Tensor standing_for(Network::Impl& net, Tensor output, const Quantization& quantization) {
  net.tensors[net.index("output", output)].quantization = quantization;
  return output;
}

void check_int8(const Network::Impl& net, const char* what, Tensor tensor) {
  const Precision precision = net.cube(what, tensor).precision;
  if (precision == Precision::kInt8) return;
  detail::refuse_argument("{} is {}: quantised layers are of int8", what,
                          detail::precision_name(precision));
}

}  // namespace

Tensor Network::add(Tensor a, Tensor b, const Addition& layer) {
  Addition known = layer;
  const auto fitted = detail::add_layer(impl(), layer.name, [&] {
    check_int8(impl(), "a", a);
    check_int8(impl(), "b", b);
    if (!known.a) known.a = impl().cube("a", a).quantization;
    if (!known.b) known.b = impl().cube("b", b).quantization;
    return QuantizedAddition::fit(known);
  });
  const std::array<std::int16_t, 1> addend = {static_cast<std::int16_t>(-fitted.zero_point())};
  const std::array<std::int16_t, 1> factor = {fitted.factor()};
  Pointwise sum;
  sum.name = layer.name;
  sum.x1 = batch_norm(addend, factor, 0);
  sum.x2 = elementwise(NVDLA_ALU_SUM, fitted.first_is_a() ? b : a, fitted.shift());
  sum.output = fitted.output();
  sum.bounds = fitted.bounds();
  return standing_for(impl(), pointwise(fitted.first_is_a() ? a : b, sum), layer.output);
}

Tensor Network::clamp(Tensor input, const Clamp& layer) {
  Quantization known;
  Pointwise clamp;
  clamp.name = layer.name;
  clamp.bounds = detail::add_layer(impl(), layer.name, [&] {
    check_int8(impl(), "input", input);
    const auto& of_input = impl().cube("input", input).quantization;
    if (!layer.input && !of_input)
      detail::refuse_argument("the quantisation of the input is not known: say it");
    known = layer.input ? *layer.input : *of_input;
    return element_bounds(layer.bounds, known);
  });
  return standing_for(impl(), pointwise(input, clamp), known);
}

}  // namespace nvdla
