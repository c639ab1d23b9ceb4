// SPDX-License-Identifier: MIT
//
// Convolutions whose windows or strides are beyond those of the device become others, with moves.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "import/graph/node_maker.hpp"
#include "import/nodes/operation.hpp"
#include "import/nodes/window.hpp"
#include "import/passes/passes.hpp"
#include "support/check.hpp"

namespace nvdla::import {
namespace {

constexpr std::int64_t kMaxKernel = 32;
constexpr std::int64_t kMaxStride = 8;
constexpr std::int64_t kMaxDilation = 32;
constexpr std::int64_t kMaxPadding = 31;

// Returns the greatest stride of the device that goes into another one.
std::int64_t stride_within(std::int64_t stride) {
  std::int64_t within = std::min(stride, kMaxStride);
  while (stride % within != 0) --within;
  return within;
}

// Returns the attribute of a convolution that has these paddings.
std::vector<std::int64_t> pads_of(const std::vector<WindowAxis>& axes) {
  std::vector<std::int64_t> pads;
  for (const WindowAxis& a : axes) pads.push_back(a.before);
  for (const WindowAxis& a : axes) pads.push_back(a.after);
  return pads;
}

// Returns kernels of `taps` positions of `step` columns each; `first` of these are in front of the
// kernels' own.
ValueId kernels_of_steps(NodeMaker& make, const Constant& w, std::int64_t step, std::int64_t taps,
                         std::int64_t first) {
  const std::int64_t kernels = w.dims()[0], channels = w.dims()[1], size = w.dims()[2];
  std::vector<double> weights(static_cast<std::size_t>(kernels * channels * step * taps), 0);
  for (std::int64_t k = 0; k < kernels * channels; ++k)
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t at = first + i;
      weights[static_cast<std::size_t>((k * step + at % step) * taps + at / step)] =
          w.real(k * size + i);
    }
  return make.floats({kernels, channels * step, taps}, weights);
}

// A window along one axis in steps of `stride`: columns become channels by as many, so that the
// window is of K / stride positions and goes from one to the next.
std::vector<Node> expand_long(NodeMaker& make, const Node& node, const WindowAxis& axis) {
  const Operation op(make.graph(), node);
  // Copies, since values move when others are added.
  const Constant w = op.need_constant(1, "the tensor of kernels");
  const Dims in = op.dims(0);
  const std::int64_t step = axis.stride, channels = in[1];
  // Kernels begin with zeros where the border is no whole number of positions.
  const std::int64_t first = (step - axis.before % step) % step;
  const std::int64_t whole_taps = (axis.kernel + first + step - 1) / step;
  const std::int64_t whole_before = (axis.before + first) / step;
  const std::int64_t whole_after = axis.output - 1 + whole_taps - whole_before - axis.input / step;
  // An input that is too long to be moved has its border in the convolution.
  const bool whole = axis.input > detail::kMaxSide && axis.input % step == 0 && whole_after >= 0;
  const std::int64_t taps = whole ? whole_taps : (axis.kernel + step - 1) / step;
  const std::int64_t positions = whole ? axis.input / step : axis.output - 1 + taps;
  const std::int64_t after = positions * step - axis.input - axis.before;
  if (positions * step > kMaxFolded || w.dims()[0] * channels * taps * step > kMaxFolded)
    refuse_node("its kernels are too large");
  ValueId x = op.input(0);
  if (!whole && (axis.before != 0 || after != 0))
    x = make.compute("Pad", {x, make.integers({0, 0, axis.before, 0, 0, after})});
  x = make.reshape(x, {in[0], channels, positions, step});
  x = make.compute("Transpose", {x});
  make.last().attributes["perm"] = std::vector<std::int64_t>{0, 1, 3, 2};
  x = make.reshape(x, {in[0], channels * step, positions});
  std::vector<ValueId> inputs = {x, kernels_of_steps(make, w, step, taps, whole ? first : 0)};
  if (op.has(2)) inputs.push_back(op.input(2));
  Node& conv = make.node("Conv", std::move(inputs), node.outputs[0]);
  if (whole) conv.attributes["pads"] = std::vector<std::int64_t>{whole_before, whole_after};
  return make.take();
}

// Returns the taps from `first` to before `last` of kernels along one of their axes.
ValueId part_of_kernels(NodeMaker& make, const Constant& w, std::size_t axis, std::int64_t first,
                        std::int64_t last) {
  Dims dims = w.dims();
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < dims.size(); ++i) inner *= dims[i];
  const std::int64_t outer = w.size() / (dims[axis] * inner);
  std::vector<double> weights;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t at = first * inner; at < last * inner; ++at)
      weights.push_back(w.real(o * w.dims()[axis] * inner + at));
  dims[axis] = last - first;
  return make.floats(dims, weights);
}

