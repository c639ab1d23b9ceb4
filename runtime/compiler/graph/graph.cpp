// SPDX-License-Identifier: MIT
#include "compiler/graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/check.hpp"

namespace nvdla::detail {

std::string Graph::tensor_name(std::uint32_t index) const {
  if (const auto& producer = tensors[index].producer) {
    return "the output of " + layer_text(*producer, layers[*producer].name);
  }
  for (const IoTensor& port : inputs) {
    if (port.tensor == index) return fmt::format("input '{}'", port.name);
  }
  return fmt::format("tensor {}", index);
}

// Layers that move elements, or choose or average some of one tensor, keep its quantisation.
std::optional<Quantization> kept_quantization(const Graph& graph, const LayerNode& layer) {
  const std::optional<Quantization>& input = graph.tensors[layer.input].quantization;
  const bool keeps = std::holds_alternative<PoolNode>(layer.part) ||
                     std::holds_alternative<RubikNode>(layer.part) ||
                     std::holds_alternative<CopyNode>(layer.part) ||
                     std::holds_alternative<SliceNode>(layer.part) ||
                     std::holds_alternative<PadNode>(layer.part) ||
                     std::holds_alternative<ReshapeNode>(layer.part) ||
                     std::holds_alternative<UpsampleNode>(layer.part);
  if (keeps) return input;
  if (!std::holds_alternative<ConcatNode>(layer.part)) return std::nullopt;
  const bool same =
      std::all_of(layer.operands.begin(), layer.operands.end(),
                  [&](std::uint32_t part) { return graph.tensors[part].quantization == input; });
  return same ? input : std::nullopt;
}

}  // namespace nvdla::detail
