// SPDX-License-Identifier: MIT
//
// What the layers of a loadable are: units, and the memory that they read and write.
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
  std::vector<std::string> units;  // that work on the fly, upstream first
};

struct MemoryShape {
  std::string name;
  std::uint64_t bytes = 0;
  bool sram = false;
  bool constant = false;  // the file says what is in it
  // Layers, by their number in the loadable.
  std::set<std::uint32_t> readers, writers;
};

struct ProgramShape {
  std::vector<LayerShape> layers;
  std::vector<MemoryShape> memories;  // that layers use, the largest first
};

// The units of a kind of layers, upstream first.
std::vector<std::string> units_of(std::uint32_t kind);

// As the loadable runs on `device`, which it was opened on.
ProgramShape program_shape(const Loadable& file, const Device& device);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_PICTURES_PROGRAM_SHAPE_HPP
