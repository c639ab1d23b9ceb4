// SPDX-License-Identifier: MIT
#include "import/passes/transposed_values.hpp"

#include <numeric>

namespace nvdla::import {
namespace {

// Returns true for the order that puts channels, which are the second axis, behind all others.
bool puts_channels_last(const AxisOrder& order) {
  for (std::size_t i = 1; i + 1 < order.size(); ++i)
    if (order[i] != i + 1) return false;
  return order.size() >= 3 && order[0] == 0 && order.back() == 1;
}

Dims ordered(const Dims& dims, const AxisOrder& order) {
  Dims found;
  for (const std::size_t axis : order) found.push_back(dims[axis]);
  return found;
}

// Returns the order that two have together, one after the other.
AxisOrder composed(const AxisOrder& first, const AxisOrder& second) {
  AxisOrder order;
  for (const std::size_t axis : second) order.push_back(first[axis]);
  return order;
}

Dims with_ones(const Dims& dims, std::size_t rank) {
  Dims padded(rank - dims.size(), 1);
  padded.insert(padded.end(), dims.begin(), dims.end());
  return padded;
}

// Returns the number of the element of a packed tensor that each element has in another order.
std::vector<std::int64_t> indices_of(const Dims& dims, const AxisOrder& order) {
  const Dims step = ordered(strides(dims), order), sizes = ordered(dims, order);
  std::vector<std::int64_t> indices = {0};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::vector<std::int64_t> next;
    for (const std::int64_t base : indices)
      for (std::int64_t c = 0; c < sizes[i]; ++c) next.push_back(base + c * step[i]);
    indices = std::move(next);
  }
  return indices;
}

}  // namespace

AxisOrder inverse(const AxisOrder& order) {
  AxisOrder back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = i;
  return back;
}

bool is_identity(const AxisOrder& order) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != i) return false;
  return true;
}

bool moves_ones_only(const Dims& dims, const AxisOrder& order) {
  std::optional<std::size_t> last;
  for (const std::size_t axis : order) {
    if (dims[axis] == 1) continue;
    if (last && *last > axis) return false;
    last = axis;
  }
  return true;
}

TransposedValues::TransposedValues(Graph& graph)
    : NodeMaker(graph), inputs_(graph.inputs.begin(), graph.inputs.end()) {}

const AxisOrder* TransposedValues::order(ValueId id) const {
  const auto found = moved_.find(id);
  return found == moved_.end() || found->second.stays ? nullptr : &found->second.order;
}

void TransposedValues::transpose(ValueId from, const AxisOrder& order, ValueId id) {
  Moved moved{from, order, name(), false};
  if (const auto found = moved_.find(from); found != moved_.end()) {
    moved.source = found->second.source;
    moved.order = composed(found->second.order, order);
  }
  // An input lies as the application has it: what brings it into the device's order stays there.
  moved.stays = inputs_.contains(moved.source) && !is_identity(moved.order) &&
                !puts_channels_last(moved.order);
  moved_[id] = std::move(moved);
}

ValueId TransposedValues::computed(ValueId output, const AxisOrder& order) {
  if (is_identity(order)) return output;
  const ValueId made = value(graph().value(output).type, before_order(dims(output), order));
  moved_[output] = {made, order, name(), false};
  return made;
}

std::optional<ValueId> TransposedValues::constant_in_order(ValueId id, const AxisOrder& order) {
  Value made = graph().value(id);
  if (made.quantized && made.quantized->scales.size() != 1) return std::nullopt;
  const Dims padded = with_ones(*made.dims, order.size());
  const AxisOrder back = inverse(order);
  const auto indices = indices_of(padded, back);
  made.dims = ordered(padded, back);
  made.constant = made.constant->gather(*made.dims, indices);
  if (made.quantized)
    made.quantized->elements = made.quantized->elements.gather(*made.dims, indices);
  return add(std::move(made));
}

std::optional<ValueId> TransposedValues::in_order(ValueId id, const AxisOrder& order) {
  if (dims(id).size() > order.size()) return std::nullopt;
  if (graph().value(id).constant)
    return elements(dims(id)) > kMaxFolded ? std::nullopt : constant_in_order(id, order);
  const auto found = moved_.find(id);
  const bool is_moved = found != moved_.end() && found->second.order.size() == order.size();
  const ValueId from = is_moved ? found->second.source : id;
  AxisOrder own(order.size());
  std::iota(own.begin(), own.end(), std::size_t{0});
  if (is_moved) own = found->second.order;
  own = composed(own, inverse(order));
  const Dims padded = with_ones(dims(from), order.size());
  if (is_identity(own) && padded == dims(from)) return from;
  if (const auto made = made_.find({from, own}); made != made_.end()) return made->second;
  if (!moves_ones_only(padded, own)) return std::nullopt;
  const ValueId made = value(graph().value(id).type, ordered(padded, own));
  reshape_to(is_moved ? from : plain(id), made);
  made_[{from, own}] = made;
  return made;
}

void TransposedValues::append_transpose(ValueId from, const AxisOrder& order, ValueId to) {
  // The application may want to write an input in the order of a Transpose.
  if (moves_ones_only(dims(from), order) && !inputs_.contains(from))
    reshape_to(from, to);
  else
    node("Transpose", {from}, to).attributes["perm"] =
        std::vector<std::int64_t>(order.begin(), order.end());
}

ValueId TransposedValues::in_other_order(ValueId id, const AxisOrder& order) {
  if (is_identity(order)) return id;
  const auto [made, is_new] = made_.try_emplace({id, order}, kNoValue);
  if (!is_new) return made->second;
  made->second = value(graph().value(id).type, ordered(dims(id), order));
  append_transpose(id, order, made->second);
  return made->second;
}

ValueId TransposedValues::plain(ValueId id) {
  const auto found = moved_.find(id);
  if (found == moved_.end()) return id;
  const Moved& moved = found->second;
  if (is_identity(moved.order)) return moved.source;
  const auto [made, is_new] = made_.try_emplace({moved.source, moved.order}, id);
  if (!is_new) return made->second;
  const std::string reader = name();
  set_name(moved.node);
  append_transpose(moved.source, moved.order, id);
  set_name(reader);
  return id;
}

void TransposedValues::keep(ValueId id) {
  if (const ValueId made = plain(id); made != id) node("Identity", {made}, id);
}

void TransposedValues::reshape_to(ValueId from, ValueId to) {
  node("Reshape", {from, integers(dims(to))}, to).attributes["allowzero"] = std::int64_t{1};
}

}  // namespace nvdla::import
