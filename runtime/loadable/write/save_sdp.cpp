// SPDX-License-Identifier: MIT
//
// SDP and its operators, the inverse of convert_sdp.cpp.
#include <algorithm>

#include "loadable/write/save_parts.hpp"

namespace nvdla::loadable {
namespace {

// Nothing is left of a product of 64 bits that is shifted by as many, nor by more.
constexpr std::uint32_t kMostShift = UINT8_MAX;

}  // namespace

SdpPart PartMaker::sdp(std::uint32_t i) const {
  const nvdla_layer& layer = part_.layers[i];
  const nvdla_sdp& sdp = layer.sdp;
  const bool flying = layer.kind == NVDLA_LAYER_CONV_SDP || layer.kind == NVDLA_LAYER_CONV_SDP_PDP;
  const bool to_pdp = layer.kind == NVDLA_LAYER_SDP_PDP || layer.kind == NVDLA_LAYER_CONV_SDP_PDP;
  if ((sdp.flags & NVDLA_SDP_NAN_TO_ZERO) != 0) lacks(i, kNoNanToZero);
  const DataCube result = size(count(i, NVDLA_REG_FIELD(SDP, D_DATA_CUBE_WIDTH, WIDTH)),
                               count(i, NVDLA_REG_FIELD(SDP, D_DATA_CUBE_HEIGHT, HEIGHT)),
                               count(i, NVDLA_REG_FIELD(SDP, D_DATA_CUBE_CHANNEL, CHANNEL)));
  SdpPart part;
  // The precision that operators work in follows from these two.
  part.op.src_precision = byte(flying ? layer.conv.proc_precision : sdp.in_precision);
  part.op.dst_precision = byte(sdp.out_precision);
  part.op.conv_mode = flying && layer.conv.mode == NVDLA_CONV_WINOGRAD;
  part.op.batch_num = byte(flying ? layer.conv.batch : 1);
  if (part.op.batch_num > 1) part.op.batch_stride = sdp.output.batch_stride;
  if (sdp.proc_precision != NVDLA_PRECISION_FP16) part.op.out_cvt = converter(sdp.out_cvt);
  part.surface.src_data =
      flying ? result : cube(sdp.input, result.width, result.height, result.channel);
  DataCube& dst = part.surface.dst_data;
  dst = result;
  if (sdp.y.alu == NVDLA_ALU_EQUAL) {
    // A comparison goes to no other unit and is written nowhere.
    dst.type = kCubeDram;
    dst.line_stride = result.width * hw_.atom;
    dst.surf_stride = dst.line_stride * result.height;
  } else if (!to_pdp) {
    dst = cube(sdp.output, result.width, result.height, result.channel);
  }
  convert(i, sdp.x1, part.op.x1_op, part.surface.x1_data, result);
  convert(i, sdp.x2, part.op.x2_op, part.surface.x2_data, result);
  convert(i, sdp.y, part.op.y_op, part.surface.y_data, result);
  part.op.lut_index = static_cast<std::int16_t>(static_cast<int>(layer.lut) - 1);
  return part;
}

// Sets what X and Y have in common: which parts are active, and their operands.
template <typename X>
void PartMaker::operands(const X& x, SdpSubOp& op, DataCube& data, const DataCube& size) const {
  op.enable = 1;
  op.type = byte((x.alu != NVDLA_ALU_NONE ? 2 : 0) | (x.mul != NVDLA_MUL_NONE ? 1 : 0));
  if (x.alu != NVDLA_ALU_NONE) op.alu_type = byte(x.alu - 1);
  op.mode = byte(x.mode);
  if (x.mul == NVDLA_MUL_PRELU) op.act = 3;
  op.precision = x.operand_bytes == 2 ? 1 : 0;
  op.alu_operand = x.alu_value;
  op.mul_operand = x.mul_value;
  if (op.type == 0 || x.mode == NVDLA_OPERAND_LAYER) return;
  const bool element = x.mode == NVDLA_OPERAND_ELEMENT;
  data = cube(x.operand, element ? size.width : 1, element ? size.height : 1, size.channel);
}

void PartMaker::convert(std::uint32_t i, const nvdla_sdp_x& x, SdpSubOp& op, DataCube& data,
                        const DataCube& size) const {
  op.alu_type = 2;
  if ((x.flags & NVDLA_SDP_ENABLE) == 0) return;
  operands(x, op, data, size);
  op.shift_value = byte(x.alu_shift);
  op.truncate = byte(x.mul_shift);
  if ((x.flags & NVDLA_SDP_RELU) == 0) return;
  if (op.act != 0) lacks(i, "a loadable has no ReLU after a PReLU");
  op.act = 1;
}

void PartMaker::convert(std::uint32_t i, const nvdla_sdp_y& y, SdpSubOp& op, DataCube& data,
                        const DataCube& size) const {
  op.alu_type = 2;
  if ((y.flags & NVDLA_SDP_ENABLE) == 0) return;
  operands(y, op, data, size);
  op.truncate = byte(std::min(y.mul_truncate, kMostShift));
  // fp16 from memory is widened there, so that the converter is on and its numbers say nothing.
  const bool widen =
      part_.layers[i].sdp.proc_precision == NVDLA_PRECISION_FP16 && y.mode != NVDLA_OPERAND_LAYER;
  const nvdla_convert identity = {.offset = 0, .scale = 1, .truncate = 0, .pad = 0};
  if (widen && y.alu != NVDLA_ALU_NONE) op.cvt.alu_cvt = converter(identity);
  if (widen && y.mul != NVDLA_MUL_NONE) op.cvt.mul_cvt = converter(identity);
  if ((y.flags & NVDLA_SDP_CONVERT_ALU) != 0) op.cvt.alu_cvt = converter(y.alu_cvt);
  if ((y.flags & NVDLA_SDP_CONVERT_MUL) != 0) op.cvt.mul_cvt = converter(y.mul_cvt);
  if ((y.flags & NVDLA_SDP_LUT) == 0) return;
  if (op.act != 0) lacks(i, "a loadable has no table after a PReLU");
  op.act = 2;
}

}  // namespace nvdla::loadable
