// SPDX-License-Identifier: MIT
//
// Operators on each element: sizes, constants, layers.
#include "import/operators/elements.hpp"

#include <algorithm>
#include <utility>

#include "import/operators/epilogue.hpp"
#include "import/operators/lowering.hpp"
#include "import/operators/move.hpp"
#include "import/operators/operator.hpp"

namespace nvdla::import {
namespace {

// Integers of the model wrap around, which fp16 does not.
void check_wrapping(const Operation& op) {
  const Type type = op.type(0);
  if (!is_integer(type)) return;
  constexpr std::string_view kWraps[] = {"Add", "Sub", "Mul", "Div", "Sum",
                                         "Pow", "Mod", "Abs", "Neg"};
  if (std::find(std::begin(kWraps), std::end(kWraps), op.op()) != std::end(kWraps))
    refuse_node("arithmetic of {} wraps around, and that of the device does not", type_name(type));
}

bool is_plain_element(const Operation& op) {
  return find_unary(op) != nullptr || (find_binary(op) != nullptr && op.inputs() == 2);
}

// Returns a view of `dims` in which a smaller tensor can be repeated: that of another input of
// these sizes, if its axes are apart.
View view_to_grow(Lowering& lowering, const Dims& dims, const std::vector<Step>& steps,
                  ValueId id) {
  const Dims& own = *lowering.graph().value(id).dims;
  if (elements(own) == 1) return default_view(dims, lowering.has_batch());
  const Move move = repetition_of(own, dims);
  bool has_batch = lowering.has_batch();
  for (const Step& step : steps) {
    if (step.tensor == kNoValue || *lowering.graph().value(step.tensor).dims != dims) continue;
    const std::string roles = lowering.roles(step.tensor);
    if (is_isolated(move, roles)) return lowering.view(step.tensor);
    has_batch = lowering.view(step.tensor).shape.batch > 1;
  }
  const View usual = default_view(dims, has_batch);
  const auto roles = roles_in(usual, dims);
  if (roles && is_isolated(move, *roles)) return usual;
  return make_view(dims, isolate(move, has_batch));
}

// Brings a tensor to a view in which operands that are smaller can be repeated.
void isolate_repeated(Lowering& lowering, const Dims& dims, const std::vector<Step>& steps,
                      ValueId id, Tensor& x, View& view) {
  for (const Step& step : steps) {
    if (step.tensor == kNoValue) continue;
    const Dims& own = *lowering.graph().value(step.tensor).dims;
    if (own == dims || elements(own) == 1) continue;
    const Move move = repetition_of(own, dims);
    const auto roles = roles_in(view, dims);
    if (roles && is_isolated(move, *roles)) continue;
    view = make_view(dims, isolate(move, view.shape.batch > 1));
    x = lowering.tensor(id, view);
  }
}

// Steps of several nodes in a row become as few layers as possible.
void lower_elements(Lowering& lowering, const Operation& op) {
  check_wrapping(op);
  const auto steps = steps_of(op);
  if (!steps) refuse_node("it has no form that the device computes, with both inputs computed");
  const Dims dims = infer_elements(op)[0].dims;
  const ValueId id = steps->input;
  // A smaller input is repeated first.
  std::vector<Step> all = steps->steps;
  View view;
  Tensor x;
  bool same = *op.graph().value(id).dims == dims;
  if (same) {
    const bool scalar =
        std::all_of(all.begin(), all.end(), [](const Step& s) { return s.is_scalar(); });
    if (!scalar) lowering.roles(id);
    view = lowering.view(id);
    x = lowering.tensor(id);
  } else {
    view = view_to_grow(lowering, dims, all, id);
    x = lowering.expand(id, dims, view);
  }
  const ValueId last =
      lowering.follow(op.node().outputs[0], [&](const Operation& next, ValueId now) {
        if (!is_plain_element(next) || infer_elements(next)[0].dims != dims) return false;
        const auto more = steps_of(next, now);
        if (!more) return false;
        for (const Step& step : more->steps)
          if (step.tensor == now) return false;
        try {
          check_wrapping(next);
        } catch (const Refusal&) {
          return false;
        }
        all.insert(all.end(), more->steps.begin(), more->steps.end());
        return true;
      });
  if (std::any_of(all.begin(), all.end(), [](const Step& s) { return !s.is_scalar(); }) && same) {
    lowering.roles(id);
    view = lowering.view(id);
    x = lowering.tensor(id);
  }
  if (same) isolate_repeated(lowering, dims, all, id, x, view);
  lowering.put(last, lowering.compute(x, view, dims, all), view);
}

void lower_binary(Lowering& lowering, const Operation& op) {
  if (op.inputs() == 2) {
    // A quotient of two tensors is a product with a reciprocal.
    if (op.op() == "Div" && op.constant(0) == nullptr && op.constant(1) == nullptr) {
      check_wrapping(op);
      const Dims dims = infer_binary(op)[0].dims;
      const View view = *op.graph().value(op.input(0)).dims == dims
                            ? (lowering.roles(op.input(0)), lowering.view(op.input(0)))
                            : default_view(dims, lowering.has_batch());
      const Tensor a = lowering.operand(op.input(0), dims, view, false);
      const View below = (lowering.roles(op.input(1)), lowering.view(op.input(1)));
      const Tensor b = lowering.function(lowering.tensor(op.input(1)),
                                         make_table([](double x) { return 1 / x; }));
      const ValueId divisor = op.input(1);
      const Tensor original = lowering.tensor(divisor);
      lowering.put(divisor, b, below);
      Step step;
      step.kind = StepKind::kMulTensor;
      step.tensor = divisor;
      const Tensor out = lowering.compute(a, view, dims, {step});
      lowering.put(divisor, original, below);
      lowering.put(op.node().outputs[0], out, view);
      return;
    }
    return lower_elements(lowering, op);
  }
  // Sums and extremes of any number of tensors, one after the other.
  check_wrapping(op);
  const Dims dims = infer_binary(op)[0].dims;
  std::optional<std::size_t> main;
  for (std::size_t i = 0; i < op.inputs() && !main; ++i)
    if (op.constant(i) == nullptr && op.dims(i) == dims) main = i;
  if (!main) refuse_node("none of its inputs has the sizes of the result");
  const ValueId id = op.input(*main);
  lowering.roles(id);
  const View view = lowering.view(id);
  Tensor x = lowering.tensor(id);
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    if (i == *main) continue;
    Step step;
    const Constant* const constant = op.constant(i);
    const bool sum = op.op() == "Sum" || op.op() == "Mean";
    const bool max = op.op() == "Max";
    if (constant != nullptr) {
      step = make_step(sum ? StepKind::kShift : max ? StepKind::kMax : StepKind::kMin, *constant);
    } else {
      step.kind = sum ? StepKind::kAddTensor : max ? StepKind::kMaxTensor : StepKind::kMinTensor;
      step.tensor = op.input(i);
    }
    x = lowering.compute(x, view, dims, {step});
  }
  if (op.op() == "Mean")
    x = lowering.compute(x, view, dims,
                         {make_step(StepKind::kScale, 1.0 / static_cast<double>(op.inputs()))});
  lowering.put(op.node().outputs[0], x, view);
}

// c * a + (1 - c) * b, of a condition that is computed. What is not chosen may be infinite, or no
// number, as a quotient by 0 is: its product with 0 is no number, which the layer behind it reads
// as 0.
void lower_computed_where(Lowering& lowering, const Operation& op, const Dims& dims) {
  const View view = default_view(dims, lowering.has_batch());
  const Tensor yes = lowering.expand(op.input(0), dims, view);
  const Tensor no = lowering.compute(
      yes, view, dims, {make_step(StepKind::kScale, -1), make_step(StepKind::kShift, 1)});
  const auto part = [&](std::size_t index, Tensor mask) -> Tensor {
    if (const Constant* const constant = op.constant(index))
      return lowering.compute(mask, view, dims, {make_step(StepKind::kScale, *constant)});
    const Tensor x = lowering.expand(op.input(index), dims, view);
    const std::string layer = lowering.name("choice");
    return lowering.network().pointwise(x, {.name = layer, .x1 = multiply(mask)});
  };
  Tensor a = part(1, yes), b = part(2, no);
  if (op.constant(1) != nullptr) std::swap(a, b);
  if (op.constant(1) == nullptr && op.constant(2) == nullptr) {
    const std::string layer = lowering.name("numbers");
    b = lowering.network().pointwise(b, {.name = layer, .nan_to_zero = true});
  }
  const std::string layer = lowering.name();
  Pointwise sum{.name = layer, .x1 = elementwise(NVDLA_ALU_SUM, b)};
  sum.nan_to_zero = true;
  lowering.put(op.node().outputs[0], lowering.network().pointwise(a, sum), view);
}

// The same of a constant condition.
void lower_where(Lowering& lowering, const Operation& op) {
  const Dims dims = infer_where(op)[0].dims;
  if (op.constant(0) == nullptr) return lower_computed_where(lowering, op, dims);
  const Constant& condition = *op.constant(0);
  std::vector<double> yes = condition.doubles(), no = yes;
  for (double& v : no) v = v != 0 ? 0 : 1;
  const View view = default_view(dims, lowering.has_batch());
  const auto part = [&](std::size_t index, const std::vector<double>& factors) -> Tensor {
    const Constant mask = Constant::of_doubles(Type::kDouble, condition.dims(), factors);
    const Tensor x = lowering.expand(op.input(index), dims, view);
    return lowering.compute(x, view, dims, {make_step(StepKind::kScale, mask)});
  };
  for (const std::size_t constant : {1, 2}) {
    const Constant* const other = op.constant(constant);
    if (other == nullptr) continue;
    // A product of both constants is one operand.
    std::vector<double> shift(static_cast<std::size_t>(elements(dims)));
    check_constant_size(dims);
    for_each_broadcast(dims, condition.dims(), [&](std::int64_t to, std::int64_t from) {
      shift[static_cast<std::size_t>(to)] =
          (constant == 1 ? yes : no)[static_cast<std::size_t>(from)];
    });
    for_each_broadcast(dims, other->dims(), [&](std::int64_t to, std::int64_t from) {
      double& v = shift[static_cast<std::size_t>(to)];
      v = v != 0 ? other->real(from) : 0;
    });
    const Tensor x = part(constant == 1 ? 2 : 1, constant == 1 ? no : yes);
    const Constant operand = Constant::of_doubles(Type::kDouble, dims, shift);
    lowering.put(op.node().outputs[0],
                 lowering.compute(x, view, dims, {make_step(StepKind::kShift, operand)}), view);
    return;
  }
  const Tensor a = part(1, yes);
  const Tensor b = part(2, no);
  const std::string layer = lowering.name();
  lowering.put(
      op.node().outputs[0],
      lowering.network().pointwise(a, {.name = layer, .x1 = elementwise(NVDLA_ALU_SUM, b)}), view);
}

std::vector<OperatorRow> make_element_rows() {
  std::vector<OperatorRow> rows;
  for (const UnaryOperator& unary : unary_operators())
    rows.push_back({unary.name, infer_unary, fold_unary, lower_elements,
                    "A function of each element, by SDP or its table, else by the CPU."});
  for (const BinaryOperator& binary : binary_operators())
    rows.push_back({binary.name, infer_binary, fold_binary, lower_binary,
                    "Of constants and of tensors, which are repeated where they are smaller."});
  rows.push_back({"Mean", infer_binary, nullptr, lower_binary, "Of any number of tensors."});
  rows.push_back({"Where", infer_where, fold_where, lower_where,
                  "With any condition in fp16, and a constant one in int8."});
  return rows;
}

}  // namespace

Move repetition_of(const Dims& own, const Dims& dims) {
  Dims padded(dims.size() - own.size(), 1);
  padded.insert(padded.end(), own.begin(), own.end());
  Move move = Move::identity(dims);
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (padded[i] != dims[i]) move.coordinates[i].assign(1, 0);
  return move;
}

bool find_elements(const Operation& op) noexcept {
  return find_unary(op) != nullptr || find_binary(op) != nullptr;
}

bool is_of_elements(const Operation& op) noexcept {
  constexpr std::string_view kOthers[] = {
      "Cast",  "DequantizeLinear", "Dropout",  "Max",      "Min", "Sum", "Mean",
      "Where", "QuantizeLinear",   "Identity", kFunctionOp};
  return find_elements(op) ||
         std::find(std::begin(kOthers), std::end(kOthers), op.op()) != std::end(kOthers);
}

std::vector<Inferred> infer_elements(const Operation& op) {
  return find_unary(op) != nullptr ? infer_unary(op) : infer_binary(op);
}

std::span<const OperatorRow> element_rows() noexcept {
  static const std::vector<OperatorRow> rows = make_element_rows();
  return rows;
}

}  // namespace nvdla::import
