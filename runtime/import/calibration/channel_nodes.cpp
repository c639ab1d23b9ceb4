// SPDX-License-Identifier: MIT
#include "import/calibration/channel_nodes.hpp"

#include <algorithm>
#include <numeric>

#include "import/graph/refusal.hpp"

namespace nvdla::import {

bool is_plain_conv(const Operation& op) {
  return op.op() == "Conv" && op.node().domain.empty() && op.has(1) && op.constant(1) != nullptr &&
         op.attribute("group", std::int64_t{1}) == 1 &&
         (!op.has(2) || (op.constant(2) != nullptr && op.constant(2)->size() == op.dims(1)[0]));
}

std::optional<std::vector<double>> operand_of_channels(const Operation& op, std::size_t channels,
                                                       std::size_t axis) {
  if (op.inputs() != 2 || !op.has(1)) return std::nullopt;
  const Constant* const c = op.constant(1);
  if (c == nullptr) return std::nullopt;
  if (c->size() == 1) return std::vector<double>(channels, c->real(0));
  const std::size_t rank = op.dims(0).size(), own = c->dims().size();
  if (own > rank || c->size() != static_cast<std::int64_t>(channels)) return std::nullopt;
  for (std::size_t i = 0; i < own; ++i)
    if (c->dims()[i] != 1 && i + rank - own != axis) return std::nullopt;
  return c->doubles();
}

std::optional<std::vector<std::size_t>> order_of_channels(const Operation& op, std::size_t channels,
                                                          std::size_t axis) {
  if (op.op() != "Gather" ||
      op.attribute("axis", std::int64_t{0}) != static_cast<std::int64_t>(axis) || !op.has(1) ||
      op.constant(1) == nullptr)
    return std::nullopt;
  std::vector<std::size_t> order;
  for (const std::int64_t from : op.constant(1)->integers())
    order.push_back(
        static_cast<std::size_t>(from < 0 ? from + static_cast<std::int64_t>(channels) : from));
  std::vector<std::size_t> sorted = order, all(channels);
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return sorted == all ? std::optional(order) : std::nullopt;
}

std::optional<Transposed> channels_first(const Operation& op) {
  return unless_refused(std::optional<Transposed>(), [&]() -> std::optional<Transposed> {
    if (op.op() != "Transpose" || !op.node().domain.empty() || !op.has(0)) return std::nullopt;
    const auto order = op.integers("perm");
    if (order.size() < 3 || order.size() != op.dims(0).size() || order[0] != 0 || order[1] < 1)
      return std::nullopt;
    return Transposed{op.node(), static_cast<std::size_t>(order[1])};
  });
}

}  // namespace nvdla::import
