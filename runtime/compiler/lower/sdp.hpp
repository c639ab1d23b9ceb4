// SPDX-License-Identifier: MIT
//
// Lowering SDP, alone or behind a convolution.
#ifndef NVDLA_COMPILER_LOWER_SDP_HPP
#define NVDLA_COMPILER_LOWER_SDP_HPP

#include <cstdint>
#include <optional>

#include "compiler/lower/lowering.hpp"

namespace nvdla::detail {

// Returns SDP with its operators and its output, without an input; operands go into `pool`.
nvdla_sdp lower_sdp(const Lowering& lowering, const LayerNode& node, const SdpNode& part,
                    ConstantPool& pool);
// Returns the same for an output of that shape and precision, without the place of the output.
nvdla_sdp lower_sdp(const Lowering& lowering, const Shape& out, Precision precision,
                    const SdpNode& part, ConstantPool& pool);

// `Compared` is a comparison in which lanes beyond the last channel differ in nothing.
struct Compared {
  SdpNode sdp;                         // the operators for it
  std::optional<nvdla_surface> other;  // stands for the tensor on the other side,
  std::optional<std::uint32_t> after;  // once this layer ran
};

// Returns the comparison `part` of a tensor of that shape, or of what a convolution makes on the
// fly; it may add a layer for the other side.
Compared compare_channels(Lowering& lowering, const LayerNode& node, const SdpNode& part,
                          const Shape& shape, bool flying);
void place_other(const Compared& compared, nvdla_sdp& sdp);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_SDP_HPP
