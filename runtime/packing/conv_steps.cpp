// SPDX-License-Identifier: MIT
#include "packing/conv_steps.hpp"

#include <algorithm>

#include "nvdla/conv_weights.hpp"
#include "nvdla/layer.hpp"
#include "packing/cbuf.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

using arith::ceil_div;

// A stripe of the sequencer: positions that share the kernels loaded last.
constexpr std::uint64_t kStripe = 16;
// Of a Winograd step.
constexpr std::uint64_t kTileChannels = 4, kTileOutputs = 4;

}  // namespace

std::uint64_t conv_steps(const DeviceInfo& info, const nvdla_conv& c) {
  const Shape out = conv_output(c);
  const std::uint64_t group = kernel_group(info, c);
  std::uint64_t outputs = std::uint64_t{out.height} * out.width * std::max(c.batch, 1U);
  std::uint64_t blocks = ceil_div(c.channels, info.atomic_c) * c.kernel_height * c.kernel_width;
  if (c.mode == NVDLA_CONV_WINOGRAD) {
    outputs /= kTileOutputs;
    blocks =
        winograd_channels(info, {weights_desc(c), c.stride_width, c.stride_height}) / kTileChannels;
  }
  return ceil_div(c.kernels, group) * blocks *
         std::max(ceil_div(outputs, kStripe) * kStripe, group);
}

}  // namespace nvdla::detail
