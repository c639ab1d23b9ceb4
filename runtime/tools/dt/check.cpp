// SPDX-License-Identifier: MIT
#include "tools/dt/check.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "program/status.hpp"
#include "program/text.hpp"
#include "tools/dt/checker.hpp"

namespace nvdla::dt {
namespace {

// What published device trees call nv_full.
constexpr const char* kPublishedName = "nvidia,nvdla_os_initial";

// More than a machine has; a blob may be made to have thousands.
constexpr std::size_t kMaxDevices = 64;
// More than a name that could be meant.
constexpr std::size_t kLongestName = 64;

struct Place {
  Area window;
  std::size_t node;
};

// What a node says it is: the configuration, and whether it seems to mean an NVDLA at all.
struct Claim {
  const nvdla_hw* hw = nullptr;
  bool meant = false;
};

Claim claim_of(const std::vector<std::string>& compatible) {
  static const auto kKnown = compatible_names();
  Claim claim;
  for (const std::string& name : compatible) {
    if (name.size() > kLongestName) continue;
    if (claim.hw == nullptr) claim.hw = find_compatible(name);
    claim.meant |= claim.hw != nullptr || name.find("nvdla") != name.npos ||
                   !program::closest(name, kKnown).empty();
  }
  return claim;
}

// The driver takes none of them.
std::string no_driver(const std::vector<std::string>& names) {
  const auto known = compatible_names();
  for (const std::string& name : names) {
    if (name.size() > kLongestName) continue;
    if (const auto near = program::closest(name, known); !near.empty())
      return fmt::format("the driver takes no \"{}\"; did you mean \"{}\"?", printable(name), near);
  }
  return fmt::format("the driver takes no \"{}\"; expected one of {}",
                     printable(names.front().substr(0, kLongestName)), fmt::join(known, ", "));
}

bool is_generic(const std::string& name) {
  static constexpr const char* kNames[] = {
      "phandle",          "linux,phandle",        "status",
      "interrupt-parent", "dma-noncoherent",      "interrupts-extended",
      "assigned-clocks",  "assigned-clock-rates", "assigned-clock-parents"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         name.starts_with("pinctrl-") || name.starts_with("bootph-");
}

void check_names(Checker& checker) {
  const auto& known = binding_properties();
  for (const Property& property : checker.tree[checker.node].properties) {
    if (is_generic(property.name) ||
        std::find(known.begin(), known.end(), property.name) != known.end())
      continue;
    const std::string_view near = program::closest(property.name, known);
    checker.wrong(printable(property.name), "the binding knows no such property{}",
                  near.empty() ? "; expected none" : fmt::format("; did you mean '{}'?", near));
  }
}

void check_status(Checker& checker) {
  if (checker.tree.enabled(checker.node)) return;
  std::size_t at = checker.node;
  while (at != Tree::kRoot && checker.tree.find(at, "status") == nullptr)
    at = checker.tree[at].parent;
  checker.wrong_at(
      at, "status",
      "not \"okay\"; expected that, here and above: the kernel leaves the device alone");
}

// What was said of the device, beside findings.
std::optional<Place> check_device(Checker& checker, std::size_t strings, CheckReport& report) {
  FoundDevice device = {checker.tree.path(checker.node), checker.hw.name, "", ""};
  check_status(checker);
  if (strings != 1) {
    checker.wrong("compatible", "{} strings; expected one, since each is another configuration",
                  strings);
  }
  const auto window = check_registers(checker);
  if (window) device.place = fmt::format("{:#x}", window->address);
  device.interrupt = check_interrupts(checker);
  check_providers(checker);
  check_memory(checker);
  check_sram(checker);
  check_names(checker);
  report.devices.push_back(std::move(device));
  if (!window) return std::nullopt;
  return Place{*window, checker.node};
}

void check_overlaps(const Tree& tree, std::vector<Place> places, CheckReport& report) {
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.window.address < b.window.address; });
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (!places[i - 1].window.overlaps(places[i].window)) continue;
    report.findings.push_back({tree.path(places[i].node), "reg",
                               fmt::format("overlaps that of {}; expected registers of its own",
                                           tree.path(places[i - 1].node))});
  }
}

}  // namespace

bool CheckReport::passed() const {
  return !devices.empty() && std::all_of(findings.begin(), findings.end(),
                                         [](const Finding& finding) { return finding.note; });
}

std::vector<std::string> compatible_names() {
  std::vector<std::string> names = {kPublishedName};
  for (u32 i = 0; i < nvdla_hw_count(); ++i)
    names.push_back(fmt::format("nvidia,{}", nvdla_hw_get(i)->name));
  return names;
}

const nvdla_hw* find_compatible(const std::string& name) {
  constexpr std::string_view kVendor = "nvidia,";
  if (name == kPublishedName) return nvdla_hw_find("nv_full");
  return name.starts_with(kVendor) ? nvdla_hw_find(name.c_str() + kVendor.size()) : nullptr;
}

const std::vector<std::string>& binding_properties() {
  static const std::vector<std::string> kNames = {
      "compatible",      "reg",    "interrupts",    "clocks", "clock-names",
      "clock-frequency", "resets", "power-domains", "iommus", "dma-coherent",
      "memory-region",   "sram"};
  return kNames;
}

CheckReport check(const Tree& tree) {
  for (std::size_t node = 1; node < tree.size(); ++node) {
    if (tree[node].depth == 2 && tree[node].name == "__overlay__") {
      throw program::UsageError(fmt::format(
          "{}: is an overlay; expected the tree that it was applied to (fdtoverlay)", tree.name()));
    }
  }
  CheckReport report;
  std::vector<Place> places;
  std::size_t devices = 0;
  for (std::size_t node = 1; node < tree.size(); ++node) {
    const Property* const compatible = tree.find(node, "compatible");
    const auto names = compatible ? strings_of(*compatible) : std::nullopt;
    if (!names) continue;
    const Claim claim = claim_of(*names);
    if (!claim.meant) continue;
    if (++devices > kMaxDevices) {
      throw program::UsageError(
          fmt::format("{}: more than {} nodes of NVDLA", tree.name(), kMaxDevices));
    }
    if (claim.hw == nullptr) {
      report.findings.push_back({tree.path(node), "compatible", no_driver(*names)});
      continue;
    }
    Checker checker(tree, node, *claim.hw, report);
    if (const auto place = check_device(checker, names->size(), report)) places.push_back(*place);
  }
  check_overlaps(tree, std::move(places), report);
  return report;
}

}  // namespace nvdla::dt
