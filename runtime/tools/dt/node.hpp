// SPDX-License-Identifier: MIT
//
// Writes the node of an NVDLA, and of memory that belongs to it, as the binding requires: as source
// for a board's device tree, or as an overlay for a compiled one.
#ifndef NVDLA_TOOLS_DT_NODE_HPP
#define NVDLA_TOOLS_DT_NODE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "tools/dt/check.hpp"

namespace nvdla::dt {

// `<&LABEL CELLS...>` of the tree that the node goes into.
struct Reference {
  std::string label;
  std::vector<std::uint32_t> cells = {};
};

struct Region {
  std::uint64_t address = 0, size = 0;
};

struct NodeRequest {
  const nvdla_hw* hw = nullptr;
  std::string system = {};  // "acme,npu1-nvdla"; empty: an FPGA, say
  Region registers = {0, kWindowBytes};
  std::vector<std::uint32_t> interrupt = {};
  std::string interrupt_parent = {};  // a label; empty: that of the nodes above
  std::uint32_t clock_khz = 0;        // 0: unknown
  std::vector<Reference> clocks = {};
  std::vector<Reference> resets = {};
  std::optional<Region> sram = {}, memory_region = {};
  bool coherent = false;
  std::string bus = "/";  // the node that it goes below
  // The cells of that node and of the root.
  unsigned address_cells = 2, size_cells = 2;
};

// Each throws UsageError for an invalid request, with the name of the option of `nvdla dt node`.
std::string node_source(const NodeRequest& request);
std::string node_overlay(const NodeRequest& request);

}  // namespace nvdla::dt

#endif  // NVDLA_TOOLS_DT_NODE_HPP
