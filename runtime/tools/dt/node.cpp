// SPDX-License-Identifier: MIT
#include "tools/dt/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "backend/compatible.hpp"
#include "tools/dt/source.hpp"
#include "tools/files/status.hpp"

namespace nvdla::dt {
namespace {

using program::UsageError;

constexpr const char* kMemoryLabel = "nvdla_memory";
constexpr const char* kSramLabel = "nvdla_sram";
constexpr std::uint64_t kPageBytes = 0x1000;

std::string shown(const Region& region) {
  return fmt::format("{:#x}@{:#x}", region.size, region.address);
}

bool fits(std::uint64_t number, unsigned cells) { return cells == 2 || number >> 32 == 0; }

void check_region(const NodeRequest& request, const Region& region, const char* option) {
  if (region.size == 0 || region.address % kPageBytes != 0 || region.size % kPageBytes != 0) {
    throw UsageError(fmt::format("{} {}: expected whole pages of {:#x}, one at least", option,
                                 shown(region), kPageBytes));
  }
  const std::uint64_t last = region.address + region.size - 1;
  if (last < region.address || !fits(last, request.address_cells) ||
      !fits(region.size, request.size_cells)) {
    throw UsageError(
        fmt::format("{} {}: does not fit {} cell{} of address and {} of size; expected less, or "
                    "--address-cells and --size-cells as the tree has them",
                    option, shown(region), request.address_cells,
                    request.address_cells == 1 ? "" : "s", request.size_cells));
  }
}

void check_apart(const Region& a, const char* a_name, const Region& b, const char* b_name) {
  if (a.address > b.address + b.size - 1 || b.address > a.address + a.size - 1) return;
  throw UsageError(fmt::format("{} {} and {} {} overlap; expected areas of their own", a_name,
                               shown(a), b_name, shown(b)));
}

// Returns true for a label that dtc accepts.
bool is_label(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c < 128 && (std::isalnum(c) != 0 || c == '_'); });
}

void check_label(const std::string& label, const char* option) {
  if (!is_label(label)) {
    throw UsageError(
        fmt::format("{}: '{}' is no label; expected letters, digits and _", option, label));
  }
}

void check_bus(const std::string& bus) {
  const bool good = bus.starts_with('/') && (bus.size() == 1 || !bus.ends_with('/')) &&
                    std::all_of(bus.begin(), bus.end(), [](unsigned char c) {
                      return c < 128 && (std::isalnum(c) != 0 ||
                                         std::string_view("/,._+-@").find(static_cast<char>(c)) !=
                                             std::string_view::npos);
                    });
  if (!good)
    throw UsageError(fmt::format("--bus {}: no path of a node; expected such as /soc", bus));
}

// Checks a name of the system on chip: the binding requires a vendor, a comma and a name.
void check_system(const std::string& system) {
  const auto word = [](std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
      return c < 128 && (std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-' || c == '.');
    });
  };
  const std::string_view text = system;
  const std::size_t comma = text.find(',');
  if (comma == text.npos || !word(text.substr(0, comma)) || !word(text.substr(comma + 1)) ||
      detail::find_compatible(text) != nullptr) {
    throw UsageError(
        fmt::format("--soc {}: expected VENDOR,NAME of the system on chip, such as "
                    "starfive,jh7100-nvdla",
                    system));
  }
}

void check_request(const NodeRequest& request) {
  const nvdla_hw& hw = *request.hw;
  if (!request.system.empty()) check_system(request.system);
  check_region(request, request.registers, "--address");
  if (request.interrupt.empty()) throw UsageError("--interrupt: expected one number at least");
  if (!request.interrupt_parent.empty())
    check_label(request.interrupt_parent, "--interrupt-parent");
  for (const Reference& clock : request.clocks) check_label(clock.label, "--clock");
  if (request.clocks.size() > 2) {
    throw UsageError(fmt::format(
        "--clock: {} of them; expected 2 at most, of the core and of the configuration bus",
        request.clocks.size()));
  }
  for (const Reference& reset : request.resets) check_label(reset.label, "--reset");
  if (request.clock_khz > 0xffffffffU / 1000) {
    throw UsageError(fmt::format("--clock-rate {}kHz: expected at most {}kHz", request.clock_khz,
                                 0xffffffffU / 1000));
  }
  if (request.sram) {
    if ((hw.features & NVDLA_HW_SRAM) == 0)
      throw UsageError(fmt::format("--sram: {} has no second memory interface", hw.name));
    check_region(request, *request.sram, "--sram");
    if (!fits(request.sram->size, 1))
      throw UsageError(fmt::format("--sram {}: expected less than 4 GiB", shown(*request.sram)));
    check_apart(request.registers, "--address", *request.sram, "--sram");
  }
  if (request.memory_region) {
    const Region& region = *request.memory_region;
    check_region(request, region, "--memory-region");
    check_apart(request.registers, "--address", region, "--memory-region");
    if (request.sram) check_apart(*request.sram, "--sram", region, "--memory-region");
    if (hw.address_bits < 64 && (region.address + region.size - 1) >> hw.address_bits != 0) {
      throw UsageError(fmt::format("--memory-region {}: {} has {} address bits", shown(region),
                                   hw.name, hw.address_bits));
    }
  }
  check_bus(request.bus);
}

