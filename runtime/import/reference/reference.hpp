// SPDX-License-Identifier: MIT
//
// A model computed in floats, to learn which numbers its values take. The results are the same on
// every machine.
#ifndef NVDLA_IMPORT_REFERENCE_REFERENCE_HPP
#define NVDLA_IMPORT_REFERENCE_REFERENCE_HPP

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "import/graph/graph.hpp"

namespace nvdla::import {

// `Reference` computes a graph whose sizes are all known and whose constants are folded. It never
// changes, so that several threads may run it.
class Reference {
 public:
  // Throws Error naming all nodes that cannot be computed. `graph` must outlive it.
  explicit Reference(const Graph& graph);

  // Called with each value that is an input or that a node computes, as soon as it is there.
  // It may change the elements for the nodes behind.
  using Visit = std::function<void(ValueId, std::span<float>)>;
  // Computes all values. `inputs` has the elements of each input of the graph in its order. Throws
  // Error naming the node for results that are no numbers.
  void run(const std::vector<std::vector<float>>& inputs, const Visit& visit) const;

 private:
  const Graph& graph_;
  std::map<ValueId, std::vector<float>> constants_;
  std::vector<std::vector<ValueId>> last_;  // values that nobody reads after a node
};

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_REFERENCE_REFERENCE_HPP
