// SPDX-License-Identifier: MIT
//
// Axes of the model and axes of the device.
#include "import/nodes/view.hpp"

#include <vector>

#include "import/graph/refusal.hpp"
#include "support/check.hpp"

namespace nvdla::import {
namespace {

constexpr std::uint32_t kMaxBatch = 32;

Axis axis_of(char role) {
  return role == 'C' ? Axis::kChannels : role == 'H' ? Axis::kHeight : Axis::kWidth;
}

char role_of(Axis axis) noexcept {
  return axis == Axis::kChannels ? 'C' : axis == Axis::kHeight ? 'H' : 'W';
}

// Sizes above 1 with their axes, slowest first.
std::vector<std::pair<char, std::uint32_t>> long_axes(const View& view) {
  std::vector<std::pair<char, std::uint32_t>> axes;
  if (view.shape.batch > 1) axes.emplace_back('B', view.shape.batch);
  for (const Axis axis : view.order)
    if (size_of(view.shape, axis) > 1) axes.emplace_back(role_of(axis), size_of(view.shape, axis));
  return axes;
}

}  // namespace

std::uint32_t& size_of(Shape& shape, Axis axis) noexcept {
  return axis == Axis::kChannels ? shape.channels
         : axis == Axis::kHeight ? shape.height
                                 : shape.width;
}

std::uint32_t size_of(const Shape& shape, Axis axis) noexcept {
  return axis == Axis::kChannels ? shape.channels
         : axis == Axis::kHeight ? shape.height
                                 : shape.width;
}

Axis axis_of_role(char role) { return axis_of(role); }

View make_view(const Dims& dims, std::string_view roles) {
  std::int64_t sizes[4] = {1, 1, 1, 1};
  std::string order;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const char role = roles[i];
    sizes[std::string_view("BCHW").find(role)] *= dims[i];
    if (role != 'B' && order.find(role) == std::string::npos) order += role;
  }
  for (const char role : {'C', 'H', 'W'})
    if (order.find(role) == std::string::npos) order += role;
  if (elements(dims) == 0) refuse_node("a tensor of {} has no elements", dims_text(dims));
  if (sizes[0] > kMaxBatch)
    refuse_node("a batch of {} is above the {} that a tensor can have", sizes[0], kMaxBatch);
  for (int i = 1; i < 4; ++i)
    if (sizes[i] > detail::kMaxSide)
      refuse_node("a tensor of {} has {} in one axis of the device, above {}", dims_text(dims),
                  sizes[i], detail::kMaxSide);
  View view;
  view.shape = {static_cast<std::uint32_t>(sizes[1]), static_cast<std::uint32_t>(sizes[2]),
                static_cast<std::uint32_t>(sizes[3]), static_cast<std::uint32_t>(sizes[0])};
  for (std::size_t i = 0; i < 3; ++i) view.order[i] = axis_of(order[i]);
  return view;
}

std::string spread_roles(const Dims& dims, std::string roles) {
  for (const char role : {'C', 'H', 'W'}) {
    std::int64_t size = 1, last = 1;
    for (std::size_t i = 0; i < dims.size(); ++i) size *= roles[i] == role ? dims[i] : 1;
    const std::size_t left = std::string_view("HWC").find_first_not_of(roles);
    if (size <= detail::kMaxSide || left == std::string_view::npos) continue;
    for (std::size_t i = dims.size(); i-- > 0;) {
      if (roles[i] != role) continue;
      last *= dims[i];
      if (last > detail::kMaxSide) break;
      roles[i] = "HWC"[left];
    }
  }
  return roles;
}

bool same_places(const View& a, const View& b) noexcept {
  return a.shape == b.shape && long_axes(a) == long_axes(b);
}

bool is_row_major(const View& view) noexcept {
  View plain;
  plain.shape = view.shape;
  return same_places(view, plain);
}

bool is_channels_last(const View& view) noexcept {
  View plain;
  plain.shape = view.shape;
  plain.order = {Axis::kHeight, Axis::kWidth, Axis::kChannels};
  return same_places(view, plain);
}

View row_major(const View& view) {
  View plain;
  plain.shape = {size_of(view.shape, view.order[0]), size_of(view.shape, view.order[1]),
                 size_of(view.shape, view.order[2]), view.shape.batch};
  return plain;
}

std::optional<std::string> roles_in(const View& view, const Dims& dims) {
  const auto axes = long_axes(view);
  std::string roles;
  std::size_t at = 0;
  std::int64_t left = axes.empty() ? 1 : axes[0].second;
  for (const std::int64_t size : dims) {
    if (size == 1) {
      roles += roles.empty() ? '?' : roles.back();
      continue;
    }
    if (left == 1 && at + 1 < axes.size()) left = axes[++at].second;
    if (at >= axes.size() || size == 0 || left % size != 0) return std::nullopt;
    left /= size;
    roles += axes[at].first;
  }
  // Leading axes of size 1 are the batch, which has no better place.
  for (char& role : roles)
    if (role == '?') role = 'B';
  return roles;
}

View default_view(const Dims& dims, bool has_batch) {
  std::string roles(dims.size(), 'W');
  std::size_t first = 0;
  if (has_batch && dims.size() >= 2) {
    roles[0] = 'B';
    first = 1;
  } else {
    while (first + 1 < dims.size() && dims[first] == 1) roles[first++] = 'B';
  }
  const std::size_t rest = dims.size() - first;
  if (rest >= 1) roles[first] = 'C';
  // Channels, then lines, then columns; lines take what is too much.
  for (std::size_t i = first + 1; i < dims.size(); ++i)
    roles[i] = rest >= 3 && i + 1 < dims.size() ? 'H' : 'W';
  return make_view(dims, roles);
}

}  // namespace nvdla::import
