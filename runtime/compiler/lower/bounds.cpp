// SPDX-License-Identifier: MIT
//
// Lowering what holds results to bounds where the layer itself has no operators left for it.
#include "compiler/graph/bounds.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/lower/sdp.hpp"
#include "nvdla/lowlevel/descriptors.hpp"

namespace nvdla::detail {
namespace {

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

// The layer works in place. SDP takes a cube of one position as a run of atoms, so that one with
// gaps between its surfaces is worked on surface by surface.
void lower_bounds(Lowering& lowering, const LayerNode& node) {
  const TensorDesc& out = lowering.desc(node.output);
  const bool gaps = out.shape.width * out.shape.height == 1 && out.surfaces() > 1 &&
                    out.surface_stride != out.atom;
  const std::uint32_t each = gaps ? out.elements_per_atom() : out.shape.channels;
  SdpNode part;
  part.processing = out.precision;
  const SdpNode& held = sdp_nodes(node).front();
  part.bounds = held.bounds;
  if (held.relu_behind_y) {
    const std::int32_t zero = element_of_zero(held, out.precision);
    const bool falls = held.converter.scale < 0;
    part.operators.x1 = zero == 0 && !falls ? relu_node() : limit_node(falls, zero);
  }
  ConstantPool pool = lowering.begin_constants();
  nvdla_sdp sdp = lower_sdp(lowering, node, part, pool);
  sdp.in_precision = sdp.proc_precision;
  sdp.width = out.shape.width;
  sdp.height = out.shape.height;
  sdp.input = lowering.surface(node.output);
  lowering.mark_read(sdp.input.slot);
  lowering.commit_constants(std::move(pool));
  const std::uint32_t made = *lowering.last();
  const std::uint32_t pieces = (out.shape.channels + each - 1) / each;
  for (std::uint32_t piece = 0; piece < pieces; ++piece) {
    sdp.channels = std::min(each, out.shape.channels - piece * each);
    std::string name = node.name + " clamp";
    if (pieces > 1) name += fmt::format(" {}/{}", piece + 1, pieces);
    lowering.emit(node, make_layer(sdp), {.name = std::move(name), .after = {made}});
    sdp.input.offset += out.surface_stride;
    sdp.output.offset += out.surface_stride;
  }
}

}  // namespace nvdla::detail