// A window that is longer than the device's along an axis: of parts of it, each over the part of
// the input that it sees, the sums are added up.
std::vector<Node> expand_parts(NodeMaker& make, const Node& node, std::vector<WindowAxis> axes,
                               std::size_t along) {
  const Operation op(make.graph(), node);
  const Constant w = op.need_constant(1, "the tensor of kernels");
  const WindowAxis axis = axes[along];
  const std::int64_t place = static_cast<std::int64_t>(along) + 2;
  ValueId x = op.input(0);
  if (axis.before != 0 || axis.after != 0) {
    std::vector<std::int64_t> border(2 * (axes.size() + 2), 0);
    border[along + 2] = axis.before;
    border[axes.size() + 2 + along + 2] = axis.after;
    x = make.compute("Pad", {x, make.integers(border)});
  }
  axes[along].before = axes[along].after = 0;
  const std::vector<std::int64_t> pads = pads_of(axes);
  ValueId sum = kNoValue;
  for (std::int64_t first = 0; first < axis.kernel; first += kMaxKernel) {
    const std::int64_t last = std::min(first + kMaxKernel, axis.kernel);
    const std::int64_t start = first * axis.dilation;
    const std::int64_t size =
        (axis.output - 1) * axis.stride + (last - first - 1) * axis.dilation + 1;
    Node part = node;
    part.inputs = {make.compute("Slice", {x, make.integers({start}), make.integers({start + size}),
                                          make.integers({place})}),
                   part_of_kernels(make, w, along + 2, first, last)};
    if (first == 0 && op.has(2)) part.inputs.push_back(op.input(2));
    part.attributes["pads"] = pads;
    part.attributes.erase("auto_pad");
    part.attributes.erase("kernel_shape");
    part.outputs = {make.value()};
    make.append(part);
    sum = sum == kNoValue ? part.outputs[0] : make.compute("Add", {sum, part.outputs[0]});
  }
  make.last().outputs = {node.outputs[0]};
  return make.take();
}

// A stride that the device does not have: of the results of a smaller one some are left out.
std::vector<Node> expand_strides(NodeMaker& make, const Node& node,
                                 const std::vector<WindowAxis>& axes) {
  Node smaller = node;
  std::vector<std::int64_t> strides, starts, ends, along, steps;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t stride = stride_within(axes[i].stride);
    const std::int64_t step = axes[i].stride / stride;
    strides.push_back(stride);
    starts.push_back(0);
    ends.push_back((axes[i].output - 1) * step + 1);
    along.push_back(static_cast<std::int64_t>(i) + 2);
    steps.push_back(step);
  }
  // Paddings that follow from the stride stay what they were.
  smaller.attributes["pads"] = pads_of(axes);
  smaller.attributes["strides"] = std::move(strides);
  smaller.attributes.erase("auto_pad");
  smaller.outputs = {make.value()};
  make.append(smaller);
  make.node("Slice",
            {smaller.outputs[0], make.integers(starts), make.integers(ends), make.integers(along),
             make.integers(steps)},
            node.outputs[0]);
  return make.take();
}

