// SPDX-License-Identifier: MIT
#include "compiler/graph/views.hpp"

#include <algorithm>

#include "support/integers.hpp"

namespace nvdla::detail {

std::vector<Corner> part_corners(const Graph& graph, const ConcatNode& node) {
  std::vector<Corner> corners;
  Corner next;
  for (const std::uint32_t part : node.parts) {
    next.channel = static_cast<std::uint32_t>(arith::round_up(next.channel, node.alignment));
    corners.push_back(next);
    const Shape& shape = graph.tensors[part].shape;
    if (node.axis == Axis::kChannels) next.channel += shape.channels;
    if (node.axis == Axis::kHeight) next.line += shape.height;
    if (node.axis == Axis::kWidth) next.column += shape.width;
  }
  return corners;
}

bool begins_atom(const DeviceInfo& info, const TensorNode& tensor, const Corner& corner) {
  return corner.channel % (info.atom / precision_bytes(tensor.precision)) == 0;
}

bool parts_fill_atoms(const Graph& graph, const DeviceInfo& info, const ConcatNode& node) {
  const auto corners = part_corners(graph, node);
  return std::all_of(corners.begin(), corners.end(), [&](const Corner& corner) {
    return begins_atom(info, graph.tensors[node.parts[0]], corner);
  });
}

nvdla_surface inside(const nvdla_surface& whole, const Corner& corner, const TensorDesc& desc) {
  nvdla_surface surface = whole;
  surface.offset +=
      std::uint64_t{corner.channel / desc.elements_per_atom()} * whole.surface_stride +
      std::uint64_t{corner.line} * whole.line_stride + std::uint64_t{corner.column} * desc.atom;
  return surface;
}

std::uint32_t root_of(const Graph& graph, std::uint32_t tensor) {
  while (graph.tensors[tensor].view) tensor = graph.tensors[tensor].view->whole;
  return tensor;
}

bool is_read(const Graph& graph, std::uint32_t tensor) {
  if (graph.tensors[tensor].read) return true;
  for (std::uint32_t part = 0; part < graph.tensors.size(); ++part)
    if (graph.tensors[part].read && root_of(graph, part) == tensor) return true;
  return false;
}

bool lies_there(const Graph& graph, std::uint32_t part, std::uint32_t whole, const Corner& corner) {
  const auto& view = graph.tensors[part].view;
  return view && view->whole == whole && view->corner == corner;
}

bool is_input_of_one(const Graph& graph, std::uint32_t tensor) {
  const TensorNode& node = graph.tensors[tensor];
  if (node.producer || node.image || node.planar || is_output(graph, tensor)) return false;
  std::ptrdiff_t readers = 0;
  for (const LayerNode& layer : graph.live_layers()) {
    if (layer.input == tensor) ++readers;
    readers += std::count(layer.operands.begin(), layer.operands.end(), tensor);
  }
  return readers == 1;
}

bool is_output(const Graph& graph, std::uint32_t tensor) {
  return std::any_of(graph.outputs.begin(), graph.outputs.end(),
                     [&](const IoTensor& port) { return port.tensor == tensor; });
}

}  // namespace nvdla::detail
