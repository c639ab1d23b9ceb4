// SPDX-License-Identifier: MIT
//
// Adding quantised layers to a network, which knows what its tensors stand for.
#include <algorithm>
#include <utility>

#include "compiler/graph/add_layer.hpp"
#include "compiler/graph/conv_parts.hpp"
#include "compiler/graph/network_impl.hpp"

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

}  // namespace nvdla
