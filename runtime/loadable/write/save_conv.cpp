// SPDX-License-Identifier: MIT
//
// Convolutions, the inverse of convert_conv.cpp.
#include <fmt/format.h>

#include <bit>

#include "loadable/write/save_parts.hpp"

namespace nvdla::loadable {

ConvPart PartMaker::conv(std::uint32_t i) const {
  const nvdla_conv& conv = part_.layers[i].conv;
  if ((conv.flags & NVDLA_CONV_NAN_TO_ZERO) != 0) lacks(i, kNoNanToZero);
  ConvPart part;
  ConvOp& op = part.op;
  op.conv_mode = conv.mode == NVDLA_CONV_WINOGRAD;
  op.data_reuse = (conv.flags & NVDLA_CONV_REUSE_DATA) != 0;
  op.weight_reuse = (conv.flags & NVDLA_CONV_REUSE_WEIGHTS) != 0;
  op.skip_data_rls = (conv.flags & NVDLA_CONV_KEEP_DATA) != 0;
  op.skip_weight_rls = (conv.flags & NVDLA_CONV_KEEP_WEIGHTS) != 0;
  op.data_format = kFormatFeature;
  op.batch = byte(conv.batch);
  if (conv.batch > 1) op.batch_stride = conv.input.batch_stride;
  op.fetch_grain = count16(i, NVDLA_REG_FIELD(CDMA, D_FETCH_GRAIN, GRAINS));
  op.data_bank = byte(conv.data_banks);
  op.weight_bank = byte(conv.weight_banks);
  op.release = count16(i, NVDLA_REG_FIELD(CSC, D_RELEASE, RLS_SLICES));
  op.entry_per_slice = count16(i, NVDLA_REG_FIELD(CDMA, D_ENTRY_PER_SLICE, ENTRIES));
  op.input_width_csc = count16(i, NVDLA_REG_FIELD(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT));
  op.input_height_csc = count16(i, NVDLA_REG_FIELD(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT));
  op.input_channel_csc = count16(i, NVDLA_REG_FIELD(CSC, D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT));
  op.kernel_width_csc = count16(i, NVDLA_REG_FIELD(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT));
  op.kernel_height_csc = count16(i, NVDLA_REG_FIELD(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT));
  op.kernel_channel_csc = count16(i, NVDLA_REG_FIELD(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT));
  op.input_width_cmac = count16(i, NVDLA_REG_FIELD(CSC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH));
  op.input_height_cmac = count16(i, NVDLA_REG_FIELD(CSC, D_DATAOUT_SIZE_0, DATAOUT_HEIGHT));
  op.bytes_per_kernel = count(i, NVDLA_REG_FIELD(CDMA, D_WEIGHT_SIZE_0, BYTE_PER_KERNEL));
  op.in_precision = byte(conv.in_precision);
  op.out_precision = byte(conv.proc_precision);
  if ((conv.flags & NVDLA_CONV_CONVERT) != 0) {
    op.in_cvt = {.scale = static_cast<std::int16_t>(conv.cvt_scale),
                 .truncate = byte(conv.cvt_truncate),
                 .enable = 1,
                 .offset = conv.cvt_offset};
  }
  op.conv_stride_x = byte(conv.stride_width);
  op.conv_stride_y = byte(conv.stride_height);
  op.pad_x_left = byte(conv.pad_left);
  op.pad_x_right = byte(conv.pad_right);
  op.pad_y_top = byte(conv.pad_top);
  op.pad_y_bottom = byte(conv.pad_bottom);
  op.dilation_x = byte(conv.dilation_width);
  op.dilation_y = byte(conv.dilation_height);
  op.pra_truncate = byte(conv.pra_truncate);
  op.pad_val = static_cast<std::int16_t>(conv.pad_value);
  op.out_cvt = {.scale = 1, .truncate = byte(conv.clip_truncate), .enable = 1, .offset = 0};
  // A loadable says what is fetched: the lines behind those that the layer before has kept.
  const std::uint32_t fetched = count(i, NVDLA_REG_FIELD(CDMA, D_DATAIN_SIZE_0, DATAIN_HEIGHT));
  const std::uint64_t kept = conv.height - fetched;
  nvdla_surface input = conv.input;
  input.offset += kept * input.line_stride;
  part.surface.src_data = cube(input, conv.width, fetched, conv.channels);
  if (conv.mode == NVDLA_CONV_IMAGE) image(i, input.offset, kept, part);
  nvdla_surface weights = {};
  weights.slot = conv.weights.slot;
  weights.offset = conv.weights.offset;
  part.surface.weight_data = cube(weights, conv.kernel_width, conv.kernel_height, conv.channels);
  part.surface.weight_data.size = value(i, NVDLA_REG_FIELD(CDMA, D_WEIGHT_BYTES, WEIGHT_BYTES));
  if ((conv.flags & NVDLA_CONV_COMPRESSED) != 0) {
    op.weight_format = 1;
    part.surface.wgs_data = table(conv.wgs);
    part.surface.wmb_data = table(conv.wmb);
  }
  part.surface.dst_data = size(op.input_width_cmac, op.input_height_cmac, conv.kernels);
  return part;
}

void PartMaker::image(std::uint32_t i, std::uint64_t offset, std::uint64_t kept,
                      ConvPart& part) const {
  const nvdla_conv& conv = part_.layers[i].conv;
  if (conv.pixel_offset != 0) {
    lacks(i, fmt::format("a loadable has no pixels before the first of a line (x_offset {})",
                         conv.pixel_offset));
  }
  ConvOp& op = part.op;
  op.data_format = byte(conv.pixel_format);
  op.post_extension = byte(static_cast<std::uint32_t>(std::countr_zero(conv.post_extension)));
  op.pixel_override = (conv.flags & NVDLA_CONV_SIGNED_PIXELS) != 0;
  if ((conv.flags & NVDLA_CONV_MEAN) != 0) {
    op.mean_format = 1;
    const auto mean = [&](std::size_t k) { return static_cast<std::int16_t>(conv.mean[k]); };
    op.mean_ry = mean(0);
    op.mean_gu = mean(1);
    op.mean_bv = mean(2);
    op.mean_ax = mean(3);
  }
  if (conv.input_uv.line_stride == 0) return;
  const std::uint64_t uv = conv.input_uv.offset + kept * conv.input_uv.line_stride;
  part.surface.offset_u = static_cast<std::int64_t>(uv) - static_cast<std::int64_t>(offset);
  part.surface.in_line_uv_stride = conv.input_uv.line_stride;
}

}  // namespace nvdla::loadable
