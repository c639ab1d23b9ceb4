// SPDX-License-Identifier: MIT
#include "tools/dt/check.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "backend/compatible.hpp"
#include "tools/common/text.hpp"
#include "tools/dt/checker.hpp"
#include "tools/files/status.hpp"

namespace nvdla::dt {
namespace {

// More than a machine has; a blob may be made to have thousands.
constexpr std::size_t kMaxDevices = 64;
// More than a name that could be meant.
constexpr std::size_t kLongestName = 64;

struct Place {
  Area window;
  std::size_t node;
};

// The configuration that a node claims, and whether the node is probably meant to be an NVDLA.
struct Claim {
  const nvdla_hw* hw = nullptr;
  bool meant = false;
};

Claim claim_of(const std::vector<std::string>& compatible) {
  static const auto kKnown = compatible_names();
  Claim claim;
  for (const std::string& name : compatible) {
    if (name.size() > kLongestName) continue;
    if (claim.hw == nullptr) claim.hw = detail::find_compatible(name);
    claim.meant |= claim.hw != nullptr || name.find("nvdla") != name.npos ||
                   !program::closest(name, kKnown).empty();
  }
  return claim;
}

// Returns the message that the driver accepts none of these names.
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

// Checks for the name of the system on chip, if any, and the generic one behind it.
void check_compatible(Checker& checker, const std::vector<std::string>& names) {
  const auto generic = [](const std::string& name) {
    return detail::find_compatible(name) != nullptr;
  };
  const auto count = std::count_if(names.begin(), names.end(), generic);
  if (count > 1) {
    checker.wrong("compatible", "{} strings stand for configurations; expected one", count);
  } else if (names.size() > 2) {
    checker.wrong("compatible",
                  "{} strings; expected the system on chip's own and the configuration's",
                  names.size());
  } else if (names.size() == 2 && generic(names[0])) {
    checker.wrong("compatible",
                  "\"{}\" behind the configuration; expected the system on chip's own name "
                  "before it",
                  printable(names[1].substr(0, kLongestName)));
  }
  const std::string wanted = detail::compatible_of(checker.hw);
  const auto found = std::find_if(names.begin(), names.end(), generic);
  if (found != names.end() && *found != wanted) {
    checker.note("compatible",
                 "\"{}\" is deprecated; expected \"{}\", which drivers of later kernels take",
                 *found, wanted);
  }
}

// Checks a device and adds it and its findings to the report.
std::optional<Place> check_device(Checker& checker, const std::vector<std::string>& names,
                                  CheckReport& report) {
  FoundDevice device = {checker.tree.path(checker.node), checker.hw.name, "", ""};
  check_status(checker);
  check_compatible(checker, names);
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
  std::vector<std::string> names;
  for (u32 i = 0; i < nvdla_hw_count(); ++i)
    names.push_back(detail::compatible_of(*nvdla_hw_get(i)));
  return names;
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
    if (const auto place = check_device(checker, *names, report)) places.push_back(*place);
  }
  check_overlaps(tree, std::move(places), report);
  return report;
}

}  // namespace nvdla::dt
