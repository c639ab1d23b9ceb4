// SPDX-License-Identifier: MIT
//
// Pooling (PDP) and normalisation (CDP).
#include <algorithm>

#include "compiler/graph/nodes.hpp"
#include "loadable/read/task_converter.hpp"

namespace nvdla::loadable {

void TaskConverter::convert(const PdpPart& part, bool flying, nvdla_pdp& pdp) {
  const PdpOp& op = part.op;
  const PairSurface& s = part.surface;
  const std::uint32_t type = precision(op.precision, "precision");
  pdp.method = op.pool_mode;
  if (op.pool_mode > NVDLA_POOL_MIN) throw_error("pool_mode {} is not in 0..2", op.pool_mode);
  if (op.pool_width > 7 || op.pool_height > 7) {
    throw_error("pool_width {} and pool_height {} are not in 0..7", op.pool_width, op.pool_height);
  }
  if (!flying) {
    pdp.precision = type;
    pdp.width = s.src_data.width;
    pdp.height = s.src_data.height;
    pdp.channels = s.src_data.channel;
    pdp.input = surface(s.src_data, NVDLA_SLOT_READ, "src_data");
  }
  pdp.kernel_width = op.pool_width + 1U;
  pdp.kernel_height = op.pool_height + 1U;
  pdp.stride_width = op.stride_x;
  pdp.stride_height = op.stride_y;
  pdp.pad_left = op.pad_left;
  pdp.pad_right = op.pad_right;
  pdp.pad_top = op.pad_top;
  pdp.pad_bottom = op.pad_bottom;
  if (op.pool_mode == NVDLA_POOL_AVERAGE) {
    const bool padded = (op.pad_left | op.pad_right | op.pad_top | op.pad_bottom) != 0;
    if (padded) {
      std::copy(op.padding_value.begin(), op.padding_value.end(), pdp.pad_value);
    }
    const bool real = type == NVDLA_PRECISION_FP16;
    pdp.recip_width = detail::pool_reciprocal(pdp.kernel_width, real);
    pdp.recip_height = detail::pool_reciprocal(pdp.kernel_height, real);
  }
  if (op.split_num == 0 || op.split_num > 64)
    throw_error("split_num {} is not in 1..64", op.split_num);
  pdp.bands = op.split_num;
  if (op.split_num > 1) {
    pdp.first_out = op.partial_width_first;
    if (op.split_num > 2) pdp.mid_out = op.partial_width_mid;
    expect(NVDLA_REG_FIELD(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_FIRST),
           op.partial_in_width_first, "partial_in_width_first");
    expect(NVDLA_REG_FIELD(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_LAST),
           op.partial_in_width_last, "partial_in_width_last");
    expect(NVDLA_REG_FIELD(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_LAST), op.partial_width_last,
           "partial_width_last");
    if (op.split_num > 2) {
      expect(NVDLA_REG_FIELD(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_MID),
             op.partial_in_width_mid, "partial_in_width_mid");
    }
  }
  pdp.output = surface(s.dst_data, NVDLA_SLOT_WRITE, "dst_data");
  expect(NVDLA_REG_FIELD(PDP, D_DATA_CUBE_OUT_WIDTH, CUBE_OUT_WIDTH), s.dst_data.width,
         "dst_data.width");
  expect(NVDLA_REG_FIELD(PDP, D_DATA_CUBE_OUT_HEIGHT, CUBE_OUT_HEIGHT), s.dst_data.height,
         "dst_data.height");
  expect(NVDLA_REG_FIELD(PDP, D_DATA_CUBE_OUT_CHANNEL, CUBE_OUT_CHANNEL), s.dst_data.channel,
         "dst_data.channel");
}

void TaskConverter::convert(const CdpPart& part, nvdla_layer& layer) {
  const CdpOp& op = part.op;
  const PairSurface& s = part.surface;
  nvdla_cdp& cdp = layer.cdp;
  cdp.precision = precision(op.in_precision, "in_precision");
  if (op.out_precision != op.in_precision) {
    throw_error("out_precision {} is not in_precision {}: CDP does not convert", op.out_precision,
                op.in_precision);
  }
  if (s.dst_data.width != s.src_data.width || s.dst_data.height != s.src_data.height ||
      s.dst_data.channel != s.src_data.channel) {
    throw_error("dst_data {}x{}x{} is not of the size of src_data {}x{}x{}", s.dst_data.channel,
                s.dst_data.height, s.dst_data.width, s.src_data.channel, s.src_data.height,
                s.src_data.width);
  }
  cdp.width = s.src_data.width;
  cdp.height = s.src_data.height;
  cdp.channels = s.src_data.channel;
  if (op.bypass_sqsum != 0) {
    cdp.flags |= NVDLA_CDP_BYPASS_SQUARE_SUM;
  } else {
    cdp.window = op.local_size;
  }
  if (op.bypass_out_mul != 0) cdp.flags |= NVDLA_CDP_BYPASS_MUL;
  if (cdp.precision != NVDLA_PRECISION_FP16) {
    cdp.in_cvt = converter(op.in_cvt);
    cdp.out_cvt = converter(op.out_cvt);
  }
  cdp.input = surface(s.src_data, NVDLA_SLOT_READ, "src_data");
  cdp.output = surface(s.dst_data, NVDLA_SLOT_WRITE, "dst_data");
  layer.lut = add_lut(op.lut_index, NVDLA_LUT_CDP, cdp.precision);
}

}  // namespace nvdla::loadable
