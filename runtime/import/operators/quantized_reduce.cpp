// SPDX-License-Identifier: MIT
//
// Averages and sums along axes of tensors with a scale.
#include <algorithm>

#include "import/nodes/window.hpp"
#include "import/operators/exact.hpp"
#include "import/operators/operator.hpp"
#include "import/operators/pools.hpp"
#include "import/operators/quantized.hpp"

namespace nvdla::import {
namespace {

constexpr std::uint32_t kMaxWindow = 32;  // of one convolution

// The axes of the device that are reduced.
struct ReducedAxes {
  bool lines = false, columns = false, channels = false;
};

// Returns which axes of the device a view reduces; nothing if one of them is reduced in part, or
// the batch.
std::optional<ReducedAxes> reduced_in(const View& view, const Dims& dims,
                                      const std::vector<bool>& reduced) {
  const auto roles = roles_in(view, dims);
  if (!roles) return std::nullopt;
  ReducedAxes axes;
  for (const char role : {'B', 'C', 'H', 'W'}) {
    bool any = false, all = true;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if ((*roles)[i] != role || dims[i] == 1) continue;
      any = any || reduced[i];
      all = all && reduced[i];
    }
    if (!any) continue;
    if (!all || role == 'B') return std::nullopt;
    (role == 'C' ? axes.channels : role == 'H' ? axes.lines : axes.columns) = true;
  }
  return axes;
}

// Returns the view in which the reduced axes, which are neighbours, are channels or lines.
View view_to_reduce(const Dims& dims, const std::vector<bool>& reduced, bool has_batch) {
  std::optional<std::size_t> first;
  std::size_t last = 0;
  std::int64_t inner = 1, count = 1;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (reduced[i] && dims[i] != 1) {
      if (!first) first = i;
      last = i;
      count *= dims[i];
    }
  const std::size_t from = first.value_or(0);
  for (std::size_t i = from; i < last; ++i)
    if (!reduced[i] && dims[i] != 1)
      refuse_node("it reduces axes of {} that are no neighbours, and sums between have no scale",
                  dims_text(dims));
  for (std::size_t i = last + 1; i < dims.size(); ++i) inner *= dims[i];
  const bool channels = inner == 1 && count <= 8192;
  std::string roles(dims.size(), 'W');
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i < from)
      roles[i] = channels ? 'H' : 'C';
    else if (i <= last)
      roles[i] = channels ? 'C' : 'H';
  }
  if (has_batch && from > 0 && dims[0] <= 32) roles[0] = 'B';
  return make_view(dims, roles);
}

// Says that the CPU computes an average, where it does.
void note_large_window(Lowering& l, std::uint32_t height, std::uint32_t width) {
  if (height <= kMaxWindow && width <= kMaxWindow) return;
  if (l.integers() == Precision::kInt16)
    refuse_node("an average of int16 has a window of {}x{}; expected at most {}x{}", height, width,
                kMaxWindow, kMaxWindow);
  if (!(l.info().has_int16 && l.info().has_sdp_y))
    l.use_cpu_for_average("an average of int8 with a window above 32");
}

}  // namespace

