// SPDX-License-Identifier: MIT
//
// Building concatenations: parts are written where they belong, as far as that can be.
#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "network/builder.hpp"
#include "network/winograd_plan.hpp"

namespace nvdla::detail {
namespace {

std::uint32_t extent(const Shape& shape, Axis axis) {
  if (axis == Axis::kChannels) return shape.channels;
  return axis == Axis::kHeight ? shape.height : shape.width;
}

}  // namespace

// The first channel, line or column of each part.
std::vector<std::uint32_t> Builder::part_starts(const ConcatNode& node) const {
  std::vector<std::uint32_t> starts;
  std::uint32_t next = 0;
  for (const std::uint32_t part : node.parts) {
    starts.push_back(next);
    next += extent(net_.tensors[part].shape, node.axis);
  }
  return starts;
}

bool Builder::parts_fill_atoms(const ConcatNode& node) const {
  const std::uint32_t lanes = info_.atom / precision_bytes(net_.tensors[node.parts[0]].precision);
  const auto starts = part_starts(node);
  return node.axis != Axis::kChannels ||
         std::all_of(starts.begin(), starts.end(), [&](auto start) { return start % lanes == 0; });
}

// Whether the layer that makes a tensor may write it between others: with any strides, and nothing
// beyond it.
bool Builder::can_be_part(std::uint32_t tensor, std::uint32_t whole) const {
  const TensorNode& node = net_.tensors[tensor];
  if (!node.producer || node.shape.batch > 1 || node.memory != net_.tensors[whole].memory) {
    return false;
  }
  const auto is_it = [&](const PortNode& port) { return port.tensor == tensor; };
  if (std::any_of(net_.outputs.begin(), net_.outputs.end(), is_it)) return false;
  // Of int16 SDP may write surfaces by pairs, and of a cube of one position a run.
  const Shape& shape = node.shape;
  if (node.precision == Precision::kInt16 &&
      packed_tensor(info_, shape, node.precision).surfaces() % 2 != 0) {
    return false;
  }
  if (shape.width * shape.height == 1 &&
      net_.tensors[whole].shape.width * net_.tensors[whole].shape.height > 1) {
    return false;
  }
  const LayerNode& producer = net_.layers[*node.producer];
  if (const auto* conv = std::get_if<ConvNode>(&producer.part)) {
    return !in_layer(*node.producer, [&] { return plan_winograd(info_, *conv, node.precision); });
  }
  return std::holds_alternative<SdpNode>(producer.part) ||
         std::holds_alternative<PoolNode>(producer.part) ||
         std::holds_alternative<NormNode>(producer.part) ||
         std::holds_alternative<ConcatNode>(producer.part);
}

std::uint32_t Builder::root(std::uint32_t tensor) const {
  while (part_of_[tensor]) tensor = part_of_[tensor]->whole;
  return tensor;
}

bool Builder::is_read(std::uint32_t tensor) const {
  if (net_.tensors[tensor].read) return true;
  for (std::uint32_t part = 0; part < tensor; ++part)
    if (net_.tensors[part].read && root(part) == tensor) return true;
  return false;
}

bool Builder::in_surfaces(std::uint32_t tensor) const {
  for (auto part = part_of_[tensor]; part; part = part_of_[part->whole])
    if (part->axis != Axis::kChannels) return false;
  return true;
}

// Whether a layer would write between what it reads: lines or columns of one tensor, in surfaces
// that both have a share in. Whole surfaces are apart.
bool Builder::crosses_itself(const LayerNode& layer) const {
  if (layer.output == kNoTensor) return false;
  const auto crosses = [&](std::uint32_t tensor) {
    return root(tensor) == root(layer.output) &&
           !(in_surfaces(tensor) && in_surfaces(layer.output));
  };
  // Those parts that have to be copied.
  if (const auto* concat = std::get_if<ConcatNode>(&layer.part)) {
    const auto starts = part_starts(*concat);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::uint32_t part = concat->parts[i];
      const bool apart = concat->axis != Axis::kChannels && root(part) == root(layer.output);
      if (!lies_there(part, layer.output, starts[i]) && (apart || crosses(part))) return true;
    }
    return false;
  }
  const auto reads_across = [&](const LayerNode& reader) {
    return crosses(reader.input) ||
           std::any_of(reader.operands.begin(), reader.operands.end(), crosses);
  };
  if (reads_across(layer)) return true;
  // A pooling may become part of the layer before.
  const auto& before = net_.tensors[layer.input].producer;
  return before && std::holds_alternative<PoolNode>(layer.part) &&
         reads_across(net_.layers[*before]);
}

bool Builder::lies_there(std::uint32_t part, std::uint32_t whole, std::uint32_t start) const {
  return part_of_[part] && part_of_[part]->whole == whole && part_of_[part]->start == start;
}

