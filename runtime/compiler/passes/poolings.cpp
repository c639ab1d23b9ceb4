// SPDX-License-Identifier: MIT
//
// Poolings on the fly: PDP takes what SDP computes without memory between them.
#include <algorithm>
#include <utility>

#include "compiler/graph/bounds.hpp"
#include "compiler/graph/views.hpp"
#include "compiler/lower/pool_cuts.hpp"
#include "compiler/passes/layer_mover.hpp"
#include "compiler/passes/passes.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "packing/bands.hpp"

namespace nvdla::detail {
namespace {

// Returns the pooling that alone reads a tensor, or nothing.
LayerNode* only_pooling(Graph& graph, std::uint32_t tensor) {
  if (is_output(graph, tensor)) return nullptr;
  LayerNode* only = nullptr;
  for (LayerNode& layer : graph.live_layers()) {
    const bool operand =
        std::find(layer.operands.begin(), layer.operands.end(), tensor) != layer.operands.end();
    if (layer.input != tensor && !operand) continue;
    if (only != nullptr || operand || !std::holds_alternative<PoolNode>(layer.part)) return nullptr;
    only = &layer;
  }
  return only;
}

// SDP hands on all that it computes: where a stride leaves input over it may be more than the
// windows take.
bool can_fly(const Graph& graph, const LayerNode& pooling) {
  const nvdla_pdp& pdp = std::get<PoolNode>(pooling.part).pdp;
  const Shape& in = graph.tensors[pooling.input].shape;
  const Shape& out = graph.tensors[pooling.output].shape;
  const std::uint32_t rest_x =
      (pdp.pad_left + in.width + pdp.pad_right - pdp.kernel_width) % pdp.stride_width;
  const std::uint32_t rest_y =
      (pdp.pad_top + in.height + pdp.pad_bottom - pdp.kernel_height) % pdp.stride_height;
  return pdp.flags == 0 && is_one_step(pdp) && out.width <= pool_columns(pdp) &&
         rest_x <= pdp.pad_right && rest_y <= pdp.pad_bottom;
}

// Returns true if PDP can take what a layer makes: it takes the precision that SDP works in; with
// Winograd there is more than the tensor, and of several images it knows nothing. Lines of several
// bands it cannot take, but each channel by itself.
bool can_feed(const DeviceInfo& info, const nvdla_layer& layer, const Operation& operation) {
  if (!operation.whole || layer.sdp.proc_precision != layer.sdp.out_precision) return false;
  if (layer.kind == NVDLA_LAYER_SDP) return true;
  if (layer.kind != NVDLA_LAYER_CONV_SDP || layer.conv.mode == NVDLA_CONV_WINOGRAD ||
      layer.conv.batch > 1) {
    return false;
  }
  const auto bands = find_bands(info, layer.conv, operation.images == layer.conv.batch);
  const std::uint32_t height = conv_output(layer.conv).height;
  return bands && std::all_of(bands->begin(), bands->end(),
                              [&](const Band& band) { return band.output_lines == height; });
}

// Returns the layer of the schedule that is all of a layer of the graph, or nothing.
std::optional<std::uint32_t> only_layer_of(const Schedule& schedule, std::uint32_t origin) {
  std::optional<std::uint32_t> only;
  for (std::uint32_t i = 0; i < schedule.layers.size(); ++i) {
    if (schedule.operations[i].origin != origin) continue;
    if (only) return std::nullopt;
    only = i;
  }
  return only;
}

// A layer that insists on bands is not whole.
bool wants_turns(const LayerNode& layer) {
  const auto* conv = std::get_if<ConvNode>(&layer.part);
  return conv != nullptr && conv->tuning.interleaving == Rewrite::kAlways;
}

void fuse(const Graph& graph, std::uint32_t pooling, const nvdla_surface& output,
          nvdla_layer& layer, Operation& operation) {
  nvdla_pdp pdp = std::get<PoolNode>(graph.layers[pooling].part).pdp;
  pdp.bands = 1;
  pdp.output = output;
  layer.kind = layer.kind == NVDLA_LAYER_SDP ? NVDLA_LAYER_SDP_PDP : NVDLA_LAYER_CONV_SDP_PDP;
  layer.sdp.output = {};
  layer.pdp = pdp;
  operation.suffix += "+" + graph.layers[pooling].name;
  operation.fused.push_back(pooling);
}

}  // namespace

Graph mark_flying_poolings(Graph graph, PassContext& context) {
  for (const LayerNode& layer : graph.live_layers()) {
    // PDP follows SDP only.
    if (layer.output == kNoTensor || sdp_nodes(layer).empty() ||
        is_held_apart(graph, layer, context.info.has_sdp_y)) {
      continue;
    }
    LayerNode* const pooling = only_pooling(graph, layer.output);
    if (pooling == nullptr || !can_fly(graph, *pooling)) continue;
    std::get<PoolNode>(pooling->part).flies = true;
    ++context.applied;
  }
  return graph;
}

Schedule fuse_poolings(Schedule schedule, const Graph& graph, PassContext& context) {
  std::map<std::uint32_t, std::uint32_t> merged;  // layers that are gone, and which computes them
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
    const auto* pool = std::get_if<PoolNode>(&graph.layers[i].part);
    if (pool == nullptr || !pool->flies) continue;
    const auto producer = graph.tensors[graph.layers[i].input].producer;
    const auto from = producer ? only_layer_of(schedule, *producer) : std::nullopt;
    const auto own = only_layer_of(schedule, i);
    if (!from || !own || wants_turns(graph.layers[*producer]) ||
        !can_feed(context.info, schedule.layers[*from], schedule.operations[*from]))
      continue;
    fuse(graph, i, schedule.layers[*own].pdp.output, schedule.layers[*from],
         schedule.operations[*from]);
    merged.emplace(*own, *from);
    ++context.applied;
  }
  return replace_layers(std::move(schedule), merged,
                        [](const nvdla_layer& layer, const Operation& operation, const auto& emit) {
                          emit(layer, operation);
                        });
}

}  // namespace nvdla::detail
