// SPDX-License-Identifier: MIT
//
// Operators that are always folded: constants and what is known of sizes.
#include <cmath>

#include "import/operators/operator.hpp"

namespace nvdla::import {
namespace {

Constant constant_of(const Operation& op) {
  if (const Constant* const tensor = op.tensor_attribute("value")) return *tensor;
  const auto& attributes = op.node().attributes;
  const auto find = [&](const char* name) {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : &found->second;
  };
  if (const auto* v = find("value_float")) {
    const double value = static_cast<double>(std::get<float>(*v));
    return Constant::of_doubles(Type::kFloat, {}, {&value, 1});
  }
  if (const auto* v = find("value_int"))
    return Constant::of_integers(Type::kInt64, {}, {&std::get<std::int64_t>(*v), 1});
  if (const auto* v = find("value_ints")) {
    const auto& list = std::get<std::vector<std::int64_t>>(*v);
    return Constant::of_integers(Type::kInt64, {static_cast<std::int64_t>(list.size())}, list);
  }
  if (const auto* v = find("value_floats")) {
    const auto& list = std::get<std::vector<float>>(*v);
    const std::vector<double> doubles(list.begin(), list.end());
    return Constant::of_doubles(Type::kFloat, {static_cast<std::int64_t>(list.size())}, doubles);
  }
  refuse_node("it has no value that is a tensor of numbers");
}

std::vector<Constant> fold_constant(const Operation& op) {
  try {
    return {constant_of(op)};
  } catch (const std::bad_variant_access&) {
    refuse_node("its value is of another type than its name says");
  }
}

std::vector<Inferred> infer_constant(const Operation& op) {
  const Constant c = fold_constant(op)[0];
  return {{c.type(), c.dims()}};
}

std::vector<Constant> fold_shape(const Operation& op) {
  const Dims& dims = op.dims(0);
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto bound = [&](std::int64_t v) {
    v = v < 0 ? v + rank : v;
    return v < 0 ? 0 : v > rank ? rank : v;
  };
  const std::int64_t start = bound(op.attribute("start", std::int64_t{0}));
  const std::int64_t end = bound(op.attribute("end", rank));
  Dims part;
  for (std::int64_t i = start; i < end; ++i) part.push_back(dims[static_cast<std::size_t>(i)]);
  return {Constant::of_integers(Type::kInt64, {static_cast<std::int64_t>(part.size())}, part)};
}

std::vector<Inferred> infer_shape(const Operation& op) {
  return {{Type::kInt64, fold_shape(op)[0].dims()}};
}

std::vector<Constant> fold_size(const Operation& op) {
  const std::int64_t count = elements(op.dims(0));
  return {Constant::of_integers(Type::kInt64, {}, {&count, 1})};
}

std::vector<Inferred> infer_size(const Operation&) { return {{Type::kInt64, {}}}; }

std::vector<Constant> fold_constant_of_shape(const Operation& op) {
  const auto dims = op.need_integers(0, "the list of sizes");
  std::int64_t count = 1;
  for (const std::int64_t size : dims) {
    if (size < 0 || (size > 0 && count > kMaxFolded / size))
      refuse_node("a constant of {} is too large, or has a negative size", dims_text(dims));
    count *= size;
  }
  const Constant* const value = op.tensor_attribute("value");
  if (value != nullptr && value->size() != 1)
    refuse_node("its value has {} elements; expected 1", value->size());
  const double zero = 0;
  const Constant one =
      value != nullptr ? *value : Constant::of_doubles(Type::kFloat, {1}, {&zero, 1});
  const std::vector<std::int64_t> indices(static_cast<std::size_t>(count), 0);
  return {one.gather(dims, indices)};
}

std::vector<Inferred> infer_constant_of_shape(const Operation& op) {
  const Constant c = fold_constant_of_shape(op)[0];
  return {{c.type(), c.dims()}};
}

std::vector<Constant> fold_range(const Operation& op) {
  const Constant& start = op.need_constant(0, "the start");
  const Constant& limit = op.need_constant(1, "the limit");
  const Constant& delta = op.need_constant(2, "the distance");
  if (start.size() != 1 || limit.size() != 1 || delta.size() != 1)
    refuse_node("start, limit and distance are no single numbers");
  const double step = delta.real(0);
  const double count = std::ceil((limit.real(0) - start.real(0)) / step);
  if (!(step != 0) || !(count <= static_cast<double>(kMaxFolded)))
    refuse_node("from {} to {} by {} is no range that ends", start.real(0), limit.real(0), step);
  const auto size = static_cast<std::int64_t>(count > 0 ? count : 0);
  std::vector<double> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = start.real(0) + static_cast<double>(i) * step;
  return {Constant::of_doubles(start.type(), {size}, values)};
}

std::vector<Inferred> infer_range(const Operation& op) {
  const Constant c = fold_range(op)[0];
  return {{c.type(), c.dims()}};
}

constexpr std::string_view kUnrolled =
    "Up to 1024 steps, one after the other: products with constants, sums and functions.";

constexpr OperatorRow kConstantRows[] = {
    {"Constant", infer_constant, fold_constant, nullptr, "Folded."},
    {"ConstantOfShape", infer_constant_of_shape, fold_constant_of_shape, nullptr, "Folded."},
    {"Einsum", infer_same, nullptr, nullptr, "Of two tensors: a product of matrices, and moves."},
    {"GRU", infer_same, nullptr, nullptr, kUnrolled},
    {"If", infer_same, nullptr, nullptr,
     "With a constant condition: the branch is part of the graph."},
    {"LSTM", infer_same, nullptr, nullptr, kUnrolled},
    {"RNN", infer_same, nullptr, nullptr, kUnrolled},
    {"Range", infer_range, fold_range, nullptr, "Folded."},
    {"Shape", infer_shape, fold_shape, nullptr, "Folded: all sizes are known."},
    {"Size", infer_size, fold_size, nullptr, "Folded: all sizes are known."},
};

}  // namespace

std::span<const OperatorRow> constant_rows() noexcept { return kConstantRows; }

}  // namespace nvdla::import
