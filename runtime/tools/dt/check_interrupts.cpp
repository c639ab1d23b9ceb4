// SPDX-License-Identifier: MIT
//
// The interrupt: who it goes to, and as which number.
#include <algorithm>

#include "tools/dt/checker.hpp"

namespace nvdla::dt {
namespace {

constexpr std::uint32_t kMaxInterruptCells = 8;
// Values of ARM's GIC: kind, count of shared interrupts, and trigger.
constexpr std::uint32_t kGicShared = 0, kGicSharedLines = 988, kGicLevelHigh = 4;

// Returns the interrupt parent as Linux finds it: follows interrupt-parent or else the node above,
// up to the first node with #interrupt-cells.
std::optional<std::size_t> parent_of(Checker& checker) {
  std::size_t at = checker.node;
  for (unsigned steps = 0; steps <= kMaxDepth; ++steps) {
    if (checker.tree.find(at, "interrupt-parent") != nullptr) {
      const auto phandle = checker.tree.number(at, "interrupt-parent");
      const auto next = phandle ? checker.tree.by_phandle(*phandle) : std::nullopt;
      if (!next) {
        checker.wrong_at(at, "interrupt-parent",
                         "no node has this phandle; expected that of an interrupt controller");
        return std::nullopt;
      }
      at = *next;
    } else if (at == Tree::kRoot) {
      break;
    } else {
      at = checker.tree[at].parent;
    }
    if (checker.tree.find(at, "#interrupt-cells") != nullptr) return at;
  }
  checker.wrong("interrupts",
                "nobody takes them; expected interrupt-parent = <&CONTROLLER> here or above");
  return std::nullopt;
}

bool is_gic(const Tree& tree, std::size_t controller) {
  static constexpr const char* kNames[] = {"arm,gic-v3",         "arm,gic-400",
                                           "arm,cortex-a15-gic", "arm,cortex-a9-gic",
                                           "arm,cortex-a7-gic",  "arm,pl390"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const char* name) {
    return tree.has_string(controller, "compatible", name);
  });
}

void check_gic(Checker& checker, std::string_view property,
               const std::vector<std::uint32_t>& cells) {
  if (cells.size() < 3) return;
  if (cells[0] != kGicShared) {
    checker.wrong(property,
                  "the first number is {}; expected 0 (GIC_SPI), a line to all processors",
                  cells[0]);
  } else if (cells[1] >= kGicSharedLines) {
    checker.wrong(property, "line {}; expected less than {}: the GIC's own number less 32",
                  cells[1], kGicSharedLines);
  }
  if ((cells[2] & 0xf) != kGicLevelHigh) {
    checker.wrong(
        property,
        "the last number is {}; expected 4 (IRQ_TYPE_LEVEL_HIGH): the line is up until it "
        "is served",
        cells[2]);
  }
}

// Returns the number of cells of a controller; nothing after a finding.
std::optional<std::uint32_t> cells_of_controller(Checker& checker, std::string_view property,
                                                 std::size_t controller) {
  const Tree& tree = checker.tree;
  if (tree.find(controller, "interrupt-controller") == nullptr &&
      tree.find(controller, "interrupt-map") == nullptr) {
    checker.wrong(property, "{} takes none; expected a node with interrupt-controller",
                  tree.path(controller));
    return std::nullopt;
  }
  if (!tree.enabled(controller)) {
    checker.wrong(property, "{} is disabled; expected the status \"okay\" there, and above",
                  tree.path(controller));
  }
  const auto count = tree.number(controller, "#interrupt-cells");
  if (!count || *count == 0 || *count > kMaxInterruptCells) {
    checker.wrong_at(controller, "#interrupt-cells", "no number of cells; expected 1 to {}",
                     kMaxInterruptCells);
    return std::nullopt;
  }
  return count;
}

std::string described(Checker& checker, std::string_view property, std::size_t controller,
                      const std::vector<std::uint32_t>& cells) {
  if (is_gic(checker.tree, controller)) check_gic(checker, property, cells);
  std::string text;
  for (const std::uint32_t cell : cells) text += fmt::format("{}{}", text.empty() ? "" : " ", cell);
  return fmt::format("<{}> of {}", text, checker.tree.path(controller));
}

std::string check_extended(Checker& checker) {
  constexpr std::string_view kName = "interrupts-extended";
  const auto links = checker.links(kName, "#interrupt-cells", 1);
  if (!links || !cells_of_controller(checker, kName, links->front().node)) return "";
  return described(checker, kName, links->front().node, links->front().arguments);
}

}  // namespace

std::string check_interrupts(Checker& checker) {
  if (checker.has("interrupts-extended")) return check_extended(checker);
  const Property* const interrupts = checker.property("interrupts");
  if (interrupts == nullptr) {
    checker.wrong("interrupts", "missing; expected the line of the device");
    return "";
  }
  const auto controller = parent_of(checker);
  if (!controller) return "";
  const auto count = cells_of_controller(checker, "interrupts", *controller);
  if (!count) return "";
  const auto cells = cells_of(*interrupts);
  if (!cells || cells->empty() || cells->size() % *count != 0) {
    checker.wrong("interrupts", "has {} bytes; expected {}: {} cell{}, as {} says",
                  interrupts->value.size(), *count * 4, *count, *count == 1 ? "" : "s",
                  checker.tree.path(*controller));
    return "";
  }
  if (cells->size() != *count) {
    checker.wrong("interrupts", "has {} lines; expected one", cells->size() / *count);
  }
  return described(checker, "interrupts", *controller,
                   {cells->begin(), cells->begin() + static_cast<std::ptrdiff_t>(*count)});
}

}  // namespace nvdla::dt
