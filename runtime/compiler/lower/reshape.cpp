// SPDX-License-Identifier: MIT
//
// Lowering other shapes of the same elements: by a copy where channels stay, by way of planes where
// these have no gaps, else on the CPU.
#include <optional>

#include "compiler/lower/copy.hpp"
#include "compiler/lower/lowering.hpp"

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

// One plane behind the other is all elements in their order, whatever planes they are of.
void add_by_planes(Lowering& lowering, const LayerNode& node, const TensorDesc& from,
                   const TensorDesc& to) {
  const Scratch planes = lowering.add_scratch(from.shape, from.precision, true);
  nvdla_layer split = rubik_layer(NVDLA_RUBIK_SPLIT, from, from.shape.channels);
  split.rubik.input = lowering.surface(node.input);
  split.rubik.input.line_stride = from.line_stride;
  split.rubik.output = planes.surface;
  lowering.emit(node, split, {.name = fmt::format("{} planes", node.name)});
  nvdla_layer merge = rubik_layer(NVDLA_RUBIK_MERGE, to, to.shape.channels);
  merge.rubik.input = planes.surface;
  merge.rubik.input.line_stride = to.shape.width * to.element_bytes();
  merge.rubik.input.surface_stride = merge.rubik.input.line_stride * to.shape.height;
  merge.rubik.output = lowering.surface(node.output);
  merge.rubik.output.line_stride = to.line_stride;
  lowering.emit(node, merge, {.name = node.name, .after = {*lowering.last()}});
}

}  // namespace

void lower(Lowering& lowering, const LayerNode& node, const ReshapeNode&) {
  const TensorDesc &in = lowering.desc(node.input), &out = lowering.desc(node.output);
  if (in.shape.channels == out.shape.channels) {
    // Surfaces are runs of atoms: lines of the input's width, one behind the other, are lines of
    // another width, too.
    nvdla_surface to = lowering.surface(node.output);
    to.line_stride = in.shape.width * lowering.info().atom;
    return add_copy(lowering, node.input, lowering.surface(node.input), in.shape, to, node.name);
  }
  const auto from = as_dense_planes(in), to = as_dense_planes(out);
  if (!lowering.info().has_rubik || !from || !to)
    return lower(lowering, node, CpuNode{{cpu::ReshapeOperation{}}});
  add_by_planes(lowering, node, *from, *to);
}

}  // namespace nvdla::detail
