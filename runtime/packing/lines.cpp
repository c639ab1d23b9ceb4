// SPDX-License-Identifier: MIT
#include "packing/lines.hpp"

#include <algorithm>

#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/types/shape.hpp"
#include "packing/cbuf.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

using arith::ceil_div;

// Lines are counted in 12 bits.
constexpr std::uint64_t kMaxLines = 4095;
// Winograd takes so many lines of the input at once, after folding.
constexpr std::uint32_t kTileSide = 4;

// Output lines come in this many at a time.
std::uint32_t line_unit(const nvdla_conv& conv) {
  return conv.mode == NVDLA_CONV_WINOGRAD ? kTileSide : 1;
}

// Lines of the input from the first to the last that `lines` lines of the output take.
std::uint64_t lines_for(const nvdla_conv& conv, std::uint64_t lines) {
  if (conv.mode == NVDLA_CONV_WINOGRAD) return (lines + kTileSide) * conv.stride_height;
  return (lines - 1) * conv.stride_height +
         std::uint64_t{conv.kernel_height - 1} * conv.dilation_height + 1;
}

// Output lines that the input lines in `banks` make, 0 if they are too few.
std::uint64_t lines_in(const DeviceInfo& info, const nvdla_conv& conv, std::uint64_t banks) {
  const std::uint64_t line = conv_entries_per_line(info, conv) * std::max(conv.batch, 1U);
  const std::uint64_t input = std::min(banks * info.cbuf_entries / line, kMaxLines);
  if (conv.mode == NVDLA_CONV_WINOGRAD) {
    // Lines that are left after folding.
    return input < 2 * kTileSide ? 0 : input / kTileSide * kTileSide - kTileSide;
  }
  const std::uint64_t least = lines_for(conv, 1);
  return input < least ? 0 : (input - least) / conv.stride_height + 1;
}

// The part of the convolution that writes `lines` lines from `first` on.
Band make_band(const nvdla_conv& conv, std::uint32_t first, std::uint32_t lines) {
  const std::int64_t begin = std::int64_t{first} * conv.stride_height - conv.pad_top;
  const InputSpan span =
      input_span(begin, begin + static_cast<std::int64_t>(lines_for(conv, lines)), conv.height);
  Band band;
  band.conv = conv;
  band.conv.pad_top = span.pad_before;
  band.conv.pad_bottom = span.pad_after;
  band.input_line = static_cast<std::uint32_t>(span.first);
  band.conv.height = static_cast<std::uint32_t>(span.size);
  band.output_line = first;
  band.output_lines = lines;
  return band;
}

// Lines that a band has at least: a single pixel has a layout of its own.
std::uint32_t fewest_lines(const nvdla_conv& conv, const Shape& out) {
  return out.height > 1 && (conv.width == 1 || out.width == 1) ? 2 : 1;
}

// Returns how many bands it takes beside so many banks of weights; 0 if there is no way.
std::uint64_t count_bands(const DeviceInfo& info, const nvdla_conv& conv, const Shape& out,
                          std::uint64_t weights) {
  const std::uint64_t banks = usable_banks(info, conv);
  if (weights >= banks) return 0;
  const std::uint64_t lines = lines_in(info, conv, banks - weights);
  if (lines == 0) return 0;
  const std::uint64_t count = ceil_div(out.height, lines / line_unit(conv) * line_unit(conv));
  return out.height / count < fewest_lines(conv, out) ? 0 : count;
}

std::vector<Band> cut_into(const nvdla_conv& conv, const Shape& out, std::uint64_t count) {
  const std::uint32_t unit = line_unit(conv);
  const std::uint64_t units = out.height / unit;
  std::vector<Band> bands;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto first = static_cast<std::uint32_t>(i * units / count * unit);
    const auto end = static_cast<std::uint32_t>((i + 1) * units / count * unit);
    bands.push_back(make_band(conv, first, end - first));
  }
  return bands;
}

std::uint32_t kernel_lines(const nvdla_conv& conv) {
  return (conv.kernel_height - 1) * conv.dilation_height + 1;
}

// Returns true if all lines fit beside so many banks of weights.
bool fits_whole(const DeviceInfo& info, const nvdla_conv& conv, std::uint64_t weights) {
  return data_banks(info, conv) + weights <= usable_banks(info, conv) &&
         buffer_lines(conv) <= kMaxLines;
}

}  // namespace

bool pads_a_band(const nvdla_conv& conv) {
  return conv.mode != NVDLA_CONV_WINOGRAD &&
         std::max(conv.pad_top, conv.pad_bottom) >= kernel_lines(conv);
}

std::uint64_t bands_beside(const DeviceInfo& info, const nvdla_conv& conv, std::uint64_t weights) {
  if (fits_whole(info, conv, weights)) return 1;
  return pads_a_band(conv) ? 0 : count_bands(info, conv, conv_output(conv), weights);
}

std::uint64_t lines_twice(const nvdla_conv& conv) {
  return kernel_lines(conv) > conv.stride_height ? kernel_lines(conv) - conv.stride_height : 0;
}

std::vector<Band> cut_lines(const DeviceInfo& info, const nvdla_conv& conv, std::uint64_t weights) {
  const Shape out = conv_output(conv);
  std::vector<Band> bands;
  if (fits_whole(info, conv, weights)) {
    bands.push_back({.conv = conv, .output_lines = out.height});
  } else {
    bands = cut_into(conv, out, count_bands(info, conv, out, weights));
  }
  std::uint64_t data = 0;
  for (const Band& band : bands) data = std::max(data, data_banks(info, band.conv));
  for (Band& band : bands) {
    band.conv.data_banks = static_cast<std::uint32_t>(data);
    band.conv.weight_banks = static_cast<std::uint32_t>(weights);
  }
  return bands;
}

std::vector<Band> cut_evenly(const nvdla_conv& conv, std::uint64_t count) {
  const Shape out = conv_output(conv);
  const std::uint64_t units = out.height / line_unit(conv);
  if (count > units || out.height / count < fewest_lines(conv, out)) return {};
  if (count > 1 && (pads_a_band(conv) || out.height % line_unit(conv) != 0)) return {};
  return cut_into(conv, out, count);
}

void keep_lines(nvdla_conv& before, std::uint32_t first, nvdla_conv& next,
                std::uint32_t next_first) {
  // It is not known which lines a part of the tiles would be.
  if (before.mode == NVDLA_CONV_WINOGRAD) return;
  const std::uint32_t end = first + before.height;
  if (next_first <= first || end <= next_first || end >= next_first + next.height) return;
  before.release = next_first - first;
  next.flags |= NVDLA_CONV_REUSE_DATA;
}

}  // namespace nvdla::detail
