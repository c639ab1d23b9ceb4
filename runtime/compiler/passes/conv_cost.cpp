// SPDX-License-Identifier: MIT
#include "compiler/passes/conv_cost.hpp"

#include <algorithm>

#include "backend/info.hpp"
#include "cost/unit_cycles.hpp"
#include "firmware/registers/nvdla_regs.h"
#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/types/shape.hpp"
#include "packing/bands.hpp"
#include "packing/cbuf.hpp"

namespace nvdla::detail {
namespace {

// Firmware fetches so many lines at once that they fill a burst, if the layer says nothing else.
constexpr std::uint32_t kBurstAtoms = 8;

cost::ConvGeometry geometry(const DeviceInfo& info, const nvdla_conv& conv) {
  const Shape out = conv_output(conv);
  cost::ConvGeometry to;
  to.width = conv.width;
  to.height = conv.height;
  to.channels = to.weight_channels = conv.channels;
  to.element_bytes = precision_bytes(static_cast<Precision>(conv.proc_precision));
  if (conv.mode == NVDLA_CONV_DIRECT) {
    to.grain = std::min<std::uint32_t>(
        conv.height, static_cast<std::uint32_t>(cost::ceil_div(kBurstAtoms, conv.width)));
  }
  to.kernels = conv.kernels;
  to.kernel_width = conv.kernel_width;
  to.kernel_height = conv.kernel_height;
  to.weight_bytes = kernel_bytes(info, conv) * conv.kernels;
  to.weight_banks = conv.weight_banks;
  to.out_width = out.width;
  to.out_height = out.height;
  to.fetches_data = (conv.flags & NVDLA_CONV_REUSE_DATA) == 0;
  to.fetches_weights = (conv.flags & NVDLA_CONV_REUSE_WEIGHTS) == 0;
  if (conv.mode == NVDLA_CONV_IMAGE) {
    const PixelLayout pixel = pixel_layout(static_cast<nvdla_pixel_format>(conv.pixel_format));
    to.image = true;
    to.planes = pixel.planes;
    to.plane_bytes[0] = pixel.bytes[0];
    to.plane_bytes[1] = pixel.bytes[1];
    to.x_offset = conv.pixel_offset;
    to.weight_channels = conv.kernel_width * conv.channels;
    to.post_lines = conv.post_extension;
  }
  if (conv.mode == NVDLA_CONV_WINOGRAD) {
    to.winograd = true;
    to.winograd_channels =
        winograd_channels(info, {weights_desc(conv), conv.stride_width, conv.stride_height});
  }
  return to;
}

cost::OperandGeometry operand(const OperatorNode& op, Precision processing) {
  const bool per_element = op.mode == NVDLA_OPERAND_ELEMENT;
  return {.read = op.has_memory(),
          .both = op.alu != NVDLA_ALU_NONE && op.mul != NVDLA_MUL_NONE,
          .two_bytes = !per_element || processing != Precision::kInt8,
          .per_element = per_element};
}

cost::SdpGeometry geometry(const nvdla_conv& conv, const SdpNode& sdp) {
  const Shape out = conv_output(conv);
  cost::SdpGeometry to;
  to.width = out.width;
  to.height = out.height;
  to.channels = out.channels;
  to.element_bytes = to.in_bytes = to.out_bytes = precision_bytes(sdp.processing);
  to.operands[0] = operand(sdp.operators.x1, sdp.processing);
  to.operands[1] = operand(sdp.operators.x2, sdp.processing);
  to.operands[2] = operand(sdp.y, sdp.processing);
  to.x1 = sdp.operators.x1.active();
  to.x2 = sdp.operators.x2.active();
  to.y = sdp.y.active();
  to.writes_cube = !sdp.silent();
  return to;
}

}  // namespace

std::optional<std::uint64_t> predict_conv(const DeviceInfo& info, const nvdla_conv& conv,
                                          const SdpNode& sdp) {
  nvdla_conv one = conv;
  one.batch = 1;
  const auto bands = find_bands(info, one, true);
  if (!bands) return std::nullopt;
  const nvdla_hw& hw = *find_configuration(info);
  const cost::Machine machine = cost::machine_of(hw, hw.regmap == NVDLA_REGMAP_NV_FULL);
  std::uint64_t cycles = 0;
  for (const Band& band : *bands) {
    cycles +=
        cost::conv_cycles(machine, {}, geometry(info, band.conv), geometry(band.conv, sdp), nullptr)
            .total;
  }
  return cycles;
}

bool is_faster(const DeviceInfo& info, const nvdla_conv& form, const nvdla_conv& other,
               const SdpNode& sdp) {
  const auto cycles = predict_conv(info, form, sdp);
  if (!cycles) return false;
  const auto others = predict_conv(info, other, sdp);
  return !others || *cycles < *others;
}

std::uint32_t kernel_lines(const DeviceInfo& info, const ConvNode& part) {
  if (part.tuning.post_extension != 0) return part.tuning.post_extension;
  const nvdla_conv& c = part.conv;
  std::uint32_t lines = most_post_extension(info, c.kernel_width, c.stride_width, c.channels);
  while (lines / 2 >= c.kernel_height) lines /= 2;
  return lines;
}

}  // namespace nvdla::detail
