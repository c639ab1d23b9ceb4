// SPDX-License-Identifier: MIT
//
// Channels that a Reshape, a Transpose and a Reshape exchange become a Gather of channels, which
// needs no other order of elements in between.
#include <algorithm>
#include <optional>
#include <utility>

#include "import/graph/node_maker.hpp"
#include "import/operators/move.hpp"
#include "import/operators/operator.hpp"
#include "import/passes/links.hpp"
#include "import/passes/passes.hpp"

namespace nvdla::import {
namespace {

constexpr std::size_t kChannelAxis = 1;

std::int64_t product(const Dims& dims, std::size_t first, std::size_t last) {
  std::int64_t all = 1;
  for (std::size_t i = first; i < last; ++i) all *= dims[i];
  return all;
}

// Returns the number of axes that `inner` has in place of the channels of `outer`; all others are
// the same. Nothing if that is not so.
std::optional<std::size_t> parts_of_channels(const Dims& outer, const Dims& inner) {
  if (outer.size() < 2 || inner.size() < outer.size()) return std::nullopt;
  const std::size_t parts = inner.size() - outer.size() + 1;
  const bool same = inner[0] == outer[0] &&
                    std::equal(outer.begin() + kChannelAxis + 1, outer.end(),
                               inner.begin() + static_cast<std::ptrdiff_t>(kChannelAxis + parts)) &&
                    product(inner, kChannelAxis, kChannelAxis + parts) == outer[kChannelAxis];
  return same ? std::optional(parts) : std::nullopt;
}

// Returns the channels that the result has in their order, if a transposition of `dims` exchanges
// nothing but the `parts` of channels.
std::optional<std::vector<std::int64_t>> exchanged(const Dims& dims, std::size_t parts,
                                                   const std::vector<std::size_t>& order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool inside = i >= kChannelAxis && i < kChannelAxis + parts;
    if (!inside && order[i] != i) return std::nullopt;
  }
  const Dims of(dims.begin() + kChannelAxis,
                dims.begin() + static_cast<std::ptrdiff_t>(kChannelAxis + parts));
  const Dims step = strides(of);
  std::vector<std::int64_t> channels;
  const std::int64_t count = elements(of);
  for (std::int64_t to = 0; to < count; ++to) {
    std::int64_t rest = to, from = 0;
    for (std::size_t i = parts; i-- > 0;) {
      const std::size_t axis = order[kChannelAxis + i] - kChannelAxis;
      from += rest % of[axis] * step[axis];
      rest /= of[axis];
    }
    channels.push_back(from);
  }
  return channels;
}

// Channels of a value in another order.
struct Shuffle {
  ValueId input = kNoValue;
  std::vector<std::int64_t> channels;
};

// Returns the shuffle that a node completes, if it is the last of three that make one.
std::optional<Shuffle> shuffle_of(const Graph& graph, const Links& links, const Node& node) {
  if (node.op != "Reshape" && node.op != "Flatten") return std::nullopt;
  const auto nodes = links.transposed_reshape(Operation(graph, node).input(0));
  if (!nodes) return std::nullopt;
  const auto& [reshape, transpose] = *nodes;
  const Dims &before = reshape.dims(0), &between = transpose.dims(0);
  const auto parts = parts_of_channels(before, between);
  if (!parts || before != *graph.value(node.outputs[0]).dims) return std::nullopt;
  auto channels = exchanged(between, *parts, transposed_axes(transpose));
  if (!channels) return std::nullopt;
  return Shuffle{reshape.input(0), std::move(*channels)};
}

}  // namespace

void merge_shuffles(Graph& graph) {
  const Links links(graph);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto shuffle = unless_refused(std::optional<Shuffle>(),
                                        [&] { return shuffle_of(graph, links, graph.nodes[n]); });
    if (!shuffle) continue;
    Node& node = graph.nodes[n];
    const ValueId indices = NodeMaker(graph, node.name).integers(shuffle->channels);
    node.op = "Gather";
    node.inputs = {shuffle->input, indices};
    node.attributes.clear();
    node.attributes["axis"] = static_cast<std::int64_t>(kChannelAxis);
  }
  remove_dead_nodes(graph);
}

}  // namespace nvdla::import