void quantized_average(Lowering& l, const Operation& op) {
  const Quantization input = quantization_of(l, op, 0);
  const Dims dims = find_operator(op)->infer(op)[0].dims;
  const bool global = op.op() == "GlobalAveragePool";
  const char* const roles = window_roles(dims.size() - 2);
  if (dims.size() > 4)
    refuse_node("a tensor of {} has more than two axes of positions", dims_text(op.dims(0)));
  const Tensor x = l.tensor(op.input(0), make_view(op.dims(0), roles));
  const std::string layer = l.name();
  Average a{.name = layer};
  bool cut = false;  // some windows have fewer elements
  if (!global) {
    Window window = two_axes(read_window(op, op.integers("kernel_shape")));
    const bool counts = op.attribute("count_include_pad", std::int64_t{0}) != 0;
    if (op.attribute("ceil_mode", std::int64_t{0}) != 0) {
      // A last window reaches beyond the padding, where nothing counts.
      if (counts) refuse_node("ceil_mode with count_include_pad in {}", l.integers_name());
      for (WindowAxis* const axis : {&window.y, &window.x})
        axis->after = std::max<std::int64_t>(
            (axis->output - 1) * axis->stride + axis->kernel - axis->input - axis->before, 0);
    }
    set_window(a, window);
    if (counts) a.pad_value = input.zero_point;
    cut = !counts && window.y.before + window.y.after + window.x.before + window.x.after != 0;
    note_large_window(l, a.kernel_height, a.kernel_width);
  } else {
    note_large_window(l, u32(op.dims(0)[2]), dims.size() > 3 ? u32(op.dims(0)[3]) : 1);
  }
  const QuantizedEnd end = follow_bounds(l, op.node().outputs[0]);
  // Without a scale of its own the result is a quotient for each element.
  if (!(cut && end.output == input)) {
    if (cut && l.integers() == Precision::kInt16)
      refuse_node(
          "its windows have other numbers of elements at the border, and its result has "
          "another scale than its input in int16");
    if (cut)
      l.use_cpu_for_average("an average of int8 with another scale, whose padding does not count");
    a.input = input;
    a.output = end.output;
  }
  l.put(end.last, held_to(l, l.network().average(x, a), end), make_view(dims, roles));
}

// One average, or one convolution with kernels of ones: what is between has no scale.
void quantized_reduce(Lowering& l, const Operation& op) {
  const Quantization input = quantization_of(l, op, 0);
  const auto reduced = reduced_axes(op);
  const Dims& dims = op.dims(0);
  const bool mean = op.op() == "ReduceMean";
  View view = l.view(op.input(0));
  auto axes = reduced_in(view, dims, reduced);
  if (!axes) {
    view = view_to_reduce(dims, reduced, l.has_batch());
    axes = reduced_in(view, dims, reduced);
    if (!axes) refuse_node("it reduces the batch of {}", dims_text(dims));
  }
  const Tensor x = l.tensor(op.input(0), view);
  const Shape shape = view.shape;
  const std::uint32_t height = axes->lines ? shape.height : 1;
  const std::uint32_t width = axes->columns ? shape.width : 1;
  const std::string layer = l.name();
  const QuantizedEnd end = follow_bounds(l, op.node().outputs[0]);
  if (axes->lines) view.shape.height = 1;
  if (axes->columns) view.shape.width = 1;
  const double positions = static_cast<double>(height) * width;
  if (!axes->channels) {
    if (height == 1 && width == 1)
      return l.put(end.last, held_to(l, requantized(l, x, end.output), end), view);
    note_large_window(l, height, width);
    Average a{.name = layer, .kernel_height = height, .kernel_width = width};
    // A sum is the average of elements that stand for so many times more.
    a.input = input;
    if (!mean) a.input->scale = static_cast<float>(static_cast<double>(input.scale) * positions);
    a.output = end.output;
    return l.put(end.last, held_to(l, l.network().average(x, a), end), view);
  }
  if (height > kMaxWindow || width > kMaxWindow)
    refuse_node("it reduces {}x{} positions and channels at once, above 32x32", height, width);
  const double count = positions * shape.channels;
  const std::vector<std::int16_t> weights(static_cast<std::size_t>(count), 1);
  const KernelIntegers ones(weights, l.integers());
  const auto scale = static_cast<float>(mean ? 1 / count : 1);
  Convolution c;
  c.name = layer;
  c.kernel_height = height;
  c.kernel_width = width;
  c.weights = ones.span();
  view.shape.channels = 1;
  l.put(end.last,
        l.network().convolution(
            x, c,
            {.input = input, .weights = {&scale, 1}, .output = end.output, .bounds = end.bounds}),
        view);
}

}  // namespace nvdla::import
