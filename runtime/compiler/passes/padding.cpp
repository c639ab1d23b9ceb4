// SPDX-License-Identifier: MIT
//
// Padding that a convolution does itself: a padding layer whose output only a convolution reads
// becomes paddings of the convolution, where both pad with the same element. That is exact, and
// nothing is copied around.
#include <algorithm>
#include <utility>

#include "compiler/graph/views.hpp"
#include "compiler/passes/passes.hpp"

namespace nvdla::detail {
namespace {

// Returns the convolution that alone reads a tensor, or nothing.
LayerNode* only_convolution(Graph& graph, std::uint32_t tensor) {
  if (is_output(graph, tensor)) return nullptr;
  LayerNode* only = nullptr;
  for (LayerNode& layer : graph.live_layers()) {
    const bool operand = std::ranges::find(layer.operands, tensor) != layer.operands.end();
    if (layer.input != tensor && !operand) continue;
    if (only != nullptr || operand || !std::holds_alternative<ConvNode>(layer.part)) return nullptr;
    only = &layer;
  }
  return only;
}

bool pads(const nvdla_conv& conv) {
  return (conv.pad_left | conv.pad_right | conv.pad_top | conv.pad_bottom) != 0;
}

// Returns true if the converter leaves the input as it is, and padding adds the same element.
bool pads_alike(const PadNode& pad, const nvdla_conv& conv) {
  return (conv.flags & NVDLA_CONV_CONVERT) == 0 && (!pads(conv) || pad.value == conv.pad_value);
}

// Returns true if the paddings are what any device, a convolution in bands and one in tiles take:
// less than the kernel.
bool are_within(const nvdla_conv& conv, const ConvNode& node) {
  const auto reach = [](std::uint32_t kernel, std::uint32_t dilation) {
    return (kernel - 1) * dilation;
  };
  const std::uint32_t most_x = std::min(reach(conv.kernel_width, conv.dilation_width), 31U);
  const std::uint32_t most_y = std::min(reach(conv.kernel_height, conv.dilation_height), 31U);
  if (std::max(conv.pad_left, conv.pad_right) > most_x ||
      std::max(conv.pad_top, conv.pad_bottom) > most_y) {
    return false;
  }
  const auto tile = [](std::uint32_t stride) { return stride == 1 ? 1 : 3 * stride - 1; };
  return node.tuning.winograd == Rewrite::kNever ||
         (conv.pad_left <= tile(conv.stride_width) && conv.pad_top <= tile(conv.stride_height));
}

// Returns the convolution with the padding as its own.
nvdla_conv padded(const PadNode& pad, const Shape& in, const Shape& out, nvdla_conv conv) {
  conv.pad_top += pad.corner.line;
  conv.pad_left += pad.corner.column;
  conv.pad_bottom += out.height - in.height - pad.corner.line;
  conv.pad_right += out.width - in.width - pad.corner.column;
  conv.pad_value = pad.value;
  conv.height = in.height;
  conv.width = in.width;
  return conv;
}

}  // namespace

Graph absorb_padding(Graph graph, PassContext& context) {
  // The last of several paddings one behind the other is absorbed first.
  for (std::size_t i = graph.layers.size(); i-- > 0;) {
    LayerNode& layer = graph.layers[i];
    const auto* pad = std::get_if<PadNode>(&layer.part);
    if (pad == nullptr) continue;
    LayerNode* const reader = only_convolution(graph, layer.output);
    if (reader == nullptr) continue;
    auto& node = std::get<ConvNode>(reader->part);
    if (!pads_alike(*pad, node.conv)) continue;
    const nvdla_conv conv = padded(*pad, graph.tensors[layer.input].shape,
                                   graph.tensors[layer.output].shape, node.conv);
    if (!are_within(conv, node)) continue;
    node.conv = conv;
    reader->input = layer.input;
    layer.absorbed_by = static_cast<std::uint32_t>(reader - graph.layers.data());
    ++context.applied;
  }
  return graph;
}

}  // namespace nvdla::detail
