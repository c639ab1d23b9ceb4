// SPDX-License-Identifier: MIT
//
// A board with an NVDLA in its device tree, which is all right until a test changes it.
#ifndef NVDLA_TESTS_DT_BOARD_HPP
#define NVDLA_TESTS_DT_BOARD_HPP

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "tools/dt/tree.hpp"

namespace nvdla::test {

inline std::string cells(std::initializer_list<std::uint32_t> numbers) {
  std::string bytes;
  for (const std::uint32_t number : numbers)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

inline std::string strings(std::initializer_list<const char*> texts) {
  std::string bytes;
  for (const char* text : texts) bytes += std::string(text) + '\0';
  return bytes;
}

class Board {
 public:
  Board() {
    set("/", "#address-cells", cells({2}));
    set("/", "#size-cells", cells({2}));
    set("/", "interrupt-parent", cells({kGic}));
    set("/memory@80000000", "device_type", strings({"memory"}));
    set("/memory@80000000", "reg", cells({0, 0x80000000, 0, 0x40000000}));
    set("/reserved-memory", "#address-cells", cells({2}));
    set("/reserved-memory", "#size-cells", cells({2}));
    set("/reserved-memory", "ranges", "");
    set(kRegion, "phandle", cells({kRegionPhandle}));
    set(kRegion, "reg", cells({0, 0xb0000000, 0, 0x4000000}));
    set(kRegion, "no-map", "");
    set("/gic@8000000", "compatible", strings({"arm,gic-400"}));
    set("/gic@8000000", "interrupt-controller", "");
    set("/gic@8000000", "#interrupt-cells", cells({3}));
    set("/gic@8000000", "phandle", cells({kGic}));
    set("/plic", "interrupt-controller", "");
    set("/plic", "#interrupt-cells", cells({1}));
    set("/plic", "phandle", cells({kPlic}));
    set("/crg", "#clock-cells", cells({1}));
    set("/crg", "#reset-cells", cells({1}));
    set("/crg", "phandle", cells({kCrg}));
    set(kBus, "compatible", strings({"simple-bus"}));
    set(kBus, "#address-cells", cells({1}));
    set(kBus, "#size-cells", cells({1}));
    // 0x0.. of the bus is 0x1_0000_0000.. of processors.
    set(kBus, "ranges", cells({0, 1, 0, 0x20000000}));
    set(kSram, "compatible", strings({"mmio-sram"}));
    set(kSram, "reg", cells({0x10000000, 0x80000}));
    set(kSram, "#address-cells", cells({1}));
    set(kSram, "#size-cells", cells({1}));
    set(kSram, "ranges", cells({0, 0x10000000, 0x80000}));
    set(kSram, "phandle", cells({kSramPhandle}));
    set(kNode, "compatible", strings({"nvidia,nvdla-nv-full"}));
    set(kNode, "reg", cells({0xc000000, 0x20000}));
    set(kNode, "interrupts", cells({0, 112, 4}));
    set(kNode, "clocks", cells({kCrg, 3, kCrg, 4}));
    set(kNode, "clock-names", strings({"core", "csb"}));
    set(kNode, "clock-frequency", cells({600000000}));
    set(kNode, "resets", cells({kCrg, 17}));
    set(kNode, "dma-coherent", "");
    set(kNode, "memory-region", cells({kRegionPhandle}));
    set(kNode, "sram", cells({kSramPhandle}));
  }

  static constexpr const char* kBus = "/soc";
  static constexpr const char* kNode = "/soc/npu@c000000";
  static constexpr const char* kSram = "/soc/sram@10000000";
  static constexpr const char* kRegion = "/reserved-memory/npu@b0000000";
  static constexpr std::uint32_t kGic = 1, kCrg = 2, kRegionPhandle = 3, kSramPhandle = 4,
                                 kPlic = 5;

  void set(const std::string& path, const std::string& name, const std::string& value) {
    remove(path, name);
    lines_.push_back({path, name, value});
  }
  void remove(const std::string& path, const std::string& name) {
    std::erase_if(lines_, [&](const Line& line) { return line.path == path && line.name == name; });
  }
  const std::string& value(const std::string& path, const std::string& name) const {
    return std::find_if(lines_.begin(), lines_.end(),
                        [&](const Line& line) { return line.path == path && line.name == name; })
        ->value;
  }

  dt::Tree tree() const {
    dt::Tree tree("board");
    std::map<std::string, std::size_t> nodes = {{"", dt::Tree::kRoot}};
    for (const Line& line : lines_) {
      const std::string path = line.path == "/" ? "" : line.path;
      tree.add_property(node_of(tree, nodes, path), line.name, line.value);
    }
    return tree;
  }

 private:
  struct Line {
    std::string path, name, value;
  };

  static std::size_t node_of(dt::Tree& tree, std::map<std::string, std::size_t>& nodes,
                             const std::string& path) {
    if (const auto found = nodes.find(path); found != nodes.end()) return found->second;
    const std::size_t slash = path.rfind('/');
    const std::size_t parent = node_of(tree, nodes, path.substr(0, slash));
    return nodes[path] = tree.add(parent, path.substr(slash + 1));
  }

  std::vector<Line> lines_;
};

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_DT_BOARD_HPP