void Builder::plan_parts() {
  part_of_.resize(net_.tensors.size());
  for (const LayerNode& layer : net_.layers) {
    const auto* node = std::get_if<ConcatNode>(&layer.part);
    if (node == nullptr || !parts_fill_atoms(*node)) continue;
    const auto starts = part_starts(*node);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::uint32_t part = node->parts[i];
      if (!part_of_[part] && can_be_part(part, layer.output)) {
        part_of_[part] = Part{layer.output, node->axis, starts[i]};
        if (std::any_of(net_.layers.begin(), net_.layers.end(),
                        [&](const LayerNode& other) { return crosses_itself(other); })) {
          part_of_[part].reset();
        }
      }
    }
  }
}

nvdla_surface Builder::surface(std::uint32_t tensor) const {
  nvdla_surface surface = tensor_surface(descs_[tensor], tensor);
  for (auto part = part_of_[tensor]; part; part = part_of_[part->whole]) {
    surface = part_surface(surface, part->axis, part->start, descs_[tensor]);
    surface.slot = part->whole;
  }
  return surface;
}

// The place that begins so far behind the first channel, line or column of `whole`, whose strides
// `desc` has.
nvdla_surface Builder::part_surface(const nvdla_surface& whole, Axis axis, std::uint32_t start,
                                    const TensorDesc& desc) {
  nvdla_surface surface = whole;
  if (axis == Axis::kChannels) {
    surface.offset += std::uint64_t{start / desc.elements_per_atom()} * desc.surface_stride;
  } else {
    surface.offset += std::uint64_t{start} * (axis == Axis::kHeight ? desc.line_stride : desc.atom);
  }
  return surface;
}

void Builder::add_part_copy(std::uint32_t part, const nvdla_surface& to, const std::string& name) {
  const TensorDesc& in = descs_[part];
  LayerNode copy;
  copy.input = part;
  SdpNode pass;
  pass.processing = in.precision;
  Blob blob = make_blob();
  nvdla_sdp sdp = sdp_part(in.shape, in.precision, pass, blob);
  sdp.in_precision = sdp.out_precision;
  sdp.width = in.shape.width;
  sdp.height = in.shape.height;
  // SDP knows no strides between the surfaces of one position.
  const bool one_by_one = sdp.width * sdp.height == 1;
  const std::uint32_t lanes = one_by_one ? in.elements_per_atom() : in.shape.channels;
  const std::uint32_t layers = (in.shape.channels + lanes - 1) / lanes;
  for (std::uint32_t i = 0; i < layers; ++i) {
    sdp.channels = std::min(lanes, in.shape.channels - i * lanes);
    sdp.input = part_surface(surface(part), Axis::kChannels, i * lanes, in);
    sdp.output = to;
    sdp.output.offset += std::uint64_t{i} * to.surface_stride;
    if (one_by_one) {
      for (nvdla_surface* surface : {&sdp.input, &sdp.output})
        surface->line_stride = surface->surface_stride = in.atom;
    }
    commit(copy, make_layer(sdp),
           layers == 1 ? name : fmt::format("{} surface {}/{}", name, i + 1, layers), 0);
  }
}

// What lies elsewhere is copied to where it belongs, or, where parts begin inside of atoms, all of
// them to atoms of their own, from which the channels are gathered.
void Builder::add_part(const LayerNode& node, const ConcatNode& concat) {
  const TensorDesc& out = descs_[node.output];
  const bool apart = !parts_fill_atoms(concat);
  const std::uint32_t lanes = out.elements_per_atom();
  std::vector<std::uint32_t> starts = part_starts(concat);
  Scratch scratch;
  std::vector<Run> runs;
  if (apart) {
    Shape shape = out.shape;
    shape.channels = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::uint32_t channels = net_.tensors[concat.parts[i]].shape.channels;
      starts[i] = shape.channels;
      runs.push_back({shape.channels, channels});
      shape.channels += (channels + lanes - 1) / lanes * lanes;
    }
    check_range("channels of parts in atoms of their own", shape.channels, 1U, kMaxSide);
    scratch = add_scratch(shape, out.precision);
  }
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::uint32_t part = concat.parts[i];
    if (!apart && lies_there(part, node.output, starts[i])) continue;
    const nvdla_surface to = part_surface(apart ? scratch.surface : surface(node.output),
                                          concat.axis, starts[i], apart ? scratch.desc : out);
    add_part_copy(part, to, fmt::format("{} part {}/{}", node.name, i + 1, starts.size()));
  }
  if (apart) add_gather(node, scratch, runs, 0, node.name + " gather");
}

}  // namespace nvdla::detail
