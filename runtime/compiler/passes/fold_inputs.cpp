// SPDX-License-Identifier: MIT
#include <algorithm>

#include "compiler/passes/conv_cost.hpp"
#include "compiler/passes/passes.hpp"
#include "nvdla/lowlevel/folding.hpp"
#include "nvdla/types/device_info.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// Returns true if the layer is predicted to take fewer cycles on a folded input.
bool pays(const DeviceInfo& info, const ConvNode& node) {
  return cannot_fold(node.conv) == nullptr &&
         is_faster(info, fold_width(node.conv).conv, node.conv, node.sdp);
}

// Returns the convolution that the input `tensor` is to be folded for, if any: its only reader,
// which packs it as it likes it best.
ConvNode* reader_to_fold_for(Graph& graph, const DeviceInfo& info, std::uint32_t tensor) {
  if (graph.tensors[tensor].producer || graph.tensors[tensor].image) return nullptr;
  ConvNode* only = nullptr;
  for (LayerNode& layer : graph.live_layers()) {
    const auto& operands = layer.operands;
    if (std::find(operands.begin(), operands.end(), tensor) != operands.end()) return nullptr;
    if (layer.input != tensor) continue;
    if (only != nullptr) return nullptr;
    only = std::get_if<ConvNode>(&layer.part);
    if (only == nullptr || only->tuning.folding == Rewrite::kNever) return nullptr;
  }
  if (only == nullptr) return nullptr;
  return only->tuning.folding == Rewrite::kAlways || pays(info, *only) ? only : nullptr;
}

void check_insisting(const ConvNode& conv, bool fold_inputs) {
  if (conv.tuning.folding != Rewrite::kAlways || conv.form.folded) return;
  if (!fold_inputs) {
    refuse(ErrorCode::kNotAvailable,
           "not folded in width: inputs are to lie as everybody expects (kAuto lets them)");
  }
  refuse_argument(
      "not folded in width: its input is not one of the network that this layer "
      "alone reads");
}

}  // namespace

Graph fold_inputs(Graph graph, PassContext& context) {
  for (std::uint32_t i = 0; context.options.fold_inputs && i < graph.tensors.size(); ++i) {
    ConvNode* const conv = reader_to_fold_for(graph, context.info, i);
    if (conv == nullptr) continue;
    conv->form.folded = true;
    graph.tensors[i].folded_for = conv->conv;
    ++context.applied;
  }
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
    const LayerNode& layer = graph.layers[i];
    const auto* conv = std::get_if<ConvNode>(&layer.part);
    if (conv == nullptr) continue;
    at_place(layer_text(i, layer.name), i,
             [&] { check_insisting(*conv, context.options.fold_inputs); });
  }
  return graph;
}

}  // namespace nvdla::detail
