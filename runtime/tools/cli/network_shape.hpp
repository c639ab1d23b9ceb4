// SPDX-License-Identifier: MIT
//
// Who gives what to whom in a loadable: its layers, what the CPU does, inputs and outputs.
#ifndef NVDLA_TOOLS_CLI_NETWORK_SHAPE_HPP
#define NVDLA_TOOLS_CLI_NETWORK_SHAPE_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "nvdla/loadable.hpp"

namespace nvdla::cli {

struct NetworkBox {
  std::string name;
  // That work on the fly, upstream first; "cpu"; none of an input or output.
  std::vector<std::string> units;
  std::string tensor;  // "64x56x56 int8"; empty of a comparison and of an output
};

struct NetworkShape {
  std::vector<NetworkBox> boxes;  // in the order in which they run
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arrows;
};

// As it runs on `hw`. Throws what Loadable::compile() throws of a file that does not.
NetworkShape network_shape(const Loadable& file, const nvdla_hw& hw);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_NETWORK_SHAPE_HPP
