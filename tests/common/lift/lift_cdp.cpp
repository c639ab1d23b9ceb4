// SPDX-License-Identifier: MIT
#include "common/lift/lift_units.hpp"

namespace nvdla::test {

nvdla_cdp lift_cdp(const LaunchRegisters& registers, const SurfaceAt& surface) {
  nvdla_cdp cdp{};
  cdp.precision = GET(CDP, D_DATA_FORMAT, INPUT_DATA_TYPE);
  if (GET(CDP, D_FUNC_BYPASS, SQSUM_BYPASS))
    cdp.flags |= NVDLA_CDP_BYPASS_SQUARE_SUM;
  else
    cdp.window = 2 * GET(CDP, D_LRN_CFG, NORMALZ_LEN) + 3;
  if (GET(CDP, D_FUNC_BYPASS, MUL_BYPASS)) cdp.flags |= NVDLA_CDP_BYPASS_MUL;
  cdp.width = GET(CDP_RDMA, D_DATA_CUBE_WIDTH, WIDTH) + 1;
  cdp.height = GET(CDP_RDMA, D_DATA_CUBE_HEIGHT, HEIGHT) + 1;
  cdp.channels = GET(CDP_RDMA, D_DATA_CUBE_CHANNEL, CHANNEL) + 1;
  if (cdp.precision == NVDLA_PRECISION_FP16) {
    if (GET(CDP, D_NAN_FLUSH_TO_ZERO, NAN_TO_ZERO)) cdp.flags |= NVDLA_CDP_NAN_TO_ZERO;
  } else {
    const bool narrow = cdp.precision == NVDLA_PRECISION_INT8;
    cdp.in_cvt.offset = sign_extend(WHOLE(CDP, D_DATIN_OFFSET), narrow ? 8 : 16);
    cdp.in_cvt.scale = sign_extend(WHOLE(CDP, D_DATIN_SCALE), 16);
    cdp.in_cvt.truncate = WHOLE(CDP, D_DATIN_SHIFTER);
    cdp.out_cvt.offset = sign_extend(WHOLE(CDP, D_DATOUT_OFFSET), narrow ? 25 : 32);
    cdp.out_cvt.scale = sign_extend(WHOLE(CDP, D_DATOUT_SCALE), 16);
    cdp.out_cvt.truncate = WHOLE(CDP, D_DATOUT_SHIFTER);
  }
  cdp.input = surface(GET(CDP_RDMA, D_SRC_DMA_CFG, SRC_RAM_TYPE),
                      WHOLE(CDP_RDMA, D_SRC_BASE_ADDR_HIGH), WHOLE(CDP_RDMA, D_SRC_BASE_ADDR_LOW),
                      WHOLE(CDP_RDMA, D_SRC_LINE_STRIDE), WHOLE(CDP_RDMA, D_SRC_SURFACE_STRIDE));
  cdp.output = surface(GET(CDP, D_DST_DMA_CFG, DST_RAM_TYPE), WHOLE(CDP, D_DST_BASE_ADDR_HIGH),
                       WHOLE(CDP, D_DST_BASE_ADDR_LOW), WHOLE(CDP, D_DST_LINE_STRIDE),
                       WHOLE(CDP, D_DST_SURFACE_STRIDE));
  return cdp;
}

}  // namespace nvdla::test