void add_number(std::vector<SourceCell>& group, std::uint64_t number, unsigned cells) {
  if (cells == 2) group.push_back({static_cast<std::uint32_t>(number >> 32)});
  group.push_back({static_cast<std::uint32_t>(number)});
}

SourceProperty cell(const std::string& name, std::uint32_t value) {
  return {.name = name, .groups = {{{value}}}};
}

SourceProperty reg(const NodeRequest& request, const Region& region) {
  std::vector<SourceCell> group;
  add_number(group, region.address, request.address_cells);
  add_number(group, region.size, request.size_cells);
  return {.name = "reg", .groups = {group}};
}

SourceProperty references(const std::string& name, const std::vector<Reference>& all) {
  SourceProperty property{.name = name};
  for (const Reference& reference : all) {
    std::vector<SourceCell> group = {{.label = reference.label}};
    for (const std::uint32_t value : reference.cells) group.push_back({value});
    property.groups.push_back(std::move(group));
  }
  return property;
}

SourceNode sram_node(const NodeRequest& request) {
  const Region& sram = *request.sram;
  // Its users count from its beginning, in single cells by the binding of such memory.
  SourceProperty ranges{.name = "ranges", .groups = {{{0}}}};
  add_number(ranges.groups[0], sram.address, request.address_cells);
  add_number(ranges.groups[0], sram.size, 1);
  return {.label = kSramLabel,
          .name = fmt::format("sram@{:x}", sram.address),
          .properties = {{.name = "compatible", .strings = {"mmio-sram"}},
                         reg(request, sram),
                         cell("#address-cells", 1),
                         cell("#size-cells", 1),
                         std::move(ranges)}};
}

SourceNode reserved_memory(const NodeRequest& request) {
  SourceNode region = {.label = kMemoryLabel,
                       .name = fmt::format("nvdla@{:x}", request.memory_region->address),
                       .properties = {reg(request, *request.memory_region), {.name = "no-map"}}};
  return {.label = "",
          .name = "reserved-memory",
          .properties = {cell("#address-cells", request.address_cells),
                         cell("#size-cells", request.size_cells),
                         {.name = "ranges"}},
          .children = {std::move(region)}};
}

SourceNode device_node(const NodeRequest& request) {
  SourceNode node = {.label = "nvdla",
                     .name = fmt::format("accelerator@{:x}", request.registers.address)};
  auto& properties = node.properties;
  SourceProperty compatible{.name = "compatible", .strings = {}};
  if (!request.system.empty()) compatible.strings.push_back(request.system);
  compatible.strings.push_back(detail::compatible_of(*request.hw));
  properties.push_back(std::move(compatible));
  properties.push_back(reg(request, request.registers));
  if (!request.interrupt_parent.empty())
    properties.push_back(references("interrupt-parent", {{request.interrupt_parent}}));
  SourceProperty interrupts{.name = "interrupts", .groups = {{}}};
  for (const std::uint32_t value : request.interrupt) interrupts.groups[0].push_back({value});
  properties.push_back(std::move(interrupts));
  if (!request.clocks.empty()) {
    properties.push_back(references("clocks", request.clocks));
    SourceProperty names{.name = "clock-names", .strings = {"core"}};
    if (request.clocks.size() > 1) names.strings.emplace_back("csb");
    properties.push_back(std::move(names));
  }
  if (request.clock_khz != 0)
    properties.push_back(cell("clock-frequency", request.clock_khz * 1000));
  if (!request.resets.empty()) properties.push_back(references("resets", request.resets));
  if (request.coherent) properties.push_back({.name = "dma-coherent"});
  if (request.memory_region) properties.push_back(references("memory-region", {{kMemoryLabel}}));
  if (request.sram) properties.push_back(references("sram", {{kSramLabel}}));
  return node;
}

std::vector<SourceFragment> fragments_of(const NodeRequest& request) {
  check_request(request);
  std::vector<SourceFragment> fragments;
  // Reserved memory is below the root, whatever the bus is.
  if (request.memory_region) fragments.push_back({"/", {.children = {reserved_memory(request)}}});
  SourceNode content;
  if (request.sram) content.children.push_back(sram_node(request));
  content.children.push_back(device_node(request));
  fragments.push_back({request.bus, std::move(content)});
  return fragments;
}

}  // namespace

std::string node_source(const NodeRequest& request) { return to_source(fragments_of(request)); }

std::string node_overlay(const NodeRequest& request) { return to_overlay(fragments_of(request)); }

}  // namespace nvdla::dt
