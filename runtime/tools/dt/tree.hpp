// SPDX-License-Identifier: MIT
//
// `Tree` is a device tree in memory: nodes by index, properties as bytes. The readers enforce the
// limits here, so that code that walks a tree need not check its size.
#ifndef NVDLA_TOOLS_DT_TREE_HPP
#define NVDLA_TOOLS_DT_TREE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nvdla::dt {

// The limits of Linux: levels and, on arm64, bytes.
inline constexpr unsigned kMaxDepth = 64;
inline constexpr std::size_t kMaxBytes = std::size_t{1} << 21;

struct Property {
  std::string name;
  std::string value;
};

struct Node {
  std::string name;        // "npu@c000000"; empty for the root
  std::size_t parent = 0;  // the root's is itself
  unsigned depth = 0;
  std::vector<Property> properties;
};

class Tree {
 public:
  static constexpr std::size_t kRoot = 0;

  // `name` is for errors. A tree begins with its root.
  explicit Tree(std::string name) : name_(std::move(name)), nodes_(1) {}

  const std::string& name() const { return name_; }
  std::size_t size() const { return nodes_.size(); }
  const Node& operator[](std::size_t node) const { return nodes_[node]; }

  // Throws UsageError beyond kMaxDepth.
  std::size_t add(std::size_t parent, std::string name);
  void add_property(std::size_t node, std::string name, std::string value);

  // Returns "/soc/npu@c000000", printable on a terminal.
  std::string path(std::size_t node) const;
  // Returns a property; nullptr if there is none.
  const Property* find(std::size_t node, std::string_view property) const;
  std::optional<std::size_t> by_phandle(std::uint32_t phandle) const;
  // Returns a property of one number; nothing if there is no such property, or it has another size.
  std::optional<std::uint32_t> number(std::size_t node, std::string_view property) const;
  // Returns true if one of the property's strings is `text`.
  bool has_string(std::size_t node, std::string_view property, std::string_view text) const;
  // Returns true unless the status of the node, or of a node above, disables it.
  bool enabled(std::size_t node) const;

 private:
  std::string name_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint32_t, std::size_t> phandles_;
};

// Returns big-endian numbers of four bytes; nothing if the size is not a multiple of that.
std::optional<std::vector<std::uint32_t>> cells_of(const Property& property);
// Returns the strings of a property; nothing if the last one is not terminated.
std::optional<std::vector<std::string>> strings_of(const Property& property);
// Replaces characters that a terminal should not get by '?'.
std::string printable(std::string_view text);

// Reads a flattened tree. Throws UsageError if it is damaged or is none.
Tree read_blob(std::string_view bytes, const std::string& name);
// Reads a tree with a folder for each node and a file for each property, like /proc/device-tree.
Tree read_folder(const std::string& path);
// Reads either form, depending on what `path` is.
Tree read_tree(const std::string& path);

}  // namespace nvdla::dt

#endif  // NVDLA_TOOLS_DT_TREE_HPP
