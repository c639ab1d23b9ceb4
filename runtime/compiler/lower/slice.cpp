// SPDX-License-Identifier: MIT
//
// Lowering slices and paddings, as far as something is to be moved for them.
#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/graph/views.hpp"
#include "compiler/lower/copy.hpp"
#include "nvdla/lowlevel/tensors.hpp"

namespace nvdla::detail {
namespace {

// Copies a constant to above, below, the left and the right.
void add_border(Lowering& lowering, const LayerNode& node, const PadNode& pad) {
  const TensorDesc& out = lowering.desc(node.output);
  const Shape &in = lowering.desc(node.input).shape, &all = out.shape;
  struct Side {
    std::uint32_t line, column, height, width;
  };
  const std::uint32_t below = pad.corner.line + in.height, behind = pad.corner.column + in.width;
  std::vector<Side> sides = {{0, 0, pad.corner.line, all.width},
                             {below, 0, all.height - below, all.width},
                             {pad.corner.line, 0, in.height, pad.corner.column},
                             {pad.corner.line, behind, in.height, all.width - behind}};
  std::erase_if(sides, [](const Side& side) { return side.height == 0 || side.width == 0; });
  if (sides.empty()) return;
  std::uint32_t most = 0;
  for (const Side& side : sides) most = std::max(most, side.height * side.width);
  ConstantPool pool = lowering.begin_constants();
  const std::uint32_t slot = pool.slot();
  pool.add(std::uint64_t{out.surfaces()} * most * out.atom);
  const std::uint32_t bytes = out.element_bytes();
  const auto value = static_cast<std::uint32_t>(pad.value);
  const std::span<std::byte> constant = pool.at(0);
  for (std::size_t i = 0; i < constant.size(); i += bytes) std::memcpy(&constant[i], &value, bytes);
  lowering.commit_constants(std::move(pool));
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const Side& side = sides[i];
    TensorDesc desc =
        packed_tensor(lowering.info(), {all.channels, side.height, side.width}, out.precision);
    add_copy(lowering, node.input, tensor_surface(desc, slot), desc.shape,
             inside(lowering.surface(node.output), {0, side.line, side.column}, out),
             fmt::format("{} border {}/{}", node.name, i + 1, sides.size()));
  }
}

}  // namespace

void lower(Lowering& lowering, const LayerNode& node, const SliceNode& slice) {
  if (lowering.graph().tensors[node.output].view) return;
  const TensorDesc& in = lowering.desc(node.input);
  const Shape& shape = lowering.desc(node.output).shape;
  nvdla_surface from = inside(lowering.surface(node.input), slice.corner, in);
  const std::uint32_t behind = slice.corner.channel % in.elements_per_atom();
  if (behind == 0)
    return add_copy(lowering, node.input, from, shape, lowering.surface(node.output), node.name);
  Scratch atoms{in, from};
  atoms.desc.shape = shape;
  atoms.desc.shape.channels += behind;
  add_gather(lowering, node, atoms, {{behind, shape.channels}}, 0, node.name);
}

void lower(Lowering& lowering, const LayerNode& node, const PadNode& pad) {
  add_border(lowering, node, pad);
  if (lies_there(lowering.graph(), node.input, node.output, pad.corner)) return;
  add_copy(lowering, node.input, lowering.surface(node.input), lowering.desc(node.input).shape,
           inside(lowering.surface(node.output), pad.corner, lowering.desc(node.output)),
           node.name);
}

}  // namespace nvdla::detail
