// SPDX-License-Identifier: MIT
//
// Values whose axes have another order than those of what a node computes, without a Transpose as
// long as nobody needs it.
#ifndef NVDLA_IMPORT_PASSES_TRANSPOSED_VALUES_HPP
#define NVDLA_IMPORT_PASSES_TRANSPOSED_VALUES_HPP

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "import/graph/node_maker.hpp"

namespace nvdla::import {

// The axes of another value that a value has for its own, as the `perm` of a Transpose.
using AxisOrder = std::vector<std::size_t>;

// `TransposedValues` knows which values are others with another order of axes, and makes the
// Transposes of those that a node takes as they are.
class TransposedValues : public NodeMaker {
 public:
  explicit TransposedValues(Graph& graph);

  const Dims& dims(ValueId id) const { return *graph().value(id).dims; }
  // Returns the order by which a node that could take the source takes the value; nothing where the
  // value has no source, or where its Transpose has to stay.
  const AxisOrder* order(ValueId id) const;
  ValueId source(ValueId id) const { return moved_.at(id).source; }

  // Makes `id` the Transpose of another value.
  void transpose(ValueId from, const AxisOrder& order, ValueId id);
  // Returns the value that a node computes in place of `output`, which is its Transpose.
  ValueId computed(ValueId output, const AxisOrder& order);
  // Returns the value of which `id` is the Transpose, with ones in front if it has fewer axes;
  // nothing if there is none and only a Transpose would make one.
  std::optional<ValueId> in_order(ValueId id, const AxisOrder& order);
  // Returns the Transpose of a value, which is itself none.
  ValueId in_other_order(ValueId id, const AxisOrder& order);
  // Returns a value with the elements of `id` in its own order.
  ValueId plain(ValueId id);
  // Sees to it that there is a value of that very number.
  void keep(ValueId id);
  // Makes the node that gives a value the sizes of another one.
  void reshape_to(ValueId from, ValueId to);

 private:
  struct Moved {
    ValueId source = kNoValue;
    AxisOrder order;
    std::string node;  // that computes the value in the model
    bool stays = false;
  };

  void append_transpose(ValueId from, const AxisOrder& order, ValueId to);
  std::optional<ValueId> constant_in_order(ValueId id, const AxisOrder& order);

  std::set<ValueId> inputs_;
  std::map<ValueId, Moved> moved_;
  std::map<std::pair<ValueId, AxisOrder>, ValueId> made_;  // the Transposes of a value
};

// Returns the order that takes the other one back.
AxisOrder inverse(const AxisOrder& order);
// Returns true if no axis changes its place, or none of more than one element among these.
bool is_identity(const AxisOrder& order);
bool moves_ones_only(const Dims& dims, const AxisOrder& order);
// Returns the sizes, or the elements of a list, before they got another order.
template <typename List>
List before_order(const List& list, const AxisOrder& order) {
  List before = list;
  for (std::size_t i = 0; i < order.size(); ++i) before[order[i]] = list[i];
  return before;
}

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_PASSES_TRANSPOSED_VALUES_HPP
