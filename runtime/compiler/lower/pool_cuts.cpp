// SPDX-License-Identifier: MIT
#include "compiler/lower/pool_cuts.hpp"

#include <algorithm>
#include <iterator>

#include "compiler/graph/nodes.hpp"
#include "packing/lines.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

// The capacity of the line buffer: atoms of a line, and lines.
constexpr std::uint32_t kBufferAtoms = 16, kBufferLines = 8;
// The registers for the columns of a band, in and out, have 10 bits.
constexpr std::int64_t kMaxBand = 1024;
constexpr std::uint32_t kMaxBands = 64;

// Returns true if the registers can express bands of `columns` columns, the last one narrower: the
// first band takes the left padding, each other one starts where the windows of the previous one
// end.
bool bands_work(const nvdla_pdp& pdp, std::uint32_t out, std::uint32_t columns,
                std::uint32_t bands) {
  const std::int64_t kernel = pdp.kernel_width, stride = pdp.stride_width, wide = columns;
  const std::int64_t overlap = std::max<std::int64_t>(kernel - stride, 0);
  const std::int64_t gap = std::max<std::int64_t>(stride - kernel, 0);
  const auto within = [](std::int64_t value, std::int64_t least) {
    return value >= least && value <= kMaxBand;
  };
  const std::int64_t last = out - (bands - 1) * wide;
  return within((wide - 1) * stride + kernel - pdp.pad_left, std::max<std::int64_t>(overlap, 1)) &&
         (bands == 2 || within(wide * stride, std::max(overlap, gap + 1))) &&
         within(last * stride - pdp.pad_right, gap + 1);
}

// Sets the fewest bands that work; false if no number of them does.
bool choose_bands(nvdla_pdp& pdp) {
  const std::uint32_t out =
      pool_output(pdp.width, pdp.pad_left, pdp.pad_right, pdp.kernel_width, pdp.stride_width);
  pdp.bands = 1;
  if (out <= pool_columns(pdp)) return true;
  for (std::uint32_t columns = pool_columns(pdp); columns > 0; --columns) {
    const std::uint32_t bands = (out + columns - 1) / columns;
    if (bands > kMaxBands) return false;
    if (!bands_work(pdp, out, columns, bands)) continue;
    pdp.bands = bands;
    pdp.first_out = columns;
    pdp.mid_out = bands > 2 ? columns : 0;
    return true;
  }
  return false;
}

// Without what a stride leaves over: padding first, then input.
void trim(std::uint32_t& size, std::uint32_t before, std::uint32_t& after, std::uint32_t kernel,
          std::uint32_t stride) {
  const std::uint32_t rest = (before + size + after - kernel) % stride;
  const std::uint32_t padding = std::min(rest, after);
  after -= padding;
  size -= rest - padding;
}

PoolPiece make_piece(const nvdla_pdp& pdp, std::uint32_t first, std::uint32_t columns) {
  const std::int64_t begin = std::int64_t{first} * pdp.stride_width - pdp.pad_left;
  const InputSpan span = input_span(
      begin, begin + std::int64_t{columns - 1} * pdp.stride_width + pdp.kernel_width, pdp.width);
  PoolPiece piece;
  piece.pdp = pdp;
  piece.pdp.pad_left = span.pad_before;
  piece.pdp.pad_right = span.pad_after;
  piece.input_column = static_cast<std::uint32_t>(span.first);
  piece.pdp.width = static_cast<std::uint32_t>(span.size);
  piece.output_column = first;
  if ((piece.pdp.pad_left | piece.pdp.pad_right | pdp.pad_top | pdp.pad_bottom) == 0) {
    std::fill(std::begin(piece.pdp.pad_value), std::end(piece.pdp.pad_value), 0);
  }
  return piece;
}

}  // namespace

std::uint32_t pool_columns(const nvdla_pdp& pdp) noexcept {
  // Output lines that a line of the input is part of.
  const std::uint32_t lines = (pdp.kernel_height + pdp.stride_height - 1) / pdp.stride_height;
  return kBufferAtoms * (kBufferLines / lines);
}

