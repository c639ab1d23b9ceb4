// SPDX-License-Identifier: MIT
//
// Slices, paddings, repetitions and choices of elements, as coordinates along axes.
#include "import/operators/move.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nvdla::import {
namespace {

std::vector<std::int64_t> count_up(std::int64_t size) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Move slice_move(const Operation& op, std::size_t) {
  Move move = Move::identity(op.dims(0));
  const std::size_t rank = move.source.size();
  std::vector<std::int64_t> starts, ends, axes, steps;
  if (op.opset() < 10) {
    starts = op.integers("starts");
    ends = op.integers("ends");
    axes = op.integers("axes", count_up(static_cast<std::int64_t>(starts.size())));
  } else {
    starts = op.need_integers(1, "the list of starts");
    ends = op.need_integers(2, "the list of ends");
    axes = op.has(3) ? op.need_integers(3, "the list of axes")
                     : count_up(static_cast<std::int64_t>(starts.size()));
    if (op.has(4)) steps = op.need_integers(4, "the list of steps");
  }
  steps.resize(std::max(steps.size(), starts.size()), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    refuse_node("{} starts, {} ends, {} axes and {} steps; expected as many of each", starts.size(),
                ends.size(), axes.size(), steps.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = Operation::axis(axes[i], rank);
    const std::int64_t size = move.source[axis], step = steps[i];
    if (step == 0) refuse_node("a step of 0 along axis {}", axis);
    const auto bound = [&](std::int64_t v) {
      if (v < 0) v = v < -size ? -1 : v + size;
      return step > 0 ? std::clamp<std::int64_t>(v, 0, size)
                      : std::clamp<std::int64_t>(v, -1, size - 1);
    };
    const std::int64_t first = starts[i] < -size && step > 0 ? 0 : bound(starts[i]);
    const std::int64_t last = bound(ends[i]);
    std::vector<std::int64_t> taken;
    for (std::int64_t c = first; step > 0 ? c < last : c > last;) {
      taken.push_back(c);
      if (step > 0 ? step > last - c : step < last - c) break;
      c += step;
    }
    move.coordinates[axis] = std::move(taken);
  }
  move.set_dims();
  return move;
}

Move split_move(const Operation& op, std::size_t output) {
  Move move = Move::identity(op.dims(0));
  const std::size_t axis =
      Operation::axis(op.attribute("axis", std::int64_t{0}), move.source.size());
  const std::int64_t size = move.source[axis];
  const auto outputs = static_cast<std::int64_t>(op.outputs());
  std::vector<std::int64_t> sizes;
  if (op.opset() < 13)
    sizes = op.integers("split");
  else if (op.has(1))
    sizes = op.need_integers(1, "the list of sizes");
  if (sizes.empty()) {
    const std::int64_t each = (size + outputs - 1) / outputs;
    for (std::int64_t i = 0; i < outputs; ++i)
      sizes.push_back(std::clamp<std::int64_t>(size - i * each, 0, each));
  }
  if (sizes.size() != op.outputs() ||
      std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) != size ||
      std::any_of(sizes.begin(), sizes.end(), [&](std::int64_t s) { return s < 0 || s > size; }))
    refuse_node("its parts are {}, and axis {} has {} for {} outputs", dims_text(sizes), axis, size,
                outputs);
  const std::int64_t start = std::accumulate(
      sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(output), std::int64_t{0});
  auto& taken = move.coordinates[axis];
  taken = count_up(sizes[output]);
  for (std::int64_t& c : taken) c += start;
  move.set_dims();
  return move;
}

Move gather_move(const Operation& op, std::size_t) {
  Move move = Move::identity(op.dims(0));
  const std::size_t axis =
      Operation::axis(op.attribute("axis", std::int64_t{0}), move.source.size());
  const Constant& indices = op.need_constant(1, "the list of indices");
  const std::int64_t size = move.source[axis];
  if (!is_integer(indices.type())) refuse_node("its indices are {}", type_name(indices.type()));
  auto& taken = move.coordinates[axis];
  taken = indices.integers();
  for (std::int64_t& c : taken) {
    if (c < -size || c >= size) refuse_node("index {} is not one of {}", c, size);
    if (c < 0) c += size;
  }
  move.set_dims();
  move.dims.erase(move.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  move.dims.insert(move.dims.begin() + static_cast<std::ptrdiff_t>(axis), indices.dims().begin(),
                   indices.dims().end());
  return move;
}

Move expand_move(const Operation& op, std::size_t) {
  const auto shape = op.need_integers(1, "the list of sizes");
  for (const std::int64_t size : shape)
    if (size < 0) refuse_node("size {} is negative", size);
  Dims source = op.dims(0);
  const Dims dims = broadcast(source, shape);
  source.insert(source.begin(), dims.size() - source.size(), 1);
  Move move = Move::identity(source);
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (source[i] != dims[i]) {
      if (dims[i] > kMaxFolded) refuse_node("a tensor of {} is too large", dims_text(dims));
      move.coordinates[i].assign(static_cast<std::size_t>(dims[i]), 0);
    }
  move.set_dims();
  return move;
}

Move tile_move(const Operation& op, std::size_t) {
  Move move = Move::identity(op.dims(0));
  const auto repeats = op.need_integers(1, "the list of repetitions");
  if (repeats.size() != move.source.size())
    refuse_node("{} repetitions of {} axes", repeats.size(), move.source.size());
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    const std::int64_t size = move.source[i];
    if (repeats[i] < 0 || (size > 0 && repeats[i] > kMaxFolded / size))
      refuse_node("{} repetitions of axis {}", repeats[i], i);
    std::vector<std::int64_t> taken;
    for (std::int64_t r = 0; r < repeats[i]; ++r)
      for (std::int64_t c = 0; c < size; ++c) taken.push_back(c);
    move.coordinates[i] = std::move(taken);
  }
  move.set_dims();
  return move;
}

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

PadMode pad_mode(const Operation& op) {
  const std::string mode = op.attribute("mode", "constant");
  if (mode == "constant") return PadMode::kConstant;
  if (mode == "reflect") return PadMode::kReflect;
  if (mode == "edge") return PadMode::kEdge;
  if (mode == "wrap") return PadMode::kWrap;
  refuse_node("its mode is none of constant, reflect, edge and wrap");
}

// Returns the coordinate that a padding takes, of an axis of `size`.
std::int64_t padded(std::int64_t at, std::int64_t size, PadMode mode) {
  if (at >= 0 && at < size) return at;
  if (mode == PadMode::kEdge) return std::clamp<std::int64_t>(at, 0, size - 1);
  if (mode == PadMode::kWrap) return (at % size + size) % size;
  if (mode == PadMode::kConstant) return kFill;
  if (size == 1) return 0;
  const std::int64_t period = 2 * (size - 1);
  const std::int64_t rest = (at % period + period) % period;
  return rest < size ? rest : period - rest;
}

Move pad_move(const Operation& op, std::size_t) {
  Move move = Move::identity(op.dims(0));
  const std::size_t rank = move.source.size();
  const PadMode mode = pad_mode(op);
  std::vector<std::int64_t> pads, axes = count_up(static_cast<std::int64_t>(rank));
  if (op.opset() < 11) {
    pads = op.integers("pads");
    move.fill = op.attribute("value", 0.0);
  } else {
    pads = op.need_integers(1, "the list of paddings");
    if (op.has(2)) move.fill = op.need_constant(2, "the value of the padding").real(0);
    if (op.has(3)) axes = op.need_integers(3, "the list of axes");
  }
  if (pads.size() != 2 * axes.size())
    refuse_node("{} paddings for {} axes; expected two of each", pads.size(), axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = Operation::axis(axes[i], rank);
    const std::int64_t size = move.source[axis], before = pads[i], after = pads[i + axes.size()];
    if (std::abs(before) > kMaxFolded || std::abs(after) > kMaxFolded ||
        before + size + after < 0 || (size == 0 && mode != PadMode::kConstant))
      refuse_node("paddings {} and {} of axis {}, which has {}", before, after, axis, size);
    std::vector<std::int64_t> taken;
    taken.reserve(static_cast<std::size_t>(before + size + after));
    for (std::int64_t c = -before; c < size + after; ++c) taken.push_back(padded(c, size, mode));
    move.coordinates[axis] = std::move(taken);
  }
  move.set_dims();
  return move;
}

constexpr MoveOperator kMoves[] = {
    {"Expand", expand_move}, {"Gather", gather_move}, {"Pad", pad_move},
    {"Slice", slice_move},   {"Split", split_move},   {"Tile", tile_move},
};

}  // namespace

