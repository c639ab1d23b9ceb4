// SPDX-License-Identifier: MIT
#include "import/passes/split_forms.hpp"

#include <algorithm>

namespace nvdla::import {

bool SplitForms::has_long_axis(ValueId id) const {
  return id != kNoValue && graph().value(id).dims &&
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

void SplitForms::reshape_to(ValueId from, ValueId to) {
  node("Reshape", {from, integers(dims(to))}, to).attributes["allowzero"] = std::int64_t{1};
}

ValueId SplitForms::form(ValueId id, const Dims& sizes) {
  if (graph().value(id).constant) {
    if (dims(id) == sizes) return id;
    Value made = graph().value(id);
    if (made.quantized && made.quantized->scales.size() != 1)
      refuse_node("the scales of a constant are along an axis");
    made.dims = sizes;
    made.constant = made.constant->with_dims(sizes);
    if (made.quantized) made.quantized->elements = made.quantized->elements.with_dims(sizes);
    return add(std::move(made));
  }
  auto& forms = forms_[id];
  if (const auto found = forms.find(sizes); found != forms.end()) return found->second;
  if (!is_computed(id) && dims(id) == sizes) return id;
  const ValueId made = dims(id) == sizes ? id : value_like(id, sizes);
  reshape_to(made_of(id), made);
  forms[sizes] = made;
  return made;
}

ValueId SplitForms::computed_form(ValueId id, const Dims& sizes) {
  const ValueId made = value_like(id, sizes);
  computed_[id] = made;
  forms_[id][sizes] = made;
  return made;
}

void SplitForms::materialise(ValueId id) {
  if (is_computed(id)) form(id, dims(id));
}

}  // namespace nvdla::import
