// SPDX-License-Identifier: MIT
#include "loadable/save_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/check.hpp"
#include "core/precision.hpp"

namespace nvdla::loadable {
namespace {

std::uint8_t byte(std::uint32_t value) { return static_cast<std::uint8_t>(value); }

// Converters have 16 bits of scale.
CvtParam converter(const nvdla_convert& c) {
  return {.scale = static_cast<std::int16_t>(c.scale),
          .truncate = byte(c.truncate),
          .enable = 1,
          .offset = c.offset};
}

DataCube size(std::uint32_t width, std::uint32_t height, std::uint32_t channels) {
  DataCube cube;
  cube.width = static_cast<std::uint16_t>(width);
  cube.height = static_cast<std::uint16_t>(height);
  cube.channel = static_cast<std::uint16_t>(channels);
  return cube;
}

}  // namespace

PartMaker::PartMaker(const Session::Impl& session, const nvdla_hw& hw)
    : session_(session),
      hw_(hw),
      compiled_(0, hw,
                {.layers = session.descriptors,
                 .slots = session.slots,
                 .luts = session.luts,
                 .transfers = session.transfers,
                 .control = session.control}) {}

void PartMaker::lacks(std::uint32_t i, std::string_view what) const {
  detail::refuse(ErrorCode::kNotAvailable, "layer {} '{}': {}", i, session_.layers[i].name, what);
}

std::uint32_t PartMaker::reg(std::uint32_t layer, const RegField& field) const {
  const auto value = compiled_value(compiled_.program(), layer, field, hw_);
  if (value) return *value;
  detail::refuse_argument("layer {} sets no register {:#x} of unit {}", layer, field.reg,
                          field.unit);
}

std::uint8_t PartMaker::memory(std::uint32_t slot) const {
  return session_.slots[slot].memory == NVDLA_MEMORY_SRAM ? kCubeSram : kCubeDram;
}

DataCube PartMaker::cube(const nvdla_surface& s, std::uint32_t width, std::uint32_t height,
                         std::uint32_t channels) const {
  DataCube cube = size(width, height, channels);
  cube.type = memory(s.slot);
  cube.address = slot_address(s.slot);
  cube.offset = static_cast<std::uint32_t>(s.offset);
  cube.size = static_cast<std::uint32_t>(session_.slots[s.slot].size - s.offset);
  cube.line_stride = s.line_stride;
  cube.surf_stride = s.surface_stride;
  return cube;
}

DataCube PartMaker::table(const nvdla_span& span) const {
  DataCube cube;
  cube.type = memory(span.slot);
  cube.address = slot_address(span.slot);
  cube.offset = static_cast<std::uint32_t>(span.offset);
  cube.size = span.bytes;
  return cube;
}

#define REG(unit, name, field) \
  static_cast<std::uint16_t>(reg(i, NVDLA_REG_FIELD(unit, name, field)) + 1)

ConvPart PartMaker::conv(std::uint32_t i) const {
  const nvdla_conv& conv = session_.descriptors[i].conv;
  if ((conv.flags & NVDLA_CONV_NAN_TO_ZERO) != 0) lacks(i, "a loadable has no NaN as zero");
  if (conv.mode == NVDLA_CONV_WINOGRAD) lacks(i, "the writer has no Winograd convolutions");
  ConvPart part;
  ConvOp& op = part.op;
  op.data_reuse = (conv.flags & NVDLA_CONV_REUSE_DATA) != 0;
  op.weight_reuse = (conv.flags & NVDLA_CONV_REUSE_WEIGHTS) != 0;
  op.skip_data_rls = (conv.flags & NVDLA_CONV_KEEP_DATA) != 0;
  op.skip_weight_rls = (conv.flags & NVDLA_CONV_KEEP_WEIGHTS) != 0;
  op.data_format = kFormatFeature;
  op.batch = 1;
  op.fetch_grain = REG(CDMA, D_FETCH_GRAIN, GRAINS);
  op.data_bank = byte(conv.data_banks);
  op.weight_bank = byte(conv.weight_banks);
  op.release = static_cast<std::uint16_t>(conv.release != 0 ? conv.release : conv.height);
  op.entry_per_slice = REG(CDMA, D_ENTRY_PER_SLICE, ENTRIES);
  op.input_width_csc = REG(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT);
  op.input_height_csc = REG(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT);
  op.input_channel_csc = REG(CSC, D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT);
  op.kernel_width_csc = REG(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT);
  op.kernel_height_csc = REG(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT);
  op.kernel_channel_csc = REG(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT);
  op.input_width_cmac = REG(CSC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH);
  op.input_height_cmac = REG(CSC, D_DATAOUT_SIZE_0, DATAOUT_HEIGHT);
  op.bytes_per_kernel = conv.kernel_width * conv.kernel_height * conv.channels *
                        (conv.proc_precision == NVDLA_PRECISION_INT8 ? 1 : 2);
  op.in_precision = byte(conv.in_precision);
  op.out_precision = byte(conv.proc_precision);
  if ((conv.flags & NVDLA_CONV_CONVERT) != 0) {
    op.in_cvt = {.scale = static_cast<std::int16_t>(conv.cvt_scale),
                 .truncate = byte(conv.cvt_truncate),
                 .enable = 1,
                 .offset = conv.cvt_offset};
  }
  op.conv_stride_x = byte(conv.stride_x);
  op.conv_stride_y = byte(conv.stride_y);
  op.pad_x_left = byte(conv.pad_left);
  op.pad_x_right = byte(conv.pad_right);
  op.pad_y_top = byte(conv.pad_top);
  op.pad_y_bottom = byte(conv.pad_bottom);
  op.dilation_x = byte(conv.dilation_x);
  op.dilation_y = byte(conv.dilation_y);
  op.pad_val = static_cast<std::int16_t>(conv.pad_value);
  op.out_cvt = {.scale = 1, .truncate = byte(conv.clip_truncate), .enable = 1, .offset = 0};
  part.surface.src_data = cube(conv.input, conv.width, conv.height, conv.channels);
  nvdla_surface weights = {};
  weights.slot = conv.weights.slot;
  weights.offset = conv.weights.offset;
  part.surface.weight_data = cube(weights, conv.kernel_width, conv.kernel_height, conv.channels);
  part.surface.weight_data.size = reg(i, NVDLA_REG_FIELD(CDMA, D_WEIGHT_BYTES, WEIGHT_BYTES));
  if ((conv.flags & NVDLA_CONV_COMPRESSED) != 0) {
    op.weight_format = 1;
    part.surface.wgs_data = table(conv.wgs);
    part.surface.wmb_data = table(conv.wmb);
  }
  part.surface.dst_data = size(op.input_width_cmac, op.input_height_cmac, conv.kernels);
  return part;
}

SdpPart PartMaker::sdp(std::uint32_t i) const {
  const nvdla_layer& layer = session_.descriptors[i];
  const nvdla_sdp& sdp = layer.sdp;
  const bool flying = layer.kind == NVDLA_LAYER_CONV_SDP || layer.kind == NVDLA_LAYER_CONV_SDP_PDP;
  const bool to_pdp = layer.kind == NVDLA_LAYER_SDP_PDP || layer.kind == NVDLA_LAYER_CONV_SDP_PDP;
  const std::uint32_t src = flying ? layer.conv.proc_precision : sdp.in_precision;
  // A loadable says only two of three precisions.
  const std::uint32_t proc =
      src == NVDLA_PRECISION_INT16 && sdp.out_precision == NVDLA_PRECISION_INT8 ? sdp.out_precision
                                                                                : src;
  if (sdp.proc_precision != proc) {
    const auto name = [](std::uint32_t p) {
      return detail::precision_name(static_cast<Precision>(p));
    };
    lacks(i, fmt::format("a loadable works from {} to {} in {}, not in {}", name(src),
                         name(sdp.out_precision), name(proc), name(sdp.proc_precision)));
  }
  if ((sdp.flags & NVDLA_SDP_NAN_TO_ZERO) != 0) lacks(i, "a loadable has no NaN as zero");
  const DataCube result =
      size(REG(SDP, D_DATA_CUBE_WIDTH, WIDTH), REG(SDP, D_DATA_CUBE_HEIGHT, HEIGHT),
           REG(SDP, D_DATA_CUBE_CHANNEL, CHANNEL));
  SdpPart part;
  part.op.src_precision = byte(src);
  part.op.dst_precision = byte(sdp.out_precision);
  part.op.batch_num = 1;
  if (proc != NVDLA_PRECISION_FP16) part.op.out_cvt = converter(sdp.out_cvt);
  part.surface.src_data =
      flying ? result : cube(sdp.input, result.width, result.height, result.channel);
  part.surface.dst_data =
      to_pdp ? result : cube(sdp.output, result.width, result.height, result.channel);
  convert(i, sdp.x1, part.op.x1_op, part.surface.x1_data, result);
  convert(i, sdp.x2, part.op.x2_op, part.surface.x2_data, result);
  convert(i, sdp.y, part.op.y_op, part.surface.y_data, result);
  part.op.lut_index = static_cast<std::int16_t>(static_cast<int>(layer.lut) - 1);
  return part;
}

PdpPart PartMaker::pdp(std::uint32_t i) const {
  const nvdla_layer& layer = session_.descriptors[i];
  const nvdla_pdp& pdp = layer.pdp;
  const bool flying = layer.kind != NVDLA_LAYER_PDP;
  if ((pdp.flags & NVDLA_PDP_NAN_TO_ZERO) != 0) lacks(i, "a loadable has no NaN as zero");
  PdpPart part;
  PdpOp& op = part.op;
  op.precision = byte(flying ? layer.sdp.out_precision : pdp.precision);
  op.pool_mode = byte(pdp.method);
  op.pool_width = byte(pdp.kernel_width - 1);
  op.pool_height = byte(pdp.kernel_height - 1);
  op.stride_x = byte(pdp.stride_x);
  op.stride_y = byte(pdp.stride_y);
  op.pad_left = byte(pdp.pad_left);
  op.pad_right = byte(pdp.pad_right);
  op.pad_top = byte(pdp.pad_top);
  op.pad_bottom = byte(pdp.pad_bottom);
  std::copy(std::begin(pdp.pad_value), std::end(pdp.pad_value), op.padding_value.begin());
  op.split_num = byte(pdp.bands);
  if (pdp.bands > 1) {
    op.partial_in_width_first = REG(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_FIRST);
    op.partial_in_width_last = REG(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_LAST);
    op.partial_width_first = REG(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_FIRST);
    op.partial_width_last = REG(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_LAST);
    if (pdp.bands > 2) {
      op.partial_in_width_mid = REG(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_MID);
      op.partial_width_mid = REG(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_MID);
    }
  }
  part.surface.src_data = flying ? size(REG(PDP, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH),
                                        REG(PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT),
                                        REG(PDP, D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL))
                                 : cube(pdp.input, pdp.width, pdp.height, pdp.channels);
  part.surface.dst_data = cube(pdp.output, REG(PDP, D_DATA_CUBE_OUT_WIDTH, CUBE_OUT_WIDTH),
                               REG(PDP, D_DATA_CUBE_OUT_HEIGHT, CUBE_OUT_HEIGHT),
                               REG(PDP, D_DATA_CUBE_OUT_CHANNEL, CUBE_OUT_CHANNEL));
  return part;
}
#undef REG

// What X and Y have in common: which parts are active, and their operands.
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
  if (y.alu == NVDLA_ALU_EQUAL) lacks(i, "the writer has no comparisons");
  operands(y, op, data, size);
  if (y.mul_truncate > UINT8_MAX) lacks(i, "a loadable shifts products of Y by 255 bits at most");
  op.truncate = byte(y.mul_truncate);
  if ((y.flags & NVDLA_SDP_CONVERT_ALU) != 0) op.cvt.alu_cvt = converter(y.alu_cvt);
  if ((y.flags & NVDLA_SDP_CONVERT_MUL) != 0) op.cvt.mul_cvt = converter(y.mul_cvt);
  if ((y.flags & NVDLA_SDP_LUT) == 0) return;
  if (op.act != 0) lacks(i, "a loadable has no table after a PReLU");
  op.act = 2;
}

