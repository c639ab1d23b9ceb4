// SPDX-License-Identifier: MIT
#include "import/passes/split_forms.hpp"

#include <algorithm>

namespace nvdla::import {
namespace {

constexpr std::int64_t kOpset = 13;  // of the operators that are made

}  // namespace

bool SplitForms::has_long_axis(ValueId id) const {
  return id != kNoValue && graph_.value(id).dims &&
         std::any_of(dims(id).begin(), dims(id).end(),
                     [&](std::int64_t size) { return is_long(size); });
}

Dims SplitForms::split_beside(const Dims& own, const Dims& large) const {
  Dims split;
  const std::size_t shift = large.size() - own.size();
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto row = rows_.find(large[i + shift]);
    if (row == rows_.end()) {
      split.push_back(own[i]);
    } else if (own[i] == 1) {
      split.insert(split.end(), {1, 1});
    } else {
      if (own[i] % row->second != 0) refuse_node("a part of an axis is no number of whole rows");
      split.insert(split.end(), {own[i] / row->second, row->second});
    }
  }
  return split;
}

std::size_t SplitForms::place(const Dims& own, std::size_t axis) const {
  return split(Dims(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(axis))).size();
}

Node& SplitForms::add_node(std::string_view op, std::vector<ValueId> inputs, ValueId output) {
  Node node;
  node.name = name_;
  node.op = op;
  node.opset = kOpset;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  return graph_.nodes.emplace_back(std::move(node));
}

void SplitForms::append(Node node) { graph_.nodes.push_back(std::move(node)); }

ValueId SplitForms::add_value(ValueId like, const Dims& sizes) {
  return graph_.add({.name = name_ + " part", .type = graph_.value(like).type, .dims = sizes});
}

ValueId SplitForms::integers(const std::vector<std::int64_t>& values) {
  const Dims list = {static_cast<std::int64_t>(values.size())};
  return graph_.add({.name = name_ + " constant",
                     .type = Type::kInt64,
                     .dims = list,
                     .constant = Constant::of_integers(Type::kInt64, list, values)});
}

void SplitForms::reshape(ValueId from, ValueId to) {
  add_node("Reshape", {from, integers(dims(to))}, to).attributes["allowzero"] = std::int64_t{1};
}

ValueId SplitForms::form(ValueId id, const Dims& sizes) {
  if (graph_.value(id).constant) {
    if (dims(id) == sizes) return id;
    Value made = graph_.value(id);
    if (made.quantized && made.quantized->scales.size() != 1)
      refuse_node("the scales of a constant are along an axis");
    made.dims = sizes;
    made.constant = made.constant->with_dims(sizes);
    if (made.quantized) made.quantized->elements = made.quantized->elements.with_dims(sizes);
    return graph_.add(std::move(made));
  }
  auto& forms = forms_[id];
  if (const auto found = forms.find(sizes); found != forms.end()) return found->second;
  if (!is_computed(id) && dims(id) == sizes) return id;
  const ValueId made = dims(id) == sizes ? id : add_value(id, sizes);
  reshape(made_of(id), made);
  forms[sizes] = made;
  return made;
}

ValueId SplitForms::compute(ValueId id, const Dims& sizes) {
  const ValueId made = add_value(id, sizes);
  computed_[id] = made;
  forms_[id][sizes] = made;
  return made;
}

void SplitForms::materialise(ValueId id) {
  if (is_computed(id)) form(id, dims(id));
}

}  // namespace nvdla::import
