// SPDX-License-Identifier: MIT
//
// Lowering comparisons. The hardware compares whole atoms, and lanes beyond the last channel may
// hold anything: where there are such lanes, both sides are made to hold zero there. Operands that
// are packed do; what is compared is multiplied by one in its channels, and so by zero beyond; of
// a tensor on the other side there is a copy that went the same way. Behind a convolution, which
// has no kernels there, the lanes are zero to begin with.
#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "compiler/lower/sdp.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/types/half.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

constexpr std::int32_t kHalfOne = 0x3c00, kHalfLowest = 0xfc00;

// Operands of the layer, said for every channel: packed ones are zero beyond the last.
void spread(OperatorNode& op, std::uint32_t channels) {
  if (op.mode != NVDLA_OPERAND_LAYER) return;
  for (std::vector<std::int32_t>* values : {&op.alu_values, &op.mul_values}) {
    if (values->empty()) continue;
    values->resize(channels, values->front());
    op.mode = NVDLA_OPERAND_CHANNEL;
  }
}

// A product with zero may be a negative zero or NaN in fp16.
bool makes_zero(const OperatorNode& op, bool real) {
  return op.mul == NVDLA_MUL_MUL && !op.tensor && !real;
}

bool keeps_zero(const OperatorNode& op, bool real) {
  return !op.tensor || (op.mul != NVDLA_MUL_NONE && !real);
}

bool takes_mask(const OperatorNode& op, bool real) {
  return !op.active() || (op.mul == NVDLA_MUL_NONE && !op.tensor && !real);
}

void add_mask(OperatorNode& op, std::uint32_t channels, bool real) {
  const std::size_t count = std::max<std::size_t>(op.alu_values.size(), channels);
  op.mul = NVDLA_MUL_MUL;
  op.mul_values.assign(count, real ? kHalfOne : 1);
  if (real) {
    // Nothing is less than the lowest, and nothing but NaN is negative where zero is the least.
    op.alu = NVDLA_ALU_MAX;
    op.alu_values.assign(count, kHalfLowest);
  }
  if (op.mode == NVDLA_OPERAND_LAYER) op.mode = NVDLA_OPERAND_CHANNEL;
}

void mask(OperatorPair& operators, std::uint32_t channels, bool real) {
  if (takes_mask(operators.x2, real)) {
    add_mask(operators.x2, channels, real);
  } else if (takes_mask(operators.x1, real) && keeps_zero(operators.x2, real)) {
    add_mask(operators.x1, channels, real);
  } else {
    throw_invalid_argument(
        "a comparison of {} channels, which fill no atoms: the rest must be made zero, for which "
        "x1 and x2 leave no place; right is one of them, or channels that fill atoms",
        channels);
  }
}

// One value for the layer is wider than those for channels.
void narrow(OperatorYNode& y, Precision processing, std::uint32_t channels) {
  if (y.tensor || y.mode != NVDLA_OPERAND_LAYER) return;
  std::int32_t& value = y.alu_values[0];
  const std::int32_t wide = value;
  if (processing == Precision::kFp16) {
    const std::uint16_t half = to_half(std::bit_cast<float>(wide));
    if (std::bit_cast<std::int32_t>(from_half(half)) != wide) {
      throw_invalid_argument(
          "a comparison of {} channels, which fill no atoms, with {}, which is no fp16", channels,
          std::bit_cast<float>(wide));
    }
    value = half;
  } else {
    using Limits = std::numeric_limits<std::int16_t>;
    if (wide < Limits::min() || wide > Limits::max()) {
      throw_invalid_argument(
          "a comparison of {} channels, which fill no atoms, with {}: it takes values of 16 bits",
          channels, wide);
    }
  }
  spread(y, channels);
}

// Copies a tensor with zeros in the lanes beyond its last channel.
nvdla_surface add_masked_copy(Lowering& lowering, const LayerNode& node, std::uint32_t tensor) {
  const TensorDesc& in = lowering.desc(tensor);
  SdpNode part;
  part.processing = in.precision == Precision::kInt8 ? Precision::kInt8 : Precision::kInt16;
  add_mask(part.operators.x1, in.shape.channels, false);
  const Scratch scratch = lowering.add_scratch(in.shape, part.processing);
  ConstantPool pool = lowering.begin_constants();
  nvdla_sdp sdp = lower_sdp(lowering, in.shape, part.processing, part, pool);
  sdp.in_precision = sdp.proc_precision;
  sdp.width = in.shape.width;
  sdp.height = in.shape.height;
  sdp.channels = in.shape.channels;
  sdp.input = lowering.surface(tensor);
  sdp.output = scratch.surface;
  lowering.commit_constants(std::move(pool));
  lowering.emit(node, make_layer(sdp), {.name = node.name + " other"});
  return scratch.surface;
}

}  // namespace

Compared compare_channels(Lowering& lowering, const LayerNode& node, const SdpNode& part,
                          const Shape& shape, bool flying) {
  Compared compared{part, {}, {}};
  SdpNode& sdp = compared.sdp;
  const std::uint32_t channels = shape.channels;
  if (channels % (lowering.info().atom / precision_bytes(part.processing)) == 0) return compared;
  OperatorPair& operators = sdp.operators;
  narrow(sdp.y, sdp.processing, channels);
  // Bits are bits.
  const bool plain = !flying && !operators.x1.active() && !operators.x2.active();
  if (plain && sdp.processing == Precision::kFp16) sdp.processing = Precision::kInt16;
  const bool real = sdp.processing == Precision::kFp16;
  bool zero = flying;
  for (OperatorNode* op : {&operators.x1, &operators.x2}) {
    spread(*op, channels);
    if (op->active()) zero = makes_zero(*op, real) || (zero && keeps_zero(*op, real));
  }
  if (!zero) mask(operators, channels, real);
  if (sdp.y.tensor) {
    compared.other = add_masked_copy(lowering, node, *sdp.y.tensor);
    compared.after = lowering.last();
  }
  return compared;
}

void place_other(const Compared& compared, nvdla_sdp& sdp) {
  if (!compared.other) return;
  nvdla_surface& operand = sdp.y.operand;
  operand = *compared.other;
  if (sdp.y.mode != NVDLA_OPERAND_ELEMENT) operand.line_stride = operand.surface_stride = 0;
}

}  // namespace nvdla::detail
