// SPDX-License-Identifier: MIT
//
// `Checker` checks one NVDLA node: each function below looks at some of its properties and reports
// what is wrong.
#ifndef NVDLA_TOOLS_DT_CHECKER_HPP
#define NVDLA_TOOLS_DT_CHECKER_HPP

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/dt/check.hpp"

namespace nvdla::dt {

struct Area {
  std::uint64_t address = 0, size = 0;

  // Requires an area that check_area() accepted, which does not wrap.
  std::uint64_t last() const { return address + size - 1; }
  bool overlaps(const Area& other) const {
    return address <= other.last() && other.address <= last();
  }
};

// Another node that a property points to, with the numbers that follow.
struct Link {
  std::size_t node = 0;
  std::vector<std::uint32_t> arguments;
};

class Checker {
 public:
  Checker(const Tree& of_tree, std::size_t of_node, const nvdla_hw& is_hw, CheckReport& report)
      : tree(of_tree), node(of_node), hw(is_hw), report_(report) {}

  const Tree& tree;
  const std::size_t node;
  const nvdla_hw& hw;

  const Property* property(std::string_view name) const { return tree.find(node, name); }
  bool has(std::string_view name) const { return property(name) != nullptr; }

  template <typename... Values>
  void wrong(std::string_view property, fmt::format_string<Values...> text, Values&&... values) {
    add(node, property, fmt::format(text, std::forward<Values>(values)...), false);
  }
  // Reports a finding about another node.
  template <typename... Values>
  void wrong_at(std::size_t other, std::string_view property, fmt::format_string<Values...> text,
                Values&&... values) {
    add(other, property, fmt::format(text, std::forward<Values>(values)...), false);
  }
  template <typename... Values>
  void note(std::string_view property, fmt::format_string<Values...> text, Values&&... values) {
    add(node, property, fmt::format(text, std::forward<Values>(values)...), true);
  }

  // Returns the nodes that a property points to, at most `most`. `cells_name` is the property in
  // which each target states how many numbers follow, or empty if none do. Nothing after a finding.
  std::optional<std::vector<Link>> links(std::string_view property, std::string_view cells_name,
                                         std::size_t most);
  // Returns the first area of a node's `reg` as processors see it, translated by the ranges of all
  // buses above.
  std::optional<Area> area_of(std::size_t of);

 private:
  void add(std::size_t other, std::string_view property, std::string text, bool note);
  std::optional<Area> first_reg(std::size_t of);
  std::optional<Area> through(std::size_t bus, const Area& area, std::size_t of);

  CheckReport& report_;
};

// The number of cells of an address and of a size below a bus.
struct BusCells {
  std::uint32_t address = 0, size = 0;
};
std::optional<BusCells> bus_cells(const Tree& tree, std::size_t bus);
// Returns a number of one or two cells.
std::uint64_t number_at(const std::vector<std::uint32_t>& cells, std::size_t at,
                        std::uint32_t count);

std::optional<Area> check_registers(Checker& checker);
// Returns the interrupt as its controller numbers it; empty after a finding.
std::string check_interrupts(Checker& checker);
void check_providers(Checker& checker);
void check_memory(Checker& checker);
void check_sram(Checker& checker);

}  // namespace nvdla::dt

#endif  // NVDLA_TOOLS_DT_CHECKER_HPP
