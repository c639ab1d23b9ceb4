// SPDX-License-Identifier: MIT
//
// Convolutions and deconvolutions, as a graph keeps them.
#ifndef NVDLA_COMPILER_GRAPH_CONV_NODE_HPP
#define NVDLA_COMPILER_GRAPH_CONV_NODE_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "compiler/graph/sdp_node.hpp"
#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/lowlevel/deconvolution_phases.hpp"
#include "nvdla/operators/convolution.hpp"

namespace nvdla::detail {

// KCRS; int16 holds the bits of fp16, too.
using Kernels = std::variant<std::vector<std::int8_t>, std::vector<std::int16_t>>;
// Graphs that are copies of each other share them.
using SharedKernels = std::shared_ptr<const Kernels>;

// `WinogradForm` is a convolution in Winograd mode.
struct WinogradForm {
  // Its paddings make whole tiles: the output has that many lines and columns, of which the first
  // ones are the layer's.
  nvdla_conv conv = {};
  WinogradDesc desc;
};

// `KernelBlock` is some kernels of a grouped convolution and the channels that they see.
struct KernelBlock {
  std::uint32_t first_kernel = 0, kernels = 0;
  std::uint32_t first_channel = 0, channels = 0;

  friend bool operator==(const KernelBlock&, const KernelBlock&) = default;
};

// `ConvForm` is the way in which a convolution is computed; passes choose it, each its part.
struct ConvForm {
  std::optional<WinogradForm> winograd;
  bool folded = false;              // in width, as its input lies
  std::uint32_t images = 1;         // of the batch, at once
  std::uint32_t kernel_lines = 0;   // of an image, side by side in an atom; else 0
  std::vector<KernelBlock> blocks;  // of groups, one for each layer
  // Kernels of one layer where not even those of an atom fit the convolution buffer, else 0.
  std::uint32_t kernels_at_once = 0;
};

struct ConvNode {
  nvdla_conv conv = {};   // geometry, precisions and converter; direct, or of an image
  SharedKernels weights;  // as many channels as a group
  std::uint32_t groups = 1;
  SdpNode sdp;
  Convolution::Tuning tuning = {.batch = Rewrite::kNever};
  std::uint32_t winograd_truncate = 0;
  bool any_order = false;  // of products in sums of fp16
  ConvForm form = {};
};

struct DeconvNode {
  DeconvolutionDesc desc;
  std::uint32_t accumulator_shift = 0;
  bool nan_to_zero = false;  // NaN of the input; the kernels have none then
  std::int32_t zero_point = 0;
  SharedKernels weights;
  // Phase (y, x) has that of index y * stride_width + x: what a zero point adds depends on its
  // taps.
  std::vector<SdpNode> sdp;
};

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_CONV_NODE_HPP
