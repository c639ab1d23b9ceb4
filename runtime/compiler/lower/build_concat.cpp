// SPDX-License-Identifier: MIT
//
// Building concatenations: parts are written where they belong, as far as that can be.
#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "compiler/lower/builder.hpp"

namespace nvdla::detail {

nvdla_surface Builder::surface(std::uint32_t tensor) const {
  nvdla_surface surface = tensor_surface(descs_[tensor], tensor);
  for (std::uint32_t part = tensor; parts_->of(part); part = parts_->of(part)->whole) {
    surface = inside(surface, parts_->of(part)->corner, descs_[tensor]);
    surface.slot = parts_->of(part)->whole;
  }
  return surface;
}

std::vector<std::uint32_t> Builder::made_before(const LayerNode& node) const {
  std::vector<std::uint32_t> made;
  if (node.output == kNoTensor) return made;
  std::vector<std::uint32_t> parts = {node.input};
  if (const auto* concat = std::get_if<ConcatNode>(&node.part)) parts = concat->parts;
  for (const std::uint32_t part : parts)
    if (parts_->of(part) && parts_->of(part)->whole == node.output) made.push_back(part);
  // What a slice is of.
  const bool slice = std::holds_alternative<SliceNode>(node.part);
  if (slice && parts_->of(node.output)) made.push_back(node.input);
  return made;
}

void Builder::add_copy(std::uint32_t tensor, const nvdla_surface& from, const Shape& shape,
                       const nvdla_surface& to, const std::string& name) {
  const TensorDesc& in = descs_[tensor];
  LayerNode copy;
  copy.input = tensor;
  SdpNode pass;
  pass.processing = in.precision;
  ConstantPool blob = begin_constants();
  nvdla_sdp sdp = sdp_part(shape, in.precision, pass, blob);
  sdp.in_precision = sdp.out_precision;
  sdp.width = shape.width;
  sdp.height = shape.height;
  // SDP knows no strides between the surfaces of one position.
  const bool one_by_one = sdp.width * sdp.height == 1;
  const std::uint32_t lanes = one_by_one ? in.elements_per_atom() : shape.channels;
  const std::uint32_t layers = (shape.channels + lanes - 1) / lanes;
  for (std::uint32_t i = 0; i < layers; ++i) {
    sdp.channels = std::min(lanes, shape.channels - i * lanes);
    sdp.input = inside(from, {i * lanes, 0, 0}, in);
    sdp.output = inside(to, {i * lanes, 0, 0}, in);
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
  const bool apart = !parts_fill_atoms(net_, info_, concat);
  const std::uint32_t lanes = out.elements_per_atom();
  std::vector<Corner> corners = part_corners(net_, concat);
  Scratch scratch;
  std::vector<Run> runs;
  if (apart) {
    Shape shape = out.shape;
    shape.channels = 0;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const std::uint32_t channels = net_.tensors[concat.parts[i]].shape.channels;
      corners[i].channel = shape.channels;
      runs.push_back({shape.channels, channels});
      shape.channels += (channels + lanes - 1) / lanes * lanes;
    }
    check_range("channels of parts in atoms of their own", shape.channels, 1U, kMaxSide);
    scratch = add_scratch(shape, out.precision);
  }
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const std::uint32_t part = concat.parts[i];
    if (!apart && parts_->lies_there(part, node.output, corners[i])) continue;
    const nvdla_surface to = apart ? inside(scratch.surface, corners[i], scratch.desc)
                                   : inside(surface(node.output), corners[i], out);
    add_copy(part, surface(part), descs_[part].shape, to,
             fmt::format("{} part {}/{}", node.name, i + 1, corners.size()));
  }
  if (apart) add_gather(node, scratch, runs, 0, node.name + " gather");
}

}  // namespace nvdla::detail
