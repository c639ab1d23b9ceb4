// SPDX-License-Identifier: MIT
//
// Lowering concatenations: parts are written where they belong, as far as that can be.
#include <algorithm>

#include "compiler/graph/views.hpp"
#include "compiler/lower/copy.hpp"
#include "compiler/lower/sdp.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "support/check.hpp"

namespace nvdla::detail {

void add_copy(Lowering& lowering, std::uint32_t tensor, const nvdla_surface& from,
              const Shape& shape, const nvdla_surface& to, const std::string& name) {
  const TensorDesc& in = lowering.desc(tensor);
  LayerNode copy;
  copy.input = tensor;
  SdpNode pass;
  pass.processing = in.precision;
  ConstantPool none = lowering.begin_constants();
  nvdla_sdp sdp = lower_sdp(lowering, shape, in.precision, pass, none);
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
    lowering.emit(
        copy, make_layer(sdp),
        {.name = layers == 1 ? name : fmt::format("{} surface {}/{}", name, i + 1, layers)});
  }
}

// A part that lies elsewhere is copied to where it belongs, or, where parts begin inside of atoms,
// all of them to atoms of their own, from which the channels are gathered.
void lower(Lowering& lowering, const LayerNode& node, const ConcatNode& concat) {
  const TensorDesc& out = lowering.desc(node.output);
  const bool apart = !parts_fill_atoms(lowering.graph(), lowering.info(), concat);
  const std::uint32_t lanes = out.elements_per_atom();
  std::vector<Corner> corners = part_corners(lowering.graph(), concat);
  Scratch scratch;
  std::vector<ChannelRun> runs;
  if (apart) {
    Shape shape = out.shape;
    shape.channels = 0;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const std::uint32_t channels = lowering.graph().tensors[concat.parts[i]].shape.channels;
      corners[i].channel = shape.channels;
      runs.push_back({shape.channels, channels});
      shape.channels += (channels + lanes - 1) / lanes * lanes;
    }
    check_range("channels of parts in atoms of their own", shape.channels, 1U, kMaxSide);
    scratch = lowering.add_scratch(shape, out.precision);
  }
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const std::uint32_t part = concat.parts[i];
    if (!apart && lies_there(lowering.graph(), part, node.output, corners[i])) continue;
    const nvdla_surface to = apart ? inside(scratch.surface, corners[i], scratch.desc)
                                   : inside(lowering.surface(node.output), corners[i], out);
    add_copy(lowering, part, lowering.surface(part), lowering.desc(part).shape, to,
             fmt::format("{} part {}/{}", node.name, i + 1, corners.size()));
  }
  if (apart) add_gather(lowering, node, scratch, runs, 0, node.name + " gather");
}

}  // namespace nvdla::detail
