// SPDX-License-Identifier: MIT
//
// `walk_fields` lists the fields of an operation, each once and in the order in which they lie in a
// loadable. The reader and the writer of loadables, the dump and the text form of graphs call it. A
// walker has a member for each type of field; the bounds that it gets are those that a file is held
// to.
#ifndef NVDLA_HOST_OPS_OPERATION_FIELDS_HPP
#define NVDLA_HOST_OPS_OPERATION_FIELDS_HPP

#include <cstdint>

#include "host_ops/operation.hpp"

namespace nvdla::cpu {

// The greatest window and stride, which is the greatest side of a cube.
inline constexpr std::uint32_t kMaxWindow = 8192;

template <typename Walker>
void walk_fields(Walker& walker, SoftmaxOperation& op) {
  walker.rounding("rounding", op.rounding);
  walker.quantization("input", op.input);
  walker.quantization("output", op.output);
}

template <typename Walker>
void walk_fields(Walker& walker, PowerOperation& op) {
  walker.rounding("rounding", op.rounding);
  walker.quantization("input", op.input);
  walker.quantization("output", op.output);
  walker.single("power", op.numbers.power);
  walker.single("scale", op.numbers.scale);
  walker.single("shift", op.numbers.shift);
}

template <typename Walker>
void walk_fields(Walker& walker, TableOperation& op) {
  walker.table("results", op.results);
}

template <typename Walker>
void walk_fields(Walker& walker, NormalizationFields& op) {
  walker.quantization("input", op.input);
  walker.quantization("output", op.output);
  walker.real("epsilon", op.epsilon);
  walker.singles("gamma", op.gamma);
  walker.singles("beta", op.beta);
}

template <typename Walker>
void walk_fields(Walker& walker, ProductOperation& op) {
  walker.zero_point("a_zero_point", op.a_zero_point);
  walker.zero_point("b_zero_point", op.b_zero_point);
  walker.zero_point("output_zero_point", op.output_zero_point);
  walker.flag("transposed", op.transposed);
  walker.real("factor", op.factor);
}

template <typename Walker>
void walk_fields(Walker&, ArgmaxOperation&) {}

template <typename Walker>
void walk_fields(Walker& walker, AverageOperation& op) {
  constexpr std::uint32_t kMax = kMaxWindow;
  AverageWindow& w = op.window;
  walker.number("kernel_height", w.height, 1, kMax);
  walker.number("kernel_width", w.width, 1, kMax);
  walker.number("stride_height", w.stride_height, 1, kMax);
  walker.number("stride_width", w.stride_width, 1, kMax);
  walker.number("pad_top", w.pad_top, 0, kMax - 1);
  walker.number("pad_left", w.pad_left, 0, kMax - 1);
  bool padding_counts = w.pad_value.has_value(), scaled = w.scale.has_value();
  walker.flag("padding_counts", padding_counts);
  if (padding_counts) {
    if (!w.pad_value) w.pad_value.emplace();
    walker.zero_point("pad_value", *w.pad_value);
  }
  walker.flag("scaled", scaled);
  if (!scaled) return;
  if (!w.scale) w.scale.emplace();
  walker.quantization("input", w.scale->input);
  walker.quantization("output", w.scale->output);
  walker.number("steps", w.scale->steps, 0, 2);
  for (std::uint32_t i = 0; i < w.scale->steps; ++i) {
    AverageScale::Step& step = w.scale->step[i];
    walker.zero_point("addend", step.addend);
    walker.number("left_shift", step.left_shift, 0, 63);
    walker.zero_point("factor", step.factor);
    walker.number("right_shift", step.right_shift, 0, 63);
  }
}

template <typename Walker>
void walk_fields(Walker&, ReshapeOperation&) {}

template <typename Walker>
void walk_fields(Walker& walker, TransposeOperation& op) {
  for (std::uint32_t& axis : op.order) walker.number("axis", axis, 0, 2);
}

}  // namespace nvdla::cpu

#endif  // NVDLA_HOST_OPS_OPERATION_FIELDS_HPP
