// SPDX-License-Identifier: MIT
#include "packing/bands.hpp"

#include <utility>

#include "compiler/lower/conv.hpp"
#include "compiler/passes/layer_mover.hpp"
#include "compiler/passes/layer_parts.hpp"
#include "compiler/passes/passes.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

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

nvdla_layer layer_of(const DeviceInfo& info, const nvdla_layer& whole, const Band& band) {
  nvdla_layer layer = whole;
  layer.conv = band.conv;
  move_lines(layer, band);
  move_kernels(info, layer, band.first_kernel);
  return layer;
}

Schedule cut_bands(Schedule schedule, const Graph& graph, PassContext& context) {
  const auto cut = [&](const nvdla_layer& layer, const Operation& operation,
                       const EmitLayer& emit) {
    if (layer.conv.kernels == 0 || operation.cut) return emit(layer, operation);
    const auto bands = with_error_context(
        layer_text(operation.origin, graph.layers[operation.origin].name), operation.origin,
        // Other images of a batch come between the bands.
        [&] { return split_conv(context.info, layer.conv, operation.images == layer.conv.batch); });
    const std::uint32_t height = conv_output(layer.conv).height;
    if (bands.size() > 1) ++context.applied;
    for (std::size_t i = 0; i < bands.size(); ++i) {
      Operation own = operation;
      if (bands.size() > 1) own.name += fmt::format(" {}/{}", i + 1, bands.size());
      const std::uint64_t macs = operation.macs / height * bands[i].output_lines;
      own.macs = macs * bands[i].conv.kernels / layer.conv.kernels;
      own.whole = operation.whole && bands.size() == 1;
      emit(layer_of(context.info, layer, bands[i]), std::move(own));
    }
  };
  return replace_layers(std::move(schedule), {}, cut);
}

}  // namespace nvdla::detail
