// SPDX-License-Identifier: MIT
//
// Clocks, resets and what else other nodes provide.
#include <algorithm>

#include "tools/dt/checker.hpp"

namespace nvdla::dt {
namespace {

constexpr std::size_t kClocks = 2;
// Lower frequencies were probably given in kHz by mistake.
constexpr std::uint32_t kLeastHz = 1'000'000;

void check_clock_names(Checker& checker, std::size_t clocks) {
  const Property* const property = checker.property("clock-names");
  if (property == nullptr) return;
  const auto names = strings_of(*property);
  if (!names || names->size() != clocks) {
    checker.wrong("clock-names", "{} for {} clock{}; expected a name for each",
                  names ? fmt::format("{} name{}", names->size(), names->size() == 1 ? "" : "s")
                        : "no strings",
                  clocks, clocks == 1 ? "" : "s");
    return;
  }
  for (const std::string& name : *names) {
    if (name != "core" && name != "csb")
      checker.wrong("clock-names", "\"{}\"; expected \"core\" or \"csb\"", printable(name));
  }
  if (std::count(names->begin(), names->end(), "core") != 1) {
    checker.wrong("clock-names", "\"core\" is there {} times; expected once, for the datapath",
                  std::count(names->begin(), names->end(), "core"));
  }
}

void check_frequency(Checker& checker) {
  const Property* const property = checker.property("clock-frequency");
  if (property == nullptr) {
    if (!checker.has("clocks"))
      checker.note("clocks", "missing, and clock-frequency: layers get the time of a slow clock");
    return;
  }
  const auto hz = checker.tree.number(checker.node, "clock-frequency");
  if (!hz) {
    checker.wrong("clock-frequency", "has {} bytes; expected the clock of the core in Hz, in 4",
                  property->value.size());
    return;
  }
  // The driver reads it only where no clock says the rate.
  if (checker.has("clocks")) return;
  if (*hz < 1000) {
    checker.wrong("clock-frequency", "{}; expected the clock of the core in Hz", *hz);
  } else if (*hz < kLeastHz) {
    checker.note("clock-frequency", "{} Hz is very slow; was it meant in kHz?", *hz);
  }
}

void check_clocks(Checker& checker) {
  if (checker.has("clocks")) {
    const auto links = checker.links("clocks", "#clock-cells", kClocks);
    if (links) check_clock_names(checker, links->size());
  } else if (checker.has("clock-names")) {
    checker.wrong("clock-names", "there are no clocks; expected these, too");
  }
  check_frequency(checker);
}

}  // namespace

void check_providers(Checker& checker) {
  check_clocks(checker);
  if (checker.has("resets"))
    checker.links("resets", "#reset-cells", 1);
  else
    checker.note("resets", "missing: a device that hangs stays unusable");
  if (checker.has("power-domains")) checker.links("power-domains", "#power-domain-cells", 1);
  if (checker.has("iommus")) checker.links("iommus", "#iommu-cells", 1);
  const Property* const coherent = checker.property("dma-coherent");
  if (coherent != nullptr && !coherent->value.empty()) {
    checker.wrong("dma-coherent", "has {} bytes; expected none: it is there or not",
                  coherent->value.size());
  }
  if (coherent != nullptr && checker.has("dma-noncoherent")) {
    checker.wrong("dma-coherent", "and dma-noncoherent; expected one of them at most");
  }
}

}  // namespace nvdla::dt
