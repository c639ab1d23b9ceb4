// SPDX-License-Identifier: MIT
#include <algorithm>

#include "compiler/compile.hpp"

namespace nvdla::detail {
namespace {

// Fills in what the kind of a layer decides.
struct Describe {
  UserLayer& layer;

  void window(std::uint32_t height, std::uint32_t width, std::uint32_t y, std::uint32_t x) const {
    layer.kernel_height = height;
    layer.kernel_width = width;
    layer.stride_height = y;
    layer.stride_width = x;
  }

  void operator()(const SdpNode& sdp) const {
    layer.kind = sdp.silent() ? "comparison" : "element-wise";
  }
  void operator()(const ConvNode& node) const {
    const nvdla_conv& conv = node.conv;
    const bool all = conv.kernel_height == layer.input.height &&
                     conv.kernel_width == layer.input.width && conv.kernel_height > 1;
    layer.kind = node.groups > 1 && node.groups == layer.input.channels ? "depthwise convolution"
                 : node.groups > 1                                      ? "grouped convolution"
                 : all                                                  ? "fully connected"
                                                                        : "convolution";
    window(conv.kernel_height, conv.kernel_width, conv.stride_height, conv.stride_width);
  }
  void operator()(const DeconvNode& node) const {
    layer.kind = "deconvolution";
    window(node.desc.weights.kernel_height, node.desc.weights.kernel_width, node.desc.stride_height,
           node.desc.stride_width);
  }
  void operator()(const PoolNode& node) const {
    layer.kind = node.pdp.method == NVDLA_POOL_MAX   ? "max pooling"
                 : node.pdp.method == NVDLA_POOL_MIN ? "min pooling"
                                                     : "average pooling";
    window(node.pdp.kernel_height, node.pdp.kernel_width, node.pdp.stride_height,
           node.pdp.stride_width);
  }
  void operator()(const UpsampleNode& node) const {
    layer.kind = "upsampling";
    window(node.scale_height, node.scale_width, 1, 1);
  }
  void operator()(const NormNode&) const { layer.kind = "normalization"; }
  void operator()(const RubikNode&) const { layer.kind = "reorganization"; }
  void operator()(const CopyNode&) const { layer.kind = "copy"; }
  void operator()(const ConcatNode&) const { layer.kind = "concatenation"; }
  void operator()(const SliceNode&) const { layer.kind = "slice"; }
  void operator()(const PadNode&) const { layer.kind = "padding"; }
  void operator()(const ReshapeNode&) const { layer.kind = "reshape"; }
  void operator()(const CpuNode&) const { layer.kind = "CPU"; }
};

std::uint32_t source_of(const Graph& graph, std::uint32_t tensor) {
  if (const auto producer = graph.tensors[tensor].producer) return *producer;
  const auto input = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                                  [&](const IoTensor& port) { return port.tensor == tensor; });
  return UserLayer::kInput | static_cast<std::uint32_t>(input - graph.inputs.begin());
}

// Returns the tensor that the user gave a layer for its input: layers that it has absorbed lie
// before it, and the last of them makes that tensor.
std::uint32_t users_input(const Graph& graph, std::uint32_t index) {
  std::uint32_t input = graph.layers[index].input;
  for (const LayerNode& layer : graph.layers)
    if (layer.absorbed_by == index) input = layer.output;
  return input;
}

// Returns the shape that the user knows.
Shape users_shape(const TensorNode& tensor) {
  Shape shape = tensor.shape;
  shape.channels -= tensor.gaps;
  return shape;
}

}  // namespace

UserNetwork user_network(const Graph& graph, std::span<const Operation> operations) {
  UserNetwork user;
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
    const LayerNode& node = graph.layers[i];
    UserLayer& layer = user.layers.emplace_back();
    const std::uint32_t read = users_input(graph, i);
    const TensorNode& input = graph.tensors[read];
    layer.silent = node.output == kNoTensor;
    const TensorNode& output = layer.silent ? input : graph.tensors[node.output];
    layer.name = node.name;
    layer.input = users_shape(input);
    layer.input_precision = input.precision;
    layer.output = users_shape(output);
    layer.output_precision = output.precision;
    std::visit(Describe{layer}, node.part);
    layer.sources.push_back(source_of(graph, read));
    for (const std::uint32_t operand : node.operands)
      layer.sources.push_back(source_of(graph, operand));
    if (const auto* concat = std::get_if<ConcatNode>(&node.part)) {
      layer.sources.clear();
      for (const std::uint32_t part : concat->parts)
        layer.sources.push_back(source_of(graph, part));
    }
  }
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    user.layers[operations[i].origin].layers.push_back(i);
    for (const std::uint32_t layer : operations[i].fused) user.layers[layer].layers.push_back(i);
  }
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
    if (const auto by = graph.layers[i].absorbed_by)
      user.layers[i].layers = user.layers[*by].layers;
  }
  for (const IoTensor& port : graph.outputs) user.outputs.push_back(source_of(graph, port.tensor));
  return user;
}

}  // namespace nvdla::detail
