// SPDX-License-Identifier: MIT
#include "packing/conv_steps.hpp"

#include <algorithm>

#include "cost/stripes.hpp"
#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/shape.hpp"
#include "packing/cbuf.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

// A Winograd step takes so many channels of a tile for so many outputs.
constexpr std::uint64_t kTileChannels = 4, kTileOutputs = 4;

}  // namespace

std::uint64_t conv_steps(const DeviceInfo& info, const nvdla_conv& c) {
  const Shape out = conv_output(c);
  cost::ArrayWork work;
  work.outputs = std::uint64_t{out.height} * out.width * std::max(c.batch, 1U);
  work.blocks = arith::ceil_div(c.channels, info.atomic_c) * c.kernel_height * c.kernel_width;
  work.kernels = c.kernels;
  work.group = kernel_group(info, c);
  if (c.mode == NVDLA_CONV_WINOGRAD) {
    work.outputs /= kTileOutputs;
    work.blocks =
        winograd_channels(info, {weights_desc(c), c.stride_width, c.stride_height}) / kTileChannels;
  }
  return cost::array_steps(work);
}

}  // namespace nvdla::detail
