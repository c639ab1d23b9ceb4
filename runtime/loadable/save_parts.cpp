// SPDX-License-Identifier: MIT
#include "loadable/save_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/check.hpp"
#include "core/precision.hpp"
#include "firmware/registers/nvdla_regs.h"

namespace nvdla::loadable {
namespace {

constexpr std::uint32_t kBases[NVDLA_REGMAP_COUNT][NVDLA_UNIT_COUNT] = NVDLA_UNIT_BASES;

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

// Value of a register field that the compiler sets for a layer.
std::uint32_t PartMaker::reg(std::uint32_t layer, std::uint32_t unit, std::uint32_t at,
                             std::uint32_t mask, std::uint32_t shift) const {
  const nvdla_program& p = compiled_.program();
  const nvdla_layer_image& image = p.layers[layer];
  for (std::uint32_t i = 0; i < image.num_writes; ++i) {
    const nvdla_reg_write& write = p.writes[image.first_write + i];
    if (write.offset == kBases[hw_.regmap][unit] + at) return (write.value & mask) >> shift;
  }
  detail::refuse_argument("layer {} sets no register {:#x} of unit {}", layer, at, unit);
}

DataCube PartMaker::cube(const nvdla_surface& s, std::uint32_t width, std::uint32_t height,
                         std::uint32_t channels) const {
  DataCube cube = size(width, height, channels);
  cube.type = kCubeDram;
  cube.address = slot_address(s.slot);
  cube.offset = static_cast<std::uint32_t>(s.offset);
  cube.size = static_cast<std::uint32_t>(session_.slots[s.slot].size - s.offset);
  cube.line_stride = s.line_stride;
  cube.surf_stride = s.surface_stride;
  return cube;
}

DataCube PartMaker::table(const nvdla_span& span) const {
  DataCube cube;
  cube.type = kCubeDram;
  cube.address = slot_address(span.slot);
  cube.offset = static_cast<std::uint32_t>(span.offset);
  cube.size = span.bytes;
  return cube;
}

#define REG(unit, name, field)                                                \
  static_cast<std::uint16_t>(reg(i, NVDLA_UNIT_##unit, NVDLA_##unit##_##name, \
                                 NVDLA_##unit##_##name##_##field##_MASK,      \
                                 NVDLA_##unit##_##name##_##field##_SHIFT) +   \
                             1)

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
  part.surface.weight_data.size = reg(i, NVDLA_UNIT_CDMA, NVDLA_CDMA_D_WEIGHT_BYTES, ~0U, 0);
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
  if (sdp.y.flags != 0) lacks(i, "the writer has no operator Y");
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

void PartMaker::convert(std::uint32_t i, const nvdla_sdp_x& x, SdpSubOp& op, DataCube& data,
                        const DataCube& size) const {
  op.alu_type = 2;
  if ((x.flags & NVDLA_SDP_ENABLE) == 0) return;
  const bool relu = (x.flags & NVDLA_SDP_RELU) != 0, prelu = x.mul == NVDLA_MUL_PRELU;
  if (relu && prelu) lacks(i, "a loadable has no ReLU after a PReLU");
  op.enable = 1;
  op.type = static_cast<std::uint8_t>((x.alu != NVDLA_ALU_NONE ? 2 : 0) |
                                      (x.mul != NVDLA_MUL_NONE ? 1 : 0));
  if (x.alu != NVDLA_ALU_NONE) op.alu_type = byte(x.alu - 1);
  op.mode = byte(x.mode);
  op.act = relu ? 1 : prelu ? 3 : 0;
  op.shift_value = byte(x.alu_shift);
  op.truncate = byte(x.mul_shift);
  op.precision = x.operand_bytes == 2 ? 1 : 0;
  op.alu_operand = x.alu_value;
  op.mul_operand = x.mul_value;
  if (op.type == 0 || x.mode == NVDLA_OPERAND_LAYER) return;
  const bool element = x.mode == NVDLA_OPERAND_ELEMENT;
  data = cube(x.operand, element ? size.width : 1, element ? size.height : 1, size.channel);
}

}  // namespace nvdla::loadable
