// SPDX-License-Identifier: MIT
//
// This pass lets inputs of few channels lie as pixels: a tensor of three channels fills three lanes
// of the array, a step of a convolution of an image fills it with the columns of a line of the
// kernel.
#include <fmt/format.h>

#include <optional>

#include "compiler/graph/views.hpp"
#include "compiler/lower/conv.hpp"
#include "compiler/passes/conv_cost.hpp"
#include "compiler/passes/passes.hpp"
#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/lowlevel/folding.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/error.hpp"
#include "packing/cbuf.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

constexpr std::uint32_t kComponents = 4;

// Returns true for bytes with fp16 kernels, which lie as pixels or not at all.
bool is_of_bytes(const nvdla_conv& conv) {
  return conv.in_precision == NVDLA_PRECISION_INT8 && conv.proc_precision == NVDLA_PRECISION_FP16;
}

bool pads_a_position(std::uint32_t before, std::uint32_t after, std::uint32_t kernel) {
  return before >= kernel || after >= kernel;
}

// Returns what keeps a convolution from reading pixels, or nullptr.
const char* cannot_read_pixels(const Graph& graph, const PassContext& context,
                               const LayerNode& layer, const ConvNode& node) {
  const DeviceInfo& info = context.info;
  const nvdla_conv& c = node.conv;
  if (c.mode != NVDLA_CONV_DIRECT) return "the input is an image";
  if (!is_input_of_one(graph, layer.input))
    return "its input is not one of the network that this layer alone reads";
  if (node.groups != 1) return "an image has one group";
  if (node.form.winograd) return "Winograd takes tensors only";
  if (c.channels > kComponents) return "pixels have up to four channels";
  if (c.in_precision != c.proc_precision && !is_of_bytes(c))
    return "the input would have to be converted";
  if (c.proc_precision == NVDLA_PRECISION_FP16 && !node.any_order &&
      !context.options.allow_rounding)
    return "fp16 sums depend on their order, which pixels change";
  if (c.in_precision != NVDLA_PRECISION_INT8 && !info.has_pixel_16)
    return "the device has no pixels with components of 16 bits";
  if (c.dilation_width != 1 || c.dilation_height != 1) return "the kernel is dilated";
  if (pads_a_position(c.pad_left, c.pad_right, c.kernel_width) ||
      pads_a_position(c.pad_top, c.pad_bottom, c.kernel_height))
    return "positions of the kernel would lie in the padding";
  return nullptr;
}

nvdla_pixel_format format_of(const nvdla_conv& conv) {
  const bool one = conv.channels == 1;
  switch (conv.in_precision) {
    case NVDLA_PRECISION_INT8:
      return one ? NVDLA_PIXEL_R8 : NVDLA_PIXEL_A8B8G8R8;
    case NVDLA_PRECISION_INT16:
      return one ? NVDLA_PIXEL_R16_I : NVDLA_PIXEL_A16B16G16R16;
    default:
      return one ? NVDLA_PIXEL_R16_F : NVDLA_PIXEL_A16B16G16R16_F;
  }
}

// Returns the convolution with the same results of the same input as pixels. Kernels stay.
ConvNode read_pixels(const DeviceInfo& info, const ConvNode& node) {
  ConvNode pixels = node;
  nvdla_conv& c = pixels.conv;
  c.mode = NVDLA_CONV_IMAGE;
  c.pixel_format = format_of(node.conv);
  c.channels = pixel_layout(static_cast<nvdla_pixel_format>(c.pixel_format)).components;
  // Pixels of integers are unsigned unless the converter, which changes nothing else, extends their
  // signs. For bytes with fp16 kernels it is set as the layer asks for it.
  if (c.in_precision != NVDLA_PRECISION_FP16 && !is_of_bytes(c)) {
    c.flags |= NVDLA_CONV_CONVERT | NVDLA_CONV_SIGNED_PIXELS;
    c.cvt_scale = 1;
  }
  pixels.form.kernel_lines = kernel_lines(info, pixels);
  return pixels;
}

SharedKernels add_components(const ConvNode& node, std::uint32_t components) {
  if (node.conv.channels == components) return node.weights;
  return std::make_shared<const Kernels>(std::visit(
      [&](const auto& kernels) -> Kernels {
        return add_channels(weights_desc(node.conv), kernels, components);
      },
      *node.weights));
}

// Returns true if the layer is faster on pixels than in any other form that it may have.
bool pixels_pay(PassContext& context, const std::string& name, const ConvNode& node,
                const ConvNode& pixels) {
  const DeviceInfo& info = context.info;
  const auto on_pixels = predict_conv(info, formed_conv(pixels), node.sdp);
  std::vector<std::pair<const char*, std::optional<std::uint64_t>>> others = {
      {"a tensor", predict_conv(info, node.conv, node.sdp)}};
  if (node.tuning.folding == Rewrite::kAuto && cannot_fold(node.conv) == nullptr)
    others.emplace_back("folded", predict_conv(info, fold_width(node.conv).conv, node.sdp));
  const bool pays = on_pixels && std::all_of(others.begin(), others.end(), [&](const auto& other) {
                      return !other.second || *on_pixels < *other.second;
                    });
  context.consider(name, "pixels", on_pixels, pays);
  for (const auto& [form, cycles] : others) context.consider(name, form, cycles, false);
  // The pass fold_inputs() takes the faster one of two others.
  if (!pays && others.size() == 1) context.candidates.back().chosen = true;
  return pays;
}

// Returns the form of a convolution that reads pixels, or nothing where another one is better, or
// all there is. Throws if the layer insists on pixels and cannot have them.
std::optional<ConvNode> pixel_form(const Graph& graph, PassContext& context, std::uint32_t index) {
  const DeviceInfo& info = context.info;
  const LayerNode& layer = graph.layers[index];
  const auto& node = std::get<ConvNode>(layer.part);
  const Convolution::Tuning& tuning = node.tuning;
  if (tuning.pixels == Rewrite::kNever) return std::nullopt;
  const bool always = tuning.pixels == Rewrite::kAlways;
  const char* reason = cannot_read_pixels(graph, context, layer, node);
  if (tuning.folding == Rewrite::kAlways) reason = "tuning.folding is kAlways";
  if (tuning.batch == Rewrite::kAlways) reason = "tuning.batch is kAlways";
  if (reason == nullptr) {
    ConvNode pixels = read_pixels(info, node);
    if (always) return pixels;
    if (context.may_predict() && pixels_pay(context, layer.name, node, pixels)) return pixels;
  } else if (always) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: its input does not lie as pixels: {}",
                                                         layer_text(index, layer.name), reason));
  }
  return std::nullopt;
}

}  // namespace

Graph read_inputs_as_pixels(Graph graph, PassContext& context) {
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
    LayerNode& layer = graph.layers[i];
    auto* conv = std::get_if<ConvNode>(&layer.part);
    if (conv == nullptr || !Graph::is_live(layer)) continue;
    auto pixels = pixel_form(graph, context, i);
    if (!pixels) continue;
    pixels->weights = add_components(*conv, pixels->conv.channels);
    graph.tensors[layer.input].pixel =
        pixel_layout(static_cast<nvdla_pixel_format>(pixels->conv.pixel_format)).bytes[0];
    *conv = *std::move(pixels);
    ++context.applied;
  }
  return graph;
}

}  // namespace nvdla::detail
