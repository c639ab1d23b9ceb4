// SPDX-License-Identifier: MIT
//
// A device tree in memory: nodes by number, properties as bytes. Whoever reads one in keeps to the
// limits here, so nothing that goes over a tree has to fear its size.
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

// Linux reads neither more levels nor, on arm64, more bytes.
inline constexpr unsigned kMaxDepth = 64;
inline constexpr std::size_t kMaxBytes = std::size_t{1} << 21;

struct Property {
  std::string name;
  std::string value;
};

struct Node {
  std::string name;        // "npu@c000000"; of the root empty
  std::size_t parent = 0;  // of the root itself
  unsigned depth = 0;
  std::vector<Property> properties;
};

class Tree {
 public:
  static constexpr std::size_t kRoot = 0;

  // `name` as errors call it. A tree begins with its root.
  explicit Tree(std::string name) : name_(std::move(name)), nodes_(1) {}

  const std::string& name() const { return name_; }
  std::size_t size() const { return nodes_.size(); }
  const Node& operator[](std::size_t node) const { return nodes_[node]; }

  // Throws UsageError beyond kMaxDepth.
  std::size_t add(std::size_t parent, std::string name);
  void add_property(std::size_t node, std::string name, std::string value);

  // "/soc/npu@c000000", fit for a terminal.
  std::string path(std::size_t node) const;
  // nullptr if there is none.
  const Property* find(std::size_t node, std::string_view property) const;
  std::optional<std::size_t> by_phandle(std::uint32_t phandle) const;
  // Its first number; nothing if there is no such property, or one of another size.
  std::optional<std::uint32_t> number(std::size_t node, std::string_view property) const;
  // Whether one of the strings is `text`.
  bool has_string(std::size_t node, std::string_view property, std::string_view text) const;
  // Neither it nor a node above says that it is not to be used.
  bool enabled(std::size_t node) const;

 private:
  std::string name_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint32_t, std::size_t> phandles_;
};

// Big-endian numbers of four bytes; nothing if the size is no multiple of that.
std::optional<std::vector<std::uint32_t>> cells_of(const Property& property);
// Strings, each with its zero; nothing if the last one has none.
std::optional<std::vector<std::string>> strings_of(const Property& property);
// With what a terminal should not be shown as '?'.
std::string printable(std::string_view text);

// A flattened tree. Throws UsageError for what is none, or damaged.
Tree read_blob(std::string_view bytes, const std::string& name);
// A folder for each node, a file for each property, as in /proc/device-tree.
Tree read_folder(const std::string& path);
// What `path` is of the two.
Tree read_tree(const std::string& path);

}  // namespace nvdla::dt

#endif  // NVDLA_TOOLS_DT_TREE_HPP