std::uint32_t pool_output(std::uint32_t size, std::uint32_t before, std::uint32_t after,
                          std::uint32_t kernel, std::uint32_t stride) noexcept {
  return (before + size + after - kernel) / stride + 1;
}

std::vector<PoolPiece> split_pooling(const nvdla_pdp& whole) {
  nvdla_pdp pdp = whole;
  trim(pdp.width, pdp.pad_left, pdp.pad_right, pdp.kernel_width, pdp.stride_width);
  trim(pdp.height, pdp.pad_top, pdp.pad_bottom, pdp.kernel_height, pdp.stride_height);
  const std::uint32_t out =
      pool_output(pdp.width, pdp.pad_left, pdp.pad_right, pdp.kernel_width, pdp.stride_width);
  for (std::uint32_t count = 1; count <= out; ++count) {
    std::vector<PoolPiece> pieces;
    bool work = true;
    for (std::uint32_t i = 0; i < count && work; ++i) {
      const auto first = static_cast<std::uint32_t>(std::uint64_t{i} * out / count);
      const auto end = static_cast<std::uint32_t>(std::uint64_t{i + 1} * out / count);
      pieces.push_back(make_piece(pdp, first, end - first));
      work = choose_bands(pieces.back().pdp);
    }
    if (work) return pieces;
  }
  throw_error(ErrorCode::kNotAvailable,
              "a pooling of {} columns, kernel {}, stride {} fits no bands", pdp.width,
              pdp.kernel_width, pdp.stride_width);
}

namespace {

struct Step {
  std::uint32_t size = 0, kernel = 1, stride = 1, before = 0, after = 0;

  std::uint32_t output() const { return pool_output(size, before, after, kernel, stride); }
};

// Windows of eight at every place, until what is left of the window is one; of all that there is
// side by side.
std::vector<Step> split(Step whole) {
  std::vector<Step> steps;
  while (whole.kernel > kMaxWindow) {
    Step step{whole.size, kMaxWindow, 1, 0, 0};
    if (whole.kernel == whole.size && whole.before + whole.after == 0) {
      step.stride = kMaxWindow;
      const auto full = static_cast<std::uint32_t>(arith::round_up(whole.size, kMaxWindow));
      step.after = full - whole.size;
      whole.kernel = full / kMaxWindow;
    } else {
      step.before = std::min(whole.before, kMaxWindow - 1);
      step.after = std::min(whole.after, kMaxWindow - 1);
      whole.before -= step.before;
      whole.after -= step.after;
      whole.kernel -= kMaxWindow - 1;
    }
    whole.size = step.output();
    steps.push_back(step);
  }
  steps.push_back(whole);
  return steps;
}

}  // namespace

std::vector<nvdla_pdp> split_window(const nvdla_pdp& pdp) {
  std::vector<Step> columns =
      split({pdp.width, pdp.kernel_width, pdp.stride_width, pdp.pad_left, pdp.pad_right});
  std::vector<Step> lines =
      split({pdp.height, pdp.kernel_height, pdp.stride_height, pdp.pad_top, pdp.pad_bottom});
  const std::size_t count = std::max(columns.size(), lines.size());
  // The direction that has fewer steps does nothing in the others.
  for (std::vector<Step>* steps : {&columns, &lines})
    while (steps->size() < count) steps->push_back({.size = steps->back().output()});
  std::vector<nvdla_pdp> list;
  for (std::size_t i = 0; i < count; ++i) {
    const Step &x = columns[i], &y = lines[i];
    nvdla_pdp step = pdp;
    step.width = x.size;
    step.height = y.size;
    step.kernel_width = x.kernel;
    step.kernel_height = y.kernel;
    step.stride_width = x.stride;
    step.stride_height = y.stride;
    step.pad_left = x.before;
    step.pad_right = x.after;
    step.pad_top = y.before;
    step.pad_bottom = y.after;
    list.push_back(step);
  }
  return list;
}

}  // namespace nvdla::detail
