// SPDX-License-Identifier: MIT
//
// A Transpose that gives more than three runs of axes another order becomes several, each of which
// takes three runs, as many as a cube has axes.
#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "import/graph/node_maker.hpp"
#include "import/operators/move.hpp"
#include "import/passes/passes.hpp"

namespace nvdla::import {
namespace {

constexpr std::size_t kMaxRuns = 6;  // the orders of more are too many to search

using Order = std::vector<std::size_t>;

// The runs of axes that a transposition leaves together.
struct Runs {
  std::int64_t batch = 1;           // of an axis in front, which stays there
  std::vector<std::int64_t> sizes;  // in the order of the input
  Order order;                      // the runs in the order of the result
};

// `batch`: the size of a batch, whose cubes stay what they are.
Runs runs_of(const Dims& dims, const Order& axes, std::int64_t batch) {
  Runs runs;
  Order moved;  // axes in the order of the result, without those of one element
  for (const std::size_t axis : axes)
    if (dims[axis] != 1) moved.push_back(axis);
  if (!moved.empty() && moved[0] == 0 && dims[0] == batch) {
    runs.batch = dims[0];
    moved.erase(moved.begin());
  }
  Order sorted = moved;
  std::sort(sorted.begin(), sorted.end());
  // The place of an axis among those of more than one element.
  const auto place = [&](std::size_t axis) {
    return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), axis) -
                                    sorted.begin());
  };
  Order starts;  // the first axis of each run, in the order of the result
  std::map<std::size_t, std::int64_t> sizes;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (i == 0 || place(moved[i]) != place(moved[i - 1]) + 1) {
      starts.push_back(moved[i]);
      sizes[moved[i]] = 1;
    }
    sizes[starts.back()] *= dims[moved[i]];
  }
  for (const auto& [start, size] : sizes) runs.sizes.push_back(size);
  for (const std::size_t start : starts)
    runs.order.push_back(static_cast<std::size_t>(std::distance(sizes.begin(), sizes.find(start))));
  return runs;
}

// Returns the orders that one transposition of three neighbouring blocks makes of another.
std::vector<Order> orders_behind(const Order& order) {
  std::vector<Order> found;
  const std::size_t n = order.size();
  for (std::size_t i = 1; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) {
      const std::size_t ends[] = {0, i, j, n};
      std::size_t blocks[] = {0, 1, 2};
      while (std::next_permutation(std::begin(blocks), std::end(blocks))) {
        Order next;
        for (const std::size_t b : blocks)
          for (std::size_t k = ends[b]; k < ends[b + 1]; ++k) next.push_back(order[k]);
        found.push_back(std::move(next));
      }
    }
  return found;
}

// Returns the fewest orders that lead from that of the input to that of the result, the last.
std::vector<Order> steps_to(const Order& wanted) {
  Order first(wanted.size());
  std::iota(first.begin(), first.end(), std::size_t{0});
  std::map<Order, Order> from = {{first, first}};
  std::vector<Order> work = {first};
  for (std::size_t n = 0; n < work.size() && !from.contains(wanted); ++n)
    for (Order& next : orders_behind(Order(work[n])))
      if (from.try_emplace(next, work[n]).second) work.push_back(std::move(next));
  std::vector<Order> steps;
  for (Order at = wanted; at != first; at = from.at(at)) steps.push_back(at);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

// Returns the transpositions that a node becomes; nothing if it needs none.
std::optional<std::vector<Node>> split(Graph& graph, const Node& node, std::int64_t batch) {
  const Operation op(graph, node);
  if (node.op != "Transpose" || !node.domain.empty()) return std::nullopt;
  const Dims dims = op.dims(0);
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return std::nullopt;
  const Runs runs = runs_of(dims, transposed_axes(op), batch);
  if (runs.order.size() <= 3 || runs.order.size() > kMaxRuns) return std::nullopt;
  const Type type = op.type(0);
  const Dims out = *graph.value(node.outputs[0]).dims;
  NodeMaker make(graph, node.name);
  const auto sized = [&](ValueId id, const Order& order) {
    Dims own = {runs.batch};
    for (const std::size_t run : order) own.push_back(runs.sizes[run]);
    graph.value(id).type = type;
    graph.value(id).dims = std::move(own);
    return id;
  };
  Order order(runs.sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Dims apart = {runs.batch};
  apart.insert(apart.end(), runs.sizes.begin(), runs.sizes.end());
  ValueId x = sized(make.reshape(op.input(0), apart), order);
  for (const Order& next : steps_to(runs.order)) {
    std::vector<std::int64_t> axes = {0};
    for (const std::size_t run : next)
      axes.push_back(std::distance(order.begin(), std::find(order.begin(), order.end(), run)) + 1);
    x = sized(make.compute("Transpose", {x}), next);
    make.last().attributes["perm"] = std::move(axes);
    order = next;
  }
  make.node("Reshape", {x, make.integers(out)}, node.outputs[0]);
  return make.take();
}

}  // namespace

void split_transposes(Graph& graph) {
  std::int64_t batch = 1;
  for (const ValueId id : graph.inputs)
    if (const Dims& dims = *graph.value(id).dims; dims.size() >= 2)
      batch = std::max(batch, dims[0]);
  std::vector<Node> nodes;
  for (Node& node : std::exchange(graph.nodes, {})) {
    auto made = unless_refused(std::optional<std::vector<Node>>(),
                               [&] { return split(graph, node, batch); });
    if (made)
      nodes.insert(nodes.end(), std::make_move_iterator(made->begin()),
                   std::make_move_iterator(made->end()));
    else
      nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace nvdla::import
