// SPDX-License-Identifier: MIT
//
// Operators of two elements. An operator is a row of the table.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "import/operators/elements.hpp"

namespace nvdla::import {
namespace {

std::int64_t wrap_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }

double add_of(double a, double b) { return a + b; }
double sub_of(double a, double b) { return a - b; }
double mul_of(double a, double b) { return a * b; }
double div_of(double a, double b) { return a / b; }
double pow_of(double a, double b) { return std::pow(a, b); }
double max_of(double a, double b) { return a < b || std::isnan(b) ? b : a; }
double min_of(double a, double b) { return b < a || std::isnan(b) ? b : a; }
double mod_of(double a, double b) { return std::fmod(a, b); }
double prelu_of(double a, double b) { return a < 0 ? a * b : a; }
double equal_of(double a, double b) { return a == b; }
double less_of(double a, double b) { return a < b; }
double greater_of(double a, double b) { return a > b; }
double less_equal_of(double a, double b) { return a <= b; }
double greater_equal_of(double a, double b) { return a >= b; }
double both_of(double a, double b) { return a != 0 && b != 0; }
double either_of(double a, double b) { return a != 0 || b != 0; }
double one_of_of(double a, double b) { return (a != 0) != (b != 0); }

// Integers wrap around.
std::int64_t add_i(std::int64_t a, std::int64_t b) {
  return wrap_of(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t sub_i(std::int64_t a, std::int64_t b) {
  return wrap_of(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t mul_i(std::int64_t a, std::int64_t b) {
  return wrap_of(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t div_i(std::int64_t a, std::int64_t b) {
  if (b == 0) refuse_node("it divides integers by 0");
  return b == -1 ? sub_i(0, a) : a / b;
}
std::int64_t mod_i(std::int64_t a, std::int64_t b) {
  if (b == 0) refuse_node("it divides integers by 0");
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
std::int64_t max_i(std::int64_t a, std::int64_t b) { return std::max(a, b); }
std::int64_t min_i(std::int64_t a, std::int64_t b) { return std::min(a, b); }
std::int64_t equal_i(std::int64_t a, std::int64_t b) { return a == b; }
std::int64_t less_i(std::int64_t a, std::int64_t b) { return a < b; }
std::int64_t greater_i(std::int64_t a, std::int64_t b) { return a > b; }
std::int64_t less_equal_i(std::int64_t a, std::int64_t b) { return a <= b; }
std::int64_t greater_equal_i(std::int64_t a, std::int64_t b) { return a >= b; }

constexpr BinaryOperator kBinary[] = {
    {"Add", add_of, add_i, false},
    {"And", both_of, nullptr, true},
    {"Div", div_of, div_i, false},
    {"Equal", equal_of, equal_i, true},
    {"Greater", greater_of, greater_i, true},
    {"GreaterOrEqual", greater_equal_of, greater_equal_i, true},
    {"Less", less_of, less_i, true},
    {"LessOrEqual", less_equal_of, less_equal_i, true},
    {"Max", max_of, max_i, false},
    {"Min", min_of, min_i, false},
    {"Mod", mod_of, mod_i, false},
    {"Mul", mul_of, mul_i, false},
    {"Or", either_of, nullptr, true},
    {"PRelu", prelu_of, nullptr, false},
    {"Pow", pow_of, nullptr, false},
    {"Sub", sub_of, sub_i, false},
    {"Sum", add_of, add_i, false},
    {"Xor", one_of_of, nullptr, true},
};

Constant map_constant(const Constant& c, double (*function)(double)) {
  std::vector<double> values = c.doubles();
  for (double& v : values) v = function(v);
  return Constant::of_doubles(Type::kDouble, c.dims(), values);
}

// Steps of an operator whose other input is `c`; `first` if the tensor is the first input.
std::optional<std::vector<Step>> constant_steps(const Operation& op, const Constant& c,
                                                bool first) {
  const std::string_view name = op.op();
  const double scalar = c.size() == 1 ? c.real(0) : 0;
  if (name == "Add" || name == "Sum") return {{make_step(StepKind::kShift, c)}};
  if (name == "Mul" || name == "And") return {{make_step(StepKind::kScale, c)}};
  if (name == "Max" || name == "Or") return {{make_step(StepKind::kMax, c)}};
  if (name == "Min") return {{make_step(StepKind::kMin, c)}};
  if (name == "PRelu" && first) return {{make_step(StepKind::kPrelu, c)}};
  const auto negate = [](double x) { return -x; };
  if (name == "Sub") {
    std::vector<Step> steps = {make_step(StepKind::kShift, map_constant(c, negate))};
    if (!first) steps.push_back(make_step(StepKind::kScale, -1));
    return steps;
  }
  if (name == "Div" && first)
    return {{make_step(StepKind::kScale, map_constant(c, [](double x) { return 1 / x; }))}};
  if (name == "Div") {
    return {{make_table([](double x) { return 1 / x; }), make_step(StepKind::kScale, c)}};
  }
  if (name == "Xor")  // x + c - 2 x c, that is x * (1 - 2 c) + c
    return {{make_step(StepKind::kScale, map_constant(c, [](double x) { return 1 - 2 * x; })),
             make_step(StepKind::kShift, c)}};
  if (c.size() != 1) return std::nullopt;
  if (name == "Pow" && first) {
    if (scalar == 1) return std::vector<Step>{};
    const bool whole = scalar == std::floor(scalar);
    const Range domain = whole ? Range{} : Range{0, std::numeric_limits<double>::infinity()};
    return {{make_table([scalar](double x) { return std::pow(x, scalar); }, domain)}};
  }
  if (name == "Pow" && scalar > 0)
    return {{make_table([scalar](double x) { return std::pow(scalar, x); })}};
  const BinaryOperator* const row = find_binary(op);
  const auto function = row->compute;
  return {{make_jump([=](double x) { return first ? function(x, scalar) : function(scalar, x); })}};
}

// Steps of two tensors.
std::optional<std::vector<Step>> tensor_steps(const Operation& op, ValueId other, bool first) {
  const std::string_view name = op.op();
  const auto with = [&](StepKind kind) {
    Step step;
    step.kind = kind;
    step.tensor = other;
    return std::vector<Step>{step};
  };
  if (name == "Add" || name == "Sum") return with(StepKind::kAddTensor);
  if (name == "Mul" || name == "And") return with(StepKind::kMulTensor);
  if (name == "Max" || name == "Or") return with(StepKind::kMaxTensor);
  if (name == "Min") return with(StepKind::kMinTensor);
  // The steps of a difference are those of the input that is subtracted.
  const bool difference = name == "Sub" || name == "Xor" || name == "Equal" || name == "Less" ||
                          name == "Greater" || name == "LessOrEqual" || name == "GreaterOrEqual";
  if (!difference || first) return std::nullopt;
  std::vector<Step> steps = {make_step(StepKind::kScale, -1)};
  steps.push_back(with(StepKind::kAddTensor)[0]);
  if (name == "Sub") return steps;
  if (name == "Xor") {
    steps.push_back(make_step(StepKind::kPrelu, -1));
    return steps;
  }
  const auto function = find_binary(op)->compute;
  steps.push_back(make_jump([function](double x) { return function(x, 0); }));
  return steps;
}

}  // namespace

std::span<const BinaryOperator> binary_operators() noexcept { return kBinary; }

const BinaryOperator* find_binary(const Operation& op) noexcept {
  if (!op.node().domain.empty()) return nullptr;
  for (const BinaryOperator& row : kBinary)
    if (row.name == op.op()) return &row;
  return nullptr;
}

std::optional<Steps> binary_steps(const BinaryOperator&, const Operation& op, ValueId input) {
  if (op.inputs() != 2) return std::nullopt;
  for (const bool first : {true, false}) {
    const std::size_t main = first ? 0 : 1;
    const std::size_t other = first ? 1 : 0;
    if (op.constant(main) != nullptr || (input != kNoValue && op.input(main) != input)) continue;
    const Constant* const constant = op.constant(other);
    auto steps = constant != nullptr ? constant_steps(op, *constant, first)
                                     : tensor_steps(op, op.input(other), first);
    if (steps) return Steps{op.input(main), std::move(*steps)};
  }
  return std::nullopt;
}

}  // namespace nvdla::import
