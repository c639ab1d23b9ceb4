// SPDX-License-Identifier: MIT
#include "tools/dt/tree.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/files/status.hpp"

namespace nvdla::dt {

std::size_t Tree::add(std::size_t parent, std::string name) {
  const unsigned depth = nodes_[parent].depth + 1;
  if (depth > kMaxDepth) {
    throw program::UsageError(
        fmt::format("{}: {}: more than {} levels of nodes", name_, path(parent), kMaxDepth));
  }
  nodes_.push_back({std::move(name), parent, depth, {}});
  return nodes_.size() - 1;
}

void Tree::add_property(std::size_t node, std::string name, std::string value) {
  nodes_[node].properties.push_back({std::move(name), std::move(value)});
  const Property& added = nodes_[node].properties.back();
  if (added.name != "phandle" && added.name != "linux,phandle") return;
  // If two nodes have one phandle, the first one counts, as in Linux.
  if (const auto cells = cells_of(added); cells && cells->size() == 1)
    phandles_.emplace(cells->front(), node);
}

std::string Tree::path(std::size_t node) const {
  if (node == kRoot) return "/";
  std::string text;
  for (; node != kRoot; node = nodes_[node].parent)
    text = fmt::format("/{}{}", printable(nodes_[node].name), text);
  return text;
}

const Property* Tree::find(std::size_t node, std::string_view property) const {
  for (const Property& found : nodes_[node].properties)
    if (found.name == property) return &found;
  return nullptr;
}

std::optional<std::size_t> Tree::by_phandle(std::uint32_t phandle) const {
  const auto found = phandles_.find(phandle);
  if (found == phandles_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint32_t> Tree::number(std::size_t node, std::string_view property) const {
  const Property* const found = find(node, property);
  if (found == nullptr) return std::nullopt;
  const auto cells = cells_of(*found);
  if (!cells || cells->size() != 1) return std::nullopt;
  return cells->front();
}

bool Tree::has_string(std::size_t node, std::string_view property, std::string_view text) const {
  const Property* const found = find(node, property);
  if (found == nullptr) return false;
  const auto strings = strings_of(*found);
  return strings && std::find(strings->begin(), strings->end(), text) != strings->end();
}

bool Tree::enabled(std::size_t node) const {
  for (;; node = nodes_[node].parent) {
    if (find(node, "status") != nullptr && !has_string(node, "status", "okay") &&
        !has_string(node, "status", "ok"))
      return false;
    if (node == kRoot) return true;
  }
}

std::optional<std::vector<std::uint32_t>> cells_of(const Property& property) {
  if (property.value.size() % 4 != 0) return std::nullopt;
  std::vector<std::uint32_t> cells;
  for (std::size_t at = 0; at < property.value.size(); at += 4) {
    std::uint32_t cell = 0;
    for (std::size_t i = at; i < at + 4; ++i)
      cell = cell << 8 | static_cast<std::uint8_t>(property.value[i]);
    cells.push_back(cell);
  }
  return cells;
}

std::optional<std::vector<std::string>> strings_of(const Property& property) {
  if (!property.value.empty() && property.value.back() != '\0') return std::nullopt;
  std::vector<std::string> strings;
  for (std::size_t at = 0; at < property.value.size(); at += strings.back().size() + 1)
    strings.emplace_back(property.value.c_str() + at);
  return strings;
}

std::string printable(std::string_view text) {
  std::string shown(text);
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return shown;
}

}  // namespace nvdla::dt
