// SPDX-License-Identifier: MIT
//
// Building what holds results to bounds where the layer itself has no operators left for it.
#include <algorithm>
#include <utility>

#include "network/builder.hpp"

namespace nvdla::detail {
namespace {

// What is behind the sums of a layer; phases of a deconvolution differ in their operands only.
const SdpNode* sdp_of(const LayerNode& node) {
  if (const auto* sdp = std::get_if<SdpNode>(&node.part)) return sdp;
  if (const auto* conv = std::get_if<ConvNode>(&node.part)) return &conv->sdp;
  if (const auto* deconv = std::get_if<DeconvNode>(&node.part)) return &deconv->sdp.front();
  return nullptr;
}

}  // namespace

bool Builder::is_held_apart(const LayerNode& node) const {
  const SdpNode* part = sdp_of(node);
  if (part == nullptr || node.output == kNoTensor) return false;
  const Precision result = net_.tensors[node.output].precision;
  return has_bounds(*part, result) && !hold_to_bounds(*part, result, info_.has_sdp_y);
}

// In place.
void Builder::add_bounds(const LayerNode& node) {
  const TensorDesc& out = descs_[node.output];
  SdpNode part;
  part.processing = out.precision;
  part.bounds = sdp_of(node)->bounds;
  Blob blob = make_blob();
  nvdla_sdp sdp = sdp_part(node, part, blob);
  sdp.in_precision = sdp.proc_precision;
  sdp.width = out.shape.width;
  sdp.height = out.shape.height;
  sdp.channels = out.shape.channels;
  sdp.input = surface(node.output);
  residents_[sdp.input.slot].slot.access |= NVDLA_SLOT_READ;
  add_blob(std::move(blob));
  nvdla_layer layer = make_layer(sdp);
  add_wait(layer, static_cast<std::uint32_t>(layers_.size() - 1));
  commit(node, layer, node.name + " clamp", 0);
}

}  // namespace nvdla::detail
