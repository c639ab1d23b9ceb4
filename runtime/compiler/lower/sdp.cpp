// SPDX-License-Identifier: MIT
//
// Lowering SDP, alone or behind a convolution: it packs operands and describes operators.
#include "compiler/lower/sdp.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "compiler/graph/bounds.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/lowlevel/weights.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"
#include "packing/convert.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

using Limits8 = std::numeric_limits<std::int8_t>;

std::uint32_t parts(const OperatorNode& op) {
  return (op.alu != NVDLA_ALU_NONE ? 1 : 0) + (op.mul != NVDLA_MUL_NONE ? 1 : 0);
}

// In int8 processing operands take one byte where all of them fit.
bool fit_byte(const std::vector<std::int32_t>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](std::int32_t v) { return v >= Limits8::min() && v <= Limits8::max(); });
}

std::vector<std::int16_t> narrow(const std::vector<std::int32_t>& values) {
  std::vector<std::int16_t> list;
  list.reserve(values.size());
  for (const std::int32_t value : values) list.push_back(static_cast<std::int16_t>(value));
  return list;
}

OperandDesc operand_desc(const OperatorNode& op, const Shape& out, Precision processing,
                         std::uint32_t atom) {
  OperandDesc desc;
  desc.channels = out.channels;
  desc.per_element = op.mode == NVDLA_OPERAND_ELEMENT;
  if (desc.per_element) {
    desc.height = out.height;
    desc.width = out.width;
  }
  desc.parts = parts(op);
  desc.bytes =
      processing == Precision::kInt8 && fit_byte(op.alu_values) && fit_byte(op.mul_values) ? 1 : 2;
  desc.processing = processing;
  desc.atom = atom;
  return desc;
}

// CDP without all that it does around its table: it looks each element up.
NormNode looked_up(std::uint32_t lut) {
  NormNode node;
  node.cdp.flags = NVDLA_CDP_BYPASS_SQUARE_SUM | NVDLA_CDP_BYPASS_MUL;
  node.cdp.in_cvt.scale = node.cdp.out_cvt.scale = 1;
  node.lut = lut;
  return node;
}

// Operands for channels lie without gaps.
void check_run(const Lowering& lowering, const OperatorNode& op) {
  const TensorDesc& desc = lowering.desc(*op.tensor);
  if (op.mode != NVDLA_OPERAND_CHANNEL || desc.surfaces() == 1) return;
  if (desc.surface_stride == desc.atom) return;
  throw_invalid_argument(
      "{} is an operand for channels, but the layer that makes it writes more than one "
      "position: let a copy be the operand",
      place_of(lowering.graph(), *op.tensor));
}

template <typename X>
void place_operands(const Lowering& lowering, const OperatorNode& op, const Shape& out,
                    Precision processing, ConstantPool& pool, X& x) {
  x.alu = op.alu;
  x.mul = op.mul;
  if (parts(op) == 0) return;
  x.mode = op.mode;
  if (op.tensor) {
    check_run(lowering, op);
    x.operand_bytes = precision_bytes(processing);
    x.operand = lowering.surface(*op.tensor);
    if (op.mode != NVDLA_OPERAND_ELEMENT) x.operand.line_stride = x.operand.surface_stride = 0;
  } else if (op.mode == NVDLA_OPERAND_LAYER) {
    if (!op.alu_values.empty()) x.alu_value = op.alu_values[0];
    if (!op.mul_values.empty()) x.mul_value = op.mul_values[0];
  } else {
    const OperandDesc desc = operand_desc(op, out, processing, lowering.info().atom);
    x.operand_bytes = desc.bytes;
    x.operand.slot = pool.slot();
    x.operand.offset = pool.add(operand_bytes(desc));
    x.operand.line_stride = desc.line_stride();
    x.operand.surface_stride = desc.surface_stride();
    pack_operand(desc, narrow(op.alu_values), narrow(op.mul_values), pool.at(x.operand.offset));
  }
}

