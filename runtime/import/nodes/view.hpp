// SPDX-License-Identifier: MIT
//
// Views place a tensor of a model, of any number of axes, in one of the device, which has four.
#ifndef NVDLA_IMPORT_NODES_VIEW_HPP
#define NVDLA_IMPORT_NODES_VIEW_HPP

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "import/graph/types.hpp"
#include "nvdla/operators/concatenation.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla::import {

// The elements of the model's tensor, slowest axis first, run over the cubes of the batch, then
// over `order[0]`, `order[1]` and `order[2]`. A reshape of the model changes nothing of this, and
// most transpositions only the order.
struct View {
  Shape shape;
  std::array<Axis, 3> order = {Axis::kChannels, Axis::kHeight, Axis::kWidth};
};

// Returns the size of an axis.
std::uint32_t& size_of(Shape& shape, Axis axis) noexcept;
std::uint32_t size_of(const Shape& shape, Axis axis) noexcept;

// Returns the view in which each axis of `dims` has the role that `roles` names: B, C, H or W.
// Neighbours with one role become one axis. Throws Refusal for sizes beyond the hardware's.
View make_view(const Dims& dims, std::string_view roles);
// Returns the roles in which no axis of the device is longer than it can be, where neighbours share
// one that is and another is left for the last of them.
std::string spread_roles(const Dims& dims, std::string roles);
// Returns true if both have the same elements at the same places.
bool same_places(const View& a, const View& b) noexcept;
// Returns the view of the same axes in the order of channels, lines, columns.
View row_major(const View& view);
// Returns true if the order is that of channels, lines, columns, but for axes of size 1.
bool is_row_major(const View& view) noexcept;
// Returns true if the order is that of lines, columns, channels, but for axes of size 1.
bool is_channels_last(const View& view) noexcept;
// Returns the role of each axis of `dims` in a view, or nothing if an axis lies across two. Axes
// of size 1 have the role of their left neighbour.
std::optional<std::string> roles_in(const View& view, const Dims& dims);
// Returns the view of `dims` where nothing asks for another: the first axis is the batch if
// `has_batch`, and the next ones are channels, lines and columns.
View default_view(const Dims& dims, bool has_batch);
// Returns the role of an axis as the device's axis; 'B' has none.
Axis axis_of_role(char role);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_NODES_VIEW_HPP
