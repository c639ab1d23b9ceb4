// SPDX-License-Identifier: MIT
//
// Convolutions, and what one keeps in the convolution buffer for the next.
#include <algorithm>
#include <cstdint>

#include "loadable/task_converter.hpp"

namespace nvdla::loadable {
namespace {

// Bytes from plane to plane; no memory has as many.
constexpr std::int64_t kMostApart = std::int64_t{1} << 40;

}  // namespace

void TaskConverter::convert(const ConvPart& part, nvdla_conv& conv) {
  const ConvOp& op = part.op;
  const ConvSurface& s = part.surface;
  if (op.conv_mode > 1) refuse("conv_mode {} is neither 0 (direct) nor 1 (Winograd)", op.conv_mode);
  if (op.data_format > kFormatFeature) {
    refuse("data_format {} is not in 0..{}", op.data_format, kFormatFeature);
  }
  const bool image = op.data_format != kFormatFeature;
  if (image && op.conv_mode == 1) refuse("Winograd of pixels");
  conv.mode = image               ? NVDLA_CONV_IMAGE
              : op.conv_mode == 1 ? NVDLA_CONV_WINOGRAD
                                  : NVDLA_CONV_DIRECT;
  if (conv.mode == NVDLA_CONV_WINOGRAD) need(NVDLA_HW_WINOGRAD, "Winograd");
  if (op.batch > 1) need(NVDLA_HW_BATCH, "batch");
  if (op.pixel_mapping != 0) refuse("pixel_mapping {} is not 0 (lines)", op.pixel_mapping);
  conv.in_precision = precision(op.in_precision, "in_precision");
  conv.proc_precision = precision(op.out_precision, "out_precision");
  conv.width = s.src_data.width;
  conv.height = s.src_data.height;
  conv.channels = s.src_data.channel;
  conv.batch = op.batch;
  conv.kernels = s.dst_data.channel;
  conv.kernel_width = s.weight_data.width;
  conv.kernel_height = s.weight_data.height;
  conv.stride_x = op.conv_stride_x;
  conv.stride_y = op.conv_stride_y;
  conv.dilation_x = op.dilation_x;
  conv.dilation_y = op.dilation_y;
  conv.pad_left = op.pad_x_left;
  conv.pad_right = op.pad_x_right;
  conv.pad_top = op.pad_y_top;
  conv.pad_bottom = op.pad_y_bottom;
  conv.pad_value = conv.proc_precision == NVDLA_PRECISION_FP16
                       ? static_cast<std::uint16_t>(op.pad_val)
                       : op.pad_val;
  conv.data_banks = op.data_bank;
  conv.weight_banks = op.weight_bank;
  conv.fetch_grain = op.fetch_grain;
  if (op.post_extension > 2) refuse("post_extension {} is not in 0..2", op.post_extension);
  conv.post_extension = 1U << op.post_extension;
  conv.pra_truncate = op.pra_truncate;
  // The accumulator only shifts.
  check_zero_or("out_cvt.scale", op.out_cvt.scale, std::int16_t{1});
  check_zero_or("out_cvt.offset", op.out_cvt.offset, 0);
  conv.clip_truncate = op.out_cvt.truncate;
  if (op.in_cvt.enable != 0) {
    conv.flags |= NVDLA_CONV_CONVERT;
    conv.cvt_offset = op.in_cvt.offset;
    conv.cvt_scale = op.in_cvt.scale;
    conv.cvt_truncate = op.in_cvt.truncate;
  }

  conv.input = surface(s.src_data, NVDLA_SLOT_READ, "src_data");
  if (op.batch > 1) conv.input.batch_stride = op.batch_stride;
  if (image) convert_image(part, conv);

  conv.weights = span(s.weight_data, "weight_data");
  if (op.weight_format > 1) refuse("weight_format {} is neither 0 nor 1", op.weight_format);
  if (op.weight_format == 1) {
    need(NVDLA_HW_COMPRESSION, "compressed weights");
    conv.flags |= NVDLA_CONV_COMPRESSED;
    for (const DataCube* cube : {&s.wgs_data, &s.wmb_data}) {
      if (cube->type != s.weight_data.type) {
        refuse("tables of compressed weights in memory of type {}, the weights in type {}",
               cube->type, s.weight_data.type);
      }
    }
    conv.wgs = table(s.wgs_data, "wgs_data");
    conv.wmb = table(s.wmb_data, "wmb_data");
  }
  convert_reuse(part, conv);
  expect_conv(part);
}

void TaskConverter::convert_image(const ConvPart& part, nvdla_conv& conv) {
  const ConvOp& op = part.op;
  conv.pixel_format = op.data_format;
  conv.input.surface_stride = 0;
  if (op.data_format >= NVDLA_PIXEL_Y8_U8V8) {
    const std::int64_t offset = part.surface.offset_u;
    if (offset > kMostApart || offset < -kMostApart ||
        (offset < 0 && conv.input.offset < static_cast<std::uint64_t>(-offset))) {
      refuse("offset_u {} leaves the memory", offset);
    }
    conv.input_uv = conv.input;
    conv.input_uv.offset += static_cast<std::uint64_t>(offset);
    conv.input_uv.line_stride = part.surface.in_line_uv_stride;
  }
  if (op.pixel_override != 0) conv.flags |= NVDLA_CONV_SIGNED_PIXELS;
  if (op.mean_format != 0) {
    conv.flags |= NVDLA_CONV_MEAN;
    const std::int32_t mean[] = {op.mean_ry, op.mean_gu, op.mean_bv, op.mean_ax};
    std::copy(std::begin(mean), std::end(mean), conv.mean);
  }
}

void TaskConverter::convert_reuse(const ConvPart& part, nvdla_conv& conv) {
  const ConvOp& op = part.op;
  // Tiles are freed all or none.
  const bool tiles = conv.mode == NVDLA_CONV_WINOGRAD;
  if (op.skip_data_rls == 0) {
    if (tiles) {
      expect(NVDLA_REG_FIELD(CSC, D_RELEASE, RLS_SLICES), op.release, "release");
    } else {
      conv.release = op.release;
    }
  } else if (data_reused_[&op]) {
    conv.flags |= NVDLA_CONV_KEEP_DATA;
  }
  if (op.skip_weight_rls != 0 && weights_reused_[&op]) conv.flags |= NVDLA_CONV_KEEP_WEIGHTS;
  if (op.weight_reuse != 0) conv.flags |= NVDLA_CONV_REUSE_WEIGHTS;
  if (op.data_reuse == 0) return;
  conv.flags |= NVDLA_CONV_REUSE_DATA;
  // The loadable says what is fetched, a layer all that it works on.
  if (tiles || op.input_height_csc <= conv.height) return;
  const std::uint64_t kept = std::uint64_t{op.input_height_csc} - conv.height;
  const auto go_back = [&](nvdla_surface& surface, const char* field) {
    const std::uint64_t bytes = kept * surface.line_stride;
    if (bytes > surface.offset) {
      refuse("input_height_csc {}: the {} lines before those of {} are not in its memory",
             op.input_height_csc, kept, field);
    }
    surface.offset -= bytes;
  };
  go_back(conv.input, "src_data");
  go_back(conv.input_uv, "the second plane");
  conv.height = op.input_height_csc;
}

void TaskConverter::expect_conv(const ConvPart& part) {
  const ConvOp& op = part.op;
  expect(NVDLA_REG_FIELD(CDMA, D_ENTRY_PER_SLICE, ENTRIES), op.entry_per_slice, "entry_per_slice");
  expect(NVDLA_REG_FIELD(CDMA, D_WEIGHT_SIZE_0, BYTE_PER_KERNEL), op.bytes_per_kernel,
         "bytes_per_kernel");
  expect(NVDLA_REG_FIELD(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT), op.input_width_csc,
         "input_width_csc");
  expect(NVDLA_REG_FIELD(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT), op.input_height_csc,
         "input_height_csc");
  expect(NVDLA_REG_FIELD(CSC, D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT), op.input_channel_csc,
         "input_channel_csc");
  expect(NVDLA_REG_FIELD(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT), op.kernel_width_csc,
         "kernel_width_csc");
  expect(NVDLA_REG_FIELD(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT), op.kernel_height_csc,
         "kernel_height_csc");
  expect(NVDLA_REG_FIELD(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT), op.kernel_channel_csc,
         "kernel_channel_csc");
  expect(NVDLA_REG_FIELD(CSC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH), op.input_width_cmac,
         "input_width_cmac");
  expect(NVDLA_REG_FIELD(CSC, D_DATAOUT_SIZE_0, DATAOUT_HEIGHT), op.input_height_cmac,
         "input_height_cmac");
}

}  // namespace nvdla::loadable
