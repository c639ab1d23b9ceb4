// SPDX-License-Identifier: MIT
//
// Writes source: blocks that add to nodes of a tree which is compiled with them.
#include "tools/dt/source.hpp"

#include <fmt/format.h>

namespace nvdla::dt {
namespace {

std::string text_of_group(const std::vector<SourceCell>& group) {
  std::string text;
  for (const SourceCell& cell : group) {
    if (!text.empty()) text += ' ';
    // Large numbers are addresses and sizes, unless they stand alone.
    text += !cell.label.empty()                        ? "&" + cell.label
            : cell.value < 0x1000 || group.size() == 1 ? fmt::format("{}", cell.value)
                                                       : fmt::format("{:#x}", cell.value);
  }
  return "<" + text + ">";
}

std::string text_of_value(const SourceProperty& property) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? " = " : ", ") + part; };
  for (const std::string& string : property.strings) add("\"" + string + "\"");
  for (const auto& group : property.groups) add(text_of_group(group));
  return text;
}

void add_content(std::string& text, const SourceNode& node, const std::string& indent) {
  for (const SourceProperty& property : node.properties)
    text += fmt::format("{}{}{};\n", indent, property.name, text_of_value(property));
  bool first = node.properties.empty();
  for (const SourceNode& child : node.children) {
    text += fmt::format("{}{}{}{}{} {{\n", first ? "" : "\n", indent, child.label,
                        child.label.empty() ? "" : ": ", child.name);
    add_content(text, child, indent + "\t");
    text += indent + "};\n";
    first = false;
  }
}

}  // namespace

std::string to_source(const std::vector<SourceFragment>& fragments) {
  std::string text;
  for (const SourceFragment& fragment : fragments) {
    text += fmt::format("{}{} {{\n", text.empty() ? "" : "\n",
                        fragment.path == "/" ? "/" : "&{" + fragment.path + "}");
    add_content(text, fragment.content, "\t");
    text += "};\n";
  }
  return text;
}

}  // namespace nvdla::dt
