// SPDX-License-Identifier: MIT
#include "compiler/graph/views.hpp"
#include "compiler/passes/conv_cost.hpp"
#include "compiler/passes/passes.hpp"
#include "nvdla/lowlevel/folding.hpp"
#include "nvdla/types/device_info.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// Returns true if the input of a convolution is to be folded: its only reader packs it as it likes
// it best, where the layer insists or is predicted to take fewer cycles so.
bool folds(const Graph& graph, PassContext& context, const LayerNode& layer, const ConvNode& node) {
  if (node.tuning.folding == Rewrite::kNever || !is_input_of_one(graph, layer.input)) return false;
  return node.tuning.folding == Rewrite::kAlways ||
         (cannot_fold(node.conv) == nullptr && context.may_predict() &&
          is_faster(context.info, fold_width(node.conv).conv, node.conv, node.sdp));
}

void check_insisting(const ConvNode& conv, bool fold_inputs) {
  if (conv.tuning.folding != Rewrite::kAlways || conv.form.folded) return;
  if (!fold_inputs) {
    throw_error(ErrorCode::kNotAvailable,
                "not folded in width: inputs are to lie as everybody expects (kAuto lets them)");
  }
  throw_invalid_argument(
      "not folded in width: its input is not one of the network that this layer "
      "alone reads");
}

}  // namespace

Graph fold_inputs(Graph graph, PassContext& context) {
  const bool may = context.options.fold_inputs;
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
    const LayerNode& layer = graph.layers[i];
    auto* conv = std::get_if<ConvNode>(&graph.layers[i].part);
    if (conv == nullptr) continue;
    if (may && Graph::is_live(layer) && folds(graph, context, layer, *conv)) {
      conv->form.folded = true;
      graph.tensors[layer.input].folded_for = conv->conv;
      ++context.applied;
    }
    with_error_context(layer_text(i, layer.name), i, [&] { check_insisting(*conv, may); });
  }
  return graph;
}

}  // namespace nvdla::detail
