// SPDX-License-Identifier: MIT
//
// Adding comparisons to a network, of tensors and behind convolutions.
#include <utility>

#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/conv_parts.hpp"

namespace nvdla {
namespace {

OperatorY equality(const Comparison& p) {
  OperatorY equal;
  equal.alu = NVDLA_ALU_EQUAL;
  equal.alu_values = p.values;
  equal.alu_reals = p.reals;
  equal.tensor = p.tensor;
  return equal;
}

bool is_active(const Operator& op) {
  return op.alu != NVDLA_ALU_NONE || op.mul != NVDLA_MUL_NONE || op.mul_shift != 0 || op.relu;
}

// Nothing may change what is compared, and it is compared cube by cube.
void check_compared(const Convolution& c, const Comparison& p) {
  const char* reason = nullptr;
  if (c.y.alu != NVDLA_ALU_NONE || c.y.mul != NVDLA_MUL_NONE || c.y.lut != nullptr)
    reason = "operator Y, which compares";
  if (c.output.offset != 0 || c.output.scale != 1 || c.output.shift != 0) reason = "a converter";
  if (c.bounds != ElementBounds{}) reason = "bounds";
  if (c.precision) reason = "another precision";
  if (c.tuning.winograd == Rewrite::kAlways) reason = "Winograd";
  if (c.tuning.batch == Rewrite::kAlways) reason = "several cubes at once";
  if (c.groups > 1) reason = "groups";
  if (is_active(p.x1) || is_active(p.x2))
    reason = "operators of its own: x1 and x2 are the convolution's";
  if (reason != nullptr)
    detail::throw_invalid_argument("no comparison behind a convolution with {}", reason);
}

}  // namespace

void detail::add_comparison(Network::Impl& net, Tensor input, const Comparison& p) {
  const TensorNode& in = net.cube("input", input);
  SdpNode sdp;
  sdp.processing = in.precision;
  sdp.operators.x1 = net.make_operator("x1", p.x1, in.shape, sdp.processing);
  sdp.operators.x2 = net.make_operator("x2", p.x2, in.shape, sdp.processing);
  sdp.y = net.make_operator_y(equality(p), true, in.shape, sdp.processing);
  LayerNode layer;
  layer.name = p.name;
  layer.input = net.index("input", input);
  layer.operands = sdp.tensors();
  layer.part = std::move(sdp);
  net.commit_silent(std::move(layer));
}

void Network::compare(Tensor input, const Comparison& p) {
  detail::add_layer(impl(), p.name, [&] { detail::add_comparison(impl(), input, p); });
}

void detail::add_comparison(Network::Impl& net, Tensor input, const Convolution& c,
                            const Comparison& p) {
  check_compared(c, p);
  LayerNode layer = make_convolution(net, input, c, equality(p), true);
  auto& node = std::get<ConvNode>(layer.part);
  node.tuning.winograd = node.tuning.batch = Rewrite::kNever;
  layer.name = p.name;
  net.commit_silent(std::move(layer));
}

void Network::compare(Tensor input, const Convolution& c, const Comparison& p) {
  detail::add_layer(impl(), p.name, [&] { detail::add_comparison(impl(), input, c, p); });
}

}  // namespace nvdla
