// SPDX-License-Identifier: MIT
#include "common/lift/lift_units.hpp"

namespace nvdla::test {

nvdla_rubik lift_rubik(const LaunchRegisters& registers, const SurfaceAt& surface) {
  nvdla_rubik rubik{};
  rubik.mode = GET(RBK, D_MISC_CFG, RUBIK_MODE);
  rubik.precision = GET(RBK, D_MISC_CFG, IN_PRECISION);
  rubik.width = GET(RBK, D_DATAIN_SIZE_0, DATAIN_WIDTH) + 1;
  rubik.height = GET(RBK, D_DATAIN_SIZE_0, DATAIN_HEIGHT) + 1;
  rubik.channels = GET(RBK, D_DATAIN_SIZE_1, DATAIN_CHANNEL) + 1;
  if (rubik.mode == NVDLA_RUBIK_CONTRACT) {
    rubik.stride_width = GET(RBK, D_DECONV_STRIDE, DECONV_X_STRIDE) + 1;
    rubik.stride_height = GET(RBK, D_DECONV_STRIDE, DECONV_Y_STRIDE) + 1;
  }
  const std::uint32_t in = rubik.mode == NVDLA_RUBIK_MERGE ? WHOLE(RBK, D_DAIN_PLANAR_STRIDE)
                                                           : WHOLE(RBK, D_DAIN_SURF_STRIDE);
  const std::uint32_t out = rubik.mode == NVDLA_RUBIK_SPLIT ? WHOLE(RBK, D_DAOUT_PLANAR_STRIDE)
                                                            : WHOLE(RBK, D_DAOUT_SURF_STRIDE);
  rubik.input = surface(GET(RBK, D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE), WHOLE(RBK, D_DAIN_ADDR_HIGH),
                        WHOLE(RBK, D_DAIN_ADDR_LOW), WHOLE(RBK, D_DAIN_LINE_STRIDE), in);
  rubik.output =
      surface(GET(RBK, D_DAOUT_RAM_TYPE, DATAOUT_RAM_TYPE), WHOLE(RBK, D_DAOUT_ADDR_HIGH),
              WHOLE(RBK, D_DAOUT_ADDR_LOW), WHOLE(RBK, D_DAOUT_LINE_STRIDE), out);
  return rubik;
}

}  // namespace nvdla::test