CdpPart PartMaker::cdp(std::uint32_t i) const {
  const nvdla_layer& layer = session_.descriptors[i];
  const nvdla_cdp& cdp = layer.cdp;
  if ((cdp.flags & NVDLA_CDP_NAN_TO_ZERO) != 0) lacks(i, "a loadable has no NaN as zero");
  CdpPart part;
  CdpOp& op = part.op;
  op.in_precision = op.out_precision = byte(cdp.precision);
  op.lut_index = static_cast<std::int16_t>(static_cast<int>(layer.lut) - 1);
  op.local_size = byte(cdp.window);
  op.bypass_sqsum = (cdp.flags & NVDLA_CDP_BYPASS_SQUARE_SUM) != 0;
  op.bypass_out_mul = (cdp.flags & NVDLA_CDP_BYPASS_MUL) != 0;
  if (cdp.precision != NVDLA_PRECISION_FP16) {
    op.in_cvt = converter(cdp.in_cvt);
    op.out_cvt = converter(cdp.out_cvt);
  }
  part.surface.src_data = cube(cdp.input, cdp.width, cdp.height, cdp.channels);
  part.surface.dst_data = cube(cdp.output, cdp.width, cdp.height, cdp.channels);
  return part;
}

RubikPart PartMaker::rubik(std::uint32_t i) const {
  const nvdla_rubik& rubik = session_.descriptors[i].rubik;
  if (rubik.mode != NVDLA_RUBIK_CONTRACT) lacks(i, "the writer has no planes");
  RubikPart part;
  part.op.mode = byte(rubik.mode);
  part.op.precision = byte(rubik.precision);
  part.op.stride_x = byte(rubik.stride_x);
  part.op.stride_y = byte(rubik.stride_y);
  part.surface.src_data = cube(rubik.input, rubik.width, rubik.height, rubik.channels);
  part.surface.dst_data =
      cube(rubik.output, rubik.width * rubik.stride_x, rubik.height * rubik.stride_y,
           rubik.channels / (rubik.stride_x * rubik.stride_y));
  return part;
}

