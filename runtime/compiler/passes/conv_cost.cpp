// SPDX-License-Identifier: MIT
#include "compiler/passes/conv_cost.hpp"

#include "compiler/passes/layer_geometry.hpp"
#include "cost/unit_cycles.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "packing/bands.hpp"

namespace nvdla::detail {

std::optional<std::uint64_t> predict_conv(const DeviceInfo& info, const nvdla_conv& conv,
                                          const SdpNode& sdp) {
  nvdla_conv one = conv;
  one.batch = 1;
  const auto bands = find_bands(info, one, true);
  if (!bands) return std::nullopt;
  const cost::Machine machine = machine_of(info);
  const cost::MemoryTiming memory = memory_of(info);
  std::uint64_t cycles = 0;
  const nvdla_conv* before = nullptr;
  for (const Band& band : *bands) {
    cost::ConvGeometry layer = geometry(info, band.conv);
    if (before != nullptr) leave_kept_lines(*before, band.conv, layer);
    cycles += cost::conv_cycles(machine, memory, layer, geometry(band.conv, sdp), nullptr).total;
    before = &band.conv;
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