// Taps along one axis that are further apart than the device has them: in lines of as many columns
// they stand above each other.
std::vector<Node> expand_dilation(NodeMaker& make, const Node& node, const WindowAxis& axis) {
  const Operation op(make.graph(), node);
  const Constant w = op.need_constant(1, "the tensor of kernels");
  const Dims in = op.dims(0);
  const std::int64_t kernels = w.dims()[0], columns = axis.dilation;
  const std::int64_t size = axis.before + axis.input + axis.after;
  const std::int64_t lines = (size + columns - 1) / columns;
  const std::int64_t after = lines * columns - axis.input - axis.before;
  if (columns > kMaxFolded || size > kMaxFolded) refuse_node("its borders are too large");
  ValueId x = op.input(0);
  if (axis.before != 0 || after != 0)
    x = make.compute("Pad", {x, make.integers({0, 0, axis.before, 0, 0, after})});
  Node part = node;
  part.inputs = {make.reshape(x, {in[0], in[1], lines, columns}),
                 make.floats({kernels, w.dims()[1], axis.kernel, 1}, w.doubles())};
  if (op.has(2)) part.inputs.push_back(op.input(2));
  for (const char* const name : {"auto_pad", "dilations", "kernel_shape", "pads", "strides"})
    part.attributes.erase(name);
  part.outputs = {make.value()};
  make.append(part);
  const std::int64_t whole = (lines - axis.kernel + 1) * columns;
  x = make.reshape(part.outputs[0], {in[0], kernels, whole});
  if (whole != axis.output)
    make.compute("Slice",
                 {x, make.integers({0}), make.integers({axis.output}), make.integers({2})});
  make.last().outputs = {node.outputs[0]};
  return make.take();
}

// Taps that see the border alone, as the outer ones of far dilations do, are left out. Returns
// nothing if there are none.
std::optional<std::vector<Node>> expand_blind(NodeMaker& make, const Node& node,
                                              std::vector<WindowAxis> axes) {
  const Operation op(make.graph(), node);
  Node seeing = node;
  bool changes = false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    WindowAxis& a = axes[i];
    std::int64_t first = 0, last = a.kernel;
    while (first + 1 < last && (a.output - 1) * a.stride + first * a.dilation < a.before) ++first;
    while (last - 1 > first && (last - 1) * a.dilation - a.before >= a.input) --last;
    const std::int64_t before = a.before - first * a.dilation;
    const std::int64_t after = a.after - (a.kernel - last) * a.dilation;
    // One tap has no neighbour that it is apart from.
    const bool has_one = a.kernel == 1 && a.dilation != 1;
    if (!has_one && (last - first == a.kernel || before < 0 || after < 0)) continue;
    const Constant w = *make.graph().value(seeing.inputs[1]).constant;
    seeing.inputs[1] = part_of_kernels(make, w, i + 2, first, last);
    a.before = before;
    a.after = after;
    if (last - first == 1) a.dilation = 1;
    changes = true;
  }
  if (!changes) return std::nullopt;
  std::vector<std::int64_t> dilations;
  for (const WindowAxis& a : axes) dilations.push_back(a.dilation);
  seeing.attributes["dilations"] = std::move(dilations);
  seeing.attributes["pads"] = pads_of(axes);
  seeing.attributes.erase("auto_pad");
  seeing.attributes.erase("kernel_shape");
  make.append(std::move(seeing));
  return make.take();
}

// Returns the least size of blocks, within each of which taps are as near as the device has them;
// 1 if there is none.
std::int64_t block_size(const std::vector<WindowAxis>& axes) {
  constexpr std::int64_t kMaxBlock = 8;
  for (std::int64_t size = 2; size <= kMaxBlock; ++size)
    if (std::all_of(axes.begin(), axes.end(), [&](const WindowAxis& a) {
          return a.stride == 1 && a.before % size == 0 &&
                 (a.kernel == 1 || (a.dilation % size == 0 && a.dilation / size <= kMaxDilation));
        }))
      return size;
  return 1;
}

