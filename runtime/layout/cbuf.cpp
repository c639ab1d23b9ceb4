// SPDX-License-Identifier: MIT
#include "layout/cbuf.hpp"

#include <algorithm>

#include "arith/integers.hpp"
#include "base/check.hpp"
#include "nvdla/conv_weights.hpp"

namespace nvdla::detail {
namespace {

using arith::ceil_div;

// Lines are counted in 12 bits.
constexpr std::uint64_t kMaxLines = 4095;
// Of Winograd: lines of the input that come at once, after folding.
constexpr std::uint32_t kTile = 4;

std::uint32_t element_bytes(const nvdla_conv& conv) {
  return conv.proc_precision == NVDLA_PRECISION_INT8 ? 1 : 2;
}

// Lines that are in the buffer at once: with padding in tiles.
std::uint64_t buffer_lines(const nvdla_conv& conv) {
  if (conv.mode != NVDLA_CONV_WINOGRAD) return conv.height;
  return (conv.pad_top + conv.height + conv.pad_bottom) / conv.stride_y;
}

std::uint64_t kernel_elements(const DeviceInfo& info, const nvdla_conv& conv) {
  if (conv.mode == NVDLA_CONV_WINOGRAD) {
    return std::uint64_t{kTile} * kTile *
           winograd_channels(info, {weights_desc(conv), conv.stride_x, conv.stride_y});
  }
  return std::uint64_t{conv.channels} * conv.kernel_width * conv.kernel_height;
}

// Output lines come in this many at a time.
std::uint32_t line_unit(const nvdla_conv& conv) {
  return conv.mode == NVDLA_CONV_WINOGRAD ? kTile : 1;
}

// Lines of the input from the first to the last that `lines` lines of the output take.
std::uint64_t lines_for(const nvdla_conv& conv, std::uint64_t lines) {
  if (conv.mode == NVDLA_CONV_WINOGRAD) return (lines + kTile) * conv.stride_y;
  return (lines - 1) * conv.stride_y + std::uint64_t{conv.kernel_height - 1} * conv.dilation_y + 1;
}

// Output lines that the input lines in `banks` make, 0 if they are too few.
std::uint64_t lines_in(const DeviceInfo& info, const nvdla_conv& conv, std::uint64_t banks) {
  const std::uint64_t line = conv_entries_per_line(info, conv) * std::max(conv.batch, 1U);
  const std::uint64_t input = std::min(banks * info.cbuf_entries / line, kMaxLines);
  if (conv.mode == NVDLA_CONV_WINOGRAD) {
    // Lines that are left after folding.
    return input < 2 * kTile ? 0 : input / kTile * kTile - kTile;
  }
  const std::uint64_t least = lines_for(conv, 1);
  return input < least ? 0 : (input - least) / conv.stride_y + 1;
}

// The part of the convolution that writes `lines` lines from `first` on.
Band make_band(const nvdla_conv& conv, std::uint32_t first, std::uint32_t lines) {
  // In lines of the input; before 0 and from its height on lies the padding.
  const std::int64_t begin = std::int64_t{first} * conv.stride_y - conv.pad_top;
  const std::int64_t end = begin + static_cast<std::int64_t>(lines_for(conv, lines));
  const std::int64_t height = conv.height;
  Band band;
  band.conv = conv;
  band.conv.pad_top = static_cast<std::uint32_t>(std::max<std::int64_t>(-begin, 0));
  band.conv.pad_bottom = static_cast<std::uint32_t>(std::max<std::int64_t>(end - height, 0));
  band.input_line = static_cast<std::uint32_t>(std::max<std::int64_t>(begin, 0));
  band.conv.height = static_cast<std::uint32_t>(std::min(end, height) - band.input_line);
  band.output_line = first;
  band.output_lines = lines;
  return band;
}

// How many bands it takes beside so many banks of weights; 0 if there is no way.
std::uint64_t count_bands(const DeviceInfo& info, const nvdla_conv& conv, const Shape& out,
                          std::uint64_t weights) {
  const std::uint64_t banks = usable_banks(info, conv);
  if (weights >= banks) return 0;
  const std::uint64_t lines = lines_in(info, conv, banks - weights);
  if (lines == 0) return 0;
  const std::uint64_t count = ceil_div(out.height, lines / line_unit(conv) * line_unit(conv));
  // A single pixel has a layout of its own, so where lines are one pixel wide a band has two.
  const std::uint32_t fewest = out.height > 1 && (conv.width == 1 || out.width == 1) ? 2 : 1;
  return out.height / count < fewest ? 0 : count;
}

// Leaves in the buffer what the next band needs again.
void keep(std::vector<Band>& bands, bool weights, bool lines) {
  for (std::size_t i = 0; i + 1 < bands.size(); ++i) {
    Band& band = bands[i];
    Band& next = bands[i + 1];
    if (weights) {
      band.conv.flags |= NVDLA_CONV_KEEP_WEIGHTS;
      next.conv.flags |= NVDLA_CONV_REUSE_WEIGHTS;
    }
    const std::uint32_t end = band.input_line + band.conv.height;
    if (lines && end > next.input_line && end < next.input_line + next.conv.height &&
        next.input_line > band.input_line) {
      band.conv.release = next.input_line - band.input_line;
      next.conv.flags |= NVDLA_CONV_REUSE_DATA;
    }
  }
}

}  // namespace

std::uint64_t data_banks(const DeviceInfo& info, const nvdla_conv& conv) {
  return ceil_div(conv_entries_per_line(info, conv) * buffer_lines(conv) * std::max(conv.batch, 1U),
                  info.cbuf_entries);
}

std::uint64_t weight_banks(const DeviceInfo& info, const nvdla_conv& conv, std::uint64_t kernels) {
  const std::uint64_t bytes = kernel_elements(info, conv) * element_bytes(conv) *
                              std::min<std::uint64_t>(kernels, conv.kernels);
  return ceil_div(ceil_div(bytes, 128) * 128 + 128,
                  std::uint64_t{info.cbuf_entries} * info.cbuf_entry_bytes);
}

std::uint64_t kernel_group(const DeviceInfo& info, const nvdla_conv& conv) {
  return element_bytes(conv) == 1 ? info.atomic_k : std::max(info.atomic_k / 2, 1U);
}

std::uint64_t usable_banks(const DeviceInfo& info, const nvdla_conv& conv) {
  return info.cbuf_banks - ((conv.flags & NVDLA_CONV_COMPRESSED) != 0 ? 1 : 0);
}

bool holds_all_weights(const DeviceInfo& info, const nvdla_conv& conv) {
  // Kept mask bits lie in one bank, all of them.
  const std::uint64_t bank = std::uint64_t{info.cbuf_entries} * info.cbuf_entry_bytes;
  return conv.weight_banks >= weight_banks(info, conv, conv.kernels) && conv.wmb.bytes <= bank;
}

std::uint32_t kernels_that_fit(const DeviceInfo& info, const nvdla_conv& conv) {
  const Shape out = conv_output(conv);
  auto kernels =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(kernel_group(info, conv), conv.kernels));
  for (; kernels > 0; --kernels) {
    const std::uint64_t banks = weight_banks(info, conv, kernels);
    if (data_banks(info, conv) + banks <= usable_banks(info, conv) ||
        count_bands(info, conv, out, banks) != 0) {
      break;
    }
  }
  return kernels;
}

