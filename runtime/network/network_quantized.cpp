// SPDX-License-Identifier: MIT
//
// Adding quantised layers to a network, which knows what its tensors stand for.
#include <algorithm>
#include <array>
#include <utility>

#include "network/add_layer.hpp"
#include "network/conv_parts.hpp"
#include "network/network_impl.hpp"

namespace nvdla {

namespace detail {

// Layers that move elements, or choose or average some of one tensor.
std::optional<Quantization> kept_quantization(const Network::Impl& net, const LayerNode& layer) {
  const std::optional<Quantization>& input = net.tensors[layer.input].quantization;
  const bool keeps = std::holds_alternative<PoolNode>(layer.part) ||
                     std::holds_alternative<RubikNode>(layer.part) ||
                     std::holds_alternative<CopyNode>(layer.part) ||
                     std::holds_alternative<SliceNode>(layer.part) ||
                     std::holds_alternative<PadNode>(layer.part) ||
                     std::holds_alternative<ReshapeNode>(layer.part) ||
                     std::holds_alternative<UpsampleNode>(layer.part);
  if (keeps) return input;
  if (!std::holds_alternative<ConcatNode>(layer.part)) return std::nullopt;
  const bool same =
      std::all_of(layer.operands.begin(), layer.operands.end(),
                  [&](std::uint32_t part) { return net.tensors[part].quantization == input; });
  return same ? input : std::nullopt;
}

}  // namespace detail

std::optional<Quantization> Network::quantization(Tensor tensor) const {
  return impl().any_tensor("quantization", tensor).quantization;
}

namespace {

// Fits operators to `layer` and has `add` add it with them: the errors of both are said of it once.
template <typename Layer, typename Add>
Tensor add_quantized(Network::Impl& net, Tensor input, const Layer& layer,
                     const ConvolutionScales& scales, const Add& add) {
  return detail::add_layer(net, layer.name, [&] {
    ConvolutionScales known = scales;
    if (!known.input) known.input = net.any_tensor("input", input).quantization;
    const Tensor output = add(QuantizedOperators::fit(layer, known), *known.input);
    net.tensors[net.index("output", output)].quantization = scales.output;
    return output;
  });
}

}  // namespace

Tensor Network::convolution(Tensor input, const Convolution& layer,
                            const ConvolutionScales& scales) {
  const auto add = [&](const QuantizedOperators& fitted, const Quantization& /*input*/) {
    Convolution quantized = layer;
    fitted.apply(quantized);
    return detail::commit_convolution(impl(), input, quantized);
  };
  return add_quantized(impl(), input, layer, scales, add);
}

Tensor Network::fully_connected(Tensor input, const FullyConnected& layer,
                                const ConvolutionScales& scales) {
  const auto add = [&](const QuantizedOperators& fitted, const Quantization& /*input*/) {
    FullyConnected quantized = layer;
    fitted.apply(quantized);
    return detail::commit_fully_connected(impl(), input, quantized);
  };
  return add_quantized(impl(), input, layer, scales, add);
}

Tensor Network::matrix_product(Tensor input, const MatrixProduct& product,
                               const ConvolutionScales& scales) {
  const auto add = [&](const QuantizedOperators& fitted, const Quantization& /*input*/) {
    MatrixProduct quantized = product;
    fitted.apply(quantized);
    return detail::commit_matrix_product(impl(), input, quantized);
  };
  return add_quantized(impl(), input, product, scales, add);
}

Tensor Network::deconvolution(Tensor input, const Deconvolution& layer,
                              const ConvolutionScales& scales) {
  const auto add = [&](const QuantizedOperators& fitted, const Quantization& known) {
    Deconvolution quantized = layer;
    quantized.bias = {};
    quantized.zero_point = known.zero_point;
    return detail::commit_deconvolution(impl(), input, quantized, &fitted);
  };
  return add_quantized(impl(), input, layer, scales, add);
}

Tensor Network::add(Tensor a, Tensor b, const Addition& layer) {
  Addition known = layer;
  const auto fitted = detail::add_layer(impl(), layer.name, [&] {
    if (!known.a) known.a = impl().tensor("a", a).quantization;
    if (!known.b) known.b = impl().tensor("b", b).quantization;
    return QuantizedAddition::fit(known);
  });
  const std::array<std::int16_t, 1> addend = {static_cast<std::int16_t>(-fitted.zero_point())};
  const std::array<std::int16_t, 1> factor = {fitted.factor()};
  Pointwise sum;
  sum.name = layer.name;
  sum.x1 = batch_norm(addend, factor, 0);
  sum.x2 = elementwise(NVDLA_ALU_SUM, fitted.first_is_a() ? b : a, fitted.shift());
  sum.x2.relu = fitted.relu();
  sum.output = fitted.output();
  const Tensor output = pointwise(fitted.first_is_a() ? a : b, sum);
  impl().tensors[impl().index("output", output)].quantization = layer.output;
  return output;
}

}  // namespace nvdla
