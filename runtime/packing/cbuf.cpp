// SPDX-License-Identifier: MIT
#include "packing/cbuf.hpp"

#include <algorithm>

#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/types/device_info.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

using arith::ceil_div;
using arith::round_up;

// Beside several groups, whose limits may lie inside an entry.
constexpr std::uint64_t kWeightMargin = 128;
// Kernels that were transformed for Winograd have so many lines and columns.
constexpr std::uint32_t kTileSide = 4;

std::uint32_t element_bytes(const nvdla_conv& conv) {
  return conv.proc_precision == NVDLA_PRECISION_INT8 ? 1 : 2;
}

std::uint64_t kernel_elements(const DeviceInfo& info, const nvdla_conv& conv) {
  if (conv.mode == NVDLA_CONV_WINOGRAD) {
    return std::uint64_t{kTileSide} * kTileSide *
           winograd_channels(info, {weights_desc(conv), conv.stride_width, conv.stride_height});
  }
  return std::uint64_t{conv.channels} * conv.kernel_width * conv.kernel_height;
}

}  // namespace

std::uint64_t buffer_lines(const nvdla_conv& conv) {
  if (conv.mode != NVDLA_CONV_WINOGRAD) return conv.height;
  return (conv.pad_top + conv.height + conv.pad_bottom) / conv.stride_height;
}

std::uint64_t data_banks(const DeviceInfo& info, const nvdla_conv& conv) {
  return ceil_div(conv_entries_per_line(info, conv) * buffer_lines(conv) * std::max(conv.batch, 1U),
                  info.cbuf_entries);
}

std::uint64_t kernel_bytes(const DeviceInfo& info, const nvdla_conv& conv) {
  return kernel_elements(info, conv) * element_bytes(conv);
}

std::uint64_t bank_bytes(const DeviceInfo& info) {
  return std::uint64_t{info.cbuf_entries} * info.cbuf_entry_bytes;
}

std::uint64_t weight_banks(const DeviceInfo& info, const nvdla_conv& conv, std::uint64_t kernels) {
  const bool several = conv.kernels > kernel_group(info, conv);
  const bool compressed = (conv.flags & NVDLA_CONV_COMPRESSED) != 0;
  const std::uint64_t bytes =
      round_up(kernel_bytes(info, conv) * std::min<std::uint64_t>(kernels, conv.kernels),
               info.cbuf_entry_bytes);
  return ceil_div(bytes + (several || compressed ? kWeightMargin : 0), bank_bytes(info));
}

std::uint64_t kernel_group(const DeviceInfo& info, const nvdla_conv& conv) {
  return element_bytes(conv) == 1 ? info.atomic_k : std::max(info.atomic_k / 2, 1U);
}

std::uint64_t usable_banks(const DeviceInfo& info, const nvdla_conv& conv) {
  return info.cbuf_banks - ((conv.flags & NVDLA_CONV_COMPRESSED) != 0 ? 1 : 0);
}

bool holds_all_weights(const DeviceInfo& info, const nvdla_conv& conv) {
  // Kept mask bits lie in one bank, all of them.
  return conv.weight_banks >= weight_banks(info, conv, conv.kernels) &&
         conv.wmb.bytes <= bank_bytes(info);
}

}  // namespace nvdla::detail
