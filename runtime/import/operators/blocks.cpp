// SPDX-License-Identifier: MIT
//
// Moves between channels and blocks of positions.
#include <algorithm>

#include "import/operators/exact.hpp"
#include "import/operators/lowering.hpp"
#include "import/operators/operator.hpp"

namespace nvdla::import {
namespace {

std::int64_t block_of(const Operation& op) {
  const std::int64_t block = op.attribute("blocksize", std::int64_t{0});
  if (op.dims(0).size() != 4)
    refuse_node("its input is {}; expected 4 axes", dims_text(op.dims(0)));
  if (block < 1 || block > 32) refuse_node("blocksize {} is not in 1..32", block);
  return block;
}

std::vector<Inferred> infer_depth_to_space(const Operation& op) {
  const std::int64_t b = block_of(op);
  const Dims& d = op.dims(0);
  if (d[1] % (b * b) != 0) refuse_node("{} channels are no multiple of {}", d[1], b * b);
  return {{op.type(0), {d[0], d[1] / (b * b), d[2] * b, d[3] * b}}};
}

std::vector<Inferred> infer_space_to_depth(const Operation& op) {
  const std::int64_t b = block_of(op);
  const Dims& d = op.dims(0);
  if (d[2] % b != 0 || d[3] % b != 0) refuse_node("{} has no whole blocks of {}", dims_text(d), b);
  return {{op.type(0), {d[0], d[1] * b * b, d[2] / b, d[3] / b}}};
}

std::string block_mode(const Operation& op) {
  std::string mode = op.attribute("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") refuse_node("its mode is neither DCR nor CRD");
  return mode;
}

std::vector<Constant> fold_blocks(const Operation& op) {
  const bool to_space = op.op() == "DepthToSpace";
  const bool by_channel = to_space && block_mode(op) == "CRD";
  const std::int64_t b = block_of(op);
  const Dims& in = op.dims(0);
  const Dims dims = (to_space ? infer_depth_to_space(op) : infer_space_to_depth(op))[0].dims;
  // The side with few channels and many positions, and that of blocks.
  const Dims &wide = to_space ? dims : in, &deep = to_space ? in : dims;
  std::vector<std::int64_t> indices(static_cast<std::size_t>(elements(dims)));
  std::int64_t at = 0;
  for (std::int64_t n = 0; n < wide[0]; ++n)
    for (std::int64_t c = 0; c < wide[1]; ++c)
      for (std::int64_t y = 0; y < wide[2]; ++y)
        for (std::int64_t x = 0; x < wide[3]; ++x, ++at) {
          const std::int64_t position = y % b * b + x % b;
          const std::int64_t channel = by_channel ? c * b * b + position : position * wide[1] + c;
          const std::int64_t other = ((n * deep[1] + channel) * deep[2] + y / b) * deep[3] + x / b;
          indices[static_cast<std::size_t>(to_space ? at : other)] = to_space ? other : at;
        }
  return {op.need_constant(0, "its input").gather(dims, indices)};
}

// Kernels of a single one each: of every channel the position in a block.
void lower_blocks(Lowering& l, const Operation& op) {
  const bool to_space = op.op() == "DepthToSpace";
  const std::int64_t b = block_of(op), in = op.dims(0)[1];
  const Dims dims = (to_space ? infer_depth_to_space(op) : infer_space_to_depth(op))[0].dims;
  const std::int64_t out = dims[1], few = to_space ? out : in;
  const std::string mode = block_mode(op);
  if (in * out * b * b > kMaxFolded)
    refuse_node("{} channels are too many for one layer", std::max(in, out));
  std::vector<float> weights(static_cast<std::size_t>(in * out * b * b));
  for (std::int64_t c = 0; c < few; ++c)
    for (std::int64_t p = 0; p < b * b; ++p) {
      const std::int64_t deep = to_space && mode == "CRD" ? c * b * b + p : p * few + c;
      const std::int64_t kernel = to_space ? c : deep, channel = to_space ? deep : c;
      weights[static_cast<std::size_t>((kernel * in + channel) * b * b + p)] = 1;
    }
  const Tensor x = l.tensor(op.input(0), make_view(op.dims(0), "BCHW"));
  const std::string layer = l.name();
  Tensor y;
  if (to_space) {
    Deconvolution d;
    d.name = layer;
    d.kernels = u32(out);
    d.kernel_height = d.kernel_width = d.stride_height = d.stride_width = u32(b);
    y = add_exact(l, x, d, weights);
  } else {
    Convolution c;
    c.name = layer;
    c.kernels = u32(out);
    c.kernel_height = c.kernel_width = c.stride_height = c.stride_width = u32(b);
    y = add_exact(l, x, c, weights);
  }
  l.put(op.node().outputs[0], y, make_view(dims, "BCHW"));
}

constexpr OperatorRow kBlockRows[] = {
    {"DepthToSpace", infer_depth_to_space, fold_blocks, lower_blocks,
     "A transposed convolution with kernels of a single one."},
    {"SpaceToDepth", infer_space_to_depth, fold_blocks, lower_blocks,
     "A convolution with kernels of a single one, blocks up to 8."},
};

}  // namespace

std::span<const OperatorRow> block_rows() noexcept { return kBlockRows; }

}  // namespace nvdla::import
