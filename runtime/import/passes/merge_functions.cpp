// SPDX-License-Identifier: MIT
//
// One function in place of several nodes.
#include <map>
#include <utility>

#include "import/operators/elements.hpp"
#include "import/passes/passes.hpp"

namespace nvdla::import {
namespace {

// A value that is a function of the elements of another one.
struct Known {
  ValueId root = kNoValue;
  Function function;
  bool has_table = false;
  std::size_t nodes = 0;
};

// Functions of functions cost time for each argument; longer chains are left as they are.
constexpr std::size_t kMaxNodes = 32;

bool needs_table(const Operation& op) {
  const auto steps = steps_of(op);
  if (!steps) return false;
  for (const Step& step : steps->steps)
    if (step.kind == StepKind::kTable) return true;
  return false;
}

}  // namespace

void merge_functions(Graph& graph) {
  std::map<ValueId, Known> known;
  const auto find = [&](ValueId id) {
    const auto found = known.find(id);
    return found != known.end() ? found->second : Known{id, [](double x) { return x; }, false, 0};
  };
  for (Node& node : graph.nodes) {
    const Operation op(graph, node);
    if (node.outputs.size() != 1 || node.outputs[0] == kNoValue || !op.has(0) ||
        !is_real(op.type(0)))
      continue;
    const Value& result = graph.value(node.outputs[0]);
    const BinaryOperator* const binary = find_binary(op);
    const bool both = binary != nullptr && op.inputs() == 2 && op.has(1) &&
                      op.constant(0) == nullptr && op.constant(1) == nullptr;
    if (both) {
      const Known a = find(op.input(0)), b = find(op.input(1));
      const std::size_t nodes = a.nodes + b.nodes + 1;
      const bool meets = a.root == b.root && nodes > 1 && nodes <= kMaxNodes &&
                         graph.value(a.root).dims == result.dims;
      if (!meets) continue;
      const auto apply = binary->compute;
      Function whole = [apply, x = a.function, y = b.function](double v) {
        return apply(x(v), y(v));
      };
      known[node.outputs[0]] = {a.root, whole, true, nodes};
      node.op = kFunctionOp;
      node.inputs = {a.root};
      node.attributes.clear();
      node.function = std::move(whole);
      continue;
    }
    if (!find_elements(op)) continue;
    std::optional<Function> own;
    try {
      own = unary_function(op);
    } catch (const Refusal&) {
      continue;  // lowering reports it
    }
    const auto steps = own ? steps_of(op) : std::nullopt;
    if (!own || !steps || graph.value(steps->input).dims != result.dims) continue;
    const Known before = find(steps->input);
    if (before.nodes + 1 > kMaxNodes) continue;
    known[node.outputs[0]] = {
        before.root, [first = before.function, next = *own](double v) { return next(first(v)); },
        before.has_table || needs_table(op), before.nodes + 1};
  }
  remove_dead_nodes(graph);
}

}  // namespace nvdla::import
