// SPDX-License-Identifier: MIT
//
// Adding quantised layers to a network, which knows what its tensors stand for.

#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/network_impl.hpp"

namespace nvdla {

std::optional<Quantization> Network::quantization(Tensor tensor) const {
  return impl().any_tensor("quantization", tensor).quantization;
}

namespace {

// Fits operators to `layer` and has `add` add it with them.
template <typename Layer, typename Add>
Tensor add_quantized(Network::Impl& net, Tensor input, const Layer& layer,
                     const ConvolutionScales& scales, const Add& add) {
  ConvolutionScales known = scales;
  if (!known.input) known.input = net.any_tensor("input", input).quantization;
  const Tensor output = add(QuantizedOperators::fit(layer, known), *known.input);
  net.tensors[net.index("output", output)].quantization = scales.output;
  return output;
}

}  // namespace

Tensor detail::add_convolution(Network::Impl& net, Tensor input, const Convolution& layer,
                               const ConvolutionScales& scales) {
  const auto add = [&](const QuantizedOperators& fitted, const Quantization& /*input*/) {
    Convolution quantized = layer;
    fitted.apply(quantized);
    return add_convolution(net, input, quantized);
  };
  return add_quantized(net, input, layer, scales, add);
}

Tensor Network::convolution(Tensor input, const Convolution& layer,
                            const ConvolutionScales& scales) {
  return detail::add_layer(impl(), layer.name,
                           [&] { return detail::add_convolution(impl(), input, layer, scales); });
}

Tensor detail::add_fully_connected(Network::Impl& net, Tensor input, const FullyConnected& layer,
                                   const ConvolutionScales& scales) {
  const auto add = [&](const QuantizedOperators& fitted, const Quantization& /*input*/) {
    FullyConnected quantized = layer;
    fitted.apply(quantized);
    return add_fully_connected(net, input, quantized);
  };
  return add_quantized(net, input, layer, scales, add);
}

Tensor Network::fully_connected(Tensor input, const FullyConnected& layer,
                                const ConvolutionScales& scales) {
  return detail::add_layer(impl(), layer.name, [&] {
    return detail::add_fully_connected(impl(), input, layer, scales);
  });
}

Tensor detail::add_matrix_product(Network::Impl& net, Tensor input, const MatrixProduct& product,
                                  const ConvolutionScales& scales) {
  const auto add = [&](const QuantizedOperators& fitted, const Quantization& /*input*/) {
    MatrixProduct quantized = product;
    fitted.apply(quantized);
    return add_matrix_product(net, input, quantized);
  };
  return add_quantized(net, input, product, scales, add);
}

Tensor Network::matrix_product(Tensor input, const MatrixProduct& product,
                               const ConvolutionScales& scales) {
  return detail::add_layer(impl(), product.name, [&] {
    return detail::add_matrix_product(impl(), input, product, scales);
  });
}

Tensor detail::add_deconvolution(Network::Impl& net, Tensor input, const Deconvolution& layer,
                                 const ConvolutionScales& scales) {
  const auto add = [&](const QuantizedOperators& fitted, const Quantization& known) {
    Deconvolution quantized = layer;
    quantized.bias = {};
    quantized.bias_reals = {};
    quantized.zero_point = known.zero_point;
    return add_deconvolution(net, input, quantized, &fitted);
  };
  return add_quantized(net, input, layer, scales, add);
}

Tensor Network::deconvolution(Tensor input, const Deconvolution& layer,
                              const ConvolutionScales& scales) {
  return detail::add_layer(impl(), layer.name,
                           [&] { return detail::add_deconvolution(impl(), input, layer, scales); });
}

}  // namespace nvdla
