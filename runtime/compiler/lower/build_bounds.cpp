// SPDX-License-Identifier: MIT
//
// Building what holds results to bounds where the layer itself has no operators left for it.
#include <algorithm>
#include <span>
#include <utility>

#include "compiler/lower/builder.hpp"

namespace nvdla::detail {
namespace {

// What is behind the sums of a layer: of a deconvolution, of each phase, with the same bounds.
std::span<const SdpNode> sdp_of(const LayerNode& node) {
  if (const auto* sdp = std::get_if<SdpNode>(&node.part)) return {sdp, 1};
  if (const auto* conv = std::get_if<ConvNode>(&node.part)) return {&conv->sdp, 1};
  if (const auto* deconv = std::get_if<DeconvNode>(&node.part)) return deconv->sdp;
  return {};
}

OperatorNode relu_node() {
  OperatorNode op;
  op.relu = true;
  return op;
}

// Results are at most or at least `bits` of fp16.
OperatorNode limit_node(bool at_most, std::int32_t bits) {
  OperatorNode op;
  op.alu = at_most ? NVDLA_ALU_MIN : NVDLA_ALU_MAX;
  op.mode = NVDLA_OPERAND_LAYER;
  op.alu_values = {bits};
  return op;
}

}  // namespace

bool Builder::is_held_apart(const LayerNode& node) const {
  if (node.output == kNoTensor) return false;
  const Precision result = net_.tensors[node.output].precision;
  const auto parts = sdp_of(node);
  return std::any_of(parts.begin(), parts.end(), [&](const SdpNode& part) {
    return has_bounds(part, result) && !hold_to_bounds(part, result, info_.has_sdp_y);
  });
}

// In place. SDP takes a cube of one position as a run of atoms, so that one with gaps between its
// surfaces is worked on surface by surface.
void Builder::add_bounds(const LayerNode& node) {
  const TensorDesc& out = descs_[node.output];
  const bool gaps = out.shape.width * out.shape.height == 1 && out.surfaces() > 1 &&
                    out.surface_stride != out.atom;
  const std::uint32_t each = gaps ? out.elements_per_atom() : out.shape.channels;
  SdpNode part;
  part.processing = out.precision;
  const SdpNode& held = sdp_of(node).front();
  part.bounds = held.bounds;
  if (held.relu_behind_y) {
    const std::int32_t zero = element_of_zero(held, out.precision);
    part.operators.x1 = zero == 0 ? relu_node() : limit_node(held.converter.scale < 0, zero);
  }
  ConstantPool blob = begin_constants();
  nvdla_sdp sdp = sdp_part(node, part, blob);
  sdp.in_precision = sdp.proc_precision;
  sdp.width = out.shape.width;
  sdp.height = out.shape.height;
  sdp.input = surface(node.output);
  allocations_[sdp.input.slot].slot.access |= NVDLA_SLOT_READ;
  commit_constants(std::move(blob));
  const auto made = static_cast<std::uint32_t>(layers_.size() - 1);
  const std::uint32_t pieces = (out.shape.channels + each - 1) / each;
  for (std::uint32_t piece = 0; piece < pieces; ++piece) {
    sdp.channels = std::min(each, out.shape.channels - piece * each);
    nvdla_layer layer = make_layer(sdp);
    add_wait(layer, made);
    commit(node, layer,
           pieces == 1 ? node.name + " clamp"
                       : fmt::format("{} clamp {}/{}", node.name, piece + 1, pieces),
           0);
    sdp.input.offset += out.surface_stride;
    sdp.output.offset += out.surface_stride;
  }
}

}  // namespace nvdla::detail
