// SPDX-License-Identifier: MIT
//
// Values with an axis that is longer than those of the device, in another form: the same elements
// in the same order, with two axes in place of each of that size.
#ifndef NVDLA_IMPORT_PASSES_SPLIT_FORMS_HPP
#define NVDLA_IMPORT_PASSES_SPLIT_FORMS_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "import/graph/node_maker.hpp"
#include "import/nodes/operation.hpp"
#include "import/nodes/window.hpp"

namespace nvdla::import {

// The rows that axes of a size are cut into, by that size.
using RowSizes = std::map<std::int64_t, std::int64_t>;

// `SplitForms` gives values their forms, and the graph the nodes that make them.
class SplitForms : public NodeMaker {
 public:
  SplitForms(Graph& graph, RowSizes rows) : NodeMaker(graph), rows_(std::move(rows)) {}

  const Dims& dims(ValueId id) const { return *graph().value(id).dims; }
  bool is_long(std::int64_t size) const { return rows_.contains(size); }
  std::int64_t row_of(std::int64_t size) const { return rows_.at(size); }
  bool has_long_axis(ValueId id) const;
  // Returns true if a node computes another form of the value, and not the value.
  bool is_computed(ValueId id) const { return computed_.contains(id); }

  // Returns the sizes of the other form; those of a tensor that goes beside one of sizes `large`,
  // with two axes where that has a long one; and where an axis lies among them. Throw Refusal for a
  // part of an axis that is no number of whole rows.
  Dims split(const Dims& own) const { return split_beside(own, own); }
  Dims split_beside(const Dims& own, const Dims& large) const;
  std::size_t place(const Dims& own, std::size_t axis) const;

  // Returns a value of the type of another one.
  ValueId value_like(ValueId like, const Dims& sizes) {
    return value(graph().value(like).type, sizes);
  }
  // Makes the node that gives a value the sizes of another one.
  void reshape_to(ValueId from, ValueId to);

  // Returns the elements of a value with other sizes, or in its other form; the value that a node
  // computes, in whichever form.
  ValueId form(ValueId id, const Dims& sizes);
  ValueId form(ValueId id) { return form(id, split(dims(id))); }
  ValueId made_of(ValueId id) const { return is_computed(id) ? computed_.at(id) : id; }
  // Makes a value of `sizes` for a form of one that the node computes in its place.
  ValueId computed_form(ValueId id, const Dims& sizes);
  // Sees to it that a value is computed in the model's own sizes.
  void materialise(ValueId id);

 private:
  RowSizes rows_;
  std::map<ValueId, ValueId> computed_;               // the form in which a node computes a value
  std::map<ValueId, std::map<Dims, ValueId>> forms_;  // all forms of a value, by their sizes
};

// Returns the window of a convolution or pooling along the only axis behind the channels.
std::optional<WindowAxis> row_window(const Operation& op);
// Returns how many elements in front of a row and behind it its windows see.
std::pair<std::int64_t, std::int64_t> elements_around(const WindowAxis& window);
// Makes a convolution or pooling with a row_window() one of rows; returns false if it cannot.
bool split_window(SplitForms& forms, const Operation& op);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_PASSES_SPLIT_FORMS_HPP
