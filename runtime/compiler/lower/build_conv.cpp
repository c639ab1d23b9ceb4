// SPDX-License-Identifier: MIT
//
// Building convolutions: weights packed, banks chosen, bands of lines where they do not fit.
#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "compiler/lower/builder.hpp"
#include "compiler/lower/move_kernels.hpp"
#include "compiler/passes/winograd_plan.hpp"
#include "layout/bands.hpp"
#include "layout/cbuf.hpp"
#include "nvdla/conv_weights.hpp"
#include "nvdla/folding.hpp"

namespace nvdla::detail {
namespace {

// As many kernel lines side by side as fit, but not more than there are.
std::uint32_t post_extension(const DeviceInfo& info, const ConvNode& part) {
  if (part.post_extension != 0) return part.post_extension;
  const nvdla_conv& c = part.conv;
  std::uint32_t lines = most_post_extension(info, c.kernel_width, c.stride_width, c.channels);
  while (lines / 2 >= c.kernel_height) lines /= 2;
  return lines;
}

// That of all its phases.
const OperatorYNode& operator_y(const LayerNode& node) {
  const auto* deconv = std::get_if<DeconvNode>(&node.part);
  return deconv != nullptr ? deconv->sdp[0].y : std::get<ConvNode>(node.part).sdp.y;
}

void move_lines(nvdla_surface& surface, std::uint32_t lines) {
  surface.offset += std::uint64_t{lines} * surface.line_stride;
}

// Moves a layer to some lines of its input and output. Strides are 0 unless there is one operand
// for each element.
void move_lines(nvdla_layer& layer, const Band& band) {
  move_lines(layer.conv.input, band.input_line);
  move_lines(layer.conv.input_uv, band.input_line);
  for (nvdla_surface* surface :
       {&layer.sdp.output, &layer.sdp.x1.operand, &layer.sdp.x2.operand, &layer.sdp.y.operand}) {
    move_lines(*surface, band.output_line);
  }
}

}  // namespace

// An input of the network that only one convolution reads is packed as that one likes it best.
const nvdla_conv* Builder::folded_for(std::uint32_t tensor) const {
  if (!fold_inputs_ || net_.tensors[tensor].producer || net_.tensors[tensor].image) return nullptr;
  const ConvNode* only = nullptr;
  for (const LayerNode& layer : net_.layers) {
    const auto& operands = layer.operands;
    if (std::find(operands.begin(), operands.end(), tensor) != operands.end()) return nullptr;
    if (layer.input != tensor) continue;
    if (only != nullptr) return nullptr;
    only = std::get_if<ConvNode>(&layer.part);
    if (only == nullptr || only->folding == Rewrite::kNever) return nullptr;
  }
  if (only == nullptr) return nullptr;
  const bool fold = only->folding == Rewrite::kAlways || folding_pays(info_, only->conv);
  return fold ? &only->conv : nullptr;
}

nvdla_conv Builder::direct_form(const LayerNode& node, const ConvNode& part) const {
  return folded_for(node.input) != nullptr ? fold_width(part.conv).conv : part.conv;
}

void Builder::place_image(std::uint32_t tensor, nvdla_conv& conv) const {
  const ImageDesc image = resolve(info_, *net_.tensors[tensor].image);
  conv.input.slot = tensor;
  conv.input.line_stride = image.line_stride;
  if (pixel_layout(image.format).planes == 1) return;
  conv.input_uv.slot = tensor;
  conv.input_uv.offset = image.offset_uv;
  conv.input_uv.line_stride = image.line_stride_uv;
}

void Builder::add_part(const LayerNode& node, const ConvNode& part) {
  const bool silent = part.sdp.silent();
  const Precision result = silent ? part.sdp.processing : descs_[node.output].precision;
  Compared compared;
  if (silent) compared = compare_channels(node, part.sdp, conv_output(part.conv), true);
  ConstantPool blob = begin_constants();
  const auto winograd = plan_winograd(info_, part, result);
  const bool fold = !winograd && folded_for(node.input) != nullptr;
  if (part.folding == Rewrite::kAlways && !fold) {
    if (!fold_inputs_) {
      refuse(ErrorCode::kNotAvailable,
             "not folded in width: inputs are to lie as everybody expects (kWhenItPays lets them)");
    }
    refuse_argument(
        "not folded in width: its input is not one of the network that this layer "
        "alone reads");
  }
  nvdla_conv conv = winograd ? winograd->conv : direct_form(node, part);
  conv.batch = silent ? 1 : cubes_at_once(node.output);
  if (conv.mode == NVDLA_CONV_IMAGE) {
    place_image(node.input, conv);
    conv.post_extension = post_extension(info_, part);
  } else {
    conv.input = surface(node.input);
  }
  if (part.groups > 1) return add_groups(node, part, conv);
  if (conv.mode == NVDLA_CONV_DIRECT) {
    const std::uint32_t some = kernels_that_fit(info_, conv);
    if (some != 0 && some < std::min<std::uint64_t>(conv.kernels, kernel_group(info_, conv))) {
      if (silent) {
        refuse(ErrorCode::kNotAvailable,
               "not even one group of kernels of {}x{}x{} (CHW) fits the convolution buffer, and "
               "parts of them cannot be compared",
               conv.channels, conv.kernel_height, conv.kernel_width);
      }
      const auto folded = [&](const auto& kernels) -> Kernels {
        return fold_weights(part.conv, kernels);
      };
      add_kernel_parts(node, part, conv, fold ? std::visit(folded, part.weights) : part.weights,
                       some);
      return;
    }
  }
  const WeightsDesc weights = weights_desc(conv);
  std::vector<std::byte> stream(winograd ? winograd_bytes(info_, winograd->desc)
                                         : weights_bytes(weights));
  std::visit(
      [&](const auto& kernels) {
        if (conv.mode == NVDLA_CONV_IMAGE) {
          pack_image_weights(info_, weights, conv.post_extension, kernels, stream);
        } else if (winograd) {
          pack_winograd_weights(info_, winograd->desc, kernels, stream);
        } else if (fold) {
          pack_weights(info_, weights, fold_weights(part.conv, kernels), stream);
        } else {
          pack_weights(info_, weights, kernels, stream);
        }
      },
      part.weights);
  place_weights(weights, stream, conv, blob);
  nvdla_sdp sdp;
  if (silent) {
    sdp = sdp_part(conv_output(part.conv), result, compared.sdp, blob);
    place_other(compared, sdp);
  } else {
    sdp = sdp_part(node, part.sdp, blob);
  }
  commit_constants(std::move(blob));
  if (conv.batch > 1) allocations_.back().slot.alignment = kBatchAlign;
  add_bands(node, conv, sdp,
            {.name = node.name, .macs = node.macs, .whole = true, .after = compared.after});
}

void Builder::add_bands(const LayerNode& node, const nvdla_conv& conv, const nvdla_sdp& sdp,
                        const ConvRole& role) {
  // Other cubes of a batch come between the bands.
  const bool all_cubes = descs_[node.input].shape.batch == conv.batch;
  const std::vector<Band> bands = split_conv(info_, conv, all_cubes);
  const std::uint32_t height = conv_output(conv).height;
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const Band& band = bands[i];
    nvdla_layer layer = make_layer(band.conv, sdp);
    move_lines(layer, band);
    std::string name =
        bands.size() == 1 ? role.name : fmt::format("{} {}/{}", role.name, i + 1, bands.size());
    if ((sdp.y.flags & NVDLA_SDP_LUT) != 0) layer.lut = *operator_y(node).lut + 1;
    // A pooling takes lines of several bands, but each channel for itself.
    if (role.whole && band.output_lines == height) fuse_pooling(node, layer, name);
    move_kernels(info_, layer, band.first_kernel);
    if (role.after) add_wait(layer, *role.after);
    const std::uint64_t macs = role.macs / height * band.output_lines;
    commit(node, layer, name, macs * band.conv.kernels / conv.kernels);
  }
}

}  // namespace nvdla::detail
