// SPDX-License-Identifier: MIT
#include "import/calibration/units.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "import/operators/elements.hpp"
#include "import/operators/move.hpp"
#include "import/operators/operator.hpp"

namespace nvdla::import {
namespace {

// Returns true for windows some of which may lie in the padding.
bool may_cut_windows(const Operation& op) {
  const auto pads = op.integers("pads");
  return op.attribute("auto_pad", "NOTSET").starts_with("SAME") ||
         op.attribute("ceil_mode", std::int64_t{0}) != 0 ||
         std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p != 0; });
}

Scaling scaling_of(const Operation& op) {
  constexpr std::string_view kSameNames[] = {"GlobalMaxPool", "MaxPool",      "ReduceMax",
                                             "ReduceMin",     "DepthToSpace", "SpaceToDepth",
                                             "Transpose"};
  if (op.op() == "Concat" || ((op.op() == "Max" || op.op() == "Min") && op.inputs() > 1))
    return Scaling::kCommon;
  // The device divides by counts that differ where the scale stays.
  if (op.op() == "AveragePool" && op.attribute("count_include_pad", std::int64_t{0}) == 0 &&
      may_cut_windows(op))
    return Scaling::kCommon;
  if (op.op() == "Resize" || op.op() == "Upsample")
    return op.attribute("mode", "nearest") == "nearest" ? Scaling::kSame : Scaling::kCommon;
  if (std::find(std::begin(kSameNames), std::end(kSameNames), op.op()) != std::end(kSameNames))
    return Scaling::kSame;
  return find_move(op) != nullptr || reshaped_dims(op) ? Scaling::kSame : Scaling::kOwn;
}

// Returns 0 and the numbers that an operator puts beside those of its input.
NumberRange fill_of(const Operation& op) {
  NumberRange range;
  if (op.op() == "Concat") {
    for (std::size_t i = 0; i < op.inputs(); ++i)
      if (op.constant(i) != nullptr)
        for (const float v : op.constant(i)->floats())
          if (std::isfinite(v)) range.add({&v, 1});
    return range;
  }
  if (op.op() != "Pad" || op.constant(0) != nullptr) return range;
  const Move move = find_move(op)->move(op, 0);
  const auto filled = [](const std::vector<std::int64_t>& taken) {
    return std::find(taken.begin(), taken.end(), kFill) != taken.end();
  };
  const auto fill = static_cast<float>(move.fill);
  if (std::isfinite(fill) && std::any_of(move.coordinates.begin(), move.coordinates.end(), filled))
    range.add({&fill, 1});
  return range;
}

// Returns true for an operator whose layer holds its results to bounds.
bool has_bounds(const Operation& op) {
  constexpr std::string_view kNames[] = {"Add",
                                         "Conv",
                                         "ConvTranspose",
                                         "Gemm",
                                         "InstanceNormalization",
                                         "LayerNormalization",
                                         "MatMul",
                                         "Mul",
                                         "Sub"};
  return std::find(std::begin(kNames), std::end(kNames), op.op()) != std::end(kNames);
}

bool are_bounds(const std::vector<Step>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const Step& s) {
    return s.is_scalar() &&
           (s.kind == StepKind::kRelu || s.kind == StepKind::kMax || s.kind == StepKind::kMin);
  });
}

// Returns the last value of the layer of a node that has a scale of its own.
ValueId follow_layer(const Graph& graph, const Readers& readers, const Operation& op,
                     std::vector<bool>& done) {
  const bool is_function = unary_function(op).has_value();
  ValueId last = op.node().outputs[0];
  while (const std::size_t* const reader = readers.only(last)) {
    const Operation next(graph, graph.nodes[*reader]);
    const auto steps = steps_of(next, last);
    if (!steps || next.outputs() != 1) break;
    const bool taken =
        is_function ? unary_function(next).has_value() : has_bounds(op) && are_bounds(steps->steps);
    if (!taken) break;
    done[*reader] = true;
    last = next.node().outputs[0];
  }
  return last;
}

// Returns true if a value, or what it was moved from, has other readers than one.
bool is_read_elsewhere(const Graph& graph, const Readers& readers, ValueId id) {
  while (readers.only(id) != nullptr) {
    const Node* const node = readers.producer(id);
    if (node == nullptr) return false;
    const Operation op(graph, *node);
    if (unless_refused(Scaling::kOwn, [&] { return scaling_of(op); }) != Scaling::kSame)
      return false;
    id = op.input(0);
  }
  return true;
}

// Returns true if a part of a concatenation is worth a layer that brings it to the scale of all:
// others read it with steps of its own, of which that scale leaves it half or less.
bool has_own_steps(const Operation& concat, ValueId part, const Readers& readers,
                   const std::map<ValueId, NumberRange>& ranges) {
  constexpr float kFar = 2;
  const auto own = ranges.find(part), all = ranges.find(concat.node().outputs[0]);
  if (own == ranges.end() || all == ranges.end()) return false;
  const float width = own->second.high - own->second.low;
  return width > 0 && kFar * width <= all->second.high - all->second.low &&
         is_read_elsewhere(concat.graph(), readers, part);
}

