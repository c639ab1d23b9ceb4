// SPDX-License-Identifier: MIT
//
// Operators on each element of constants.
#include "import/operators/elements.hpp"

namespace nvdla::import {
namespace {

bool is_cast(const Operation& op) { return op.op() == "Cast" || op.op() == "CastLike"; }

}  // namespace

std::vector<Inferred> infer_unary(const Operation& op) {
  Type type = op.type(0);
  if (op.op() == "Cast") type = static_cast<Type>(op.attribute("to", std::int64_t{0}));
  if (op.op() == "CastLike") type = op.type(1);
  std::vector<Inferred> out = {{type, op.dims(0)}};
  if (op.op() == "Dropout" && op.outputs() > 1)
    out.push_back({Type::kBool, op.dims(0)});  // the mask
  return out;
}

std::vector<Inferred> infer_binary(const Operation& op) {
  // Before opset 7 an operand may begin at an axis.
  if (op.opset() < 7 && op.has_attribute("axis"))
    refuse_node("its operand begins at an axis, as before opset 7");
  Dims dims = op.dims(0);
  for (std::size_t i = 1; i < op.inputs(); ++i) dims = broadcast(dims, op.dims(i));
  const BinaryOperator* const row = find_binary(op);
  return {{row != nullptr && row->gives_bool ? Type::kBool : op.type(0), dims}};
}

std::vector<Inferred> infer_where(const Operation& op) {
  return {{op.type(1), broadcast(broadcast(op.dims(0), op.dims(1)), op.dims(2))}};
}

void check_constant_size(const Dims& dims) {
  if (elements(dims) > kMaxFolded) refuse_node("a constant of {} is too large", dims_text(dims));
}

std::vector<Constant> fold_unary(const Operation& op) {
  const Constant& x = op.need_constant(0, "its input");
  if (is_cast(op)) {
    const Type to = infer_unary(op)[0].type;
    if (type_bytes(to) == 0) refuse_node("it casts to {}", type_name(to));
    if (is_integer(x.type()) && is_integer(to))
      return {Constant::of_integers(to, x.dims(), x.integers())};
    return {Constant::of_doubles(to, x.dims(), x.doubles())};
  }
  const auto function = unary_function(op);
  if (!function) refuse_node("its other inputs are no single numbers");
  std::vector<double> values = x.doubles();
  for (double& v : values) v = (*function)(v);
  return {Constant::of_doubles(x.type(), x.dims(), values)};
}

std::vector<Constant> fold_binary(const Operation& op) {
  const BinaryOperator* const row = find_binary(op);
  const Inferred result = infer_binary(op)[0];
  check_constant_size(result.dims);
  const bool integers = is_integer(op.type(0)) && row->integers != nullptr && op.op() != "Pow";
  const auto count = static_cast<std::size_t>(elements(result.dims));
  std::vector<double> doubles(integers ? 0 : count);
  std::vector<std::int64_t> whole(integers ? count : 0);
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    const Constant& c = op.need_constant(i, "its input");
    for_each_broadcast(result.dims, c.dims(), [&](std::int64_t to, std::int64_t from) {
      const auto at = static_cast<std::size_t>(to);
      if (integers)
        whole[at] = i == 0 ? c.integer(from) : row->integers(whole[at], c.integer(from));
      else
        doubles[at] = i == 0 ? c.real(from) : row->compute(doubles[at], c.real(from));
    });
  }
  if (integers) return {Constant::of_integers(result.type, result.dims, whole)};
  return {Constant::of_doubles(result.type, result.dims, doubles)};
}

std::vector<Constant> fold_where(const Operation& op) {
  const Inferred result = infer_where(op)[0];
  check_constant_size(result.dims);
  const Constant& condition = op.need_constant(0, "its condition");
  const Constant& yes = op.need_constant(1, "its input");
  const Constant& no = op.need_constant(2, "its input");
  const auto count = static_cast<std::size_t>(elements(result.dims));
  std::vector<char> chosen(count);
  for_each_broadcast(result.dims, condition.dims(), [&](std::int64_t to, std::int64_t from) {
    chosen[static_cast<std::size_t>(to)] = condition.integer(from) != 0;
  });
  std::vector<double> doubles(count);
  std::vector<std::int64_t> whole(count);
  for (const bool which : {true, false}) {
    const Constant& c = which ? yes : no;
    for_each_broadcast(result.dims, c.dims(), [&](std::int64_t to, std::int64_t from) {
      const auto at = static_cast<std::size_t>(to);
      if ((chosen[at] != 0) != which) return;
      doubles[at] = c.real(from);
      whole[at] = c.integer(from);
    });
  }
  if (is_integer(result.type)) return {Constant::of_integers(result.type, result.dims, whole)};
  return {Constant::of_doubles(result.type, result.dims, doubles)};
}

}  // namespace nvdla::import
