// SPDX-License-Identifier: MIT
//
// Memory that belongs to the device: of its buffers, and behind its second interface.
#include "tools/dt/checker.hpp"

namespace nvdla::dt {
namespace {

constexpr std::uint64_t kPage = 0x1000;

bool is_reserved(const Tree& tree, std::size_t region) {
  const std::size_t above = tree[region].parent;
  return region != Tree::kRoot && above != Tree::kRoot && tree[above].parent == Tree::kRoot &&
         tree[above].name == "reserved-memory";
}

// Linux reserves nothing below a node that counts otherwise than the root. True if nothing is
// wrong.
bool check_reserved_memory(Checker& checker, std::size_t node) {
  const auto own = bus_cells(checker.tree, node), root = bus_cells(checker.tree, Tree::kRoot);
  if (!own || !root || own->address != root->address || own->size != root->size) {
    checker.wrong_at(node, "#address-cells",
                     "with #size-cells not as of the root; expected the same");
    return false;
  }
  if (checker.tree.find(node, "ranges") == nullptr) {
    checker.wrong_at(node, "ranges", "missing; expected an empty one");
    return false;
  }
  return true;
}

// Devices that see memory elsewhere cannot have a region by its address.
void check_direct(Checker& checker) {
  if (checker.has("iommus")) {
    checker.wrong("memory-region", "not usable behind an IOMMU; expected one of the two");
  }
  for (std::size_t bus = checker.tree[checker.node].parent; bus != Tree::kRoot;
       bus = checker.tree[bus].parent) {
    const Property* const ranges = checker.tree.find(bus, "dma-ranges");
    if (ranges == nullptr || ranges->value.empty()) continue;
    const auto own = bus_cells(checker.tree, bus),
               above = bus_cells(checker.tree, checker.tree[bus].parent);
    const auto cells = cells_of(*ranges);
    const std::uint32_t entry = own && above ? own->address + above->address + own->size : 0;
    if (entry == 0 || !cells) continue;
    for (std::size_t at = 0; at + entry <= cells->size(); at += entry) {
      if (number_at(*cells, at, own->address) ==
          number_at(*cells, at + own->address, above->address))
        continue;
      checker.wrong(
          "memory-region",
          "{} gives memory other addresses (dma-ranges); expected a bus that does not, or "
          "no region",
          checker.tree.path(bus));
      return;
    }
  }
}

void check_region_area(Checker& checker, std::size_t region) {
  const Tree& tree = checker.tree;
  // One with a size alone the kernel puts where there is room.
  if (tree.find(region, "reg") == nullptr && tree.find(region, "size") != nullptr) return;
  const auto area = checker.area_of(region);
  if (!area) return;
  if (area->address % kPage != 0 || area->size % kPage != 0) {
    checker.wrong_at(region, "reg", "{:#x} bytes from {:#x}; expected whole pages of {:#x}",
                     area->size, area->address, kPage);
  }
  const std::uint32_t bits = checker.hw.address_bits;
  if (bits < 64 && area->last() >> bits != 0) {
    checker.wrong_at(region, "reg",
                     "{:#x} bytes from {:#x}; expected memory below {:#x}: {} has {} address bits",
                     area->size, area->address, std::uint64_t{1} << bits, checker.hw.name, bits);
  }
}

}  // namespace

void check_memory(Checker& checker) {
  if (!checker.has("memory-region")) return;
  const auto links = checker.links("memory-region", "", 1);
  if (!links) return;
  const Tree& tree = checker.tree;
  const std::size_t region = links->front().node;
  if (!is_reserved(tree, region)) {
    checker.wrong("memory-region", "{} is not reserved; expected a node of /reserved-memory",
                  tree.path(region));
    return;
  }
  if (!check_reserved_memory(checker, tree[region].parent)) return;
  const bool unmapped = tree.find(region, "no-map") != nullptr;
  const bool reusable = tree.find(region, "reusable") != nullptr;
  if (unmapped == reusable) {
    checker.wrong_at(
        region, unmapped ? "reusable" : "no-map",
        "{}; expected no-map for memory of the device alone, or reusable for memory that "
        "others may have meanwhile",
        unmapped ? "with no-map" : "missing, and reusable");
    return;
  }
  if (unmapped) {
    check_direct(checker);
  } else if (!tree.has_string(region, "compatible", "shared-dma-pool")) {
    checker.wrong_at(region, "compatible",
                     "not \"shared-dma-pool\"; expected that of a region that is reusable");
  }
  check_region_area(checker, region);
}

void check_sram(Checker& checker) {
  if (!checker.has("sram")) return;
  if ((checker.hw.features & NVDLA_HW_SRAM) == 0) {
    checker.wrong("sram", "{} has no second memory interface; expected none", checker.hw.name);
    return;
  }
  const auto links = checker.links("sram", "", 1);
  if (!links) return;
  const Tree& tree = checker.tree;
  const std::size_t sram = links->front().node;
  if (!tree.has_string(sram, "compatible", "mmio-sram")) {
    checker.wrong("sram", "{} is no memory; expected a node with compatible = \"mmio-sram\"",
                  tree.path(sram));
    return;
  }
  for (const char* name : {"#address-cells", "#size-cells"}) {
    if (tree.number(sram, name) != 1)
      checker.wrong_at(sram, name, "expected <1>, as of every mmio-sram");
  }
  if (tree.find(sram, "ranges") == nullptr)
    checker.wrong_at(sram, "ranges", "missing; expected <0 ADDRESS SIZE>");
  checker.area_of(sram);
}

}  // namespace nvdla::dt