std::vector<Band> split_lines(const DeviceInfo& info, const nvdla_conv& conv, bool keep_lines) {
  const Shape out = conv_output(conv);
  const std::uint64_t group = kernel_group(info, conv);
  const std::uint64_t total = usable_banks(info, conv);
  if (data_banks(info, conv) + weight_banks(info, conv, group) <= total &&
      buffer_lines(conv) <= kMaxLines) {
    Band whole = make_band(conv, 0, out.height);
    whole.conv = conv;
    choose_banks(info, whole.conv);
    return {whole};
  }
  const std::uint32_t kernel = (conv.kernel_height - 1) * conv.dilation_y + 1;
  if (conv.mode != NVDLA_CONV_WINOGRAD && (conv.pad_top >= kernel || conv.pad_bottom >= kernel)) {
    refuse(ErrorCode::kNotAvailable,
           "the input must be split in height, which is not available with padding of {} and {} "
           "lines: a band of the output could see padding only; below {}, the kernel, it is",
           conv.pad_top, conv.pad_bottom, kernel);
  }

  // The fewest bands; with all weights if that costs none, else with two kernel groups, so that
  // fetching and computing overlap, or with one.
  const std::uint64_t kernels[] = {conv.kernels, 2 * group, group};
  std::uint64_t count = 0, weights = 0;
  for (const std::uint64_t some : kernels) {
    const std::uint64_t banks = weight_banks(info, conv, some);
    const std::uint64_t bands = count_bands(info, conv, out, banks);
    if (bands != 0 && (count == 0 || bands < count)) {
      count = bands;
      weights = banks;
    }
  }
  if (count == 0) {
    refuse(ErrorCode::kNotAvailable,
           "the convolution buffer has {} banks of {} bytes, which hold no band of the input "
           "({}x{}x{}, CHW) beside a kernel group: it must be split in width or channels, which is "
           "not available yet",
           total, std::uint64_t{info.cbuf_entries} * info.cbuf_entry_bytes, conv.channels,
           conv.height, conv.width);
  }
  const std::uint32_t unit = line_unit(conv);
  std::vector<Band> bands;
  std::uint64_t data = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t units = out.height / unit;
    const auto first = static_cast<std::uint32_t>(i * units / count * unit);
    const auto end = static_cast<std::uint32_t>((i + 1) * units / count * unit);
    bands.push_back(make_band(conv, first, end - first));
    data = std::max(data, data_banks(info, bands.back().conv));
  }
  for (Band& band : bands) {
    band.conv.data_banks = static_cast<std::uint32_t>(data);
    band.conv.weight_banks = static_cast<std::uint32_t>(weights);
  }
  // Which lines a part of the tiles would be is not known.
  keep(bands, holds_all_weights(info, bands[0].conv),
       keep_lines && conv.mode != NVDLA_CONV_WINOGRAD);
  return bands;
}

}  // namespace nvdla::detail
