// SPDX-License-Identifier: MIT
//
// Building SDP, alone or after a convolution: operands packed, operators described.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.hpp"
#include "compiler/lower/builder.hpp"
#include "layout/convert.hpp"
#include "nvdla/weights.hpp"

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

}  // namespace

nvdla_sdp Builder::sdp_part(const LayerNode& node, const SdpNode& part, ConstantPool& blob) const {
  const TensorDesc& out = descs_[node.output];
  nvdla_sdp sdp = sdp_part(out.shape, out.precision, part, blob);
  sdp.output = surface(node.output);
  return sdp;
}

nvdla_sdp Builder::sdp_part(const Shape& out, Precision precision, const SdpNode& part,
                            ConstantPool& blob) const {
  if (const auto held = hold_to_bounds(part, precision, info_.has_sdp_y))
    return sdp_part(out, precision, *held, blob);
  nvdla_sdp sdp = make_sdp();
  sdp.flags = part.nan_to_zero ? NVDLA_SDP_NAN_TO_ZERO : 0;
  sdp.proc_precision = static_cast<std::uint32_t>(part.processing);
  sdp.out_precision = static_cast<std::uint32_t>(precision);
  place(part.operators.x1, out, part.processing, blob, sdp.x1);
  place(part.operators.x2, out, part.processing, blob, sdp.x2);
  place_y(part.y, out, part.processing, blob, sdp.y);
  sdp.out_cvt = {};
  if (part.processing != Precision::kFp16) {
    sdp.out_cvt = convert(part.converter);
  }
  return sdp;
}

void Builder::place(const OperatorNode& op, const Shape& out, Precision processing,
                    ConstantPool& blob, nvdla_sdp_x& x) const {
  if (!op.active()) return;
  x.flags = NVDLA_SDP_ENABLE | (op.relu ? NVDLA_SDP_RELU : 0);
  x.alu_shift = op.alu_shift;
  x.mul_shift = op.mul_shift;
  place_operands(op, out, processing, blob, x);
}

void Builder::place_y(const OperatorYNode& op, const Shape& out, Precision processing,
                      ConstantPool& blob, nvdla_sdp_y& y) const {
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
  place_operands(op, out, processing, blob, y);
}

// Operands for channels lie without gaps.
void Builder::check_run(const OperatorNode& op) const {
  const TensorDesc& desc = descs_[*op.tensor];
  if (op.mode != NVDLA_OPERAND_CHANNEL || desc.surfaces() == 1) return;
  if (desc.surface_stride == desc.atom) return;
  refuse_argument(
      "{} is an operand for channels, but the layer that makes it writes more than one "
      "position: let a copy be the operand",
      place_of(*op.tensor));
}

template <typename X>
void Builder::place_operands(const OperatorNode& op, const Shape& out, Precision processing,
                             ConstantPool& blob, X& x) const {
  x.alu = op.alu;
  x.mul = op.mul;
  if (parts(op) == 0) return;
  x.mode = op.mode;
  if (op.tensor) {
    check_run(op);
    x.operand_bytes = precision_bytes(processing);
    x.operand = surface(*op.tensor);
    if (op.mode != NVDLA_OPERAND_ELEMENT) x.operand.line_stride = x.operand.surface_stride = 0;
  } else if (op.mode == NVDLA_OPERAND_LAYER) {
    if (!op.alu_values.empty()) x.alu_value = op.alu_values[0];
    if (!op.mul_values.empty()) x.mul_value = op.mul_values[0];
  } else {
    const OperandDesc desc = operand_desc(op, out, processing, info_.atom);
    x.operand_bytes = desc.bytes;
    x.operand.slot = blob.slot();
    x.operand.offset = blob.add(operand_bytes(desc));
    x.operand.line_stride = desc.line_stride();
    x.operand.surface_stride = desc.surface_stride();
    pack_operand(desc, narrow(op.alu_values), narrow(op.mul_values), blob.at(x.operand.offset));
  }
}

void Builder::add_part(const LayerNode& node, const SdpNode& part) {
  if (part.lut_of_cdp && !info_.has_lut) return add_part(node, looked_up(*part.lut_of_cdp));
  if (!part.without_y.empty() && !info_.has_sdp_y) {
    refuse(ErrorCode::kNotAvailable, "{} has no third SDP operator (Y): {}", info_.configuration,
           part.without_y);
  }
  const TensorDesc& in = descs_[node.input];
  Compared compared;
  if (part.silent()) compared = compare_channels(node, part, in.shape, false);
  ConstantPool blob = begin_constants();
  nvdla_sdp sdp;
  if (part.silent()) {
    sdp = sdp_part(in.shape, compared.sdp.processing, compared.sdp, blob);
    sdp.in_precision = sdp.proc_precision;
    place_other(compared, sdp);
  } else {
    sdp = sdp_part(node, part, blob);
    sdp.in_precision = static_cast<std::uint32_t>(in.precision);
  }
  sdp.width = in.shape.width;
  sdp.height = in.shape.height;
  sdp.channels = in.shape.channels;
  sdp.input = surface(node.input);
  commit_constants(std::move(blob));
  nvdla_layer layer = make_layer(sdp);
  if (part.y.lut) layer.lut = *part.y.lut + 1;
  if (compared.after) add_wait(layer, *compared.after);
  std::string name = node.name;
  fuse_pooling(node, layer, name);
  commit(node, layer, name, node.macs);
}

}  // namespace nvdla::detail
