// SPDX-License-Identifier: MIT
//
// Nodes to be written, in either form; their references are still labels.
#ifndef NVDLA_TOOLS_DT_SOURCE_HPP
#define NVDLA_TOOLS_DT_SOURCE_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nvdla::dt {

struct SourceCell {
  std::uint32_t value = 0;
  std::string label = {};  // not empty: the phandle of the node with this label
};

struct SourceProperty {
  std::string name;
  std::vector<std::string> strings = {};
  std::vector<std::vector<SourceCell>> groups = {};  // each is written as <...>
};

struct SourceNode {
  std::string label = {}, name = {};
  std::vector<SourceProperty> properties = {};
  std::vector<SourceNode> children = {};
};

// The content to put below the node at `path` of another tree.
struct SourceFragment {
  std::string path;
  SourceNode content;
};

std::string to_source(const std::vector<SourceFragment>& fragments);
// Returns a blob for fdtoverlay and boot loaders. Labels that no node has belong to the other tree,
// which then needs its symbols (dtc -@).
std::string to_overlay(const std::vector<SourceFragment>& fragments);

}  // namespace nvdla::dt

#endif  // NVDLA_TOOLS_DT_SOURCE_HPP
