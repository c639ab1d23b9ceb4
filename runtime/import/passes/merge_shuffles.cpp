// SPDX-License-Identifier: MIT
//
// Channels that a Reshape, a Transpose and a Reshape exchange become a Gather of channels, which
// needs no other order of elements in between.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "import/operators/move.hpp"
#include "import/operators/operator.hpp"
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

}  // namespace

void merge_shuffles(Graph& graph) {
  std::map<ValueId, std::size_t> makers;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].outputs) makers[id] = n;
    const auto maker = [&](ValueId id) -> const Node* {
      const auto found = makers.find(id);
      return found == makers.end() ? nullptr : &graph.nodes[found->second];
    };
    const Operation last(graph, graph.nodes[n]);
    if (last.op() != "Reshape" && last.op() != "Flatten") continue;
    const Node* const middle = maker(last.input(0));
    if (middle == nullptr || middle->op != "Transpose") continue;
    const Node* const first = maker(middle->inputs[0]);
    if (first == nullptr || first->op != "Reshape") continue;
    const Dims& before = Operation(graph, *first).dims(0);
    const Dims& between = *graph.value(first->outputs[0]).dims;
    const Dims& after = *graph.value(graph.nodes[n].outputs[0]).dims;
    const auto parts = parts_of_channels(before, between);
    if (!parts || before != after) continue;
    const auto channels = exchanged(between, *parts, transposed_axes(Operation(graph, *middle)));
    if (!channels) continue;
    const ValueId input = first->inputs[0];
    const Dims list = {static_cast<std::int64_t>(channels->size())};
    const ValueId indices =
        graph.add({.name = graph.nodes[n].name + " channels",
                   .type = Type::kInt64,
                   .dims = list,
                   .constant = Constant::of_integers(Type::kInt64, list, *channels)});
    Node& node = graph.nodes[n];
    node.op = "Gather";
    node.inputs = {input, indices};
    node.attributes.clear();
    node.attributes["axis"] = static_cast<std::int64_t>(kChannelAxis);
  }
  remove_dead_nodes(graph);
}

}  // namespace nvdla::import
