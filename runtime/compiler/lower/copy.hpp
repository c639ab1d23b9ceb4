// SPDX-License-Identifier: MIT
//
// Lowering what moves elements without changing them.
#ifndef NVDLA_COMPILER_LOWER_COPY_HPP
#define NVDLA_COMPILER_LOWER_COPY_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/lower/lowering.hpp"

namespace nvdla::detail {

// Copies `shape` of `tensor`, or of what follows from it, by SDP: the layer waits for `tensor`.
void add_copy(Lowering& lowering, std::uint32_t tensor, const nvdla_surface& from,
              const Shape& shape, const nvdla_surface& to, const std::string& name);

// `ChannelRun` is some channels of a cube, the first of several with an atom.
struct ChannelRun {
  std::uint32_t first = 0, channels = 0;
};

// Makes the output of `node` from its channel `first` on, a multiple of an atom's: channels of the
// cube that the layers before have left in `from`, side by side. A convolution does it, or Rubik
// where that would not be exact.
void add_gather(Lowering& lowering, const LayerNode& node, const Scratch& from,
                const std::vector<ChannelRun>& runs, std::uint32_t first, const std::string& name);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_COPY_HPP
