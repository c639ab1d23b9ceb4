// SPDX-License-Identifier: MIT
//
// Building other shapes of the same elements: by a copy where channels stay, by way of planes where
// these have no gaps, else on the CPU.
#include <optional>

#include "compiler/lower/builder.hpp"
#include "compiler/lower/rubik_layer.hpp"

namespace nvdla::detail {
namespace {

// A cube of as many lines of another width whose planes have their elements one behind the other.
std::optional<TensorDesc> as_dense_planes(const TensorDesc& desc) {
  const Shape& shape = desc.shape;
  if (shape.width * desc.element_bytes() % kPlaneAlign == 0) return desc;
  const std::uint32_t positions = shape.height * shape.width;
  if (positions > kMaxSide || positions * desc.element_bytes() % kPlaneAlign != 0 ||
      desc.line_stride != shape.width * desc.atom)
    return std::nullopt;
  TensorDesc line = desc;
  line.shape.height = 1;
  line.shape.width = positions;
  line.line_stride = positions * desc.atom;
  return line;
}

}  // namespace

void Builder::add_part(const LayerNode& node, const ReshapeNode&) {
  const TensorDesc &in = descs_[node.input], &out = descs_[node.output];
  if (in.shape.channels == out.shape.channels) {
    // Surfaces are runs of atoms: lines of the input's width, one behind the other, are lines of
    // another width, too.
    nvdla_surface to = surface(node.output);
    to.line_stride = in.shape.width * info_.atom;
    return add_copy(node.input, surface(node.input), in.shape, to, node.name);
  }
  const auto from = as_dense_planes(in), to = as_dense_planes(out);
  if (!info_.has_rubik || !from || !to) return add_part(node, CpuNode{{cpu::ReshapeOperation{}}});
  add_by_planes(node, *from, *to);
}

// One plane behind the other is all elements in their order, whatever planes they are of.
void Builder::add_by_planes(const LayerNode& node, const TensorDesc& from, const TensorDesc& to) {
  const Scratch planes = add_scratch(from.shape, from.precision, true);
  nvdla_layer split = rubik_layer(NVDLA_RUBIK_SPLIT, from, from.shape.channels);
  split.rubik.input = surface(node.input);
  split.rubik.input.line_stride = from.line_stride;
  split.rubik.output = planes.surface;
  commit(node, split, fmt::format("{} planes", node.name), 0);
  nvdla_layer merge = rubik_layer(NVDLA_RUBIK_MERGE, to, to.shape.channels);
  merge.rubik.input = planes.surface;
  merge.rubik.input.line_stride = to.shape.width * to.element_bytes();
  merge.rubik.input.surface_stride = merge.rubik.input.line_stride * to.shape.height;
  merge.rubik.output = surface(node.output);
  merge.rubik.output.line_stride = to.line_stride;
  wait_for_end(merge, static_cast<std::uint32_t>(layers_.size() - 1));
  commit(node, merge, node.name, 0);
}

}  // namespace nvdla::detail
