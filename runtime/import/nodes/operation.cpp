// SPDX-License-Identifier: MIT
//
// Inputs and attributes of nodes, checked.
#include "import/nodes/operation.hpp"

#include "support/printable.hpp"

namespace nvdla::import {
namespace {

template <typename T>
const T* find(const Node& node, std::string_view name, const char* expected) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return nullptr;
  const T* const value = std::get_if<T>(&found->second);
  if (value == nullptr) refuse_node("attribute '{}' is not {}", name, expected);
  return value;
}

}  // namespace

ValueId Operation::input(std::size_t index) const {
  if (!has(index)) refuse_node("input {} is missing", index);
  return node_->inputs[index];
}

const Dims& Operation::dims(std::size_t index) const {
  const Value& v = value(index);
  if (!v.dims) refuse_node("the sizes of input '{}' are not known", detail::printable(v.name));
  return *v.dims;
}

const Constant* Operation::constant(std::size_t index) const {
  const Value& v = value(index);
  return v.constant ? &*v.constant : nullptr;
}

const Constant& Operation::need_constant(std::size_t index, std::string_view what) const {
  const Constant* const found = constant(index);
  if (found == nullptr)
    throw Refusal(fmt::format("{} is computed by the network; expected a constant", what),
                  "make it an initialiser of the model");
  return *found;
}

std::vector<std::int64_t> Operation::need_integers(std::size_t index, std::string_view what) const {
  const Constant& c = need_constant(index, what);
  if (!is_integer(c.type()) || c.dims().size() > 1)
    refuse_node("{} is {} {}; expected a list of integers", what, dims_text(c.dims()),
                type_name(c.type()));
  return c.integers();
}

std::int64_t Operation::attribute(std::string_view name, std::int64_t missing) const {
  const auto* found = find<std::int64_t>(*node_, name, "an integer");
  return found != nullptr ? *found : missing;
}

double Operation::attribute(std::string_view name, double missing) const {
  const auto* found = find<float>(*node_, name, "a real number");
  return found != nullptr ? static_cast<double>(*found) : missing;
}

std::string Operation::attribute(std::string_view name, const char* missing) const {
  const auto* found = find<std::string>(*node_, name, "a text");
  return found != nullptr ? *found : missing;
}

std::vector<std::int64_t> Operation::integers(std::string_view name,
                                              std::vector<std::int64_t> missing) const {
  const auto* found = find<std::vector<std::int64_t>>(*node_, name, "a list of integers");
  return found != nullptr ? *found : std::move(missing);
}

const Constant* Operation::tensor_attribute(std::string_view name) const {
  return find<Constant>(*node_, name, "a tensor");
}

std::size_t Operation::axis(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) refuse_node("axis {} is not one of {}", axis, rank);
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

}  // namespace nvdla::import
