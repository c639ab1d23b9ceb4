// SPDX-License-Identifier: MIT
//
// Cuts a program into groups of layers that can run alone: no group reuses data or weights that an
// earlier one left in the convolution buffer.
#ifndef NVDLA_DEVICE_LAYER_CUTS_HPP
#define NVDLA_DEVICE_LAYER_CUTS_HPP

#include <cstdint>
#include <span>
#include <vector>

#include "nvdla/program.hpp"

namespace nvdla::detail {

// The layers first..last run together, and those from `shown` on are compared afterwards; an
// earlier cut has compared the others.
struct LayerCut {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t shown = 0;
  // The cut repeats the layers of the previous one and adds one, so memory must first be restored
  // to its contents before that cut.
  bool again = false;
};

// Returns cuts for all layers, in order. A group of layers that write over each other becomes
// several cuts, each one layer longer than the previous one.
std::vector<LayerCut> cut_layers(const ProgramDesc& program, std::uint32_t atom);

// Returns the layers of a cut as a program with the bindings of the whole one. `layers` receives
// the descriptors that the result refers to.
ProgramDesc cut_program(const ProgramDesc& program, const LayerCut& cut,
                        std::vector<nvdla_layer>& layers);

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_LAYER_CUTS_HPP
