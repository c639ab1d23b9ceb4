// SPDX-License-Identifier: MIT
//
// Nodes that are to be written, in either form: their references are labels still.
#ifndef NVDLA_TOOLS_DT_SOURCE_HPP
#define NVDLA_TOOLS_DT_SOURCE_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nvdla::dt {

struct SourceCell {
  std::uint32_t value = 0;
  std::string label = {};  // not empty: the phandle of the node that has it
};

struct SourceProperty {
  std::string name;
  std::vector<std::string> strings = {};
  std::vector<std::vector<SourceCell>> groups = {};  // of which each is <...>
};

struct SourceNode {
  std::string label = {}, name = {};
  std::vector<SourceProperty> properties = {};
  std::vector<SourceNode> children = {};
};

// What is put below the node at `path` of another tree.
struct SourceFragment {
  std::string path;
  SourceNode content;
};

std::string to_source(const std::vector<SourceFragment>& fragments);
// A blob for fdtoverlay and boot loaders. Labels that none of the nodes has are of the other tree,
// which then needs its symbols (dtc -@).
std::string to_overlay(const std::vector<SourceFragment>& fragments);

}  // namespace nvdla::dt

#endif  // NVDLA_TOOLS_DT_SOURCE_HPP
