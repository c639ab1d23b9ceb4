// SPDX-License-Identifier: MIT
//
// One node of NVDLA under check: each part looks at some of its properties and says what is wrong.
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

  // Of one that check_area() has let pass: it does not wrap.
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
  // Of another node, whose fault it is.
  template <typename... Values>
  void wrong_at(std::size_t other, std::string_view property, fmt::format_string<Values...> text,
                Values&&... values) {
    add(other, property, fmt::format(text, std::forward<Values>(values)...), false);
  }
  template <typename... Values>
  void note(std::string_view property, fmt::format_string<Values...> text, Values&&... values) {
    add(node, property, fmt::format(text, std::forward<Values>(values)...), true);
  }

  // What the property points to; `cells_name` is where each target says how many numbers follow,
  // empty if none do. Nothing after a finding; no more than `most`.
  std::optional<std::vector<Link>> links(std::string_view property, std::string_view cells_name,
                                         std::size_t most);
  // The first area of a node's `reg`, as processors see it: through the ranges of all buses above.
  std::optional<Area> area_of(std::size_t of);

 private:
  void add(std::size_t other, std::string_view property, std::string text, bool note);
  std::optional<Area> first_reg(std::size_t of);
  std::optional<Area> through(std::size_t bus, const Area& area, std::size_t of);

  CheckReport& report_;
};

// How many cells an address or a size takes below `bus`.
struct BusCells {
  std::uint32_t address = 0, size = 0;
};
std::optional<BusCells> bus_cells(const Tree& tree, std::size_t bus);
// A number of one or two cells.
std::uint64_t number_at(const std::vector<std::uint32_t>& cells, std::size_t at,
                        std::uint32_t count);

std::optional<Area> check_registers(Checker& checker);
// The interrupt as its controller numbers it; empty after a finding.
std::string check_interrupts(Checker& checker);
void check_providers(Checker& checker);
void check_memory(Checker& checker);
void check_sram(Checker& checker);

}  // namespace nvdla::dt

#endif  // NVDLA_TOOLS_DT_CHECKER_HPP
