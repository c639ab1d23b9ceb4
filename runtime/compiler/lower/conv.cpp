// SPDX-License-Identifier: MIT
//
// Lowering convolutions: weights are packed, and SDP is put behind.
#include "compiler/lower/conv.hpp"

#include <utility>

#include "compiler/lower/sdp.hpp"
#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/lowlevel/folding.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/types/device_info.hpp"
#include "packing/cbuf.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// Returns operator Y, which all phases of a deconvolution share.
const OperatorYNode& operator_y(const LayerNode& node) {
  const auto* deconv = std::get_if<DeconvNode>(&node.part);
  return deconv != nullptr ? deconv->sdp[0].y : std::get<ConvNode>(node.part).sdp.y;
}

void place_image(const Lowering& lowering, std::uint32_t tensor, nvdla_conv& conv) {
  const TensorNode& node = lowering.graph().tensors[tensor];
  if (!node.image) {
    conv.input = lowering.surface(tensor);
    conv.input.surface_stride = 0;
    return;
  }
  const ImageDesc image = resolve(lowering.info(), *node.image);
  conv.input.slot = tensor;
  conv.input.line_stride = image.line_stride;
  if (pixel_layout(image.format).planes == 1) return;
  conv.input_uv.slot = tensor;
  conv.input_uv.offset = image.offset_uv;
  conv.input_uv.line_stride = image.line_stride_uv;
}

std::vector<std::byte> pack(const DeviceInfo& info, const ConvNode& part, const nvdla_conv& conv) {
  const WeightsDesc desc = weights_desc(conv);
  const auto& winograd = part.form.winograd;
  std::vector<std::byte> stream(winograd ? winograd_bytes(info, winograd->desc)
                                         : weights_bytes(desc));
  std::visit(
      [&](const auto& kernels) {
        if (conv.mode == NVDLA_CONV_IMAGE) {
          pack_image_weights(info, desc, conv.post_extension, kernels, stream);
        } else if (winograd) {
          pack_winograd_weights(info, winograd->desc, kernels, stream);
        } else if (part.form.folded) {
          pack_weights(info, desc, fold_weights(part.conv, kernels), stream);
        } else {
          pack_weights(info, desc, kernels, stream);
        }
      },
      *part.weights);
  return stream;
}

Kernels folded_kernels(const ConvNode& part) {
  return std::visit(
      [&](const auto& kernels) -> Kernels { return fold_weights(part.conv, kernels); },
      *part.weights);
}

// Emits a convolution of groups: some kernels at a time, which write whole atoms and see the atoms
// that have the channels of their groups, with zeros where a channel is of another group. Nothing
// is gathered or copied, wherever groups begin.
void add_groups(Lowering& lowering, const LayerNode& node, const ConvNode& part,
                const nvdla_conv& conv) {
  ConstantPool pool = lowering.begin_constants();
  const nvdla_sdp sdp = lower_sdp(lowering, node, part.sdp, pool);
  add_sparse(lowering, node, conv, *part.weights, grouped_kernels(part), part.form.blocks, sdp,
             std::move(pool), {.name = node.name, .macs = node.macs, .whole = true}, " groups");
}

// Emits a convolution in one layer, which writes its output or compares.
void add_whole(Lowering& lowering, const LayerNode& node, const ConvNode& part, nvdla_conv conv) {
  Operation operation{.name = node.name, .macs = node.macs, .whole = true};
  const bool silent = part.sdp.silent();
  Compared compared;
  if (silent) {
    compared = compare_channels(lowering, node, part.sdp, conv_output(part.conv), true);
    if (compared.after) operation.after = {*compared.after};
  }
  ConstantPool pool = lowering.begin_constants();
  place_weights(lowering, weights_desc(conv), pack(lowering.info(), part, conv), conv, pool);
  nvdla_sdp sdp;
  if (silent) {
    sdp = lower_sdp(lowering, conv_output(part.conv), part.sdp.processing, compared.sdp, pool);
    place_other(compared, sdp);
  } else {
    sdp = lower_sdp(lowering, node, part.sdp, pool);
  }
  lowering.commit_constants(std::move(pool), conv.batch > 1 ? kBatchAlign : 0);
  emit_convolution(lowering, node, conv, sdp, std::move(operation));
}

}  // namespace

nvdla_conv formed_conv(const ConvNode& part) {
  nvdla_conv conv = part.form.winograd ? part.form.winograd->conv
                    : part.form.folded ? fold_width(part.conv).conv
                                       : part.conv;
  conv.batch = part.form.images;
  if (part.form.kernel_lines != 0) conv.post_extension = part.form.kernel_lines;
  return conv;
}

void lower(Lowering& lowering, const LayerNode& node, const ConvNode& part) {
  nvdla_conv conv = formed_conv(part);
  if (conv.mode == NVDLA_CONV_IMAGE) {
    place_image(lowering, node.input, conv);
  } else {
    conv.input = lowering.surface(node.input);
  }
  const bool grouped = part.groups > 1;
  if (part.form.kernels_at_once == 0)
    return grouped ? add_groups(lowering, node, part, conv) : add_whole(lowering, node, part, conv);
  const SparseKernels sparse = grouped ? grouped_kernels(part) : dense_kernels(conv);
  add_kernel_parts(lowering, node, part, conv,
                   part.form.folded ? folded_kernels(part) : *part.weights, sparse,
                   make_blocks(lowering.info(), conv, sparse, part.form.kernels_at_once));
}

void emit_convolution(Lowering& lowering, const LayerNode& node, const nvdla_conv& conv,
                      const nvdla_sdp& sdp, Operation operation) {
  nvdla_layer layer = make_layer(conv, sdp);
  if ((sdp.y.flags & NVDLA_SDP_LUT) != 0) layer.lut = *operator_y(node).lut + 1;
  const auto* const part = std::get_if<ConvNode>(&node.part);
  const std::uint32_t step = part == nullptr ? 1 : part->form.line_step;
  // Channels are gathered by kernels of one line.
  if (step == 1 || conv.kernel_height == 1) return lowering.emit(node, layer, std::move(operation));
  const std::uint32_t height = conv_output(conv).height;
  const auto parts = cut_into_steps(conv, step);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ConvLines& lines = parts[i];
    Operation own = operation;
    own.name += fmt::format(" lines {}/{}", i + 1, parts.size());
    own.macs = operation.macs / height * lines.output_lines;
    own.whole = false;
    lowering.emit(node, layer_of(layer, lines), std::move(own));
  }
}

}  // namespace nvdla::detail
