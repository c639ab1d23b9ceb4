// SPDX-License-Identifier: MIT
//
// SDP: alone, or behind a convolution.
#include <algorithm>
#include <string>

#include "loadable/read/task_converter.hpp"

namespace nvdla::loadable {
namespace {

// Makes operands that a file has for each element of one position operands for each channel.
template <typename Operator>
void take_channels(Operator& o) {
  if (o.mode != NVDLA_OPERAND_ELEMENT) return;
  o.mode = NVDLA_OPERAND_CHANNEL;
  o.operand.line_stride = o.operand.surface_stride = 0;
}

}  // namespace

// SDP takes a cube of one position as a run of atoms, whatever its strides are.
void TaskConverter::pack_position(nvdla_sdp& sdp, bool input, bool output) const {
  if (input) sdp.input.surface_stride = hw_.atom;
  if (output) sdp.output.surface_stride = hw_.atom;
  take_channels(sdp.x1);
  take_channels(sdp.x2);
  take_channels(sdp.y);
}

void TaskConverter::convert(const SdpPart& part, const ConvPart* conv, nvdla_layer& layer) {
  const SdpOp& op = part.op;
  const SdpSurface& s = part.surface;
  nvdla_sdp& sdp = layer.sdp;
  const std::uint32_t src = precision(op.src_precision, "src_precision");
  const std::uint32_t dst = precision(op.dst_precision, "dst_precision");
  // Between precisions SDP works in the source's, but from int16 to int8 in int8.
  const std::uint32_t proc =
      src == NVDLA_PRECISION_INT16 && dst == NVDLA_PRECISION_INT8 ? dst : src;
  const bool to_pdp = !s.dst_data.in_memory();
  if (op.batch_num > 1 && conv == nullptr) throw_error("batch_num {} without a conv", op.batch_num);
  if (conv != nullptr) {
    if (src != conv->op.out_precision) {
      throw_error("src_precision {} is not the conv's out_precision {}", src,
                  conv->op.out_precision);
    }
    if (op.conv_mode != conv->op.conv_mode) {
      throw_error("conv_mode {} is not the conv's {}", op.conv_mode, conv->op.conv_mode);
    }
    if (std::max<unsigned>(op.batch_num, 1) != std::max<unsigned>(conv->op.batch, 1)) {
      throw_error("batch_num {} is not the conv's batch {}", op.batch_num, conv->op.batch);
    }
  } else {
    sdp.in_precision = src;
    sdp.width = s.src_data.width;
    sdp.height = s.src_data.height;
    sdp.channels = s.src_data.channel;
    sdp.input = surface(s.src_data, NVDLA_SLOT_READ, "src_data");
  }
  sdp.proc_precision = proc;
  sdp.out_precision = dst;
  convert(op.x1_op, s.x1_data, proc, "x1", sdp.x1);
  convert(op.x2_op, s.x2_data, proc, "x2", sdp.x2);
  convert(op.y_op, s.y_data, proc, sdp.y);
  if (op.y_op.enable != 0 && op.y_op.act == 2) {
    layer.lut = add_lut(op.lut_index, NVDLA_LUT_SDP, proc);
  }
  // With fp16 operators results are only rounded.
  if (proc != NVDLA_PRECISION_FP16) sdp.out_cvt = converter(op.out_cvt);
  const bool compare = sdp.y.alu == NVDLA_ALU_EQUAL;
  if (!to_pdp && !compare) {
    sdp.output = surface(s.dst_data, NVDLA_SLOT_WRITE, "dst_data");
    if (op.batch_num > 1) sdp.output.batch_stride = op.batch_stride;
  }
  if (s.dst_data.width == 1 && s.dst_data.height == 1) {
    const bool one = std::max<unsigned>(op.batch_num, 1) == 1;
    pack_position(sdp, one && conv == nullptr, one && !to_pdp && !compare);
  }
  expect(NVDLA_REG_FIELD(SDP, D_DATA_CUBE_WIDTH, WIDTH), s.dst_data.width, "dst_data.width");
  expect(NVDLA_REG_FIELD(SDP, D_DATA_CUBE_HEIGHT, HEIGHT), s.dst_data.height, "dst_data.height");
  expect(NVDLA_REG_FIELD(SDP, D_DATA_CUBE_CHANNEL, CHANNEL), s.dst_data.channel,
         "dst_data.channel");
}

TaskConverter::Parts TaskConverter::parts(const SdpSubOp& op, const DataCube& cube,
                                          const std::string& name) {
  if (op.type > 3) throw_error("{}.type {} is not in 0..3", name, op.type);
  if (op.alu_type > 3) throw_error("{}.alu_type {} is not in 0..3", name, op.alu_type);
  if (op.mode > 2) throw_error("{}.mode {} is not in 0..2", name, op.mode);
  if (op.act > 3) throw_error("{}.act {} is not in 0..3", name, op.act);
  Parts p;
  if ((op.type & 2) != 0) p.alu = op.alu_type + 1U;
  if ((op.type & 1) != 0) p.mul = op.act == 3 ? NVDLA_MUL_PRELU : NVDLA_MUL_MUL;
  if (op.type == 0) return p;
  p.mode = op.mode;
  if (op.mode == NVDLA_OPERAND_LAYER) {
    if (p.alu != NVDLA_ALU_NONE) p.alu_value = op.alu_operand;
    if (p.mul != NVDLA_MUL_NONE) p.mul_value = op.mul_operand;
    return p;
  }
  const std::string field = name + "_data";
  // The size of operands, which every configuration has in both.
  if (op.precision > NVDLA_PRECISION_FP16) {
    throw_error("{}.precision {} is not in 0..2", name, op.precision);
  }
  p.bytes = op.precision == NVDLA_PRECISION_INT8 ? 1 : 2;
  p.operand = surface(cube, NVDLA_SLOT_READ, field.c_str());
  if (op.mode != NVDLA_OPERAND_ELEMENT) p.operand.line_stride = p.operand.surface_stride = 0;
  return p;
}

void TaskConverter::convert(const SdpSubOp& op, const DataCube& cube, std::uint32_t proc,
                            const char* name, nvdla_sdp_x& x) {
  if (op.enable == 0) return;
  const Parts p = parts(op, cube, name);
  if (op.act == 2) throw_error("{}: only the third operator (y) has a look-up table", name);
  if (p.alu == NVDLA_ALU_EQUAL) throw_error("{}: only the third operator (y) compares", name);
  x.flags = NVDLA_SDP_ENABLE | (op.act == 1 ? NVDLA_SDP_RELU : 0);
  x.alu = p.alu;
  x.mul = p.mul;
  x.mode = p.mode;
  x.operand_bytes = p.bytes;
  const bool real = proc == NVDLA_PRECISION_FP16;
  x.alu_value = real ? p.alu_value & 0xffff : p.alu_value;
  x.mul_value = real ? p.mul_value & 0xffff : p.mul_value;
  x.operand = p.operand;
  // fp16 is not shifted, whatever the file says.
  if (real) return;
  if (p.alu != NVDLA_ALU_NONE) x.alu_shift = op.shift_value;
  x.mul_shift = op.truncate;
}

void TaskConverter::convert(const SdpSubOp& op, const DataCube& cube, std::uint32_t proc,
                            nvdla_sdp_y& y) {
  if (op.enable == 0) return;
  need(NVDLA_HW_SDP_Y, "the third SDP operator (Y)");
  const Parts p = parts(op, cube, "y");
  if (op.act == 1) throw_error("y: the third operator has no ReLU");
  y.flags = NVDLA_SDP_ENABLE;
  if (op.act == 2) {
    need(NVDLA_HW_LUT, "SDP's look-up table");
    y.flags |= NVDLA_SDP_LUT;
  }
  y.alu = p.alu;
  y.mul = p.mul;
  y.mode = p.mode;
  y.operand_bytes = p.bytes;
  y.alu_value = p.alu_value;
  y.mul_value = p.mul_value;
  y.operand = p.operand;
  // Nor does it pass converters, which a file must have on where operands come from memory: they
  // widen them.
  if (proc == NVDLA_PRECISION_FP16) return;
  // Y shifts products only, other than X.
  if (p.mul != NVDLA_MUL_NONE) y.mul_truncate = op.truncate;
  // Only operands from memory pass the converters.
  const bool memory = p.mode != NVDLA_OPERAND_LAYER;
  if (memory && p.alu != NVDLA_ALU_NONE && op.cvt.alu_cvt.enable != 0) {
    y.flags |= NVDLA_SDP_CONVERT_ALU;
    y.alu_cvt = converter(op.cvt.alu_cvt);
  }
  if (memory && p.mul != NVDLA_MUL_NONE && op.cvt.mul_cvt.enable != 0) {
    y.flags |= NVDLA_SDP_CONVERT_MUL;
    y.mul_cvt = converter(op.cvt.mul_cvt);
  }
}

}  // namespace nvdla::loadable
