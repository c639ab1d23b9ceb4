// SPDX-License-Identifier: MIT
//
// Adding an SDP layer to a network.
#include <utility>

#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/network_impl.hpp"
#include "packing/precision.hpp"
#include "packing/quantized.hpp"

namespace nvdla {

Tensor detail::add_pointwise(Network::Impl& net, Tensor input, const Pointwise& p) {
  const TensorNode& in = net.cube("input", input);
  const Shape shape = in.shape;
  const Precision out = p.precision.value_or(in.precision);
  check_precision(out);
  SdpNode sdp;
  sdp.processing = sdp_processing(in.precision, out);
  sdp.operators.x1 = net.make_operator("x1", p.x1, shape, sdp.processing);
  sdp.operators.x2 = net.make_operator("x2", p.x2, shape, sdp.processing);
  sdp.y = net.make_operator_y(p.y, false, shape, sdp.processing);
  sdp.nan_to_zero = p.nan_to_zero;
  check_nan_to_zero(p.nan_to_zero, in.precision);
  sdp.converter = check_converter(p.output, sdp.processing);
  sdp.bounds = check_bounds(p.bounds, out);
  if (p.quantization) check_quantization("quantization", *p.quantization, out);
  LayerNode layer;
  layer.name = p.name;
  layer.input = net.index("input", input);
  layer.operands = sdp.tensors();
  layer.part = std::move(sdp);
  const Tensor output = net.commit(std::move(layer), shape, out);
  if (p.quantization && out != Precision::kFp16)
    net.tensors[net.index("output", output)].quantization = p.quantization;
  return output;
}

Tensor Network::pointwise(Tensor input, const Pointwise& p) {
  return detail::add_layer(impl(), p.name, [&] { return detail::add_pointwise(impl(), input, p); });
}

}  // namespace nvdla
