// SPDX-License-Identifier: MIT
//
// The fields of operations of our own, each once and in the order in which they lie in a file: the
// reader, the writer and the dump walk them. A walker has a member for each type of field; the
// bounds that it gets are those that a file is held to.
#ifndef NVDLA_LOADABLE_CPU_FIELDS_HPP
#define NVDLA_LOADABLE_CPU_FIELDS_HPP

#include <cstdint>

#include "base/check.hpp"
#include "cpu/operation.hpp"

namespace nvdla::loadable {

// The versions of operations count from 1, each operation for itself. A change of what an
// operation computes, or of its fields, is a new version.
constexpr std::uint32_t kCpuVersion = 1;

template <typename Walker>
void walk_fields(Walker& walker, cpu::SoftmaxOperation& op) {
  walker.rounding("rounding", op.rounding);
  walker.quantization("input", op.input);
  walker.quantization("output", op.output);
}

template <typename Walker>
void walk_fields(Walker& walker, cpu::PowerOperation& op) {
  walker.rounding("rounding", op.rounding);
  walker.quantization("input", op.input);
  walker.quantization("output", op.output);
  walker.single("power", op.numbers.power);
  walker.single("scale", op.numbers.scale);
  walker.single("shift", op.numbers.shift);
}

template <typename Walker>
void walk_fields(Walker& walker, cpu::TableOperation& op) {
  walker.table("results", op.results);
}

template <typename Walker>
void walk_fields(Walker& walker, cpu::NormalOperation& op) {
  walker.quantization("input", op.input);
  walker.quantization("output", op.output);
  walker.real("epsilon", op.epsilon);
  walker.singles("gamma", op.gamma);
  walker.singles("beta", op.beta);
}

template <typename Walker>
void walk_fields(Walker& walker, cpu::ProductOperation& op) {
  walker.zero_point("a_zero_point", op.a_zero_point);
  walker.zero_point("b_zero_point", op.b_zero_point);
  walker.zero_point("output_zero_point", op.output_zero_point);
  walker.flag("transposed", op.transposed);
  walker.real("factor", op.factor);
}

template <typename Walker>
void walk_fields(Walker&, cpu::ArgmaxOperation&) {}

template <typename Walker>
void walk_fields(Walker& walker, cpu::AverageOperation& op) {
  constexpr std::uint32_t kMax = detail::kMaxSide;
  cpu::AverageWindow& w = op.window;
  walker.number("kernel_height", w.height, 1, kMax);
  walker.number("kernel_width", w.width, 1, kMax);
  walker.number("stride_y", w.stride_y, 1, kMax);
  walker.number("stride_x", w.stride_x, 1, kMax);
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
    cpu::AverageScale::Step& step = w.scale->step[i];
    walker.zero_point("addend", step.addend);
    walker.number("left_shift", step.left_shift, 0, 63);
    walker.zero_point("factor", step.factor);
    walker.number("right_shift", step.right_shift, 0, 63);
  }
}

template <typename Walker>
void walk_fields(Walker&, cpu::ReshapeOperation&) {}

template <typename Walker>
void walk_fields(Walker& walker, cpu::TransposeOperation& op) {
  for (std::uint32_t& axis : op.order) walker.number("axis", axis, 0, 2);
}

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_CPU_FIELDS_HPP
