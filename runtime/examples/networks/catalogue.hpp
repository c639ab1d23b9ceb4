// SPDX-License-Identifier: MIT
//
// The networks that there are.
#ifndef NVDLA_EXAMPLES_NETWORKS_CATALOGUE_HPP
#define NVDLA_EXAMPLES_NETWORKS_CATALOGUE_HPP

#include <span>
#include <string>
#include <vector>

#include "graph.hpp"

namespace networks {

Graph lenet5();
Graph alexnet();
Graph alexnet_groups();
Graph resnet18();
Graph resnet50();
Graph resnet152();
Graph squeezenet();
Graph googlenet();
Graph vgg16();
Graph vgg19();
Graph densenet121();
Graph yolo();
Graph unet();
Graph mobilenetv1();
Graph mobilenetv2();
Graph efficientnet_b0();
Graph efficientnet_b0_without_tables();
Graph transformer();

struct Entry {
  const char* name;
  const char* about;
  Graph (*graph)();
  // For devices whose SDP has no look-up table, if that makes a difference, and what it is.
  Graph (*without_tables)() = nullptr;
  const char* substitutes = "";

  Graph graph_for(const nvdla::DeviceInfo& info) const {
    return without_tables != nullptr && !info.has_lut ? without_tables() : graph();
  }
};

std::span<const Entry> catalogue();

// The one called `name`. Throws nvdla::program::UsageError naming those that there are.
const Entry& find_entry(const std::string& name);

// Returns layers of `graph` as a network of their own: `range` is the name of a layer, or of the
// first and the last, FIRST..LAST, in the graph's order. The one earlier result that they read is
// the image. Throws nvdla::program::UsageError for other names, and where they read several.
Graph part_of(const Graph& graph, const std::string& range);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_CATALOGUE_HPP
