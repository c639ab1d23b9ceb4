// SPDX-License-Identifier: MIT
//
// Checks the NVDLA nodes of a device tree against the binding and the driver.
#ifndef NVDLA_TOOLS_DT_CHECK_HPP
#define NVDLA_TOOLS_DT_CHECK_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "tools/dt/tree.hpp"

namespace nvdla::dt {

// The size of the register window in published device trees.
inline constexpr std::uint64_t kWindowBytes = 0x20000;

struct Finding {
  std::string node, property;
  // States what was found, and what would be right.
  std::string text;
  // Not an error, but a suggestion.
  bool note = false;
};

struct FoundDevice {
  std::string node, configuration;
  // The values in the node; empty where it has none.
  std::string place, interrupt;
};

struct CheckReport {
  std::vector<FoundDevice> devices;
  std::vector<Finding> findings;

  bool passed() const;
};

// Returns the strings that stand for a configuration, such as "nvidia,nvdla-nv-small", without
// those that are deprecated.
std::vector<std::string> compatible_names();
// Returns the properties that the binding allows in addition to those of every node.
const std::vector<std::string>& binding_properties();

CheckReport check(const Tree& tree);

}  // namespace nvdla::dt

#endif  // NVDLA_TOOLS_DT_CHECK_HPP
