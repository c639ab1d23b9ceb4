// SPDX-License-Identifier: MIT
//
// Derives the structure of a loadable: the units of its layers, and the memory that they access.
#ifndef NVDLA_TOOLS_CLI_PICTURES_PROGRAM_SHAPE_HPP
#define NVDLA_TOOLS_CLI_PICTURES_PROGRAM_SHAPE_HPP

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "nvdla/loadable.hpp"

namespace nvdla::cli {

struct LayerShape {
  std::string name;
  std::vector<std::string> units;  // units that work on the fly, upstream first
};

struct MemoryShape {
  std::string name;
  std::uint64_t bytes = 0;
  bool sram = false;
  bool constant = false;  // its contents are in the file
  // The indices of layers in the loadable.
  std::set<std::uint32_t> readers, writers;
};

struct ProgramShape {
  std::vector<LayerShape> layers;
  std::vector<MemoryShape> memories;  // memories that layers use, the largest first
};

// Returns the units of a kind of layer, upstream first.
std::vector<std::string> units_of(std::uint32_t kind);

// Returns the structure of a loadable as it runs on `device`, on which it was opened.
ProgramShape program_shape(const Loadable& file, const Device& device);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_PICTURES_PROGRAM_SHAPE_HPP
