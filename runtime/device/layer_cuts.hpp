// SPDX-License-Identifier: MIT
//
// Where a program can be cut: between layers of which the later one takes nothing from the
// convolution buffer.
#ifndef NVDLA_DEVICE_LAYER_CUTS_HPP
#define NVDLA_DEVICE_LAYER_CUTS_HPP

#include <cstdint>
#include <span>
#include <vector>

#include "nvdla/program.hpp"

namespace nvdla::detail {

// Layers that run together, first..last, and from `shown` on are looked at afterwards: others were
// before.
struct LayerCut {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t shown = 0;
  // Memory is to be as it was before the layers of the cut before, of which these are more.
  bool again = false;
};

// All layers in their order. Layers that run together and write over each other are a row of cuts,
// each one layer longer.
std::vector<LayerCut> cut_layers(const ProgramDesc& program, std::uint32_t atom);

// The layers of a cut as a program of its own, to be bound as the whole one. `layers` is their
// room.
ProgramDesc cut_program(const ProgramDesc& program, const LayerCut& cut,
                        std::vector<nvdla_layer>& layers);

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_LAYER_CUTS_HPP
