// SPDX-License-Identifier: MIT
//
// Where the boxes of a graph without cycles go: each below all that it follows from, in rows whose
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
  // From a node to one that follows from it; of both the first has the lower number.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
};

struct LayeredPlaces {
  using Point = std::pair<double, double>;

  double width = 0, height = 0;
  std::vector<Point> nodes;               // upper left corners
  std::vector<std::vector<Point>> edges;  // from the lower edge of one node to the upper of another
};

// `across` lies between neighbours of a row, `down` between rows. The same graph has the same
// places everywhere. Throws UsageError for a graph with which no picture could be looked at.
LayeredPlaces place_layered(const LayeredGraph& graph, double across, double down);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_LAYERED_HPP
