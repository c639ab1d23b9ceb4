// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <string>

#include "compiler/passes/conv_cost.hpp"
#include "compiler/passes/passes.hpp"
#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/half.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "packing/cbuf.hpp"
#include "packing/weight_stream.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

constexpr std::uint32_t kTileSide = 4, kMostAfter = 63;
constexpr std::int32_t kMostClip = 16;

// Padding after the input with which outputs are whole tiles.
std::uint32_t tile_padding(std::uint32_t outputs, std::uint32_t stride, std::uint32_t before,
                           std::uint32_t size) {
  return static_cast<std::uint32_t>(arith::round_up(outputs, kTileSide) + kTileSide) * stride -
         before - size;
}

bool folds_to_three(std::uint32_t kernel, std::uint32_t stride) {
  return (kernel + stride - 1) / stride == 3;
}

// A transform would spread what is not.
bool finite(const ConvNode& node) {
  const auto* kernels = std::get_if<std::vector<std::int16_t>>(node.weights.get());
  return node.conv.proc_precision != NVDLA_PRECISION_FP16 || kernels == nullptr ||
         std::all_of(kernels->begin(), kernels->end(), [](std::int16_t bits) {
           return std::isfinite(from_half(static_cast<std::uint16_t>(bits)));
         });
}

std::string in_the_way(const DeviceInfo& info, const ConvNode& node, Precision result) {
  const nvdla_conv& c = node.conv;
  if (c.mode != NVDLA_CONV_DIRECT) return "the input is an image";
  if (c.in_precision != c.proc_precision) return "the input would have to be converted";
  if (static_cast<std::uint32_t>(result) != c.proc_precision) {
    return "the result has another precision than the layer works in";
  }
  if (c.dilation_width != 1 || c.dilation_height != 1) return "the kernel is dilated";
  if (!finite(node)) return "kernels hold NaN or infinity";
  if (!folds_to_three(c.kernel_width, c.stride_width) ||
      !folds_to_three(c.kernel_height, c.stride_height)) {
    return fmt::format(
        "the kernel of {}x{} is not 3x3 after folding strides of {}x{} (rows, columns)",
        c.kernel_height, c.kernel_width, c.stride_height, c.stride_width);
  }
  const auto too_much = [](std::uint32_t before, std::uint32_t stride) {
    return before > (stride == 1 ? 1 : 3 * stride - 1);
  };
  if (too_much(c.pad_left, c.stride_width) || too_much(c.pad_top, c.stride_height)) {
    return fmt::format("padding of {} on the left and {} on the top is more than a tile takes",
                       c.pad_left, c.pad_top);
  }
  const Shape out = conv_output(c);
  if (tile_padding(out.width, c.stride_width, c.pad_left, c.width) > kMostAfter ||
      tile_padding(out.height, c.stride_height, c.pad_top, c.height) > kMostAfter) {
    return "whole tiles take more than 63 columns or lines of padding";
  }
  if (winograd_channels(info, {weights_desc(c), c.stride_width, c.stride_height}) > kMaxSide) {
    return "strides folded into channels are more than 8192 channels";
  }
  if (out.width % kTileSide != 0 || out.height % kTileSide != 0) {
    for (const OperatorNode* op : {&node.sdp.operators.x1, &node.sdp.operators.x2}) {
      if (op->active() && op->mode == NVDLA_OPERAND_ELEMENT) {
        return "operands of elements need an output of whole tiles of 4x4";
      }
    }
  }
  return {};
}

// Returns nothing where a direct convolution is better, or all there is. `result` is the precision
// of its output. Throws if the layer insists on Winograd and cannot have it: kNotAvailable for what
// the device lacks, kInvalidArgument else, saying what is in the way.
std::optional<WinogradForm> winograd_form(PassContext& context, const std::string& name,
                                          const ConvNode& node, Precision result) {
  const DeviceInfo& info = context.info;
  if (node.tuning.winograd == Rewrite::kNever) return std::nullopt;
  const bool always = node.tuning.winograd == Rewrite::kAlways;
  if (!info.has_winograd) {
    if (!always) return std::nullopt;
    throw_error(ErrorCode::kNotAvailable, "{} has no Winograd convolutions", info.configuration);
  }
  if (const std::string reason = in_the_way(info, node, result); !reason.empty()) {
    if (!always) return std::nullopt;
    throw_invalid_argument("no Winograd convolution: {}", reason);
  }
  WinogradForm form;
  const Shape out = conv_output(node.conv);
  form.conv = node.conv;
  form.conv.mode = NVDLA_CONV_WINOGRAD;
  form.conv.pad_right =
      tile_padding(out.width, node.conv.stride_width, node.conv.pad_left, node.conv.width);
  form.conv.pad_bottom =
      tile_padding(out.height, node.conv.stride_height, node.conv.pad_top, node.conv.height);
  form.desc = {weights_desc(node.conv), node.conv.stride_width, node.conv.stride_height, 0};
  // A tile in place of one position would leave gaps between surfaces, and be mostly for nothing.
  if (!always && out.width * out.height == 1) return std::nullopt;
  // Tiles take fewer multiplications, and 16/9 of the weights; where they do not fit the buffer,
  // the layer that asks for them gets the error that says why.
  if (!always) {
    if (!context.may_predict()) return std::nullopt;
    const auto tiles = predict_conv(info, form.conv, node.sdp);
    const auto direct = predict_conv(info, node.conv, node.sdp);
    const bool pays = tiles && (!direct || *tiles < *direct);
    context.consider(name, "Winograd", tiles, pays);
    context.consider(name, "direct", direct, !pays);
    if (!pays) return std::nullopt;
  }
  if (node.conv.proc_precision == NVDLA_PRECISION_FP16) {
    const auto& halves = std::get<std::vector<std::int16_t>>(*node.weights);
    if (!always && !winograd_weights_fit(form.desc, halves)) return std::nullopt;
    return form;
  }

  // The accumulator's shift takes back what weights and data were scaled by.
  const std::int32_t before = static_cast<std::int32_t>(node.conv.clip_truncate) -
                              static_cast<std::int32_t>(node.winograd_truncate);
  const std::int32_t shift =
      std::visit([&](const auto& kernels) { return winograd_weight_shift(form.desc, kernels); },
                 *node.weights);
  form.desc.weight_shift = std::min(shift, kMostClip - before);
  if (before + form.desc.weight_shift < 0) {
    if (!always) return std::nullopt;
    throw_invalid_argument(
        "no Winograd convolution: transformed weights fit times 2^{} only and data are "
        "shifted by {}, so accumulator_shift must be {} or more, found {}",
        shift, node.winograd_truncate, static_cast<std::int32_t>(node.winograd_truncate) - shift,
        node.conv.clip_truncate);
  }
  form.conv.clip_truncate = static_cast<std::uint32_t>(before + form.desc.weight_shift);
  form.conv.pra_truncate = node.winograd_truncate;
  return form;
}

}  // namespace

Graph choose_winograd(Graph graph, PassContext& context) {
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
    LayerNode& layer = graph.layers[i];
    auto* conv = std::get_if<ConvNode>(&layer.part);
    if (conv == nullptr) continue;
    const Precision result =
        layer.output == kNoTensor ? conv->sdp.processing : graph.tensors[layer.output].precision;
    conv->form.winograd = with_error_context(layer_text(i, layer.name), i, [&] {
      return winograd_form(context, layer.name, *conv, result);
    });
    if (conv->form.winograd) ++context.applied;
  }
  return graph;
}

}  // namespace nvdla::detail
