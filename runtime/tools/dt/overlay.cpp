// SPDX-License-Identifier: MIT
//
// Writes an overlay: a tree whose fragments name the nodes that they go below, with lists of the
// cells that become phandles of that tree (__fixups__) or move with its own (__local_fixups__).
#include <fmt/format.h>
#include <libfdt.h>

#include <map>
#include <stdexcept>

#include "tools/dt/source.hpp"

namespace nvdla::dt {
namespace {

// More than one device takes.
constexpr int kBlobBytes = 1 << 16;
constexpr std::uint32_t kToBeFixed = 0xffffffff;

void demand(int error) {
  if (error != 0) throw std::logic_error(fmt::format("overlay: {}", fdt_strerror(error)));
}

std::string bytes_of(std::uint32_t cell) {
  return {static_cast<char>(cell >> 24), static_cast<char>(cell >> 16),
          static_cast<char>(cell >> 8), static_cast<char>(cell)};
}

class OverlayWriter {
 public:
  explicit OverlayWriter(const std::vector<SourceFragment>& fragments) : blob_(kBlobBytes, '\0') {
    for (const SourceFragment& fragment : fragments) number(fragment.content);
    demand(fdt_create(blob_.data(), kBlobBytes));
    demand(fdt_finish_reservemap(blob_.data()));
    begin("");
    for (std::size_t i = 0; i < fragments.size(); ++i) {
      begin(fragment_name(i));
      put("target-path", fragments[i].path + '\0');
      begin("__overlay__");
      write(fragments[i].content, fmt::format("/{}/__overlay__", fragment_name(i)));
      end();
      end();
    }
    write_fixups();
    write_local_fixups(fragments);
    end();
    demand(fdt_finish(blob_.data()));
    blob_.resize(fdt_totalsize(blob_.data()));
  }

  std::string take() && { return std::move(blob_); }

 private:
  static std::string fragment_name(std::size_t index) { return fmt::format("fragment@{}", index); }

  void begin(const std::string& name) { demand(fdt_begin_node(blob_.data(), name.c_str())); }
  void end() { demand(fdt_end_node(blob_.data())); }
  void put(const std::string& name, const std::string& value) {
    demand(fdt_property(blob_.data(), name.c_str(), value.data(), static_cast<int>(value.size())));
  }

  void number(const SourceNode& node) {
    if (!node.label.empty())
      phandles_.emplace(node.label, static_cast<std::uint32_t>(phandles_.size() + 1));
    for (const SourceNode& child : node.children) number(child);
  }

  std::string value_of(const SourceProperty& property, const std::string& path) {
    std::string value;
    for (const std::string& string : property.strings) value += string + '\0';
    for (const auto& group : property.groups) {
      for (const SourceCell& cell : group) {
        std::uint32_t number = cell.value;
        if (const auto own = phandles_.find(cell.label); own != phandles_.end()) {
          number = own->second;
        } else if (!cell.label.empty()) {
          number = kToBeFixed;
          fixups_[cell.label] += fmt::format("{}:{}:{}", path, property.name, value.size()) + '\0';
        }
        value += bytes_of(number);
      }
    }
    return value;
  }

  void write(const SourceNode& node, const std::string& path) {
    for (const SourceProperty& property : node.properties)
      put(property.name, value_of(property, path));
    if (const auto own = phandles_.find(node.label); own != phandles_.end())
      put("phandle", bytes_of(own->second));
    for (const SourceNode& child : node.children) {
      begin(child.name);
      write(child, path + "/" + child.name);
      end();
    }
  }

  void write_fixups() {
    if (fixups_.empty()) return;
    begin("__fixups__");
    for (const auto& [label, places] : fixups_) put(label, places);
    end();
  }

  // Returns the places of cells that are phandles of the overlay itself; __local_fixups__ lists
  // them in nodes of the same names.
  std::string own_places(const SourceProperty& property) const {
    std::string places;
    std::uint32_t at = 0;
    for (const auto& group : property.groups) {
      for (const SourceCell& cell : group) {
        if (phandles_.contains(cell.label)) places += bytes_of(at);
        at += 4;
      }
    }
    return places;
  }

  bool has_places(const SourceNode& node) const {
    for (const SourceProperty& property : node.properties)
      if (!own_places(property).empty()) return true;
    for (const SourceNode& child : node.children)
      if (has_places(child)) return true;
    return false;
  }

  void write_places(const SourceNode& node) {
    for (const SourceProperty& property : node.properties)
      if (const std::string places = own_places(property); !places.empty())
        put(property.name, places);
    for (const SourceNode& child : node.children) {
      if (!has_places(child)) continue;
      begin(child.name);
      write_places(child);
      end();
    }
  }

  void write_local_fixups(const std::vector<SourceFragment>& fragments) {
    begin("__local_fixups__");
    for (std::size_t i = 0; i < fragments.size(); ++i) {
      if (!has_places(fragments[i].content)) continue;
      begin(fragment_name(i));
      begin("__overlay__");
      write_places(fragments[i].content);
      end();
      end();
    }
    end();
  }

  std::string blob_;
  std::map<std::string, std::uint32_t> phandles_;
  std::map<std::string, std::string> fixups_;
};

}  // namespace

std::string to_overlay(const std::vector<SourceFragment>& fragments) {
  return OverlayWriter(fragments).take();
}

}  // namespace nvdla::dt
