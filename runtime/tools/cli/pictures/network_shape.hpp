// SPDX-License-Identifier: MIT
//
// Derives the data flow of a loadable: its layers, the CPU's operators, inputs and outputs.
#ifndef NVDLA_TOOLS_CLI_PICTURES_NETWORK_SHAPE_HPP
#define NVDLA_TOOLS_CLI_PICTURES_NETWORK_SHAPE_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "nvdla/loadable.hpp"
#include "support/user_layer.hpp"

namespace nvdla::cli {

struct NetworkBox {
  std::string name;
  std::string about = {};  // "convolution 3x3, stride 2"; empty unless it is a user's layer
  std::string steps = {};  // the hardware layers of a user's layer
  // The units that work on the fly, upstream first; "cpu"; empty for an input or output.
  std::vector<std::string> units;
  std::string tensor;  // "64x56x56 int8"; empty for a comparison and an output
};

struct NetworkShape {
  std::vector<NetworkBox> boxes;  // in the order of execution
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arrows;
};

// Returns the layers of hardware and CPU as the loadable runs on `hw`. Throws as
// Loadable::compile() does for a file that does not run there.
NetworkShape network_shape(const Loadable& file, const nvdla_hw& hw);
// Returns the layers as the user added them, for a file that has them (Loadable::Impl::user);
// `units` is then the kind of each.
NetworkShape user_shape(const Loadable& file);
// "convolution 3x3, stride 2"
std::string about(const detail::UserLayer& layer);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_PICTURES_NETWORK_SHAPE_HPP
