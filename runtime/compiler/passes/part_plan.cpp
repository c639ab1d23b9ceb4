// SPDX-License-Identifier: MIT
#include "compiler/passes/part_plan.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "compiler/passes/winograd_plan.hpp"

namespace nvdla::detail {
namespace {

std::uint32_t surfaces_of(const DeviceInfo& info, const TensorNode& tensor) {
  return packed_tensor(info, {tensor.shape.channels, 1, 1}, tensor.precision).surfaces();
}

std::uint32_t positions(const Shape& shape) { return shape.width * shape.height; }

}  // namespace

std::vector<Corner> part_corners(const Network::Impl& net, const ConcatNode& node) {
  std::vector<Corner> corners;
  Corner next;
  for (const std::uint32_t part : node.parts) {
    corners.push_back(next);
    const Shape& shape = net.tensors[part].shape;
    if (node.axis == Axis::kChannels) next.channel += shape.channels;
    if (node.axis == Axis::kHeight) next.line += shape.height;
    if (node.axis == Axis::kWidth) next.column += shape.width;
  }
  return corners;
}

bool begins_atom(const DeviceInfo& info, const TensorNode& tensor, const Corner& corner) {
  return corner.channel % (info.atom / precision_bytes(tensor.precision)) == 0;
}

bool parts_fill_atoms(const Network::Impl& net, const DeviceInfo& info, const ConcatNode& node) {
  const auto corners = part_corners(net, node);
  return std::all_of(corners.begin(), corners.end(), [&](const Corner& corner) {
    return begins_atom(info, net.tensors[node.parts[0]], corner);
  });
}

nvdla_surface inside(const nvdla_surface& whole, const Corner& corner, const TensorDesc& desc) {
  nvdla_surface surface = whole;
  surface.offset +=
      std::uint64_t{corner.channel / desc.elements_per_atom()} * whole.surface_stride +
      std::uint64_t{corner.line} * whole.line_stride + std::uint64_t{corner.column} * desc.atom;
  return surface;
}

PartPlan::PartPlan(const Network::Impl& net, const DeviceInfo& info)
    : net_(net), info_(info), part_of_(net.tensors.size()) {
  for (const LayerNode& layer : net_.layers) {
    if (const auto* concat = std::get_if<ConcatNode>(&layer.part)) {
      if (!parts_fill_atoms(net_, info_, *concat)) continue;
      const auto corners = part_corners(net_, *concat);
      for (std::size_t i = 0; i < corners.size(); ++i)
        try_part(concat->parts[i], layer.output, corners[i]);
    } else if (const auto* pad = std::get_if<PadNode>(&layer.part)) {
      try_part(layer.input, layer.output, pad->corner);
    } else if (const auto* slice = std::get_if<SliceNode>(&layer.part)) {
      try_slice(layer, slice->corner);
    }
  }
}

void PartPlan::try_part(std::uint32_t tensor, std::uint32_t whole, const Corner& corner) {
  if (!part_of_[tensor] && can_be_part(tensor, whole)) keep_unless_crossed(tensor, {whole, corner});
}

void PartPlan::try_slice(const LayerNode& layer, const Corner& corner) {
  if (begins_atom(info_, net_.tensors[layer.input], corner) &&
      can_be_inside(layer.output, layer.input)) {
    keep_unless_crossed(layer.output, {layer.input, corner});
  }
}

void PartPlan::keep_unless_crossed(std::uint32_t tensor, const Part& part) {
  part_of_[tensor] = part;
  if (std::any_of(net_.layers.begin(), net_.layers.end(),
                  [&](const LayerNode& layer) { return crosses_itself(layer); })) {
    part_of_[tensor].reset();
  }
}

bool PartPlan::is_output(std::uint32_t tensor) const {
  return std::any_of(net_.outputs.begin(), net_.outputs.end(),
                     [&](const IoTensor& port) { return port.tensor == tensor; });
}

// Whether a tensor may lie between others.
bool PartPlan::can_be_inside(std::uint32_t tensor, std::uint32_t whole) const {
  const TensorNode& node = net_.tensors[tensor];
  if (node.memory != net_.tensors[whole].memory || is_output(tensor)) return false;
  // Of int16 SDP may take surfaces by pairs, and of a cube of one position a run.
  const std::uint32_t surfaces = surfaces_of(info_, node);
  if (node.precision == Precision::kInt16 && surfaces % 2 != 0) return false;
  return positions(node.shape) > 1 || positions(net_.tensors[root(whole)].shape) == 1;
}

// Whether the layer that makes a tensor may write it between others: with any strides, and nothing
// beyond it.
bool PartPlan::can_be_part(std::uint32_t tensor, std::uint32_t whole) const {
  const TensorNode& node = net_.tensors[tensor];
  if (!node.producer || node.shape.batch > 1 || !can_be_inside(tensor, whole)) return false;
  const LayerNode& producer = net_.layers[*node.producer];
  if (const auto* conv = std::get_if<ConvNode>(&producer.part)) {
    const auto plan = [&] { return plan_winograd(info_, *conv, node.precision); };
    return !at_place(layer_text(*node.producer, producer.name), *node.producer, plan);
  }
  return std::holds_alternative<SdpNode>(producer.part) ||
         std::holds_alternative<PoolNode>(producer.part) ||
         std::holds_alternative<NormNode>(producer.part) ||
         std::holds_alternative<PadNode>(producer.part) ||
         std::holds_alternative<ConcatNode>(producer.part) ||
         std::holds_alternative<CpuNode>(producer.part);
}

std::uint32_t PartPlan::root(std::uint32_t tensor) const {
  while (part_of_[tensor]) tensor = part_of_[tensor]->whole;
  return tensor;
}

bool PartPlan::is_read(std::uint32_t tensor) const {
  if (net_.tensors[tensor].read) return true;
  for (std::uint32_t part = 0; part < net_.tensors.size(); ++part)
    if (net_.tensors[part].read && root(part) == tensor) return true;
  return false;
}

bool PartPlan::lies_there(std::uint32_t part, std::uint32_t whole, const Corner& corner) const {
  return part_of_[part] && part_of_[part]->whole == whole && part_of_[part]->corner == corner;
}

bool PartPlan::in_surfaces(std::uint32_t tensor) const {
  for (; part_of_[tensor]; tensor = part_of_[tensor]->whole) {
    const Shape &part = net_.tensors[tensor].shape,
                &whole = net_.tensors[part_of_[tensor]->whole].shape;
    if (part.height != whole.height || part.width != whole.width) return false;
  }
  return true;
}

bool PartPlan::crosses(std::uint32_t read, std::uint32_t written) const {
  return root(read) == root(written) && !(in_surfaces(read) && in_surfaces(written));
}

// Whether a layer would write between what it reads: lines or columns of one tensor, in surfaces
// that both have a share in. Whole surfaces are apart.
bool PartPlan::crosses_itself(const LayerNode& layer) const {
  if (layer.output == kNoTensor) return false;
  // Those parts that have to be copied; parts that are written where they belong are not read.
  const auto copy_crosses = [&](std::uint32_t part, const Corner& corner, bool surfaces) {
    if (lies_there(part, layer.output, corner)) return false;
    return (!surfaces && root(part) == root(layer.output)) || crosses(part, layer.output);
  };
  if (const auto* concat = std::get_if<ConcatNode>(&layer.part)) {
    const auto corners = part_corners(net_, *concat);
    for (std::size_t i = 0; i < corners.size(); ++i)
      if (copy_crosses(concat->parts[i], corners[i], concat->axis == Axis::kChannels)) return true;
    return false;
  }
  if (const auto* pad = std::get_if<PadNode>(&layer.part)) {
    return copy_crosses(layer.input, pad->corner, false);
  }
  // A slice that lies there is not copied.
  if (std::holds_alternative<SliceNode>(layer.part)) {
    return !part_of_[layer.output] && crosses(layer.input, layer.output);
  }
  const auto reads_across = [&](const LayerNode& reader) {
    const auto across = [&](std::uint32_t tensor) { return crosses(tensor, layer.output); };
    return across(reader.input) ||
           std::any_of(reader.operands.begin(), reader.operands.end(), across);
  };
  if (reads_across(layer)) return true;
  // A pooling may become part of the layer before.
  const auto& before = net_.tensors[layer.input].producer;
  return before && std::holds_alternative<PoolNode>(layer.part) &&
         reads_across(net_.layers[*before]);
}

}  // namespace nvdla::detail
