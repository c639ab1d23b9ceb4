// SPDX-License-Identifier: MIT
#include "tools/dt/checker.hpp"

#include <algorithm>

namespace nvdla::dt {
namespace {

// More than any provider's.
constexpr std::uint32_t kMaxArguments = 16;

// One entry of the translation from a bus to the one above.
struct RangeEntry {
  std::uint64_t child = 0, parent = 0, size = 0;
};

}  // namespace

std::optional<BusCells> bus_cells(const Tree& tree, std::size_t bus) {
  const auto address = tree.number(bus, "#address-cells"), size = tree.number(bus, "#size-cells");
  if (!address || !size || *address < 1 || *address > 2 || *size < 1 || *size > 2)
    return std::nullopt;
  return BusCells{*address, *size};
}

std::uint64_t number_at(const std::vector<std::uint32_t>& cells, std::size_t at,
                        std::uint32_t count) {
  std::uint64_t number = 0;
  for (std::uint32_t i = 0; i < count; ++i) number = number << 32 | cells[at + i];
  return number;
}

void Checker::add(std::size_t other, std::string_view property, std::string text, bool note) {
  Finding finding{tree.path(other), std::string(property), std::move(text), note};
  // Two devices of one bus find the same fault of it.
  if (other != node) {
    for (const Finding& found : report_.findings)
      if (found.node == finding.node && found.text == finding.text) return;
  }
  report_.findings.push_back(std::move(finding));
}

std::optional<std::vector<Link>> Checker::links(std::string_view name, std::string_view cells_name,
                                                std::size_t most) {
  const auto cells = cells_of(*property(name));
  if (!cells || cells->empty()) {
    wrong(name, "has {} bytes; expected a phandle of 4, and the numbers that belong to it",
          property(name)->value.size());
    return std::nullopt;
  }
  std::vector<Link> found;
  for (std::size_t at = 0; at < cells->size();) {
    const std::uint32_t phandle = (*cells)[at++];
    if (found.size() == most) {
      wrong(name, "has more than {} entr{}; expected that at most", most, most == 1 ? "y" : "ies");
      return std::nullopt;
    }
    const auto target = tree.by_phandle(phandle);
    if (!target) {
      wrong(name, "entry {}: no node has the phandle {:#x}; expected that of the node it means",
            found.size(), phandle);
      return std::nullopt;
    }
    std::uint32_t count = 0;
    if (!cells_name.empty()) {
      const auto said = tree.number(*target, cells_name);
      if (!said || *said > kMaxArguments) {
        wrong(name, "entry {}: {} has no {}; expected a node that provides this", found.size(),
              tree.path(*target), cells_name);
        return std::nullopt;
      }
      count = *said;
    }
    if (cells->size() - at < count) {
      wrong(name, "entry {}: {} number{} after the phandle of {}; expected {}, its {}",
            found.size(), cells->size() - at, cells->size() - at == 1 ? "" : "s",
            tree.path(*target), count, cells_name);
      return std::nullopt;
    }
    if (!tree.enabled(*target) && tree.enabled(node)) {
      wrong(name, "entry {}: {} is disabled; expected the status \"okay\" there, and above",
            found.size(), tree.path(*target));
    }
    found.push_back({*target,
                     {cells->begin() + static_cast<std::ptrdiff_t>(at),
                      cells->begin() + static_cast<std::ptrdiff_t>(at + count)}});
    at += count;
  }
  return found;
}

std::optional<Area> Checker::first_reg(std::size_t of) {
  const Property* const reg = tree.find(of, "reg");
  if (reg == nullptr) {
    wrong_at(of, "reg", "missing; expected <ADDRESS SIZE>");
    return std::nullopt;
  }
  const std::size_t bus = tree[of].parent;
  const auto width = bus_cells(tree, bus);
  if (!width) {
    wrong_at(bus, "#address-cells",
             "with #size-cells no numbers of 1 or 2 cells; expected both, since nodes below have "
             "addresses of processors");
    return std::nullopt;
  }
  const auto cells = cells_of(*reg);
  const std::uint32_t entry = width->address + width->size;
  if (!cells || cells->empty() || cells->size() % entry != 0) {
    wrong_at(of, "reg",
             "has {} bytes; expected {}: {} cell{} of address and {} of size, as {} says",
             reg->value.size(), entry * 4, width->address, width->address == 1 ? "" : "s",
             width->size, tree.path(bus));
    return std::nullopt;
  }
  if (cells->size() != entry) {
    wrong_at(of, "reg", "has {} areas; expected one", cells->size() / entry);
  }
  const Area area = {number_at(*cells, 0, width->address),
                     number_at(*cells, width->address, width->size)};
  if (area.size == 0 || area.last() < area.address) {
    wrong_at(of, "reg", "{:#x} bytes from {:#x}; expected an area that is not empty and has an end",
             area.size, area.address);
    return std::nullopt;
  }
  return area;
}

// From the addresses of `bus` to those of the bus above it.
std::optional<Area> Checker::through(std::size_t bus, const Area& area, std::size_t of) {
  const Property* const ranges = tree.find(bus, "ranges");
  if (ranges == nullptr) {
    wrong_at(bus, "ranges",
             "missing; expected an empty one, or a translation: without it processors do not reach "
             "what is below");
    return std::nullopt;
  }
  if (ranges->value.empty()) return area;
  const auto own = bus_cells(tree, bus), above = bus_cells(tree, tree[bus].parent);
  const auto cells = cells_of(*ranges);
  const std::uint32_t entry = own && above ? own->address + above->address + own->size : 0;
  if (entry == 0 || !cells || cells->size() % entry != 0) {
    wrong_at(
        bus, "ranges",
        "has {} bytes; expected entries of an address below, one above and a size, in cells as "
        "both buses have them",
        ranges->value.size());
    return std::nullopt;
  }
  for (std::size_t at = 0; at < cells->size(); at += entry) {
    const RangeEntry range = {number_at(*cells, at, own->address),
                              number_at(*cells, at + own->address, above->address),
                              number_at(*cells, at + own->address + above->address, own->size)};
    if (area.address < range.child || area.address - range.child >= range.size) continue;
    if (range.size - (area.address - range.child) < area.size) break;
    const Area moved = {area.address - range.child + range.parent, area.size};
    if (moved.last() < moved.address) break;
    return moved;
  }
  wrong_at(of, "reg",
           "{:#x} bytes from {:#x} are not within the ranges of {}; expected an area that "
           "this bus passes on",
           area.size, area.address, tree.path(bus));
  return std::nullopt;
}

std::optional<Area> Checker::area_of(std::size_t of) {
  auto area = first_reg(of);
  for (std::size_t bus = tree[of].parent; area && bus != Tree::kRoot; bus = tree[bus].parent)
    area = through(bus, *area, of);
  return area;
}

}  // namespace nvdla::dt
