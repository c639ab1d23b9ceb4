// SPDX-License-Identifier: MIT
//
// Places the boxes of a graph without cycles: each box below all its predecessors, in rows whose
// order leaves few crossings, near to its neighbours.
#ifndef NVDLA_TOOLS_COMMON_LAYERED_HPP
#define NVDLA_TOOLS_COMMON_LAYERED_HPP

#include <cstdint>
#include <utility>
#include <vector>

namespace nvdla::program {

struct LayeredGraph {
  struct Node {
    double width = 0, height = 0;
  };
  std::vector<Node> nodes;
  // An edge leads from a node to one that follows from it, whose index is greater.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
};

struct LayeredPlaces {
  using Point = std::pair<double, double>;

  double width = 0, height = 0;
  std::vector<Point> nodes;               // upper left corners
  std::vector<std::vector<Point>> edges;  // from the lower edge of one node to the upper of another
};

// `across` is the distance between neighbours in a row, `down` that between rows. The result for a
// graph is the same on every machine. Throws UsageError for a graph that is too large for a
// picture.
LayeredPlaces place_layered(const LayeredGraph& graph, double across, double down);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_LAYERED_HPP