// Returns the input of a product that is repeated, or either.
std::size_t smaller_factor(const Operation& op) {
  return elements(op.dims(0)) < elements(op.dims(1)) ? 0 : 1;
}

}  // namespace

Readers::Readers(const Graph& graph)
    : readers_(graph.values.size()),
      producers_(graph.values.size()),
      is_output_(graph.values.size(), false) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].inputs)
      if (id != kNoValue) readers_[static_cast<std::size_t>(id)].push_back(n);
    for (const ValueId id : graph.nodes[n].outputs)
      if (id != kNoValue) producers_[static_cast<std::size_t>(id)] = &graph.nodes[n];
  }
  for (const ValueId id : graph.outputs) is_output_[static_cast<std::size_t>(id)] = true;
}

const std::size_t* Readers::only(ValueId id) const {
  const auto index = static_cast<std::size_t>(id);
  return is_output_[index] || readers_[index].size() != 1 ? nullptr : readers_[index].data();
}

bool is_sum_of_products(const Graph& graph, const Node& node) {
  constexpr std::string_view kNames[] = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
  const Operation op(graph, node);
  return std::find(std::begin(kNames), std::end(kNames), op.op()) != std::end(kNames) &&
         node.domain.empty() && op.has(1) && op.constant(1) != nullptr && op.has(0) &&
         op.constant(0) == nullptr && (!op.has(2) || op.constant(2) != nullptr);
}

ScaleClasses::ScaleClasses(const Graph& graph, bool gates_are_symmetric,
                           const std::map<ValueId, PixelInput>& pixels,
                           const std::map<ValueId, NumberRange>& ranges) {
  for (std::size_t i = 0; i < graph.values.size(); ++i) parents_.push_back(static_cast<ValueId>(i));
  const Readers readers(graph);
  std::vector<bool> done(graph.nodes.size(), false);
  std::vector<ValueId> gates;
  for (const ValueId id : graph.inputs)
    if (is_real(graph.value(id).type)) values_.insert(id);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Operation op(graph, graph.nodes[n]);
    const auto& outputs = op.node().outputs;
    const auto first =
        std::find_if(outputs.begin(), outputs.end(), [](ValueId id) { return id != kNoValue; });
    if (done[n] || first == outputs.end() || !is_real(graph.value(*first).type) || !op.has(0))
      continue;
    const Scaling scaling =
        unless_refused(Scaling::kOwn, [&] { return scaling_with_pixels(op, pixels); });
    if (scaling == Scaling::kSame && op.constant(0) == nullptr) {
      for (const ValueId out : outputs)
        if (out != kNoValue) join(op.input(0), out);
      continue;
    }
    ends_[n] = unless_refused(*first, [&] { return follow_layer(graph, readers, op, done); });
    values_.insert(ends_[n]);
    if (scaling == Scaling::kCommon)
      for (std::size_t i = 0; i < op.inputs(); ++i)
        if (op.has(i) && op.constant(i) == nullptr && is_real(op.type(i)) &&
            !(op.op() == "Concat" && has_own_steps(op, op.input(i), readers, ranges)))
          join(op.input(i), ends_[n]);
    if (scaling == Scaling::kCommon) fills_[ends_[n]].add(fill_of(op));
    const bool product = op.op() == "Mul" && op.inputs() == 2 && op.has(1) &&
                         op.constant(0) == nullptr && op.constant(1) == nullptr;
    if (product) gates.push_back(op.input(smaller_factor(op)));
  }
  if (gates_are_symmetric)
    for (const ValueId id : gates) symmetric_.insert(root(id));
}

// Returns how a result is scaled; what pads has to be a number of the scale that pixels have.
Scaling ScaleClasses::scaling_with_pixels(const Operation& op,
                                          const std::map<ValueId, PixelInput>& pixels) {
  const Scaling scaling = scaling_of(op);
  const NumberRange fill = fill_of(op);
  if (scaling != Scaling::kSame || fill.low == fill.high) return scaling;
  for (const auto& [id, pixel] : pixels)
    if (root(id) == root(op.input(0)) && !pixel.range().holds(fill)) return Scaling::kOwn;
  fills_[op.input(0)].add(fill);
  return scaling;
}

ValueId ScaleClasses::root(ValueId id) const {
  while (parents_[static_cast<std::size_t>(id)] != id) id = parents_[static_cast<std::size_t>(id)];
  return id;
}

void ScaleClasses::join(ValueId a, ValueId b) {
  parents_[static_cast<std::size_t>(root(b))] = root(a);
}

}  // namespace nvdla::import
