// SPDX-License-Identifier: MIT
//
// Views: parts of concatenations and insides of paddings are written where they belong, slices are
// read where they are, so that nothing is copied.
#include "compiler/graph/views.hpp"

#include <algorithm>

#include "compiler/passes/passes.hpp"
#include "nvdla/lowlevel/tensors.hpp"

namespace nvdla::detail {
namespace {

std::uint32_t surfaces_of(const DeviceInfo& info, const TensorNode& tensor) {
  return packed_tensor(info, {tensor.shape.channels, 1, 1}, tensor.precision).surfaces();
}

std::uint32_t positions(const Shape& shape) { return shape.width * shape.height; }

// `ViewPlanner` makes tensors views, one at a time, and takes back each that would let a layer
// write between what it reads.
class ViewPlanner {
 public:
  ViewPlanner(Graph& graph, const DeviceInfo& info) : graph_(graph), info_(info) {}

  void run();

 private:
  void try_part(std::uint32_t tensor, std::uint32_t whole, const Corner& corner);
  void try_slice(const LayerNode& layer, const Corner& corner);
  void keep_unless_crossed(std::uint32_t tensor, const View& view);
  bool can_be_inside(std::uint32_t tensor, std::uint32_t whole) const;
  bool can_be_part(std::uint32_t tensor, std::uint32_t whole) const;
  // Returns true if the tensor has whole surfaces of its root.
  bool in_surfaces(std::uint32_t tensor) const;
  bool crosses(std::uint32_t read, std::uint32_t written) const;
  bool crosses_itself(const LayerNode& layer) const;

  Graph& graph_;
  const DeviceInfo& info_;
};

void ViewPlanner::run() {
  for (const LayerNode& layer : graph_.live_layers()) {
    if (const auto* concat = std::get_if<ConcatNode>(&layer.part)) {
      if (!parts_fill_atoms(graph_, info_, *concat)) continue;
      const auto corners = part_corners(graph_, *concat);
      for (std::size_t i = 0; i < corners.size(); ++i)
        try_part(concat->parts[i], layer.output, corners[i]);
    } else if (const auto* pad = std::get_if<PadNode>(&layer.part)) {
      try_part(layer.input, layer.output, pad->corner);
    } else if (const auto* slice = std::get_if<SliceNode>(&layer.part)) {
      try_slice(layer, slice->corner);
    }
  }
}

void ViewPlanner::try_part(std::uint32_t tensor, std::uint32_t whole, const Corner& corner) {
  if (!graph_.tensors[tensor].view && can_be_part(tensor, whole))
    keep_unless_crossed(tensor, {whole, corner});
}

void ViewPlanner::try_slice(const LayerNode& layer, const Corner& corner) {
  if (begins_atom(info_, graph_.tensors[layer.input], corner) &&
      can_be_inside(layer.output, layer.input)) {
    keep_unless_crossed(layer.output, {layer.input, corner});
  }
}

void ViewPlanner::keep_unless_crossed(std::uint32_t tensor, const View& view) {
  graph_.tensors[tensor].view = view;
  if (std::ranges::any_of(graph_.live_layers(),
                          [&](const LayerNode& layer) { return crosses_itself(layer); })) {
    graph_.tensors[tensor].view.reset();
  }
}

// Returns true if a tensor may lie between others.
bool ViewPlanner::can_be_inside(std::uint32_t tensor, std::uint32_t whole) const {
  const TensorNode& node = graph_.tensors[tensor];
  if (node.memory != graph_.tensors[whole].memory || is_output(graph_, tensor)) return false;
  // SDP may take surfaces of int16 by pairs, and a cube of one position as a run.
  const std::uint32_t surfaces = surfaces_of(info_, node);
  if (node.precision == Precision::kInt16 && surfaces % 2 != 0) return false;
  return positions(node.shape) > 1 || positions(graph_.tensors[root_of(graph_, whole)].shape) == 1;
}

// Returns true if the layer that makes a tensor may write it between others: with any strides, and
// nothing beyond it.
bool ViewPlanner::can_be_part(std::uint32_t tensor, std::uint32_t whole) const {
  const TensorNode& node = graph_.tensors[tensor];
  if (!node.producer || node.shape.batch > 1 || !can_be_inside(tensor, whole)) return false;
  const LayerNode& producer = graph_.layers[*node.producer];
  if (const auto* conv = std::get_if<ConvNode>(&producer.part)) return !conv->form.winograd;
  return std::holds_alternative<SdpNode>(producer.part) ||
         std::holds_alternative<PoolNode>(producer.part) ||
         std::holds_alternative<NormNode>(producer.part) ||
         std::holds_alternative<PadNode>(producer.part) ||
         std::holds_alternative<ConcatNode>(producer.part) ||
         std::holds_alternative<CpuNode>(producer.part);
}

bool ViewPlanner::in_surfaces(std::uint32_t tensor) const {
  for (; graph_.tensors[tensor].view; tensor = graph_.tensors[tensor].view->whole) {
    const Shape &part = graph_.tensors[tensor].shape,
                &whole = graph_.tensors[graph_.tensors[tensor].view->whole].shape;
    if (part.height != whole.height || part.width != whole.width) return false;
  }
  return true;
}

bool ViewPlanner::crosses(std::uint32_t read, std::uint32_t written) const {
  return root_of(graph_, read) == root_of(graph_, written) &&
         !(in_surfaces(read) && in_surfaces(written));
}

// Returns true if a layer would write between what it reads: lines or columns of one tensor, in
// surfaces that both have a share in. Whole surfaces are apart.
bool ViewPlanner::crosses_itself(const LayerNode& layer) const {
  if (layer.output == kNoTensor) return false;
  // Only parts that have to be copied are read; others are written where they belong.
  const auto copy_crosses = [&](std::uint32_t part, const Corner& corner, bool surfaces) {
    if (lies_there(graph_, part, layer.output, corner)) return false;
    return (!surfaces && root_of(graph_, part) == root_of(graph_, layer.output)) ||
           crosses(part, layer.output);
  };
  if (const auto* concat = std::get_if<ConcatNode>(&layer.part)) {
    const auto corners = part_corners(graph_, *concat);
    for (std::size_t i = 0; i < corners.size(); ++i)
      if (copy_crosses(concat->parts[i], corners[i], concat->axis == Axis::kChannels)) return true;
    return false;
  }
  if (const auto* pad = std::get_if<PadNode>(&layer.part)) {
    return copy_crosses(layer.input, pad->corner, false);
  }
  // A slice that lies there is not copied.
  if (std::holds_alternative<SliceNode>(layer.part)) {
    return !graph_.tensors[layer.output].view && crosses(layer.input, layer.output);
  }
  const auto reads_across = [&](const LayerNode& reader) {
    const auto across = [&](std::uint32_t tensor) { return crosses(tensor, layer.output); };
    return across(reader.input) ||
           std::any_of(reader.operands.begin(), reader.operands.end(), across);
  };
  if (reads_across(layer)) return true;
  // A pooling may become part of the layer before.
  const auto& before = graph_.tensors[layer.input].producer;
  return before && std::holds_alternative<PoolNode>(layer.part) &&
         reads_across(graph_.layers[*before]);
}

}  // namespace

Graph place_views(Graph graph, PassContext& context) {
  ViewPlanner(graph, context.info).run();
  for (const TensorNode& tensor : graph.tensors) context.applied += tensor.view ? 1 : 0;
  return graph;
}

}  // namespace nvdla::detail
