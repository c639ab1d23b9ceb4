// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>
#include <variant>

#include "compiler/operators/cpu_layer.hpp"
#include "compiler/operators/network_impl.hpp"
#include "compiler/passes/passes.hpp"

namespace nvdla::detail {
namespace {

bool is_expandable(const LayerNode& layer) {
  const auto* cpu = std::get_if<CpuNode>(&layer.part);
  return cpu != nullptr && cpu->sums_on_device;
}

}  // namespace

Graph expand_cpu_layers(Graph graph, PassContext& context) {
  if (!context.info.has_int16 || !context.info.has_sdp_y) return graph;
  Network::Impl all;
  static_cast<Graph&>(all) = std::move(graph);
  for (LayerNode& layer : std::exchange(all.layers, {})) {
    const std::uint32_t output = layer.output;
    if (is_expandable(layer)) {
      ++context.applied;
      add_sums_on_device(all, layer);
      // The last of these layers makes the tensor that the others of the graph know.
      all.tensors.pop_back();
      all.layers.back().output = output;
    } else {
      all.layers.push_back(std::move(layer));
    }
    if (output != kNoTensor)
      all.tensors[output].producer = static_cast<std::uint32_t>(all.layers.size() - 1);
  }
  return all;
}

}  // namespace nvdla::detail
