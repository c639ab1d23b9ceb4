// SPDX-License-Identifier: MIT
//
// Whether the nodes of NVDLA in a device tree are what the binding asks for and the driver takes.
#ifndef NVDLA_TOOLS_DT_CHECK_HPP
#define NVDLA_TOOLS_DT_CHECK_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "tools/dt/tree.hpp"

namespace nvdla::dt {

// The window of the registers, as published device trees have it.
inline constexpr std::uint64_t kWindowBytes = 0x20000;

struct Finding {
  std::string node, property;
  // What there is, and what would be right.
  std::string text;
  // Nothing is wrong, but something could be better.
  bool note = false;
};

struct FoundDevice {
  std::string node, configuration;
  // As the node has it, as far as it does.
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
// What the binding lets a node have beside what every node may.
const std::vector<std::string>& binding_properties();

CheckReport check(const Tree& tree);

}  // namespace nvdla::dt

#endif  // NVDLA_TOOLS_DT_CHECK_HPP
