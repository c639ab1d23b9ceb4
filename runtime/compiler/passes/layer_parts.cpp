// SPDX-License-Identifier: MIT
#include "compiler/passes/layer_parts.hpp"

#include <algorithm>

#include "compiler/lower/pool_cuts.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/types/shape.hpp"
#include "packing/lines.hpp"

namespace nvdla::detail {
namespace {

std::vector<Part> cut_pooling(const nvdla_layer& whole, std::uint32_t count) {
  const nvdla_pdp& pdp = whole.pdp;
  const std::uint32_t height = output_lines(whole);
  const std::uint32_t width =
      pool_output(pdp.width, pdp.pad_left, pdp.pad_right, pdp.kernel_width, pdp.stride_width);
  // A single pixel has a layout of its own.
  const bool narrow = std::min(width, pdp.width) == 1;
  if (height < count * (narrow ? 2 : 1)) return {};
  std::vector<Part> parts;
  for (std::uint32_t i = 0; i < count; ++i) {
    Part part{.layer = whole,
              .band = i,
              .first_line = height * i / count,
              .lines = height * (i + 1) / count - height * i / count};
    const std::int64_t begin =
        std::int64_t{part.first_line} * pdp.stride_height - std::int64_t{pdp.pad_top};
    const InputSpan span = input_span(
        begin, begin + std::int64_t{part.lines - 1} * pdp.stride_height + pdp.kernel_height,
        pdp.height);
    if (span.size <= 0) return {};
    nvdla_pdp& own = part.layer.pdp;
    own.pad_top = span.pad_before;
    own.pad_bottom = span.pad_after;
    own.height = static_cast<std::uint32_t>(span.size);
    own.input.offset += static_cast<std::uint64_t>(span.first) * own.input.line_stride;
    own.output.offset += std::uint64_t{part.first_line} * own.output.line_stride;
    part.read_end = static_cast<std::uint32_t>(span.first + span.size);
    parts.push_back(part);
  }
  return parts;
}

// A position of CDP sees its own channels only.
std::vector<Part> cut_normalisation(const nvdla_layer& whole, std::uint32_t count) {
  const std::uint32_t height = output_lines(whole);
  // A single pixel has a layout of its own.
  if (height < count * (whole.cdp.width == 1 ? 2 : 1)) return {};
  std::vector<Part> parts;
  for (std::uint32_t i = 0; i < count; ++i) {
    Part part{.layer = whole,
              .band = i,
              .read_end = height * (i + 1) / count,
              .first_line = height * i / count};
    part.lines = part.read_end - part.first_line;
    nvdla_cdp& own = part.layer.cdp;
    own.height = part.lines;
    own.input.offset += std::uint64_t{part.first_line} * own.input.line_stride;
    own.output.offset += std::uint64_t{part.first_line} * own.output.line_stride;
    parts.push_back(part);
  }
  return parts;
}

}  // namespace

bool is_conv(const nvdla_layer& layer) noexcept { return layer.kind == NVDLA_LAYER_CONV_SDP; }

const nvdla_surface& input_of(const nvdla_layer& layer) noexcept {
  return is_conv(layer)                  ? layer.conv.input
         : layer.kind == NVDLA_LAYER_PDP ? layer.pdp.input
                                         : layer.cdp.input;
}

const nvdla_surface& output_of(const nvdla_layer& layer) noexcept {
  return is_conv(layer)                  ? layer.sdp.output
         : layer.kind == NVDLA_LAYER_PDP ? layer.pdp.output
                                         : layer.cdp.output;
}

std::uint32_t output_lines(const nvdla_layer& layer) {
  if (is_conv(layer)) return conv_output(layer.conv).height;
  if (layer.kind == NVDLA_LAYER_CDP) return layer.cdp.height;
  const nvdla_pdp& pdp = layer.pdp;
  return pool_output(pdp.height, pdp.pad_top, pdp.pad_bottom, pdp.kernel_height, pdp.stride_height);
}

std::vector<Part> parts_of(const DeviceInfo& info, const nvdla_layer& whole,
                           const std::vector<Band>& bands) {
  std::vector<Part> parts;
  for (const Band& band : bands) {
    parts.push_back({.layer = layer_of(info, whole, band),
                     .band = static_cast<std::uint32_t>(parts.size()),
                     .read_end = band.input_line + band.conv.height,
                     .first_line = band.output_line,
                     .lines = band.output_lines});
  }
  return parts;
}

std::vector<Part> cut_layer(const DeviceInfo& info, const nvdla_layer& whole, std::uint32_t count) {
  if (is_conv(whole)) return parts_of(info, whole, cut_evenly(whole.conv, count));
  return whole.kind == NVDLA_LAYER_PDP ? cut_pooling(whole, count)
                                       : cut_normalisation(whole, count);
}

std::vector<Part> repeat(const std::vector<Part>& parts, std::uint32_t images) {
  std::vector<Part> all;
  for (std::uint32_t image = 0; image < images; ++image) {
    for (Part part : parts) {
      part.image = image;
      select_image(part.layer, image);
      all.push_back(part);
    }
  }
  return all;
}

bool has_same_lines(const nvdla_surface& written, const nvdla_surface& read) noexcept {
  if (written.slot != read.slot || written.line_stride != read.line_stride ||
      written.batch_stride != read.batch_stride)
    return false;
  const std::uint64_t apart =
      std::max(written.offset, read.offset) - std::min(written.offset, read.offset);
  return apart == 0 || (read.surface_stride != 0 && apart % read.surface_stride == 0);
}

}  // namespace nvdla::detail
