// SPDX-License-Identifier: MIT
//
// Convolutions and poolings along an axis that is longer than the device's, row by row.
#include <algorithm>
#include <utility>

#include "import/passes/split_forms.hpp"
#include "support/check.hpp"

namespace nvdla::import {
namespace {

// Returns rows with the elements before and behind each that its windows see.
ValueId add_around(SplitForms& f, ValueId rows, const WindowAxis& window) {
  const Dims own = f.dims(rows);
  const auto [before, behind] = elements_around(window);
  std::vector<ValueId> parts;
  const auto add_part = [&](std::int64_t from, std::int64_t size, bool of_next) {
    // The last elements of the row before, or the first ones of the next; at an end zeros.
    const std::int64_t row = of_next ? 1 : 0;
    const ValueId cut = f.value_like(rows, {own[0], own[1], own[2] - 1, size});
    f.node("Slice",
           {rows, f.integers({row, from}), f.integers({own[2] - 1 + row, from + size}),
            f.integers({2, 3})},
           cut);
    parts.push_back(f.value_like(rows, {own[0], own[1], own[2], size}));
    f.node("Pad", {cut, f.integers({0, 0, 1 - row, 0, 0, 0, row, 0})}, parts.back());
  };
  if (before != 0) add_part(own[3] - before, before, false);
  parts.push_back(rows);
  if (behind != 0) add_part(0, behind, true);
  if (parts.size() == 1) return rows;
  const ValueId all = f.value_like(rows, {own[0], own[1], own[2], before + own[3] + behind});
  f.node("Concat", parts, all).attributes["axis"] = std::int64_t{3};
  return all;
}

// Returns kernels along an axis as those of one line.
ValueId with_one_line(SplitForms& f, ValueId id) {
  const Dims own = f.dims(id);
  Value made = f.graph().value(id);
  made.dims = Dims{own[0], own[1], 1, own[2]};
  if (!made.constant) refuse_node("its kernels are computed");
  if (made.quantized && made.quantized->axis != 0 && made.quantized->scales.size() != 1)
    refuse_node("its kernels have scales along axis {}", made.quantized->axis);
  made.constant = made.constant->with_dims(*made.dims);
  if (made.quantized) made.quantized->elements = made.quantized->elements.with_dims(*made.dims);
  return f.add(std::move(made));
}

}  // namespace

std::optional<WindowAxis> row_window(const Operation& op) {
  const bool convolves = op.op() == "Conv";
  if (!convolves && op.op() != "MaxPool" && op.op() != "AveragePool") return std::nullopt;
  std::vector<std::int64_t> kernel = op.integers("kernel_shape");
  if (convolves && op.dims(1).size() == 3) kernel = {op.dims(1)[2]};
  if (op.dims(0).size() != 3 || kernel.size() != 1) return std::nullopt;
  return read_window(op, kernel)[0];
}

std::pair<std::int64_t, std::int64_t> elements_around(const WindowAxis& window) {
  const std::int64_t seen = (window.kernel - 1) * window.dilation + 1;
  return {window.before, std::max<std::int64_t>(seen - window.stride - window.before, 0)};
}

// A window along a long axis goes over each row by itself.
bool split_window(SplitForms& f, const Operation& op) {
  const WindowAxis window = *row_window(op);
  const ValueId output = op.node().outputs[0];
  const Dims own = op.dims(0), result = f.dims(output);
  if (!f.is_long(own[2]) || op.outputs() != 1) return false;
  const bool convolves = op.op() == "Conv";
  const std::int64_t row = f.row_of(own[2]), rows = own[2] / row;
  const auto [before, behind] = elements_around(window);
  const std::int64_t seen = (window.kernel - 1) * window.dilation + 1;
  if (row % window.stride != 0 || before > row || behind > row || before >= seen) return false;
  // Poolings have no zeros around, and none that reach beyond a row.
  if (!convolves && (before != 0 || behind != 0 || window.output * window.stride != own[2]))
    return false;
  const std::int64_t each = row / window.stride, made = rows * each;
  if (made < result[2] || (made > result[2] && result[2] > detail::kMaxSide)) return false;
  Node node = op.node();
  node.inputs[0] = add_around(f, f.form(op.input(0), {own[0], own[1], rows, row}), window);
  if (convolves) node.inputs[1] = with_one_line(f, op.input(1));
  node.attributes.erase("auto_pad");
  node.attributes["kernel_shape"] = std::vector<std::int64_t>{1, window.kernel};
  node.attributes["strides"] = std::vector<std::int64_t>{1, window.stride};
  node.attributes["pads"] = std::vector<std::int64_t>{0, 0, 0, 0};
  node.attributes["dilations"] = std::vector<std::int64_t>{1, window.dilation};
  const Dims sizes = {result[0], result[1], rows, each};
  if (result[2] > detail::kMaxSide) {
    node.outputs[0] = f.computed_form(output, sizes);
    f.append(std::move(node));
    return true;
  }
  node.outputs[0] = f.value_like(output, sizes);
  const ValueId now = node.outputs[0];
  f.append(std::move(node));
  if (made == result[2]) {
    f.reshape_to(now, output);
    return true;
  }
  // The last windows of the last row are none of the model's.
  const ValueId all = f.value_like(output, {result[0], result[1], made});
  f.reshape_to(now, all);
  f.node("Slice", {all, f.integers({0}), f.integers({result[2]}), f.integers({2})}, output);
  return true;
}

}  // namespace nvdla::import