// Taps along two axes that are further apart than the device has them: positions that are as far
// from each other as a block is large see only each other, so that each place in a block has a
// convolution of its own.
std::vector<Node> expand_blocks(NodeMaker& make, const Node& node,
                                const std::vector<WindowAxis>& axes, std::int64_t size) {
  const Operation op(make.graph(), node);
  const std::int64_t channels = op.dims(0)[1];
  std::vector<std::int64_t> pads, behind, dilations, starts, ends;
  for (const WindowAxis& a : axes) {
    const std::int64_t lines = (a.input + size - 1) / size;
    behind.push_back(lines * size - a.input);
    dilations.push_back(a.kernel == 1 ? 1 : a.dilation / size);
    pads.push_back(a.before / size);
    starts.push_back(0);
    ends.push_back(a.output);
  }
  for (const WindowAxis& a : axes)
    pads.push_back((a.input + a.after + size - 1) / size - (a.input + size - 1) / size);
  ValueId x = op.input(0);
  if (behind != std::vector<std::int64_t>{0, 0})
    x = make.compute("Pad", {x, make.integers({0, 0, 0, 0, 0, 0, behind[0], behind[1]})});
  x = make.compute("SpaceToDepth", {x});
  make.last().attributes["blocksize"] = size;
  std::vector<ValueId> places;
  for (std::int64_t place = 0; place < size * size; ++place) {
    Node part = node;
    part.inputs[0] =
        make.compute("Slice", {x, make.integers({place * channels}),
                               make.integers({(place + 1) * channels}), make.integers({1})});
    part.attributes["dilations"] = dilations;
    part.attributes["pads"] = pads;
    part.attributes.erase("auto_pad");
    part.outputs = {make.value()};
    places.push_back(part.outputs[0]);
    make.append(std::move(part));
  }
  const ValueId deep = make.compute("Concat", std::move(places));
  make.last().attributes["axis"] = std::int64_t{1};
  const ValueId wide = make.compute("DepthToSpace", {deep});
  make.last().attributes["blocksize"] = size;
  make.node("Slice", {wide, make.integers(starts), make.integers(ends), make.integers({2, 3})},
            node.outputs[0]);
  return make.take();
}

// Borders that are wider than the device's are elements of the input.
std::vector<Node> expand_borders(NodeMaker& make, const Node& node,
                                 const std::vector<WindowAxis>& axes) {
  std::vector<std::int64_t> border(2, 0), behind(2, 0);
  for (const WindowAxis& a : axes) border.push_back(a.before);
  for (const WindowAxis& a : axes) behind.push_back(a.after);
  border.insert(border.end(), behind.begin(), behind.end());
  Node inner = node;
  inner.inputs[0] = make.compute("Pad", {node.inputs[0], make.integers(border)});
  inner.attributes["pads"] = std::vector<std::int64_t>(2 * axes.size(), 0);
  inner.attributes.erase("auto_pad");
  make.append(std::move(inner));
  return make.take();
}

}  // namespace

std::optional<std::vector<Node>> expand_convolution(Graph& graph, const Node& node) {
  const Operation op(graph, node);
  if (op.inputs() < 2 || op.constant(1) == nullptr || op.dims(1).size() < 3 ||
      op.dims(1).size() > 4 || graph.value(op.input(1)).quantized)
    return std::nullopt;
  const Dims& w = op.dims(1);
  const auto axes = read_window(op, {w.begin() + 2, w.end()});
  const bool plain =
      op.attribute("group", std::int64_t{1}) == 1 && op.dims(0)[1] == w[1] &&
      std::all_of(axes.begin(), axes.end(), [](const WindowAxis& a) { return a.dilation == 1; });
  const auto any = [&](auto&& is) { return std::any_of(axes.begin(), axes.end(), is); };
  NodeMaker make(graph, node.name);
  const bool is_long = axes[0].kernel > kMaxKernel || axes[0].input > detail::kMaxSide;
  if (axes.size() == 1 && plain && is_long && axes[0].stride > 1 &&
      axes[0].stride <= axes[0].kernel && axes[0].kernel <= kMaxKernel * axes[0].stride)
    return expand_long(make, node, axes[0]);
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].kernel > kMaxKernel) return expand_parts(make, node, axes, i);
  if (any([](const WindowAxis& a) { return a.stride > kMaxStride; }))
    return expand_strides(make, node, axes);
  if (any([](const WindowAxis& a) { return a.dilation > 1; }))
    if (auto seeing = expand_blind(make, node, axes)) return seeing;
  const bool is_far =
      any([](const WindowAxis& a) { return a.kernel > 1 && a.dilation > kMaxDilation; });
  if (axes.size() == 2 && is_far)
    if (const std::int64_t size = block_size(axes); size > 1)
      return expand_blocks(make, node, axes, size);
  if (axes.size() == 1 && axes[0].dilation > kMaxDilation && axes[0].stride == 1)
    return expand_dilation(make, node, axes[0]);
  if (any([](const WindowAxis& a) { return std::max(a.before, a.after) > kMaxPadding; }))
    return expand_borders(make, node, axes);
  return std::nullopt;
}

}  // namespace nvdla::import
