// SPDX-License-Identifier: MIT
//
// Convolutions and deconvolutions, as a network keeps them.
#ifndef NVDLA_COMPILER_GRAPH_CONV_NODE_HPP
#define NVDLA_COMPILER_GRAPH_CONV_NODE_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <variant>
#include <vector>

#include "compiler/graph/sdp_node.hpp"
#include "nvdla/convolution.hpp"
#include "nvdla/deconvolution_phases.hpp"

namespace nvdla::detail {

// KCRS; int16 holds the bits of fp16, too.
using Kernels = std::variant<std::vector<std::int8_t>, std::vector<std::int16_t>>;

struct ConvNode {
  nvdla_conv conv = {};  // geometry, precisions and converter; direct, or of an image
  Kernels weights;       // as many channels as a group
  std::uint32_t groups = 1;
  SdpNode sdp;
  Rewrite folding = Rewrite::kNever;
  Rewrite winograd = Rewrite::kNever;
  Rewrite batch = Rewrite::kNever;
  std::uint32_t winograd_truncate = 0;
  std::uint32_t post_extension = 0;
};

struct DeconvNode {
  DeconvolutionDesc desc;
  std::uint32_t accumulator_shift = 0;
  std::int32_t zero_point = 0;
  Kernels weights;
  // Of each phase, y * stride_x + x: what a zero point adds depends on the taps.
  std::vector<SdpNode> sdp;
};

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_CONV_NODE_HPP
