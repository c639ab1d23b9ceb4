// SPDX-License-Identifier: MIT
//
// Building normalisations and layers that only move elements.
#include <algorithm>

#include "base/check.hpp"
#include "compiler/lower/builder.hpp"

namespace nvdla::detail {

void Builder::add_part(const LayerNode& node, const NormNode& part) {
  const TensorDesc& in = descs_[node.input];
  nvdla_layer layer = {};
  layer.kind = NVDLA_LAYER_CDP;
  layer.lut = part.lut + 1;
  layer.cdp = part.cdp;
  layer.cdp.precision = static_cast<std::uint32_t>(in.precision);
  layer.cdp.width = in.shape.width;
  layer.cdp.height = in.shape.height;
  layer.cdp.channels = in.shape.channels;
  layer.cdp.input = surface(node.input);
  layer.cdp.output = surface(node.output);
  commit(node, layer, node.name, 0);
}

void Builder::add_part(const LayerNode& node, const RubikNode& part) {
  const TensorDesc& in = descs_[node.input];
  nvdla_layer layer = {};
  layer.kind = NVDLA_LAYER_RUBIK;
  layer.rubik = part.rubik;
  layer.rubik.precision = static_cast<std::uint32_t>(in.precision);
  layer.rubik.width = in.shape.width;
  layer.rubik.height = in.shape.height;
  layer.rubik.channels = in.shape.channels;
  layer.rubik.input = surface(node.input);
  layer.rubik.output = surface(node.output);
  commit(node, layer, node.name, 0);
}

// One transfer for each cube of a batch, line by line.
void Builder::add_part(const LayerNode& node, const CopyNode&) {
  const TensorDesc& in = descs_[node.input];
  if (!info_.has_bdma) {
    refuse(ErrorCode::kNotAvailable, "a copy needs BDMA, which {} does not have",
           info_.configuration);
  }
  nvdla_layer layer = {};
  layer.kind = NVDLA_LAYER_BDMA;
  layer.bdma.first_transfer = static_cast<std::uint32_t>(transfers_.size());
  for (std::uint32_t cube = 0; cube < in.shape.batch; ++cube) {
    nvdla_transfer transfer = {};
    transfer.line_bytes = in.planar ? in.line_stride : in.shape.width * in.atom;
    transfer.lines = in.shape.height;
    transfer.surfaces = in.surfaces();
    transfer.source = surface(node.input);
    transfer.destination = surface(node.output);
    for (nvdla_surface* surface : {&transfer.source, &transfer.destination}) {
      surface->offset += std::uint64_t{cube} * surface->batch_stride;
      surface->batch_stride = 0;
    }
    transfers_.push_back(transfer);
    if (++layer.bdma.num_transfers == NVDLA_MAX_LAYER_TRANSFERS || cube + 1 == in.shape.batch) {
      commit_one(node, layer, node.name, 0);
      layer.bdma.first_transfer = static_cast<std::uint32_t>(transfers_.size());
      layer.bdma.num_transfers = 0;
    }
  }
}

}  // namespace nvdla::detail
