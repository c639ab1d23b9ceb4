// SPDX-License-Identifier: MIT
#include "packing/bands.hpp"

#include <algorithm>
#include <utility>

#include "packing/cbuf.hpp"
#include "packing/lines.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

[[noreturn]] void refuse_bands(const DeviceInfo& info, const nvdla_conv& conv) {
  if (pads_a_band(conv)) {
    throw_error(
        ErrorCode::kNotAvailable,
        "the input must be split in height, which is not available with padding of {} and {} "
        "lines: a band of the output could see padding only; below {}, the kernel, it is",
        conv.pad_top, conv.pad_bottom, (conv.kernel_height - 1) * conv.dilation_height + 1);
  }
  throw_error(
      ErrorCode::kNotAvailable,
      "the convolution buffer has {} banks of {} bytes, which hold no band of the input "
      "({}x{}x{}, CHW) beside a kernel group: fewer channels, a smaller kernel or a smaller "
      "dilation would fit",
      usable_banks(info, conv), bank_bytes(info), conv.channels, conv.height, conv.width);
}

// Returns the fewest bands where weights may be fetched while others are worked on: with all
// weights if that costs none, else with two kernel groups, so that fetching and computing overlap,
// or with one. Nothing if not even that fits.
std::vector<Band> split_streaming(const DeviceInfo& info, const nvdla_conv& conv, bool keep_data) {
  const std::uint64_t group = kernel_group(info, conv);
  std::uint64_t count = 0, weights = 0;
  for (const std::uint64_t some : {std::uint64_t{conv.kernels}, 2 * group, group}) {
    const std::uint64_t banks = weight_banks(info, conv, some);
    const std::uint64_t bands = bands_beside(info, conv, banks);
    if (bands != 0 && (count == 0 || bands < count)) {
      count = bands;
      weights = banks;
    }
  }
  if (count == 0) return {};
  std::vector<Band> bands = cut_lines(info, conv, weights);
  const bool keep_weights = holds_all_weights(info, bands[0].conv);
  for (std::size_t i = 0; i + 1 < bands.size(); ++i) {
    nvdla_conv& band = bands[i].conv;
    nvdla_conv& next = bands[i + 1].conv;
    if (keep_weights) {
      band.flags |= NVDLA_CONV_KEEP_WEIGHTS;
      next.flags |= NVDLA_CONV_REUSE_WEIGHTS;
    }
    if (keep_data) keep_lines(band, bands[i].input_line, next, bands[i + 1].input_line);
  }
  return bands;
}

}  // namespace

std::uint32_t kernels_that_fit(const DeviceInfo& info, const nvdla_conv& conv) {
  const std::uint64_t group = kernel_group(info, conv);
  nvdla_conv part = conv;
  part.kernels = static_cast<std::uint32_t>(std::min<std::uint64_t>(group, conv.kernels));
  // One group wants a margin in a layer that streams several, and none in a layer of its own.
  if (!info.has_weight_gating && conv.kernels > group &&
      bands_beside(info, conv, weight_banks(info, conv, group)) == 0) {
    --part.kernels;
  }
  while (part.kernels > 0 &&
         bands_beside(info, part, weight_banks(info, part, part.kernels)) == 0) {
    --part.kernels;
  }
  return part.kernels;
}

std::optional<std::vector<Band>> find_bands(const DeviceInfo& info, const nvdla_conv& conv,
                                            bool keep_data) {
  std::vector<Band> bands = info.has_weight_gating ? split_resident(info, conv, keep_data)
                                                   : split_streaming(info, conv, keep_data);
  if (bands.empty()) return std::nullopt;
  return bands;
}

std::vector<Band> split_conv(const DeviceInfo& info, const nvdla_conv& conv, bool keep_data) {
  if (auto bands = find_bands(info, conv, keep_data)) return *std::move(bands);
  refuse_bands(info, conv);
}

}  // namespace nvdla::detail
