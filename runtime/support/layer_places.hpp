// SPDX-License-Identifier: MIT
//
// Visits every place in a slot that a layer reads or writes, to inspect or to move them all.
#ifndef NVDLA_SUPPORT_LAYER_PLACES_HPP
#define NVDLA_SUPPORT_LAYER_PLACES_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

namespace nvdla::detail {

// Calls use(place, written) with each nvdla_surface and nvdla_span that `layer` uses, including
// those of its transfers, but not the tables of compressed weights, which have their own slot.
// `transfers` are the program's. Both may be const.
template <typename Layer, typename Transfers, typename Use>
void for_each_place(Layer& layer, Transfers&& transfers, const Use& use) {
  const bool sdp = layer.kind <= NVDLA_LAYER_SDP_PDP;
  const bool pooled = layer.kind == NVDLA_LAYER_CONV_SDP_PDP || layer.kind == NVDLA_LAYER_SDP_PDP;
  if (layer.kind == NVDLA_LAYER_CONV_SDP || layer.kind == NVDLA_LAYER_CONV_SDP_PDP) {
    use(layer.conv.input, false);
    // Only images with two planes have this surface.
    if (layer.conv.input_uv.line_stride != 0) use(layer.conv.input_uv, false);
    use(layer.conv.weights, false);
  } else if (sdp) {
    use(layer.sdp.input, false);
  }
  if (sdp) {
    if (layer.sdp.x1.mode != NVDLA_OPERAND_LAYER) use(layer.sdp.x1.operand, false);
    if (layer.sdp.x2.mode != NVDLA_OPERAND_LAYER) use(layer.sdp.x2.operand, false);
    if (layer.sdp.y.mode != NVDLA_OPERAND_LAYER) use(layer.sdp.y.operand, false);
    if (!pooled && layer.sdp.y.alu != NVDLA_ALU_EQUAL) use(layer.sdp.output, true);
  }
  switch (layer.kind) {
    case NVDLA_LAYER_CONV_SDP_PDP:
    case NVDLA_LAYER_SDP_PDP:
      use(layer.pdp.output, true);
      break;
    case NVDLA_LAYER_PDP:
      use(layer.pdp.input, false);
      use(layer.pdp.output, true);
      break;
    case NVDLA_LAYER_CDP:
      use(layer.cdp.input, false);
      use(layer.cdp.output, true);
      break;
    case NVDLA_LAYER_RUBIK:
      use(layer.rubik.input, false);
      use(layer.rubik.output, true);
      break;
    case NVDLA_LAYER_BDMA:
      for (std::uint32_t i = 0; i < layer.bdma.num_transfers; ++i) {
        auto& transfer = transfers[layer.bdma.first_transfer + i];
        use(transfer.source, false);
        use(transfer.destination, true);
      }
      break;
    default:
      break;
  }
}

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_LAYER_PLACES_HPP
