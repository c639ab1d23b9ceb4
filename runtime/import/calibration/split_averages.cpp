// SPDX-License-Identifier: MIT
//
// Averages over more positions than a convolution has taps become averages of averages.
#include <algorithm>
#include <utility>

#include "import/calibration/quantize_graph.hpp"
#include "import/graph/node_maker.hpp"
#include "import/operators/pools.hpp"

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

// Returns true for a mean over all positions of each channel.
bool is_mean_of_positions(const Operation& op) {
  if (op.op() != "ReduceMean" || op.constant(0) != nullptr || op.dims(0).size() < 3) return false;
  const auto axes =
      unless_refused(std::vector<bool>(op.dims(0).size(), false), [&] { return reduced_axes(op); });
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != (i >= 2)) return false;
  return true;
}

// Makes a GlobalAveragePool of a mean over all positions.
void pool_means(Graph& graph) {
  NodeMaker make(graph);
  for (Node& node : std::exchange(graph.nodes, {})) {
    const Operation op(graph, node);
    if (!is_mean_of_positions(op)) {
      make.append(std::move(node));
      continue;
    }
    make.set_name(node.name);
    Dims dims = op.dims(0);
    std::fill(dims.begin() + 2, dims.end(), 1);
    const Type type = op.type(0);
    const ValueId result = node.outputs[0];
    const bool keeps = *graph.value(result).dims == dims;
    node.op = "GlobalAveragePool";
    node.inputs.resize(1);
    node.attributes.clear();
    if (!keeps) node.outputs = {make.value(type, dims)};
    const ValueId average = node.outputs[0];
    make.append(std::move(node));
    if (!keeps) make.node("Reshape", {average, make.integers({dims[0], dims[1]})}, result);
  }
  graph.nodes = make.take();
}

}  // namespace

void split_averages(Graph& graph) {
  pool_means(graph);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].op != "GlobalAveragePool") continue;
    const ValueId input = graph.nodes[n].inputs[0];
    Dims dims = *graph.value(input).dims;
    std::vector<std::int64_t> blocks;
    for (std::size_t i = 2; i < dims.size(); ++i) {
      blocks.push_back(block_of(dims[i]));
      dims[i] /= blocks.back();
    }
    if (dims == *graph.value(input).dims || dims.size() > 4) continue;
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
