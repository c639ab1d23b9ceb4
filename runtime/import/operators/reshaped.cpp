// SPDX-License-Identifier: MIT
//
// Sizes of operators that move nothing, and orders of axes.
#include <algorithm>

#include "import/operators/move.hpp"

namespace nvdla::import {
namespace {

Dims reshape_dims(const Operation& op) {
  const Dims& from = op.dims(0);
  Dims to = op.need_integers(1, "the list of sizes");
  const bool zero_stays = op.attribute("allowzero", std::int64_t{0}) == 0;
  std::optional<std::size_t> open;
  std::int64_t known = 1;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0 && zero_stays) {
      if (i >= from.size())
        refuse_node("size {} is that of the input, which has {}", i, dims_text(from));
      to[i] = from[i];
    }
    if (to[i] == -1 && !open)
      open = i;
    else if (to[i] < 0)
      refuse_node("the sizes {} have a negative one", dims_text(to));
    else if (to[i] > kMaxElements / std::max<std::int64_t>(known, 1))
      refuse_node("the sizes {} are too large", dims_text(to));
    else
      known *= to[i];
  }
  if (open) to[*open] = known == 0 ? 0 : elements(from) / known;
  if (elements(to) != elements(from))
    refuse_node("{} has another number of elements than {}", dims_text(to), dims_text(from));
  return to;
}

std::vector<std::int64_t> axes_of(const Operation& op) {
  if (op.opset() < 13) return op.integers("axes");
  return op.has(1) ? op.need_integers(1, "the list of axes") : std::vector<std::int64_t>{};
}

Dims squeeze_dims(const Operation& op) {
  const Dims& from = op.dims(0);
  const auto axes = axes_of(op);
  std::vector<bool> drop(from.size(), false);
  for (const std::int64_t axis : axes) drop[Operation::axis(axis, from.size())] = true;
  Dims to;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (axes.empty() ? from[i] == 1 : drop[i]) {
      if (from[i] != 1) refuse_node("axis {} has {}; expected 1", i, from[i]);
      continue;
    }
    to.push_back(from[i]);
  }
  return to;
}

Dims unsqueeze_dims(const Operation& op) {
  const Dims& from = op.dims(0);
  const auto axes = axes_of(op);
  const std::size_t rank = from.size() + axes.size();
  std::vector<bool> added(rank, false);
  for (const std::int64_t axis : axes) {
    const std::size_t at = Operation::axis(axis, rank);
    if (added[at]) refuse_node("axis {} is named twice", at);
    added[at] = true;
  }
  Dims to;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) to.push_back(added[i] ? 1 : from[next++]);
  return to;
}

Dims flatten_dims(const Operation& op) {
  const Dims& from = op.dims(0);
  const std::int64_t given = op.attribute("axis", std::int64_t{1});
  const auto rank = static_cast<std::int64_t>(from.size());
  if (given < -rank || given > rank) refuse_node("axis {} is not one of {}", given, rank);
  const auto axis = static_cast<std::ptrdiff_t>(given < 0 ? given + rank : given);
  return {elements(Dims(from.begin(), from.begin() + axis)),
          elements(Dims(from.begin() + axis, from.end()))};
}

}  // namespace

std::vector<std::size_t> transposed_axes(const Operation& op) {
  const std::size_t rank = op.dims(0).size();
  std::vector<std::size_t> order;
  for (const std::int64_t axis : op.integers("perm")) order.push_back(Operation::axis(axis, rank));
  if (!op.has_attribute("perm"))
    for (std::size_t i = rank; i-- > 0;) order.push_back(i);
  std::vector<bool> named(rank, false);
  for (const std::size_t axis : order) named[axis] = true;
  if (order.size() != rank || std::count(named.begin(), named.end(), false) != 0)
    refuse_node("perm is no order of {} axes", rank);
  return order;
}

std::optional<Dims> reshaped_dims(const Operation& op) {
  if (!op.node().domain.empty()) return std::nullopt;
  if (op.op() == "Reshape") return reshape_dims(op);
  if (op.op() == "Flatten") return flatten_dims(op);
  if (op.op() == "Squeeze") return squeeze_dims(op);
  if (op.op() == "Unsqueeze") return unsqueeze_dims(op);
  return std::nullopt;
}

}  // namespace nvdla::import
