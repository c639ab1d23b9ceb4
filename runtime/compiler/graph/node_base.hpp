// SPDX-License-Identifier: MIT
//
// The usual values of the fields of a node, which follow from its tensors and which texts leave
// out.
#ifndef NVDLA_COMPILER_GRAPH_NODE_BASE_HPP
#define NVDLA_COMPILER_GRAPH_NODE_BASE_HPP

#include "compiler/graph/node_fields.hpp"
#include "support/element_range.hpp"

namespace nvdla::detail {

// Layers that read pixels work in int8.
inline Precision usual_processing(const NodeContext& context) {
  return context.input->image ? Precision::kInt8 : context.input->precision;
}

inline void set_base(SdpNode& node, const NodeContext& context, const LayerNode&) {
  node.processing = usual_processing(context);
  const Precision out = context.output != nullptr ? context.output->precision : node.processing;
  if (out != Precision::kFp16) node.bounds = {least_of(out), greatest_of(out)};
}

inline void set_base(ConvNode& node, const NodeContext& context, const LayerNode& layer) {
  const TensorNode& in = *context.input;
  nvdla_conv& c = node.conv;
  c.in_precision = static_cast<std::uint32_t>(in.precision);
  c.proc_precision = static_cast<std::uint32_t>(usual_processing(context));
  c.width = in.shape.width;
  c.height = in.shape.height;
  c.channels = in.shape.channels;
  c.batch = in.shape.batch;
  c.kernel_width = c.kernel_height = 1;
  c.stride_width = c.stride_height = 1;
  c.dilation_width = c.dilation_height = 1;
  c.post_extension = 1;
  if (in.image) {
    c.mode = NVDLA_CONV_IMAGE;
    c.pixel_format = in.image->format;
    c.pixel_offset = in.image->x_offset;
    c.flags = NVDLA_CONV_CONVERT;
    c.cvt_scale = 1;
  }
  set_base(node.sdp, context, layer);
}

inline void set_base(DeconvNode& node, const NodeContext& context, const LayerNode& layer) {
  node.desc.input = context.input->shape;
  node.desc.weights.channels = context.input->shape.channels;
  node.desc.weights.precision = context.input->precision;
  node.sdp.resize(1);
  set_base(node.sdp[0], context, layer);
}

inline void set_base(ConcatNode& node, const NodeContext&, const LayerNode& layer) {
  node.parts = {layer.input};
  node.parts.insert(node.parts.end(), layer.operands.begin(), layer.operands.end());
}

// Other nodes are as they are constructed.
template <typename Node>
void set_base(Node&, const NodeContext&, const LayerNode&) {}

template <typename Node>
Node node_base(const NodeContext& context, const LayerNode& layer) {
  Node node;
  set_base(node, context, layer);
  return node;
}

inline std::uint64_t usual_macs(const ConvNode& node, const NodeContext& context) {
  if (context.output == nullptr) return 0;
  const Shape& out = context.output->shape;
  return saturating_product({kernel_value_count(node), out.height, out.width, out.batch});
}
inline std::uint64_t usual_macs(const DeconvNode& node, const NodeContext& context) {
  const Shape& in = context.input->shape;
  return saturating_product({kernel_value_count(node), in.height, in.width, in.batch});
}
template <typename Node>
std::uint64_t usual_macs(const Node&, const NodeContext&) {
  return 0;
}

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_NODE_BASE_HPP
