// SPDX-License-Identifier: MIT
//
// A convolution whose kernels see lines that lie far apart is cut into steps: every `step`-th line
// of the output sees every `step`-th line of the input only, and one layer can read and write these
// where they lie.
#include <algorithm>

#include "compiler/lower/conv.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "packing/lines.hpp"

namespace nvdla::detail {
namespace {

// A part of one position may end in a single pixel, which has a layout of its own.
constexpr std::uint32_t kFewestPositions = 2;

// Returns every `step`-th line of the output from `first` on; nothing if these read padding only,
// or too little for a layer.
std::optional<ConvLines> make_lines(const nvdla_conv& conv, std::uint32_t step,
                                    std::uint32_t first) {
  const Shape output = conv_output(conv);
  ConvLines part{.conv = conv, .step = step, .output_line = first};
  part.output_lines = (output.height - first + step - 1) / step;
  // `top` is the line of the input, or of its padding, that the first tap reads for the first of
  // these outputs; `start` is the first line of the input that is a whole number of steps from it.
  const std::int64_t top = std::int64_t{first} * conv.stride_height - conv.pad_top;
  const std::int64_t start = ((top % step) + step) % step;
  const std::int64_t lines = (std::int64_t{conv.height} - start + step - 1) / step;
  part.conv.dilation_height = conv.dilation_height / step;
  const std::int64_t begin = (top - start) / step;
  const std::int64_t end = begin + std::int64_t{part.output_lines - 1} * conv.stride_height +
                           std::int64_t{conv.kernel_height - 1} * part.conv.dilation_height + 1;
  const InputSpan span = input_span(begin, end, lines);
  if (start >= conv.height || span.size <= 0) return std::nullopt;
  part.input_line = static_cast<std::uint32_t>(start + span.first * step);
  part.conv.height = static_cast<std::uint32_t>(span.size);
  part.conv.pad_top = span.pad_before;
  part.conv.pad_bottom = span.pad_after;
  const bool few =
      std::min<std::uint64_t>(std::uint64_t{part.conv.height} * conv.width,
                              std::uint64_t{part.output_lines} * output.width) < kFewestPositions;
  return few ? std::nullopt : std::optional(part);
}

// Moves a surface to some of its lines. Strides are 0 unless there is one operand for each element.
void select_lines(nvdla_surface& surface, std::uint32_t first, std::uint32_t step) {
  surface.offset += std::uint64_t{first} * surface.line_stride;
  surface.line_stride *= step;
}

}  // namespace

std::vector<ConvLines> cut_into_steps(const nvdla_conv& conv, std::uint32_t step) {
  std::vector<ConvLines> parts;
  for (std::uint32_t first = 0; first < std::min(step, conv_output(conv).height); ++first) {
    const auto part = make_lines(conv, step, first);
    if (!part) return {};
    parts.push_back(*part);
  }
  return parts;
}

nvdla_conv tallest_layer(const ConvNode& part) {
  const nvdla_conv conv = formed_conv(part);
  if (part.form.line_step == 1) return conv;
  const auto parts = cut_into_steps(conv, part.form.line_step);
  return std::ranges::max(parts, {}, [](const ConvLines& some) { return some.conv.height; }).conv;
}

nvdla_layer layer_of(const nvdla_layer& whole, const ConvLines& lines) {
  nvdla_layer layer = whole;
  layer.conv = lines.conv;
  select_lines(layer.conv.input, lines.input_line, lines.step);
  for (nvdla_surface* const surface :
       {&layer.sdp.output, &layer.sdp.x1.operand, &layer.sdp.x2.operand, &layer.sdp.y.operand})
    select_lines(*surface, lines.output_line, lines.step);
  return layer;
}

}  // namespace nvdla::detail
