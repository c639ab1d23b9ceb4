// SPDX-License-Identifier: MIT
//
// Nodes that one layer computes, and which values share a scale.
#ifndef NVDLA_IMPORT_CALIBRATION_UNITS_HPP
#define NVDLA_IMPORT_CALIBRATION_UNITS_HPP

#include <map>
#include <set>
#include <vector>

#include "import/calibration/ranges.hpp"
#include "import/graph/graph.hpp"
#include "import/nodes/operation.hpp"

namespace nvdla::import {

// `Scaling` tells how the scale of a result depends on that of the input.
enum class Scaling {
  kOwn,     // the result has a scale of its own
  kSame,    // elements are moved or chosen: the result has that of the input, and no layer sets it
  kCommon,  // the inputs are brought to the scale of the result: all have the same
};

// `ScaleClasses` tells which values of a graph get a scale, and which have one in common.
class ScaleClasses {
 public:
  // `gates_are_symmetric`: the smaller factor of a product has the zero point 0. The scales of
  // `pixels` are given. `ranges` of values, if they are known, tell which part of a concatenation
  // keeps a scale of its own.
  ScaleClasses(const Graph& graph, bool gates_are_symmetric,
               const std::map<ValueId, PixelInput>& pixels,
               const std::map<ValueId, NumberRange>& ranges);

  // Values behind which a QuantizeLinear belongs: inputs, and results of layers.
  const std::set<ValueId>& values() const noexcept { return values_; }
  // Returns the value that stands for all that have the same scale.
  ValueId root(ValueId id) const;
  bool is_symmetric(ValueId id) const { return symmetric_.contains(root(id)); }
  // Returns numbers that a class has to hold, with what pads, by one of its values.
  const std::map<ValueId, NumberRange>& fills() const noexcept { return fills_; }
  // Returns the value behind a node at which its layer ends.
  ValueId end_of(std::size_t node) const { return ends_.at(node); }

 private:
  Scaling scaling_with_pixels(const Operation& op, const std::map<ValueId, PixelInput>& pixels);
  void join(ValueId a, ValueId b);

  std::vector<ValueId> parents_;
  std::set<ValueId> values_;
  std::set<ValueId> symmetric_;
  std::map<ValueId, NumberRange> fills_;
  std::map<std::size_t, ValueId> ends_;
};

// Readers of each value.
class Readers {
 public:
  explicit Readers(const Graph& graph);
  // Returns the node that is the only one to read a value, if the value is no output.
  const std::size_t* only(ValueId id) const;
  // Returns the node that computes a value, or nullptr.
  const Node* producer(ValueId id) const { return producers_[static_cast<std::size_t>(id)]; }

 private:
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<const Node*> producers_;
  std::vector<bool> is_output_;
};

// Returns true for the operators that multiply their input with constants and add up.
bool is_sum_of_products(const Graph& graph, const Node& node);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_CALIBRATION_UNITS_HPP
