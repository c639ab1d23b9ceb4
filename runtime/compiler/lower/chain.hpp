// SPDX-License-Identifier: MIT
//
// The layers of a compiled network in the order in which they run, operators of the CPU among them,
// before it is known which programs they become.
#ifndef NVDLA_COMPILER_LOWER_CHAIN_HPP
#define NVDLA_COMPILER_LOWER_CHAIN_HPP

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/layer_places.hpp"
#include "compiler/graph/cpu_node.hpp"
#include "layout/layer_order.hpp"
#include "nvdla/tensor.hpp"

namespace nvdla::detail {

// A tensor that the CPU reads or writes: what a layer's descriptor says of its own, and the cube.
struct CpuPlace {
  nvdla_surface surface = {};
  TensorDesc desc;
};

struct CpuWork {
  CpuNode node;
  std::vector<CpuPlace> sources;
  CpuPlace destination;
};

struct Chain {
  // The kind of a layer that the CPU does, of which nothing else is said.
  static constexpr std::uint32_t kCpu = ~std::uint32_t{0};

  std::vector<nvdla_layer> layers;  // waits are of this list
  std::vector<nvdla_transfer> transfers;
  std::map<std::uint32_t, CpuWork> cpu;  // by layer
  // Layers before which all others have ended, though nothing waits for it: those of the CPU and
  // those after them, and where a program that would be too large is cut.
  std::set<std::uint32_t> starts;

  // The layers first..end of each part.
  using Run = std::pair<std::uint32_t, std::uint32_t>;
  std::vector<Run> runs() const {
    std::vector<Run> all;
    std::uint32_t first = 0;
    const auto end_at = [&](std::uint32_t end) {
      if (end != first) all.emplace_back(first, end);
      first = end;
    };
    for (const std::uint32_t start : starts) end_at(start);
    end_at(static_cast<std::uint32_t>(layers.size()));
    return all;
  }

  LayerOrder order() const { return LayerOrder(layers, starts); }
};

// Calls use(place, written) with each place of a layer: see for_each_place().
template <typename AnyChain, typename Use>
void for_each_use(AnyChain& chain, std::uint32_t layer, const Use& use) {
  auto& at = chain.layers[layer];
  if (at.kind != Chain::kCpu) return for_each_place(at, chain.transfers, use);
  auto& work = chain.cpu.at(layer);
  for (auto& source : work.sources) use(source.surface, false);
  use(work.destination.surface, true);
}

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_CHAIN_HPP
