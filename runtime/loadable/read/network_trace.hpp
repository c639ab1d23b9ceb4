// SPDX-License-Identifier: MIT
//
// A trace tells who gives what to whom in a loadable: layers, the CPU, inputs and outputs.
#ifndef NVDLA_LOADABLE_READ_NETWORK_TRACE_HPP
#define NVDLA_LOADABLE_READ_NETWORK_TRACE_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "nvdla/loadable.hpp"

namespace nvdla::loadable {

struct TracedBox {
  enum class Kind { kInput, kLayer, kCpu, kOutput };

  std::string name;
  Kind kind = Kind::kLayer;
  std::uint32_t layer = 0;  // enum nvdla_layer_kind, of a layer
  std::string tensor;       // "64x56x56 int8", what a layer or the CPU writes; empty if nothing
};

struct NetworkTrace {
  std::vector<TracedBox> boxes;  // in the order in which they run
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arrows;
};

// Returns the trace of a file as it runs on `hw`; inputs come first. Throws what
// Loadable::compile() throws of a file that does not run there.
NetworkTrace trace_network(const Loadable& file, const nvdla_hw& hw);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_READ_NETWORK_TRACE_HPP
