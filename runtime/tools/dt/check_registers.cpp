// SPDX-License-Identifier: MIT
//
// Checks the register window, and whether the kernel creates a device for the node.
#include "tools/dt/checker.hpp"

namespace nvdla::dt {
namespace {

// Linux creates devices for the root's nodes, and for those below buses that it knows.
void check_buses(Checker& checker) {
  for (std::size_t bus = checker.tree[checker.node].parent; bus != Tree::kRoot;
       bus = checker.tree[bus].parent) {
    if (checker.tree.find(bus, "compatible") != nullptr) continue;
    checker.wrong_at(bus, "compatible",
                     "missing; expected \"simple-bus\": without it the kernel makes no devices of "
                     "the nodes below");
  }
}

void check_memory_beside(Checker& checker, const Area& window) {
  for (std::size_t i = 1; i < checker.tree.size(); ++i) {
    if (checker.tree[i].parent != Tree::kRoot ||
        !checker.tree.has_string(i, "device_type", "memory"))
      continue;
    const auto width = bus_cells(checker.tree, Tree::kRoot);
    const Property* const reg = checker.tree.find(i, "reg");
    const auto cells = reg ? cells_of(*reg) : std::nullopt;
    const std::uint32_t entry = width ? width->address + width->size : 0;
    if (!cells || entry == 0) continue;
    for (std::size_t at = 0; at + entry <= cells->size(); at += entry) {
      const Area memory = {number_at(*cells, at, width->address),
                           number_at(*cells, at + width->address, width->size)};
      if (memory.size == 0 || memory.last() < memory.address || !memory.overlaps(window)) continue;
      checker.wrong("reg", "{:#x} bytes from {:#x} are memory by {}; expected the registers",
                    window.size, window.address, checker.tree.path(i));
      return;
    }
  }
}

}  // namespace

std::optional<Area> check_registers(Checker& checker) {
  check_buses(checker);
  const auto window = checker.area_of(checker.node);
  if (!window) return window;
  if (window->size < kWindowBytes) {
    checker.wrong("reg", "{:#x} bytes; expected at least {:#x}, the window of the registers",
                  window->size, kWindowBytes);
  }
  if (window->address % 0x1000 != 0) {
    checker.wrong("reg", "{:#x} as a processor sees it; expected a multiple of 0x1000",
                  window->address);
  }
  check_memory_beside(checker, *window);
  return window;
}

}  // namespace nvdla::dt
