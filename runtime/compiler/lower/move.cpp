// SPDX-License-Identifier: MIT
//
// Lowering normalisations and layers that only move elements.
#include <vector>

#include "compiler/lower/lowering.hpp"
#include "support/check.hpp"

namespace nvdla::detail {

void lower(Lowering& lowering, const LayerNode& node, const NormNode& part) {
  const TensorDesc& in = lowering.desc(node.input);
  nvdla_layer layer = {};
  layer.kind = NVDLA_LAYER_CDP;
  layer.lut = part.lut + 1;
  layer.cdp = part.cdp;
  layer.cdp.precision = static_cast<std::uint32_t>(in.precision);
  layer.cdp.width = in.shape.width;
  layer.cdp.height = in.shape.height;
  layer.cdp.channels = in.shape.channels;
  layer.cdp.input = lowering.surface(node.input);
  layer.cdp.output = lowering.surface(node.output);
  lowering.emit(node, layer, {.name = node.name});
}

void lower(Lowering& lowering, const LayerNode& node, const RubikNode& part) {
  const TensorDesc& in = lowering.desc(node.input);
  nvdla_layer layer = {};
  layer.kind = NVDLA_LAYER_RUBIK;
  layer.rubik = part.rubik;
  layer.rubik.precision = static_cast<std::uint32_t>(in.precision);
  layer.rubik.width = in.shape.width;
  layer.rubik.height = in.shape.height;
  layer.rubik.channels = in.shape.channels;
  layer.rubik.input = lowering.surface(node.input);
  layer.rubik.output = lowering.surface(node.output);
  lowering.emit(node, layer, {.name = node.name});
}

// A copy has a transfer for each image of a batch, line by line.
void lower(Lowering& lowering, const LayerNode& node, const CopyNode&) {
  const TensorDesc& in = lowering.desc(node.input);
  if (!lowering.info().has_bdma) {
    throw_error(ErrorCode::kNotAvailable, "a copy needs BDMA, which {} does not have",
                lowering.info().configuration);
  }
  std::vector<nvdla_transfer> transfers;
  for (std::uint32_t image = 0; image < in.shape.batch; ++image) {
    nvdla_transfer transfer = {};
    transfer.line_bytes = in.planar ? in.line_stride : in.shape.width * in.atom;
    transfer.lines = in.shape.height;
    transfer.surfaces = in.surfaces();
    transfer.source = lowering.surface(node.input);
    transfer.destination = lowering.surface(node.output);
    for (nvdla_surface* surface : {&transfer.source, &transfer.destination}) {
      surface->offset += std::uint64_t{image} * surface->batch_stride;
      surface->batch_stride = 0;
    }
    transfers.push_back(transfer);
    if (transfers.size() < NVDLA_MAX_LAYER_TRANSFERS && image + 1 < in.shape.batch) continue;
    lowering.emit_transfers(node, transfers);
    transfers.clear();
  }
}

}  // namespace nvdla::detail
