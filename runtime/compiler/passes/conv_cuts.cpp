// SPDX-License-Identifier: MIT
//
// Convolutions of which a layer computes some kernels only, and kernels of images.
#include <algorithm>
#include <cstdint>

#include "compiler/lower/conv.hpp"
#include "compiler/passes/conv_cost.hpp"
#include "compiler/passes/passes.hpp"
#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/types/device_info.hpp"
#include "packing/bands.hpp"
#include "packing/cbuf.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// Returns the kernels of a layer whose blocks do not fill atoms, else 0.
std::uint32_t kernels_of_narrow_blocks(const DeviceInfo& info, const ConvNode& part) {
  const std::uint32_t lanes = info.atom / precision_bytes(part.sdp.processing);
  const std::uint32_t some = part.form.blocks[0].kernels;
  return part.form.blocks.size() > 1 && some < lanes ? some : 0;
}

// Returns the kernels of a layer of which not even one kernel group fits, else 0.
std::uint32_t kernels_at_once(const DeviceInfo& info, const ConvNode& part) {
  if (part.groups > 1) return kernels_of_narrow_blocks(info, part);
  const nvdla_conv conv = tallest_layer(part);
  if (conv.mode != NVDLA_CONV_DIRECT) return 0;
  const std::uint32_t some = kernels_that_fit(info, conv);
  if (some >= std::min<std::uint64_t>(conv.kernels, kernel_group(info, conv))) return 0;
  if (some != 0 && part.sdp.silent()) {
    throw_error(ErrorCode::kNotAvailable,
                "not even one group of kernels of {}x{}x{} (CHW) fits the convolution buffer, and "
                "parts of them cannot be compared",
                conv.channels, conv.kernel_height, conv.kernel_width);
  }
  return some;
}

}  // namespace

Graph choose_kernel_lines(Graph graph, PassContext& context) {
  for (LayerNode& layer : graph.layers) {
    auto* conv = std::get_if<ConvNode>(&layer.part);
    if (conv == nullptr || conv->conv.mode != NVDLA_CONV_IMAGE) continue;
    conv->form.kernel_lines = kernel_lines(context.info, *conv);
    if (conv->form.kernel_lines > 1) ++context.applied;
  }
  return graph;
}

Graph cut_groups(Graph graph, PassContext& context) {
  for (LayerNode& layer : graph.layers) {
    auto* conv = std::get_if<ConvNode>(&layer.part);
    if (conv == nullptr || conv->groups == 1) continue;
    conv->form.blocks = choose_blocks(context.info, tallest_layer(*conv), grouped_kernels(*conv));
    ++context.applied;
  }
  return graph;
}

Graph cut_kernels(Graph graph, PassContext& context) {
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
    LayerNode& layer = graph.layers[i];
    auto* conv = std::get_if<ConvNode>(&layer.part);
    if (conv == nullptr) continue;
    conv->form.kernels_at_once = with_error_context(
        layer_text(i, layer.name), i, [&] { return kernels_at_once(context.info, *conv); });
    if (conv->form.kernels_at_once != 0) ++context.applied;
  }
  return graph;
}

}  // namespace nvdla::detail
