// SPDX-License-Identifier: MIT
//
// A convolution of which not even the lines of one line of the output fit the convolution buffer is
// cut in width: layers that compute some columns each read those columns where they lie.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lower/conv.hpp"
#include "compiler/passes/layer_mover.hpp"
#include "compiler/passes/passes.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "packing/bands.hpp"
#include "packing/lines.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// A part of one column may end in a single pixel, which has a layout of its own.
constexpr std::uint32_t kFewestColumns = 2;

// `Columns` are some columns of the output and what makes them.
struct Columns {
  nvdla_conv conv = {};
  std::uint32_t input_column = 0;   // first column read
  std::uint32_t output_column = 0;  // first column written
  std::uint32_t output_columns = 0;
};

// Returns `count` columns from `first` on; nothing if these read too little but padding.
std::optional<Columns> make_columns(const nvdla_conv& conv, std::uint32_t first,
                                    std::uint32_t count) {
  const std::int64_t begin = std::int64_t{first} * conv.stride_width - conv.pad_left;
  const std::int64_t end = begin + std::int64_t{count - 1} * conv.stride_width +
                           std::int64_t{conv.kernel_width - 1} * conv.dilation_width + 1;
  const InputSpan span = input_span(begin, end, conv.width);
  if (span.size < kFewestColumns) return std::nullopt;
  Columns columns{conv, static_cast<std::uint32_t>(span.first), first, count};
  columns.conv.width = static_cast<std::uint32_t>(span.size);
  columns.conv.pad_left = span.pad_before;
  columns.conv.pad_right = span.pad_after;
  return columns;
}

// Returns `count` parts of about as many columns; none if one of them cannot be.
std::vector<Columns> cut_into(const nvdla_conv& conv, std::uint32_t width, std::uint32_t count) {
  std::vector<Columns> parts;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t first = width * i / count, end = width * (i + 1) / count;
    const auto part = make_columns(conv, first, end - first);
    if (!part) return {};
    parts.push_back(*part);
  }
  return parts;
}

// Returns the fewest parts that fit the convolution buffer; none where no parts do, or where the
// whole does.
std::vector<Columns> find_columns(const DeviceInfo& info, const nvdla_conv& conv) {
  const auto fits = [&](const nvdla_conv& part) {
    return find_bands(info, part, true).has_value();
  };
  if (conv.mode != NVDLA_CONV_DIRECT || fits(conv)) return {};
  const std::uint32_t width = conv_output(conv).width;
  for (std::uint32_t count = 2; count <= width / kFewestColumns; ++count) {
    // The first of the widest parts, of which most do not fit.
    const std::uint32_t widest = (width + count - 1) / count;
    const auto inner = make_columns(conv, width - widest, widest);
    if (!inner || !fits(inner->conv)) continue;
    auto parts = cut_into(conv, width, count);
    if (!parts.empty() && std::all_of(parts.begin(), parts.end(),
                                      [&](const Columns& part) { return fits(part.conv); }))
      return parts;
  }
  return {};
}

nvdla_layer layer_of(const DeviceInfo& info, const nvdla_layer& whole, const Columns& columns) {
  nvdla_layer layer = whole;
  layer.conv = columns.conv;
  layer.conv.input.offset += std::uint64_t{columns.input_column} * info.atom;
  move_columns(info, layer.sdp, columns.output_column);
  return layer;
}

}  // namespace

bool fits_in_columns(const DeviceInfo& info, const nvdla_conv& conv) {
  return !find_columns(info, conv).empty();
}

Schedule cut_columns(Schedule schedule, const Graph&, PassContext& context) {
  const auto cut = [&](const nvdla_layer& layer, const Operation& operation,
                       const EmitLayer& emit) {
    if (layer.kind != NVDLA_LAYER_CONV_SDP || operation.cut) return emit(layer, operation);
    const auto parts = find_columns(context.info, layer.conv);
    if (parts.empty()) return emit(layer, operation);
    ++context.applied;
    const std::uint32_t width = conv_output(layer.conv).width;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Operation own = operation;
      own.name += fmt::format(" columns {}/{}", i + 1, parts.size());
      own.macs = operation.macs / width * parts[i].output_columns;
      own.whole = false;
      emit(layer_of(context.info, layer, parts[i]), std::move(own));
    }
  };
  return replace_layers(std::move(schedule), {}, cut);
}

}  // namespace nvdla::detail
