// SPDX-License-Identifier: MIT
//
// Pooling and normalisation, the inverse of convert_pool.cpp.
#include <algorithm>

#include "loadable/write/save_parts.hpp"

namespace nvdla::loadable {

PdpPart PartMaker::pdp(std::uint32_t i) const {
  const nvdla_layer& layer = part_.layers[i];
  const nvdla_pdp& pdp = layer.pdp;
  const bool flying = layer.kind != NVDLA_LAYER_PDP;
  if ((pdp.flags & NVDLA_PDP_NAN_TO_ZERO) != 0) lacks(i, kNoNanToZero);
  PdpPart part;
  PdpOp& op = part.op;
  op.precision = byte(flying ? layer.sdp.out_precision : pdp.precision);
  op.pool_mode = byte(pdp.method);
  op.pool_width = byte(pdp.kernel_width - 1);
  op.pool_height = byte(pdp.kernel_height - 1);
  op.stride_x = byte(pdp.stride_width);
  op.stride_y = byte(pdp.stride_height);
  op.pad_left = byte(pdp.pad_left);
  op.pad_right = byte(pdp.pad_right);
  op.pad_top = byte(pdp.pad_top);
  op.pad_bottom = byte(pdp.pad_bottom);
  std::copy(std::begin(pdp.pad_value), std::end(pdp.pad_value), op.padding_value.begin());
  op.split_num = byte(pdp.bands);
  if (pdp.bands > 1) {
    op.partial_in_width_first =
        count16(i, NVDLA_REG_FIELD(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_FIRST));
    op.partial_in_width_last =
        count16(i, NVDLA_REG_FIELD(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_LAST));
    op.partial_width_first =
        count16(i, NVDLA_REG_FIELD(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_FIRST));
    op.partial_width_last =
        count16(i, NVDLA_REG_FIELD(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_LAST));
    if (pdp.bands > 2) {
      op.partial_in_width_mid =
          count16(i, NVDLA_REG_FIELD(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_MID));
      op.partial_width_mid =
          count16(i, NVDLA_REG_FIELD(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_MID));
    }
  }
  part.surface.src_data =
      flying ? size(count(i, NVDLA_REG_FIELD(PDP, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH)),
                    count(i, NVDLA_REG_FIELD(PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT)),
                    count(i, NVDLA_REG_FIELD(PDP, D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL)))
             : cube(pdp.input, pdp.width, pdp.height, pdp.channels);
  part.surface.dst_data =
      cube(pdp.output, count(i, NVDLA_REG_FIELD(PDP, D_DATA_CUBE_OUT_WIDTH, CUBE_OUT_WIDTH)),
           count(i, NVDLA_REG_FIELD(PDP, D_DATA_CUBE_OUT_HEIGHT, CUBE_OUT_HEIGHT)),
           count(i, NVDLA_REG_FIELD(PDP, D_DATA_CUBE_OUT_CHANNEL, CUBE_OUT_CHANNEL)));
  return part;
}

CdpPart PartMaker::cdp(std::uint32_t i) const {
  const nvdla_layer& layer = part_.layers[i];
  const nvdla_cdp& cdp = layer.cdp;
  if ((cdp.flags & NVDLA_CDP_NAN_TO_ZERO) != 0) lacks(i, kNoNanToZero);
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

}  // namespace nvdla::loadable
