// SPDX-License-Identifier: MIT
//
// Lowering upsamplings. Copies of the input as blocks of channels are contracted into wider lines
// by Rubik, once for each line that a line becomes; lines are written a multiple of the line stride
// apart. Without Rubik columns are copied there one by one.

#include "compiler/graph/views.hpp"
#include "compiler/lower/copy.hpp"
#include "compiler/lower/lowering.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {

void lower(Lowering& lowering, const LayerNode& node, const UpsampleNode& part) {
  const TensorDesc& in = lowering.desc(node.input);
  const auto block =
      static_cast<std::uint32_t>(arith::round_up(in.shape.channels, in.elements_per_atom()));
  // Returns the place where the output begins with line y, and then goes in steps.
  const auto lines_from = [&](std::uint32_t y) {
    nvdla_surface to = inside(lowering.surface(node.output), {0, y, 0}, lowering.desc(node.output));
    to.line_stride *= part.scale_height;
    return to;
  };
  const auto copy_name = [&](const char* what, std::uint32_t index, std::uint32_t count) {
    return count == 1 ? node.name : fmt::format("{} {} {}/{}", node.name, what, index + 1, count);
  };
  if (part.scale_width == 1) {
    for (std::uint32_t y = 0; y < part.scale_height; ++y)
      add_copy(lowering, node.input, lowering.surface(node.input), in.shape, lines_from(y),
               copy_name("lines", y, part.scale_height));
    return;
  }
  if (!lowering.info().has_rubik || block * part.scale_width > kMaxSide) {
    Shape column = in.shape;
    column.width = 1;
    const std::uint32_t columns = in.shape.width * part.scale_width;
    for (std::uint32_t y = 0; y < part.scale_height; ++y) {
      for (std::uint32_t x = 0; x < columns; ++x) {
        nvdla_surface to = lines_from(y);
        to.offset += std::uint64_t{x} * lowering.info().atom;
        add_copy(lowering, node.input,
                 inside(lowering.surface(node.input), {0, 0, x / part.scale_width}, in), column, to,
                 copy_name("column", y * columns + x, columns * part.scale_height));
      }
    }
    return;
  }
  Shape shape = in.shape;
  shape.channels = block * part.scale_width;
  const Scratch blocks = lowering.add_scratch(shape, in.precision);
  for (std::uint32_t x = 0; x < part.scale_width; ++x)
    add_copy(lowering, node.input, lowering.surface(node.input), in.shape,
             inside(blocks.surface, {x * block, 0, 0}, blocks.desc),
             copy_name("block", x, part.scale_width));
  const std::uint32_t copied = *lowering.last();
  for (std::uint32_t y = 0; y < part.scale_height; ++y) {
    nvdla_layer layer = rubik_layer(NVDLA_RUBIK_CONTRACT, blocks.desc, shape.channels);
    layer.rubik.stride_width = part.scale_width;
    layer.rubik.stride_height = 1;
    layer.rubik.input = blocks.surface;
    layer.rubik.output = lines_from(y);
    lowering.emit(node, layer,
                  {.name = copy_name("lines", y, part.scale_height), .after = {copied}});
  }
}

}  // namespace nvdla::detail
