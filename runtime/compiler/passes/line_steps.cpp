// SPDX-License-Identifier: MIT
//
// A convolution of which no band fits the convolution buffer, since the lines of its kernels lie
// far apart, is computed by several layers: each reads and writes every so many-th line only.
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <vector>

#include "compiler/lower/conv.hpp"
#include "compiler/passes/passes.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "packing/bands.hpp"
#include "packing/cbuf.hpp"

namespace nvdla::detail {
namespace {

// Returns true if bands fit beside as many kernels as write whole atoms, or beside `any`.
bool fits(const DeviceInfo& info, const ConvNode& part, const nvdla_conv& conv, bool any) {
  if (part.groups == 1)
    return kernels_that_fit(info, conv) >=
           (any ? 1 : std::min<std::uint64_t>(conv.kernels, kernel_group(info, conv)));
  const auto blocks = choose_blocks(info, conv, grouped_kernels(part));
  const std::uint32_t lanes = info.atom / precision_bytes(part.sdp.processing);
  return (any || blocks.size() == 1 || blocks[0].kernels >= lanes) &&
         std::all_of(blocks.begin(), blocks.end(), [&](const KernelBlock& block) {
           return find_bands(info, conv_of(info, conv, block), true).has_value();
         });
}

// Returns true if a layer reads constants of each element, which lie without gaps.
bool has_elements(const SdpNode& sdp) {
  const std::initializer_list<const OperatorNode*> operators = {&sdp.operators.x1,
                                                                &sdp.operators.x2, &sdp.y};
  return std::any_of(operators.begin(), operators.end(), [](const OperatorNode* op) {
    return op->mode == NVDLA_OPERAND_ELEMENT && !op->tensor && op->has_memory();
  });
}

// Returns the least step with which lines fit the convolution buffer, 1 if all lines do; nothing if
// there is none.
std::optional<std::uint32_t> least_step(const DeviceInfo& info, const ConvNode& part, bool any) {
  const nvdla_conv conv = formed_conv(part);
  if (fits(info, part, conv, any)) return 1;
  const bool elements = has_elements(part.sdp);
  for (std::uint32_t step = 2; step <= conv.dilation_height; ++step) {
    if (conv.dilation_height % step != 0) continue;
    if (elements && conv_output(conv).height % step != 0) continue;
    const auto lines = cut_into_steps(conv, step);
    if (!lines.empty() && std::all_of(lines.begin(), lines.end(), [&](const ConvLines& some) {
          return fits(info, part, some.conv, any);
        }))
      return step;
  }
  return std::nullopt;
}

std::uint32_t line_step(const DeviceInfo& info, const ConvNode& part) {
  const nvdla_conv conv = formed_conv(part);
  if (conv.mode != NVDLA_CONV_DIRECT || conv.dilation_height == 1 || conv.kernel_height == 1 ||
      conv.batch > 1 || part.sdp.silent())
    return 1;
  if (const auto step = least_step(info, part, false)) return *step;
  if (fits_in_columns(info, conv)) return 1;
  return least_step(info, part, true).value_or(1);
}

}  // namespace

Graph step_lines(Graph graph, PassContext& context) {
  for (LayerNode& layer : graph.live_layers()) {
    auto* const conv = std::get_if<ConvNode>(&layer.part);
    if (conv == nullptr) continue;
    conv->form.line_step = line_step(context.info, *conv);
    if (conv->form.line_step > 1) ++context.applied;
  }
  return graph;
}

}  // namespace nvdla::detail
