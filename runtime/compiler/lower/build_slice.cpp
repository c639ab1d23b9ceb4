// SPDX-License-Identifier: MIT
//
// Building slices and paddings, as far as something is to be moved for them.
#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/lower/builder.hpp"

namespace nvdla::detail {

void Builder::add_part(const LayerNode& node, const SliceNode& slice) {
  if (parts_->of(node.output)) return;
  const TensorDesc& in = descs_[node.input];
  const Shape& shape = descs_[node.output].shape;
  nvdla_surface from = inside(surface(node.input), slice.corner, in);
  const std::uint32_t behind = slice.corner.channel % in.elements_per_atom();
  if (behind == 0) return add_copy(node.input, from, shape, surface(node.output), node.name);
  Scratch atoms{in, from};
  atoms.desc.shape = shape;
  atoms.desc.shape.channels += behind;
  add_gather(node, atoms, {{behind, shape.channels}}, 0, node.name);
}

void Builder::add_part(const LayerNode& node, const PadNode& pad) {
  add_border(node, pad);
  if (parts_->lies_there(node.input, node.output, pad.corner)) return;
  add_copy(node.input, surface(node.input), descs_[node.input].shape,
           inside(surface(node.output), pad.corner, descs_[node.output]), node.name);
}

// Copies of a constant: above, below, on the left and on the right.
void Builder::add_border(const LayerNode& node, const PadNode& pad) {
  const TensorDesc& out = descs_[node.output];
  const Shape &in = descs_[node.input].shape, &all = out.shape;
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
  ConstantPool blob = begin_constants();
  const std::uint32_t slot = blob.slot();
  blob.add(std::uint64_t{out.surfaces()} * most * out.atom);
  const std::uint32_t bytes = out.element_bytes();
  const auto value = static_cast<std::uint32_t>(pad.value);
  const std::span<std::byte> constant = blob.at(0);
  for (std::size_t i = 0; i < constant.size(); i += bytes) std::memcpy(&constant[i], &value, bytes);
  commit_constants(std::move(blob));
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const Side& side = sides[i];
    TensorDesc desc = packed_tensor(info_, {all.channels, side.height, side.width}, out.precision);
    add_copy(node.input, tensor_surface(desc, slot), desc.shape,
             inside(surface(node.output), {0, side.line, side.column}, out),
             fmt::format("{} border {}/{}", node.name, i + 1, sides.size()));
  }
}

}  // namespace nvdla::detail