void place_x(const Lowering& lowering, const OperatorNode& op, const Shape& out,
             Precision processing, ConstantPool& pool, nvdla_sdp_x& x) {
  if (!op.active()) return;
  x.flags = NVDLA_SDP_ENABLE | (op.relu ? NVDLA_SDP_RELU : 0);
  x.alu_shift = op.alu_shift;
  x.mul_shift = op.mul_shift;
  place_operands(lowering, op, out, processing, pool, x);
}

void place_y(const Lowering& lowering, const OperatorYNode& op, const Shape& out,
             Precision processing, ConstantPool& pool, nvdla_sdp_y& y) {
  if (!op.active()) return;
  y.flags = NVDLA_SDP_ENABLE | (op.lut ? NVDLA_SDP_LUT : 0);
  y.mul_truncate = op.mul_shift;
  if (op.alu_converter) {
    y.flags |= NVDLA_SDP_CONVERT_ALU;
    y.alu_cvt = convert(*op.alu_converter);
  }
  if (op.mul_converter) {
    y.flags |= NVDLA_SDP_CONVERT_MUL;
    y.mul_cvt = convert(*op.mul_converter);
  }
  place_operands(lowering, op, out, processing, pool, y);
}

}  // namespace

nvdla_sdp lower_sdp(const Lowering& lowering, const LayerNode& node, const SdpNode& part,
                    ConstantPool& pool) {
  const TensorDesc& out = lowering.desc(node.output);
  nvdla_sdp sdp = lower_sdp(lowering, out.shape, out.precision, part, pool);
  sdp.output = lowering.surface(node.output);
  return sdp;
}

nvdla_sdp lower_sdp(const Lowering& lowering, const Shape& out, Precision precision,
                    const SdpNode& part, ConstantPool& pool) {
  if (const auto held = hold_to_bounds(part, precision, lowering.info().has_sdp_y))
    return lower_sdp(lowering, out, precision, *held, pool);
  nvdla_sdp sdp = make_sdp();
  sdp.flags = part.nan_to_zero ? NVDLA_SDP_NAN_TO_ZERO : 0;
  sdp.proc_precision = static_cast<std::uint32_t>(part.processing);
  sdp.out_precision = static_cast<std::uint32_t>(precision);
  place_x(lowering, part.operators.x1, out, part.processing, pool, sdp.x1);
  place_x(lowering, part.operators.x2, out, part.processing, pool, sdp.x2);
  place_y(lowering, part.y, out, part.processing, pool, sdp.y);
  sdp.out_cvt = {};
  if (part.processing != Precision::kFp16) {
    sdp.out_cvt = convert(part.converter);
  }
  return sdp;
}

void lower(Lowering& lowering, const LayerNode& node, const SdpNode& part) {
  if (part.lut_of_cdp && !lowering.info().has_lut)
    return lower(lowering, node, looked_up(*part.lut_of_cdp));
  if (!part.without_y.empty() && !lowering.info().has_sdp_y) {
    throw_error(ErrorCode::kNotAvailable, "{} has no third SDP operator (Y): {}",
                lowering.info().configuration, part.without_y);
  }
  const TensorDesc& in = lowering.desc(node.input);
  Compared compared;
  if (part.silent()) compared = compare_channels(lowering, node, part, in.shape, false);
  ConstantPool pool = lowering.begin_constants();
  nvdla_sdp sdp;
  if (part.silent()) {
    sdp = lower_sdp(lowering, in.shape, compared.sdp.processing, compared.sdp, pool);
    sdp.in_precision = sdp.proc_precision;
    place_other(compared, sdp);
  } else {
    sdp = lower_sdp(lowering, node, part, pool);
    sdp.in_precision = static_cast<std::uint32_t>(in.precision);
  }
  sdp.width = in.shape.width;
  sdp.height = in.shape.height;
  sdp.channels = in.shape.channels;
  sdp.input = lowering.surface(node.input);
  lowering.commit_constants(std::move(pool));
  nvdla_layer layer = make_layer(sdp);
  if (part.y.lut) layer.lut = *part.y.lut + 1;
  Operation operation{.name = node.name, .macs = node.macs, .whole = true};
  if (compared.after) operation.after = {*compared.after};
  lowering.emit(node, layer, std::move(operation));
}

}  // namespace nvdla::detail
