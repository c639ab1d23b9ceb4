// SPDX-License-Identifier: MIT
#include "compiler/graph/bounds.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "compiler/graph/operators.hpp"
#include "nvdla/types/half.hpp"
#include "packing/quantized.hpp"
#include "support/element_range.hpp"

namespace nvdla::detail {
namespace {

using Limits32 = std::numeric_limits<std::int32_t>;
using Limits16 = std::numeric_limits<std::int16_t>;

// `Elements` is the converter, saturated to elements: it rises or falls with its input.
struct Elements {
  const Converter& converter;
  Precision result;

  std::int32_t of(std::int64_t v) const {
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(converted(v, converter), least_of(result), greatest_of(result)));
  }
};

// `Run` has the first and the last of the values that are given the same element.
struct Run {
  std::int64_t first = 0, last = 0;

  // Returns the value with most zeros at the end: ReLU is for 0, and operands have few bits.
  std::int32_t roundest() const {
    std::int64_t best = last;
    for (int zeros = 1; zeros <= 32 && best != 0; ++zeros) {
      const std::int64_t round = last >> zeros << zeros;
      if (round < first) break;
      best = round;
    }
    return static_cast<std::int32_t>(best);
  }
};

// Returns all values of 32 bits with that element; nothing if there are none.
std::optional<Run> values_of(const Elements& elements, std::int32_t element) {
  const bool falls = elements.converter.scale < 0;
  // The first value whose element is at least, or on falling ones at most, `limit`.
  const auto first_with = [&](std::int32_t limit) {
    std::int64_t low = Limits32::min(), high = std::int64_t{Limits32::max()} + 1;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      const std::int32_t here = elements.of(middle);
      if (falls ? here <= limit : here >= limit) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  };
  const Run run = {first_with(element), first_with(falls ? element - 1 : element + 1) - 1};
  if (run.first > run.last) return std::nullopt;
  return run;
}

OperatorNode limit(nvdla_alu alu, std::int32_t value) {
  OperatorNode op;
  op.alu = alu;
  op.mode = NVDLA_OPERAND_LAYER;
  op.alu_values = {value};
  return op;
}

// Puts it where X1 or X2 is free and nothing comes after that, or into Y.
bool place_limit(SdpNode& part, OperatorNode op, bool has_y) {
  OperatorNode shifted = op;
  std::int32_t& value = shifted.alu_values[0];
  while (value % 2 == 0 && (value < Limits16::min() || value > Limits16::max())) {
    value /= 2;
    ++shifted.alu_shift;
  }
  OperatorPair& x = part.operators;
  const bool fits = value >= Limits16::min() && value <= Limits16::max();
  if (fits && !x.x2.active()) {
    (x.x1.active() ? x.x2 : x.x1) = std::move(shifted);
    return true;
  }
  if (!has_y || part.y.active()) return false;
  static_cast<OperatorNode&>(part.y) = std::move(op);
  return true;
}

}  // namespace

std::int32_t element_of_zero(const SdpNode& part, Precision result) {
  if (part.processing == Precision::kFp16) return 0;
  if (result != Precision::kFp16) return Elements{part.converter, result}.of(0);
  // The converter saturates to 17 bits before they become fp16.
  constexpr std::int64_t kHigh = (1 << 16) - 1;
  const std::int64_t element =
      std::clamp<std::int64_t>(converted(0, part.converter), -kHigh - 1, kHigh);
  return to_half(static_cast<float>(element));
}

void add_relu_behind_y(SdpNode& part, Precision result, const Shape& out) {
  OperatorYNode& y = part.y;
  if (y.alu == NVDLA_ALU_NONE && !y.lut && !y.tensor) {
    // NaN passes the maximum and -0 is less than 0, both like ReLU.
    y.alu = NVDLA_ALU_MAX;
    y.alu_values = {0};
    unify(y, out);
    return;
  }
  if (result == Precision::kFp16) {
    part.relu_behind_y = true;
    return;
  }
  ElementBounds& bounds = part.bounds;
  const std::int32_t zero =
      std::clamp(element_of_zero(part, result), bounds.least, bounds.greatest);
  (part.converter.scale < 0 ? bounds.greatest : bounds.least) = zero;
}

bool has_bounds(const SdpNode& part, Precision result) {
  if (part.relu_behind_y) return true;
  return !part.silent() && result != Precision::kFp16 &&
         (part.bounds.least > least_of(result) || part.bounds.greatest < greatest_of(result));
}

std::optional<SdpNode> hold_to_bounds(const SdpNode& part, Precision result, bool has_y) {
  // Nothing that could be placed comes behind operator Y.
  if (!has_bounds(part, result) || part.y.active()) return std::nullopt;
  SdpNode held = part;
  held.bounds = {};
  const Elements elements = {part.converter, result};
  const bool falls = part.converter.scale < 0;
  for (const bool least : {true, false}) {
    const std::int32_t bound = least ? part.bounds.least : part.bounds.greatest;
    if (bound == (least ? least_of(result) : greatest_of(result))) continue;
    const auto run = values_of(elements, bound);
    if (!run) return std::nullopt;
    const std::int32_t value = run->roundest();
    if (least != falls && value == 0) {
      OperatorPair& x = held.operators;
      (x.x2.active() ? x.x2 : x.x1).relu = true;
    } else if (!place_limit(held, limit(least != falls ? NVDLA_ALU_MAX : NVDLA_ALU_MIN, value),
                            has_y)) {
      return std::nullopt;
    }
  }
  return held;
}

std::span<const SdpNode> sdp_nodes(const LayerNode& node) {
  if (const auto* sdp = std::get_if<SdpNode>(&node.part)) return {sdp, 1};
  if (const auto* conv = std::get_if<ConvNode>(&node.part)) return {&conv->sdp, 1};
  if (const auto* deconv = std::get_if<DeconvNode>(&node.part)) return deconv->sdp;
  return {};
}

bool is_held_apart(const Graph& graph, const LayerNode& node, bool has_y) {
  if (node.output == kNoTensor) return false;
  const Precision result = graph.tensors[node.output].precision;
  const auto parts = sdp_nodes(node);
  return std::any_of(parts.begin(), parts.end(), [&](const SdpNode& part) {
    return has_bounds(part, result) && !hold_to_bounds(part, result, has_y);
  });
}

}  // namespace nvdla::detail