Move Move::identity(const Dims& source) {
  Move move;
  move.source = source;
  std::int64_t coordinates = 0;
  for (const std::int64_t size : source) {
    coordinates += size;
    if (coordinates > kMaxFolded) refuse_node("a tensor of {} is too large", dims_text(source));
    move.coordinates.push_back(count_up(size));
  }
  move.dims = source;
  return move;
}

bool Move::keeps(std::size_t axis) const {
  const auto& taken = coordinates[axis];
  if (taken.size() != static_cast<std::size_t>(source[axis])) return false;
  for (std::size_t i = 0; i < taken.size(); ++i)
    if (taken[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

void Move::set_dims() {
  dims.clear();
  std::int64_t count = 1;
  for (const auto& taken : coordinates) {
    dims.push_back(static_cast<std::int64_t>(taken.size()));
    if (dims.back() > kMaxElements / count)
      refuse_node("a tensor of {} is too large", dims_text(dims));
    count *= std::max<std::int64_t>(dims.back(), 1);
  }
}

std::vector<std::int64_t> Move::indices() const {
  const Dims step = strides(source);
  std::int64_t count = 1;
  for (const auto& taken : coordinates) count *= static_cast<std::int64_t>(taken.size());
  if (count > kMaxFolded) refuse_node("a tensor of {} is too large", dims_text(dims));
  std::vector<std::int64_t> all = {0};
  all.reserve(static_cast<std::size_t>(count));
  for (std::size_t axis = 0; axis < coordinates.size(); ++axis) {
    std::vector<std::int64_t> next;
    next.reserve(all.size() * coordinates[axis].size());
    for (const std::int64_t base : all)
      for (const std::int64_t c : coordinates[axis])
        next.push_back(base == kFill || c == kFill ? kFill : base + c * step[axis]);
    all = std::move(next);
  }
  return all;
}

std::span<const MoveOperator> move_operators() noexcept { return kMoves; }

const MoveOperator* find_move(const Operation& op) noexcept {
  if (!op.node().domain.empty()) return nullptr;
  for (const MoveOperator& row : kMoves)
    if (row.name == op.op()) return &row;
  return nullptr;
}

}  // namespace nvdla::import
