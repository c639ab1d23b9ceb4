// SPDX-License-Identifier: MIT
#include "common/lift/lift_units.hpp"

namespace nvdla::test {

nvdla_pdp lift_pdp(const LaunchRegisters& registers, const SurfaceAt& surface, bool flying) {
  nvdla_pdp pdp{};
  const std::uint32_t precision = GET(PDP, D_DATA_FORMAT, INPUT_DATA);
  const bool real = precision == NVDLA_PRECISION_FP16;
  pdp.method = GET(PDP, D_OPERATION_MODE_CFG, POOLING_METHOD);
  if (real && !flying && GET(PDP, D_NAN_FLUSH_TO_ZERO, NAN_TO_ZERO))
    pdp.flags = NVDLA_PDP_NAN_TO_ZERO;
  if (!flying) {
    pdp.precision = precision;
    pdp.width = GET(PDP, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH) + 1;
    pdp.height = GET(PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT) + 1;
    pdp.channels = GET(PDP, D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL) + 1;
    pdp.input = surface(GET(PDP_RDMA, D_SRC_RAM_CFG, SRC_RAM_TYPE),
                        WHOLE(PDP_RDMA, D_SRC_BASE_ADDR_HIGH), WHOLE(PDP_RDMA, D_SRC_BASE_ADDR_LOW),
                        WHOLE(PDP_RDMA, D_SRC_LINE_STRIDE), WHOLE(PDP_RDMA, D_SRC_SURFACE_STRIDE));
  }
  pdp.kernel_width = GET(PDP, D_POOLING_KERNEL_CFG, KERNEL_WIDTH) + 1;
  pdp.kernel_height = GET(PDP, D_POOLING_KERNEL_CFG, KERNEL_HEIGHT) + 1;
  pdp.stride_width = GET(PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH) + 1;
  pdp.stride_height = GET(PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_HEIGHT) + 1;
  pdp.pad_left = GET(PDP, D_POOLING_PADDING_CFG, PAD_LEFT);
  pdp.pad_right = GET(PDP, D_POOLING_PADDING_CFG, PAD_RIGHT);
  pdp.pad_top = GET(PDP, D_POOLING_PADDING_CFG, PAD_TOP);
  pdp.pad_bottom = GET(PDP, D_POOLING_PADDING_CFG, PAD_BOTTOM);
  if (pdp.method == NVDLA_POOL_AVERAGE) {
    pdp.recip_width = GET(PDP, D_RECIP_KERNEL_WIDTH, RECIP_KERNEL_WIDTH);
    pdp.recip_height = GET(PDP, D_RECIP_KERNEL_HEIGHT, RECIP_KERNEL_HEIGHT);
    const bool padded = (pdp.pad_left | pdp.pad_right | pdp.pad_top | pdp.pad_bottom) != 0;
    for (std::uint32_t i = 0; padded && i < 7; i++) {
      const std::uint32_t value =
          registers.read(NVDLA_UNIT_PDP, NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG + 4 * i);
      pdp.pad_value[i] = real ? static_cast<std::int32_t>(value & 0x1ffff) : sign_extend(value, 19);
    }
  }
  pdp.bands = GET(PDP, D_OPERATION_MODE_CFG, SPLIT_NUM) + 1;
  if (pdp.bands > 1) pdp.first_out = GET(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_FIRST) + 1;
  if (pdp.bands > 2) pdp.mid_out = GET(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_MID) + 1;
  pdp.output = surface(GET(PDP, D_DST_RAM_CFG, DST_RAM_TYPE), WHOLE(PDP, D_DST_BASE_ADDR_HIGH),
                       WHOLE(PDP, D_DST_BASE_ADDR_LOW), WHOLE(PDP, D_DST_LINE_STRIDE),
                       WHOLE(PDP, D_DST_SURFACE_STRIDE));
  return pdp;
}

}  // namespace nvdla::test
