// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "compiler/passes/layer_mover.hpp"
#include "compiler/passes/layer_parts.hpp"
#include "compiler/passes/passes.hpp"
#include "packing/cbuf.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// Moves a surface on to another image of its batch; the layer works on one.
void move_to_image(nvdla_surface& surface, std::uint32_t image) {
  surface.offset += std::uint64_t{image} * surface.batch_stride;
  surface.batch_stride = 0;
}

}  // namespace

void select_image(nvdla_layer& layer, std::uint32_t image) {
  for (nvdla_surface* surface :
       {&layer.conv.input, &layer.conv.input_uv, &layer.sdp.x1.operand, &layer.sdp.x2.operand,
        &layer.sdp.y.operand, &layer.sdp.input, &layer.sdp.output, &layer.pdp.input,
        &layer.pdp.output, &layer.cdp.input, &layer.cdp.output, &layer.rubik.input,
        &layer.rubik.output}) {
    move_to_image(*surface, image);
  }
}

namespace {

// Moves a convolution on to other images of its batch, on which it works at once.
void select_images(nvdla_layer& layer, std::uint32_t first) {
  for (nvdla_surface* surface : {&layer.conv.input, &layer.sdp.output})
    surface->offset += std::uint64_t{first} * surface->batch_stride;
}

// Emits a layer for each image or for some of them; weights stay where the buffer holds them all.
void cut(const DeviceInfo& info, const nvdla_layer& layer, const Operation& operation,
         const EmitLayer& emit) {
  const std::uint32_t images = operation.images;
  const std::uint32_t most = std::max(layer.conv.batch, 1U);
  const bool keep = layer.conv.kernels != 0 && holds_all_weights(info, layer.conv);
  for (std::uint32_t image = 0; image < images; image += most) {
    const std::uint32_t count = std::min(most, images - image);
    nvdla_layer one = layer;
    one.conv.batch = std::min(layer.conv.batch, count);
    if (keep && image != 0) one.conv.flags |= NVDLA_CONV_REUSE_WEIGHTS;
    if (keep && image + count < images) one.conv.flags |= NVDLA_CONV_KEEP_WEIGHTS;
    Operation own = operation;
    own.images = 1;
    own.macs = operation.macs / images * count;
    if (count > 1) {
      select_images(one, image);
      if (count < images)
        own.suffix += fmt::format(" cubes {}..{}/{}", image + 1, image + count, images);
    } else {
      select_image(one, image);
      if (images > 1) own.suffix += fmt::format(" cube {}/{}", image + 1, images);
    }
    emit(one, std::move(own));
  }
}

}  // namespace

Schedule cut_images(Schedule schedule, const Graph&, PassContext& context) {
  return replace_layers(
      std::move(schedule), {},
      [&](const nvdla_layer& layer, const Operation& operation, const EmitLayer& emit) {
        if (operation.images > 1) ++context.applied;
        cut(context.info, layer, operation, emit);
      });
}

}  // namespace nvdla::detail
