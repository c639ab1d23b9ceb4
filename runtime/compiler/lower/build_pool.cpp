// SPDX-License-Identifier: MIT
//
// Building poolings: from memory, or on the fly behind SDP.
#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "compiler/lower/builder.hpp"
#include "compiler/lower/pool_bands.hpp"
#include "compiler/lower/pool_steps.hpp"

namespace nvdla::detail {

const LayerNode* Builder::only_pooling(const LayerNode& node) const {
  const std::uint32_t tensor = node.output;
  for (const auto& port : net_.outputs) {
    if (port.tensor == tensor) return nullptr;
  }
  const LayerNode* only = nullptr;
  for (const LayerNode& layer : net_.layers) {
    const bool operand =
        std::find(layer.operands.begin(), layer.operands.end(), tensor) != layer.operands.end();
    if (layer.input != tensor && !operand) continue;
    if (only != nullptr || operand || !std::holds_alternative<PoolNode>(layer.part)) return nullptr;
    only = &layer;
  }
  return only;
}

// SDP hands on all that it computes: where a stride leaves input over it may be more than the
// windows take.
const LayerNode* Builder::flying_pooling(const LayerNode& node) const {
  if (node.output == kNoTensor || is_held_apart(node)) return nullptr;
  const LayerNode* pooling = only_pooling(node);
  if (pooling == nullptr) return nullptr;
  const nvdla_pdp& pdp = std::get<PoolNode>(pooling->part).pdp;
  const Shape& in = net_.tensors[node.output].shape;
  const Shape& out = net_.tensors[pooling->output].shape;
  const std::uint32_t rest_x =
      (pdp.pad_left + in.width + pdp.pad_right - pdp.kernel_width) % pdp.stride_width;
  const std::uint32_t rest_y =
      (pdp.pad_top + in.height + pdp.pad_bottom - pdp.kernel_height) % pdp.stride_height;
  const bool flies = pdp.flags == 0 && is_one_step(pdp) && out.width <= pool_columns(pdp) &&
                     rest_x <= pdp.pad_right && rest_y <= pdp.pad_bottom;
  return flies ? pooling : nullptr;
}

void Builder::fuse_pooling(const LayerNode& node, nvdla_layer& layer, std::string& name) {
  const LayerNode* pooling = flying_pooling(node);
  // It takes the precision that SDP works in; with Winograd there is more than the tensor, and of
  // several cubes it knows nothing.
  if (pooling == nullptr || layer.conv.mode == NVDLA_CONV_WINOGRAD || layer.conv.batch > 1 ||
      layer.sdp.proc_precision != layer.sdp.out_precision) {
    return;
  }
  nvdla_pdp pdp = std::get<PoolNode>(pooling->part).pdp;
  pdp.bands = 1;
  pdp.output = surface(pooling->output);
  layer.kind = layer.kind == NVDLA_LAYER_SDP ? NVDLA_LAYER_SDP_PDP : NVDLA_LAYER_CONV_SDP_PDP;
  layer.sdp.output = {};
  layer.pdp = pdp;
  name += "+" + pooling->name;
  fused_[static_cast<std::size_t>(pooling - net_.layers.data())] = true;
}

void Builder::add_part(const LayerNode& node, const PoolNode& part) {
  const TensorDesc& in = descs_[node.input];
  nvdla_pdp whole = part.pdp;
  whole.precision = static_cast<std::uint32_t>(in.precision);
  whole.width = in.shape.width;
  whole.height = in.shape.height;
  whole.channels = in.shape.channels;
  const std::vector<nvdla_pdp> steps = split_window(whole);
  nvdla_surface from = surface(node.input);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    nvdla_pdp step = steps[i];
    step.input = from;
    step.output = surface(node.output);
    std::string name = node.name;
    if (steps.size() > 1) name += fmt::format(" step {}/{}", i + 1, steps.size());
    if (i + 1 < steps.size()) {
      Shape shape = in.shape;
      shape.width = steps[i + 1].width;
      shape.height = steps[i + 1].height;
      step.output = from = add_scratch(shape, in.precision).surface;
    }
    add_pooling(node, step, name, i > 0);
  }
}

void Builder::add_pooling(const LayerNode& node, const nvdla_pdp& pdp, const std::string& name,
                          bool follows) {
  const std::vector<PoolPiece> pieces = split_pooling(pdp);
  std::optional<std::uint32_t> after;
  if (follows) after = static_cast<std::uint32_t>(layers_.size() - 1);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    nvdla_layer layer = {};
    layer.kind = NVDLA_LAYER_PDP;
    layer.pdp = pieces[i].pdp;
    layer.pdp.input.offset += std::uint64_t{pieces[i].input_column} * info_.atom;
    layer.pdp.output.offset += std::uint64_t{pieces[i].output_column} * info_.atom;
    if (after) add_wait(layer, *after);
    commit(node, layer,
           pieces.size() == 1 ? name : fmt::format("{} {}/{}", name, i + 1, pieces.size()), 0);
  }
}

}  // namespace nvdla::detail
