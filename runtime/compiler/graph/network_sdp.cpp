// SPDX-License-Identifier: MIT
//
// Adding an SDP layer to a network.
#include <utility>

#include "compiler/graph/add_layer.hpp"
#include "compiler/graph/network_impl.hpp"
#include "layout/precision.hpp"

namespace nvdla {

Tensor Network::pointwise(Tensor input, const Pointwise& p) {
  return detail::add_layer(impl(), p.name, [&] {
    const detail::TensorNode& in = impl().cube("input", input);
    const Shape shape = in.shape;
    const Precision out = p.precision.value_or(in.precision);
    detail::check_precision(out);
    detail::SdpNode sdp;
    sdp.processing = detail::sdp_processing(in.precision, out);
    sdp.operators.x1 = impl().make_operator("x1", p.x1, shape, sdp.processing);
    sdp.operators.x2 = impl().make_operator("x2", p.x2, shape, sdp.processing);
    sdp.y = impl().make_operator_y(p.y, false, shape, sdp.processing);
    sdp.nan_to_zero = p.nan_to_zero;
    detail::check_nan_to_zero(p.nan_to_zero, in.precision);
    sdp.converter = detail::check_converter(p.output, sdp.processing);
    sdp.bounds = detail::check_bounds(p.bounds, out);
    detail::LayerNode layer;
    layer.name = p.name;
    layer.input = impl().index("input", input);
    layer.operands = sdp.tensors();
    layer.part = std::move(sdp);
    return impl().commit(std::move(layer), shape, out);
  });
}

}  // namespace nvdla
