// SPDX-License-Identifier: MIT
//
// Averages over more positions than a convolution has taps become averages of averages.
#include <utility>

#include "import/calibration/quantize_graph.hpp"

namespace nvdla::import {
namespace {

constexpr std::int64_t kMostTaps = 32;   // of a convolution, along an axis
constexpr std::int64_t kMostStride = 8;  // the same

// Returns the largest block that parts an axis into few enough; 1 if there is none, or no need.
std::int64_t block_of(std::int64_t size) {
  for (std::int64_t block = kMostStride; size > kMostTaps && block > 1; --block)
    if (size % block == 0) return block;
  return 1;
}

}  // namespace

void split_averages(Graph& graph) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].op != "GlobalAveragePool") continue;
    const ValueId input = graph.nodes[n].inputs[0];
    Dims dims = *graph.value(input).dims;
    if (dims.size() != 4) continue;
    const std::vector<std::int64_t> blocks = {block_of(dims[2]), block_of(dims[3])};
    if (blocks[0] == 1 && blocks[1] == 1) continue;
    dims[2] /= blocks[0];
    dims[3] /= blocks[1];
    Node step;
    step.name = graph.nodes[n].name + " blocks";
    step.op = "AveragePool";
    step.opset = graph.nodes[n].opset;
    step.attributes["kernel_shape"] = blocks;
    step.attributes["strides"] = blocks;
    step.inputs = {input};
    const Type type = graph.value(input).type;
    step.outputs = {graph.add({.name = step.name, .type = type, .dims = dims})};
    graph.nodes[n].inputs = {step.outputs[0]};
    // The node is looked at again: its input may need blocks, too.
    graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(n), std::move(step));
  }
}

}  // namespace nvdla::import
