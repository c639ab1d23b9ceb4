// SPDX-License-Identifier: MIT
//
// Who gives what to whom in a loadable: its layers, what the CPU does, inputs and outputs.
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
  std::string about = {};  // "convolution 3x3, stride 2", of a layer of the user
  std::string steps = {};  // layers of the hardware that it became, a line
  // That work on the fly, upstream first; "cpu"; none of an input or output.
  std::vector<std::string> units;
  std::string tensor;  // "64x56x56 int8"; empty of a comparison and of an output
};

struct NetworkShape {
  std::vector<NetworkBox> boxes;  // in the order in which they run
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arrows;
};

// As it runs on `hw`. Throws what Loadable::compile() throws of a file that does not.
// The layers of hardware and CPU.
NetworkShape network_shape(const Loadable& file, const nvdla_hw& hw);
// The layers as the user added them, of a file that has them (Loadable::Impl::user); `units` is the
// kind of each then.
NetworkShape user_shape(const Loadable& file);
// "convolution 3x3, stride 2"
std::string about(const detail::UserLayer& layer);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_PICTURES_NETWORK_SHAPE_HPP
