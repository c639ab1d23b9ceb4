// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include "compiler/graph/views.hpp"
#include "compiler/lower/conv.hpp"
#include "compiler/lower/lowering.hpp"
#include "compiler/passes/passes.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/lowlevel/folding.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

// Returns the shape of what the layer `producer` writes, which may be more than its output.
Shape room_of(const LayerNode& producer, const Shape& output) {
  if (const auto* deconv = std::get_if<DeconvNode>(&producer.part))
    return deconvolution_room(*deconv);
  const auto* conv = std::get_if<ConvNode>(&producer.part);
  return conv != nullptr && conv->form.winograd ? conv_output(conv->form.winograd->conv) : output;
}

// Returns how a tensor lies, as far as one image of a batch goes, with room for what its producer
// writes beyond it.
TensorDesc image_desc(const Graph& graph, const DeviceInfo& info, std::uint32_t index) {
  const TensorNode& tensor = graph.tensors[index];
  if (tensor.view) {
    TensorDesc desc = image_desc(graph, info, tensor.view->whole);
    desc.shape = tensor.shape;
    return desc;
  }
  if (tensor.folded_for)
    return packed_tensor(info, fold_width(*tensor.folded_for).shape, tensor.precision);
  TensorDesc desc;
  desc.shape = tensor.shape;
  desc.precision = tensor.precision;
  desc.atom = info.atom;
  desc.planar = tensor.planar;
  desc.pixel = tensor.pixel;
  desc = resolve(desc);
  if (!tensor.producer) return desc;
  const LayerNode& producer = graph.layers[*tensor.producer];
  TensorDesc wide = desc;
  wide.shape = room_of(producer, tensor.shape);
  wide.line_stride = wide.surface_stride = wide.batch_stride = 0;
  wide = resolve(wide);
  desc.line_stride = wide.line_stride;
  desc.surface_stride = wide.surface_stride;
  desc.batch_stride = 0;
  const auto* conv = std::get_if<ConvNode>(&producer.part);
  if (conv != nullptr && conv->form.images > 1) {
    desc.line_stride = static_cast<std::uint32_t>(arith::round_up(desc.line_stride, kBatchAlign));
    desc.surface_stride = desc.line_stride * desc.shape.height;
  }
  return desc;
}

// Returns for each root how many lines its surfaces have room for, where layers take every so
// many-th line of it; else 0.
std::vector<std::uint32_t> lines_of_steps(const Graph& graph) {
  std::vector<std::uint32_t> lines(graph.tensors.size(), 0);
  for (const LayerNode& layer : graph.live_layers()) {
    const auto* const conv = std::get_if<ConvNode>(&layer.part);
    if (conv == nullptr || conv->form.line_step == 1) continue;
    std::vector<std::uint32_t> touched = layer.operands;
    touched.insert(touched.end(), {layer.input, layer.output});
    for (const std::uint32_t tensor : touched) {
      std::uint32_t& room = lines[root_of(graph, tensor)];
      const std::uint64_t whole =
          arith::round_up(graph.tensors[tensor].shape.height, conv->form.line_step);
      room = std::max(room, static_cast<std::uint32_t>(whole));
    }
  }
  return lines;
}

// Slices of a batch are as far apart as what they are slices of; nothing else of several images is
// a view.
std::uint32_t batch_stride(const Graph& graph, const TensorNode& tensor, const TensorDesc& desc) {
  return tensor.view ? graph.tensors[tensor.view->whole].desc.batch_stride
                     : static_cast<std::uint32_t>(cube_bytes(desc));
}

}  // namespace

Graph lay_out_tensors(Graph graph, PassContext& context) {
  const std::vector<std::uint32_t> lines = lines_of_steps(graph);
  for (std::uint32_t i = 0; i < graph.tensors.size(); ++i) {
    TensorNode& tensor = graph.tensors[i];
    if (tensor.image) {
      tensor.desc = {
          .shape = tensor.shape, .precision = tensor.precision, .atom = context.info.atom};
      continue;
    }
    TensorDesc desc = image_desc(graph, context.info, i);
    desc.surface_stride =
        std::max(desc.surface_stride, desc.line_stride * lines[root_of(graph, i)]);
    if (tensor.shape.batch > 1) desc.batch_stride = batch_stride(graph, tensor, desc);
    tensor.desc = resolve(desc);
    ++context.applied;
  }
  return graph;
}

}  // namespace nvdla::detail
