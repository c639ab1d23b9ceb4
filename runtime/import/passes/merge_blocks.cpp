// SPDX-License-Identifier: MIT
//
// A Reshape, a Transpose and a Reshape that move channels into blocks of positions, or back, become
// a DepthToSpace or a SpaceToDepth.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "import/graph/node_maker.hpp"
#include "import/operators/move.hpp"
#include "import/passes/links.hpp"
#include "import/passes/passes.hpp"

namespace nvdla::import {
namespace {

using Order = std::vector<std::size_t>;

// Blocks of a value, which a node that ends three computes.
struct Blocks {
  ValueId input = kNoValue;
  std::int64_t size = 0;        // of a block along each axis
  bool to_space = false;        // channels become positions
  bool channels_first = false;  // a channel's positions in a block are neighbours
};

// Returns the blocks for which an order of axes stands, if the sizes are those of blocks.
std::optional<Blocks> blocks_of(const Dims& in, const Dims& parts, const Order& order,
                                const Dims& out) {
  if (in.size() != 4 || parts.size() != 6 || out.size() != 4 || in[0] != parts[0])
    return std::nullopt;
  // A form has an order of axes, and axes of channels and of the steps in a block.
  struct Form {
    Order order;
    std::size_t channels, line, column;
    bool to_space, channels_first;
  };
  static const Form kForms[] = {{{0, 1, 4, 2, 5, 3}, 1, 2, 3, true, true},
                                {{0, 3, 4, 1, 5, 2}, 3, 1, 2, true, false},
                                {{0, 1, 3, 5, 2, 4}, 1, 3, 5, false, true},
                                {{0, 3, 5, 1, 2, 4}, 1, 3, 5, false, false}};
  for (const Form& form : kForms) {
    const std::int64_t size = parts[form.line], channels = parts[form.channels];
    if (order != form.order || parts[form.column] != size || size < 2) continue;
    const Dims &deep = form.to_space ? in : out, &wide = form.to_space ? out : in;
    const Dims expected_deep = {parts[0], channels * size * size, parts[form.to_space ? 4 : 2],
                                parts[form.to_space ? 5 : 4]};
    const Dims expected_wide = {parts[0], channels, expected_deep[2] * size,
                                expected_deep[3] * size};
    if (deep == expected_deep && wide == expected_wide)
      return Blocks{kNoValue, size, form.to_space, form.channels_first};
  }
  return std::nullopt;
}

// Returns the blocks that a node completes, if it is the last of three that make some.
std::optional<Blocks> blocks_before(const Graph& graph, const Links& links, const Node& node) {
  if (node.op != "Reshape") return std::nullopt;
  const auto nodes = links.transposed_reshape(Operation(graph, node).input(0));
  if (!nodes) return std::nullopt;
  const auto& [reshape, transpose] = *nodes;
  auto blocks = blocks_of(reshape.dims(0), transpose.dims(0), transposed_axes(transpose),
                          *graph.value(node.outputs[0]).dims);
  if (blocks) blocks->input = reshape.input(0);
  return blocks;
}

// Returns the nodes that compute blocks.
std::vector<Node> nodes_of(Graph& graph, const Node& node, const Blocks& blocks) {
  const Type type = graph.value(node.outputs[0]).type;
  const Dims dims = *graph.value(node.outputs[0]).dims;
  NodeMaker make(graph, node.name);
  if (blocks.to_space) {
    Node& made = make.node("DepthToSpace", {blocks.input}, node.outputs[0]);
    made.attributes["blocksize"] = blocks.size;
    made.attributes["mode"] = std::string(blocks.channels_first ? "CRD" : "DCR");
    return make.take();
  }
  if (!blocks.channels_first) {
    make.node("SpaceToDepth", {blocks.input}, node.outputs[0]).attributes["blocksize"] =
        blocks.size;
    return make.take();
  }
  // The operator has the channels of each position beside each other.
  const ValueId deep = make.compute("SpaceToDepth", {blocks.input});
  make.last().attributes["blocksize"] = blocks.size;
  graph.value(deep).type = type;
  graph.value(deep).dims = dims;
  const std::int64_t positions = blocks.size * blocks.size, channels = dims[1] / positions;
  std::vector<std::int64_t> places;
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t p = 0; p < positions; ++p) places.push_back(p * channels + c);
  make.node("Gather", {deep, make.integers(places)}, node.outputs[0]).attributes["axis"] =
      std::int64_t{1};
  return make.take();
}

}  // namespace

void merge_blocks(Graph& graph) {
  const Links links(graph);
  std::vector<Node> nodes;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const auto blocks =
        unless_refused(std::optional<Blocks>(), [&] { return blocks_before(graph, links, node); });
    if (!blocks) {
      nodes.push_back(node);
      continue;
    }
    auto made = nodes_of(graph, node, *blocks);
    nodes.insert(nodes.end(), std::make_move_iterator(made.begin()),
                 std::make_move_iterator(made.end()));
  }
  graph.nodes = std::move(nodes);
  remove_dead_nodes(graph);
}

}  // namespace nvdla::import
