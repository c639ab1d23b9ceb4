// SPDX-License-Identifier: MIT
//
// Operators that move elements and change none, axis by axis.
#ifndef NVDLA_IMPORT_OPERATORS_MOVE_HPP
#define NVDLA_IMPORT_OPERATORS_MOVE_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "import/nodes/operation.hpp"

namespace nvdla::import {

inline constexpr std::int64_t kFill = -1;

// Along each axis of `source`, the coordinates that the result takes in their order; kFill is the
// fill value. The result has the sizes `dims`, in the same order of elements.
struct Move {
  Dims source;
  std::vector<std::vector<std::int64_t>> coordinates;
  Dims dims;
  double fill = 0;

  // Begins a move of a tensor that keeps every element where it is.
  static Move identity(const Dims& source);
  // Returns true if an axis keeps all its elements.
  bool keeps(std::size_t axis) const;
  // Sets `dims` to the numbers of coordinates. Throws Refusal where these are too many.
  void set_dims();
  // Returns for each element of the result the number of the one in the source, or kFill.
  std::vector<std::int64_t> indices() const;
};

struct MoveOperator {
  std::string_view name;
  // The move that makes an output of input 0.
  Move (*move)(const Operation& op, std::size_t output);
};

std::span<const MoveOperator> move_operators() noexcept;
const MoveOperator* find_move(const Operation& op) noexcept;

// Returns the order of axes of a Transpose.
std::vector<std::size_t> transposed_axes(const Operation& op);
// Returns the sizes of the result of an operator that changes nothing but the sizes (Reshape,
// Flatten, Squeeze, Unsqueeze), or nothing for others.
std::optional<Dims> reshaped_dims(const Operation& op);
// Returns the source coordinates of a Resize or Upsample along an axis, for nearest neighbours.
Move resize_move(const Operation& op, std::size_t output);
// The elements of an axis that make one of the result, and their weights.
using AxisWeights = std::vector<std::pair<std::int64_t, double>>;
// Returns these for each axis of a Resize or Upsample and each place along it, in all modes.
std::vector<std::vector<AxisWeights>> resize_weights(const Operation& op);
// Returns roles in which each axis that changes has one of the device's for itself. Throws Refusal
// if that is not possible.
std::string isolate(const Move& move, bool has_batch);
// Returns true if each axis that changes is alone in its axis of the device.
bool is_isolated(const Move& move, const std::string& roles);
// Returns the move of which the axes change along which a tensor of sizes `own` is repeated to
// `dims`.
Move repetition_of(const Dims& own, const Dims& dims);
// Adds the layers of a move that makes an output of a node.
class Lowering;
void lower_coordinates(Lowering& lowering, const Operation& op, const Move& move,
                       std::size_t output);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_OPERATORS_MOVE_HPP
