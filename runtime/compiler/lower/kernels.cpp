// SPDX-License-Identifier: MIT
//
// Lowering convolutions with kernels so large that not even those of an atom fit the convolution
// buffer: some kernels at a time. What they give fills no atom, so each part goes to surfaces of
// its own in a scratch buffer, from which channels are gathered.
#include <algorithm>
#include <utility>

#include "compiler/lower/conv.hpp"
#include "compiler/lower/copy.hpp"
#include "compiler/lower/sdp.hpp"
#include "packing/cbuf.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

// Operands of the channels first..end of `out`.
void keep_channels(OperatorNode& op, const Shape& out, std::uint32_t first, std::uint32_t end) {
  if (op.mode == NVDLA_OPERAND_LAYER) return;
  const std::size_t each =
      op.mode == NVDLA_OPERAND_ELEMENT ? std::size_t{out.height} * out.width : 1;
  for (std::vector<std::int32_t>* values : {&op.alu_values, &op.mul_values}) {
    if (values->empty()) continue;
    *values = {values->begin() + static_cast<std::ptrdiff_t>(first * each),
               values->begin() + static_cast<std::ptrdiff_t>(end * each)};
  }
}

void check_parts(const ConvNode& part) {
  if (part.sdp.tensors().empty()) return;
  throw_error(
      ErrorCode::kNotAvailable,
      "not even one group of kernels of {}x{}x{} (CHW) fits the convolution buffer, and they "
      "cannot be split with operands from a tensor: let a pointwise layer apply it",
      part.conv.channels, part.conv.kernel_height, part.conv.kernel_width);
}

}  // namespace

void add_kernel_parts(Lowering& lowering, const LayerNode& node, const ConvNode& part,
                      const nvdla_conv& conv, const Kernels& kernels, const SparseKernels& sparse,
                      const std::vector<KernelBlock>& blocks) {
  check_parts(part);
  const TensorDesc& out = lowering.desc(node.output);
  const std::uint32_t lanes = lowering.info().atom / precision_bytes(part.sdp.processing);
  const auto parts = static_cast<std::uint32_t>(blocks.size());
  const auto lines =
      static_cast<std::uint32_t>(arith::round_up(out.shape.height, part.form.line_step));
  // A cube has room for so many, in whole atoms of the output.
  const std::uint32_t most = kMaxSide / lanes;
  const std::uint32_t gathers = (parts + most - 1) / most;
  for (std::uint32_t begin = 0; begin < parts; begin += most) {
    const std::uint32_t count = std::min(most, parts - begin);
    Shape apart = out.shape;
    apart.channels = count * lanes;
    const Scratch scratch = lowering.add_scratch(apart, out.precision, false, lines);
    std::vector<ChannelRun> runs;
    for (std::uint32_t i = begin; i < begin + count; ++i) {
      const KernelBlock& block = blocks[i];
      const std::uint32_t first = block.first_kernel, end = first + block.kernels;
      ConstantPool pool = lowering.begin_constants();
      nvdla_conv layer = conv_of(lowering.info(), conv, block);
      layer.weights.slot = pool.slot();
      layer.weights.offset = pool.add(weights_bytes(weights_desc(layer)));
      pack_block(lowering.info(), layer, block, sparse, kernels, pool.at(layer.weights.offset));
      SdpNode own = part.sdp;
      keep_channels(own.operators.x1, out.shape, first, end);
      keep_channels(own.operators.x2, out.shape, first, end);
      keep_channels(own.y, out.shape, first, end);
      Shape shape = out.shape;
      shape.channels = block.kernels;
      nvdla_sdp sdp = lower_sdp(lowering, shape, out.precision, own, pool);
      runs.push_back({(i - begin) * lanes, block.kernels});
      sdp.output = scratch.surface;
      sdp.output.offset +=
          std::uint64_t{runs.back().first / out.elements_per_atom()} * sdp.output.surface_stride;
      lowering.commit_constants(std::move(pool));
      emit_convolution(lowering, node, layer, sdp,
                       {.name = fmt::format("{} kernels {}/{}", node.name, i + 1, parts),
                        .macs = node.macs / conv.kernels * block.kernels});
    }
    std::string name = node.name + " gather";
    if (gathers > 1) name += fmt::format(" {}/{}", begin / most + 1, gathers);
    add_gather(lowering, node, scratch, runs, blocks[begin].first_kernel, name);
  }
}

}  // namespace nvdla::detail
