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

// Returns the block that parts an axis into few enough: one that divides it or, where none does,
// the one that needs the least border. 1 if there is no need.
std::int64_t block_of(std::int64_t size) {
  if (size <= kMostTaps) return 1;
  std::int64_t best = kMostStride;
  const auto border = [&](std::int64_t block) { return (block - size % block) % block; };
  for (std::int64_t block = kMostStride; block > 1; --block)
    if (border(block) < border(best)) best = block;
  return best;
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

// Makes averages of blocks until those of an average are few enough; it takes these. Returns what
// the average has to be multiplied with where zeros of a border are among them.
double append_blocks(NodeMaker& make, Node& node) {
  make.set_name(node.name + " blocks");
  double factor = 1;
  for (;;) {
    const ValueId input = node.inputs[0];
    const Type type = make.graph().value(input).type;
    Dims dims = *make.graph().value(input).dims;
    if (dims.size() > 4) return factor;
    std::vector<std::int64_t> blocks, pads(dims.size() - 2, 0);
    for (std::size_t i = 2; i < dims.size(); ++i) {
      const std::int64_t block = block_of(dims[i]), whole = (dims[i] + block - 1) / block * block;
      blocks.push_back(block);
      pads.push_back(whole - dims[i]);
      factor *= static_cast<double>(whole) / static_cast<double>(dims[i]);
      dims[i] = whole / block;
    }
    if (dims == *make.graph().value(input).dims) return factor;
    node.inputs = {make.compute("AveragePool", {input}, type, dims)};
    make.last().attributes["kernel_shape"] = blocks;
    make.last().attributes["strides"] = blocks;
    make.last().attributes["pads"] = pads;
    make.last().attributes["count_include_pad"] = std::int64_t{1};
  }
}

}  // namespace

void split_averages(Graph& graph) {
  pool_means(graph);
  NodeMaker make(graph);
  for (Node& node : std::exchange(graph.nodes, {})) {
    const double factor = node.op == "GlobalAveragePool" ? append_blocks(make, node) : 1;
    if (factor == 1) {
      make.append(std::move(node));
      continue;
    }
    const ValueId result = node.outputs[0];
    const Value& like = graph.value(result);
    node.outputs = {make.value(like.type, *like.dims)};
    const ValueId average = node.outputs[0];
    make.append(std::move(node));
    make.node("Mul", {average, make.floats({}, {factor})}, result);
  }
  graph.nodes = make.take();
}

}  // namespace nvdla::import
