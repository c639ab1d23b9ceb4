// SPDX-License-Identifier: MIT
//
// Functions of one element. An operator is a row of the table at the end.
#include <cmath>
#include <limits>

#include "import/operators/elements.hpp"
#include "nvdla/operators/functions.hpp"

namespace nvdla::import {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

using StepList = std::vector<Step>;

template <double (*function)(double)>
StepList table_steps(const Operation&) {
  return {make_table(function)};
}

// A function of arguments from `lo` up, which may be infinite.
template <double (*function)(double), int lo>
StepList table_from(const Operation&) {
  return {make_table(function, {static_cast<double>(lo), kEndless})};
}

template <double (*function)(double)>
StepList table_of_unit(const Operation&) {
  return {make_table(function, {-1, 1})};
}

template <double (*function)(double)>
StepList jump_steps(const Operation&) {
  return {make_jump(function)};
}

// Functions of <cmath> have overloads, which a template argument cannot have.
double exp_of(double x) { return std::exp(x); }
double log_of(double x) { return std::log(x); }
double sqrt_of(double x) { return std::sqrt(x); }
double erf_of(double x) { return std::erf(x); }
double sin_of(double x) { return std::sin(x); }
double cos_of(double x) { return std::cos(x); }
double tan_of(double x) { return std::tan(x); }
double asin_of(double x) { return std::asin(x); }
double acos_of(double x) { return std::acos(x); }
double atan_of(double x) { return std::atan(x); }
double sinh_of(double x) { return std::sinh(x); }
double cosh_of(double x) { return std::cosh(x); }
double tanh_of(double x) { return std::tanh(x); }
double asinh_of(double x) { return std::asinh(x); }
double acosh_of(double x) { return std::acosh(x); }
double atanh_of(double x) { return std::atanh(x); }
double ceil_of(double x) { return std::ceil(x); }
double floor_of(double x) { return std::floor(x); }
double round_of(double x) { return std::nearbyint(x); }
double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double reciprocal_of(double x) { return 1 / x; }
double softsign_of(double x) {
  return std::isinf(x) ? std::copysign(1, x) : x / (1 + std::fabs(x));
}
double tanh_gelu(double x) {
  return x <= -30  ? 0
         : x >= 30 ? x
                   : x / 2 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}
// The library's own, at the ends of the range.
double sigmoid_of(double x) { return sigmoid(x); }
double softplus_of(double x) { return x > 30 ? x : softplus(x); }
double gelu_of(double x) { return x <= -30 ? 0 : x >= 30 ? x : gelu(x); }
double mish_of(double x) { return x <= -60 ? 0 : x >= 30 ? x : mish(x); }

StepList same_steps(const Operation&) { return {}; }
StepList relu_steps(const Operation&) { return {Step{}}; }
StepList negate_steps(const Operation&) { return {make_step(StepKind::kScale, -1)}; }
StepList absolute_steps(const Operation&) { return {make_step(StepKind::kPrelu, -1)}; }
StepList logical_not(const Operation&) {
  return {make_step(StepKind::kShift, -1), make_step(StepKind::kScale, -1)};
}
StepList leaky_relu(const Operation& op) {
  return {make_step(StepKind::kPrelu, op.attribute("alpha", 0.01))};
}
StepList elu(const Operation& op) {
  const double alpha = op.attribute("alpha", 1.0);
  return {make_table([alpha](double x) { return x < 0 ? alpha * std::expm1(x) : x; })};
}
StepList celu(const Operation& op) {
  const double alpha = op.attribute("alpha", 1.0);
  if (alpha == 0) refuse_node("alpha is 0");
  return {make_table([alpha](double x) { return x < 0 ? alpha * std::expm1(x / alpha) : x; })};
}
StepList selu(const Operation& op) {
  const double alpha = op.attribute("alpha", 1.67326319217681884765625);
  const double gamma = op.attribute("gamma", 1.05070102214813232421875);
  return {make_table(
      [alpha, gamma](double x) { return gamma * (x <= 0 ? alpha * std::expm1(x) : x); })};
}
StepList hard_sigmoid_steps(const Operation& op) {
  return {make_step(StepKind::kScale, op.attribute("alpha", 0.2)),
          make_step(StepKind::kShift, op.attribute("beta", 0.5)), Step{},
          make_step(StepKind::kMin, 1)};
}
StepList hard_swish_table(const Operation&) {
  return {make_table([](double x) { return x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6; })};
}
StepList gelu_steps(const Operation& op) {
  const std::string approximate = op.attribute("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    refuse_node("approximate is neither 'none' nor 'tanh'");
  return {make_table(approximate == "tanh" ? tanh_gelu : gelu_of)};
}
StepList thresholded_relu(const Operation& op) {
  const double alpha = op.attribute("alpha", 1.0);
  return {make_jump([alpha](double x) { return x > alpha ? x : 0; })};
}
StepList shrink(const Operation& op) {
  const double lambd = op.attribute("lambd", 0.5);
  const double bias = op.attribute("bias", 0.0);
  return {make_jump([lambd, bias](double x) {
    return x < -lambd ? x + bias : x > lambd ? x - bias : 0;
  })};
}

StepList clip_steps(const Operation& op) {
  StepList steps;
  double low = -kEndless, high = kEndless;
  if (op.opset() < 11) {
    low = op.attribute("min", low);
    high = op.attribute("max", high);
  } else {
    if (op.has(1)) low = op.need_constant(1, "the lower bound").real(0);
    if (op.has(2)) high = op.need_constant(2, "the upper bound").real(0);
  }
  if (low == 0)
    steps.push_back(Step{});
  else if (low > -kEndless)
    steps.push_back(make_step(StepKind::kMax, low));
  if (high < kEndless) steps.push_back(make_step(StepKind::kMin, high));
  return steps;
}

StepList given_function(const Operation& op) { return {make_table(op.node().function)}; }

StepList dropout(const Operation& op) {
  if (op.has_output(1)) refuse_node("the mask of a dropout is an output of training");
  if (op.has(2) && op.need_constant(2, "the training mode").integer(0) != 0 &&
      (!op.has(1) || op.need_constant(1, "the ratio").real(0) != 0))
    throw Refusal("the dropout is in training mode, which is random",
                  "export the model for inference");
  return {};
}

StepList cast_steps(const Operation& op) {
  const auto to = static_cast<Type>(op.op() == "Cast" ? op.attribute("to", std::int64_t{0})
                                                      : static_cast<std::int64_t>(op.type(1)));
  const Type from = op.type(0);
  if (type_bytes(from) == 0 || type_bytes(to) == 0) refuse_node("it casts from or to strings");
  if (to == Type::kBfloat16 && from != to) refuse_node("it rounds to bfloat16, which no unit does");
  if (is_real(to) || from == to || from == Type::kBool) return {};
  if (to == Type::kBool) return {make_jump([](double x) { return x != 0 ? 1.0 : 0.0; })};
  if (is_real(from)) return {make_jump([](double x) { return std::trunc(x); })};
  refuse_node("it casts integers of {} to {}", type_name(from), type_name(to));
}

constexpr UnaryOperator kUnary[] = {
    {"Abs", absolute_steps},
    {"Acos", table_of_unit<acos_of>},
    {"Acosh", table_from<acosh_of, 1>},
    {"Asin", table_of_unit<asin_of>},
    {"Asinh", table_steps<asinh_of>},
    {"Atan", table_steps<atan_of>},
    {"Atanh", table_of_unit<atanh_of>},
    {"Cast", cast_steps},
    {"CastLike", cast_steps},
    {"Ceil", jump_steps<ceil_of>},
    {"Celu", celu},
    {"Clip", clip_steps},
    {"Cos", table_steps<cos_of>},
    {"Cosh", table_steps<cosh_of>},
    {"Dropout", dropout},
    {"Elu", elu},
    {"Erf", table_steps<erf_of>},
    {"Exp", table_steps<exp_of>},
    {"Floor", jump_steps<floor_of>},
    {"Gelu", gelu_steps},
    {"HardSigmoid", hard_sigmoid_steps},
    {"HardSwish", hard_swish_table},
    {"Identity", same_steps},
    {"LeakyRelu", leaky_relu},
    {"Log", table_from<log_of, 0>},
    {"Mish", table_steps<mish_of>},
    {"Neg", negate_steps},
    {"Not", logical_not},
    {"Reciprocal", table_steps<reciprocal_of>},
    {"Relu", relu_steps},
    {"Round", jump_steps<round_of>},
    {"Selu", selu},
    {"Shrink", shrink},
    {"Sigmoid", table_steps<sigmoid_of>},
    {"Sign", jump_steps<sign_of>},
    {"Sin", table_steps<sin_of>},
    {"Sinh", table_steps<sinh_of>},
    {"Softplus", table_steps<softplus_of>},
    {"Softsign", table_steps<softsign_of>},
    {"Sqrt", table_from<sqrt_of, 0>},
    {"Tan", table_steps<tan_of>},
    {"Tanh", table_steps<tanh_of>},
    {"ThresholdedRelu", thresholded_relu},
    {kFunctionOp, given_function},
};

}  // namespace

std::span<const UnaryOperator> unary_operators() noexcept { return kUnary; }

const UnaryOperator* find_unary(const Operation& op) noexcept {
  if (!op.node().domain.empty()) return nullptr;
  for (const UnaryOperator& row : kUnary)
    if (row.name == op.op()) return &row;
  return nullptr;
}

}  // namespace nvdla::import