LutParam make_lut(const nvdla_lut& lut) {
  LutParam p;
  const bool linear = (lut.flags & NVDLA_LUT_LE_LINEAR) != 0;
  const auto offset = [](std::int32_t value) { return static_cast<std::uint16_t>(value & 0xff); };
  p.method = linear ? 1 : 0;
  p.linear_exp_offset = offset(linear ? lut.le_index_select : lut.le_index_offset);
  p.linear_only_offset = offset(lut.lo_index_select);
  p.underflow_priority = (lut.flags & NVDLA_LUT_UNDERFLOW_LO) != 0;
  p.overflow_priority = (lut.flags & NVDLA_LUT_OVERFLOW_LO) != 0;
  p.hybrid_priority = (lut.flags & NVDLA_LUT_HYBRID_LO) != 0;
  p.linear_exp_start = static_cast<std::uint64_t>(lut.le_start);
  p.linear_exp_end = static_cast<std::uint64_t>(lut.le_end);
  p.linear_only_start = static_cast<std::uint64_t>(lut.lo_start);
  p.linear_only_end = static_cast<std::uint64_t>(lut.lo_end);
  const auto slope = [](const nvdla_lut_slope& s) {
    return LutSlope{.scale = static_cast<std::int16_t>(s.scale),
                    .shifter = static_cast<std::int8_t>(s.shift)};
  };
  p.linear_exp_underflow_slope = slope(lut.le_underflow);
  p.linear_exp_overflow_slope = slope(lut.le_overflow);
  p.linear_only_underflow_slope = slope(lut.lo_underflow);
  p.linear_only_overflow_slope = slope(lut.lo_overflow);
  std::copy(std::begin(lut.le), std::end(lut.le), p.linear_exp_table.begin());
  std::copy(std::begin(lut.lo), std::end(lut.lo), p.linear_only_table.begin());
  return p;
}

}  // namespace nvdla::loadable
