// SPDX-License-Identifier: MIT
//
// The schedule of a network: its layers in the order in which they run, those of the CPU among
// them, and the memory that they touch, before slots and programs are chosen.
#ifndef NVDLA_COMPILER_LOWER_SCHEDULE_HPP
#define NVDLA_COMPILER_LOWER_SCHEDULE_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph/nodes.hpp"
#include "nvdla/types/tensor_desc.hpp"
#include "packing/layer_order.hpp"
#include "support/layer_places.hpp"

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

// `Allocation` is a tensor or constants in memory, before a plan chooses where.
struct Allocation {
  std::string name;
  nvdla_slot slot = {};             // as if it had one for itself
  std::vector<std::byte> contents;  // constants; they may be fewer bytes than the slot has
  bool dedicated = false;           // it shares its slot with nothing
};

// `Operation` is what the schedule knows of a layer beside its descriptor.
struct Operation {
  std::string name = {};
  std::string suffix = {};                // of the name, behind what passes add to it
  std::uint64_t macs = 0;                 // of all images that the descriptor stands for
  std::uint32_t origin = 0;               // the layer of the graph that it works for
  std::uint32_t images = 1;               // of the batch, of which the descriptor has the first
  bool whole = false;                     // it makes the whole output of its origin
  bool cut = false;                       // a band that is not cut again
  std::vector<std::uint32_t> after = {};  // layers of the schedule that it waits for
  std::vector<std::uint32_t> fused = {};  // further layers of the graph that it computes
};

inline std::string full_name(const Operation& operation) {
  return operation.name + operation.suffix;
}

// `Schedule` lists layers; a descriptor names an allocation where it will have a slot.
struct Schedule {
  // The kind of a layer that the CPU does; its descriptor has nothing else.
  static constexpr std::uint32_t kCpu = ~std::uint32_t{0};

  std::vector<Allocation> allocations;  // those of the graph's tensors come first, in their order
  std::vector<nvdla_layer> layers;
  std::vector<Operation> operations;  // one for each layer
  std::vector<nvdla_transfer> transfers;
  std::map<std::uint32_t, CpuWork> cpu;  // by layer
  // Before such a layer all others have ended, though it waits for none of them: layers of the CPU
  // and those behind them, and where a program that would be too large is cut.
  std::set<std::uint32_t> segment_starts;
  std::vector<std::byte> control;  // tables of compressed weights, which descriptors point into

  // The layers first..end between two starts.
  using Segment = std::pair<std::uint32_t, std::uint32_t>;
  std::vector<Segment> segments() const {
    std::vector<Segment> all;
    std::uint32_t first = 0;
    const auto end_at = [&](std::uint32_t end) {
      if (end != first) all.emplace_back(first, end);
      first = end;
    };
    for (const std::uint32_t start : segment_starts) end_at(start);
    end_at(static_cast<std::uint32_t>(layers.size()));
    return all;
  }

  LayerOrder order() const { return LayerOrder(layers, segment_starts); }
};

// Calls use(place, written) with each place of a layer: see for_each_place().
template <typename AnySchedule, typename Use>
void for_each_use(AnySchedule& schedule, std::uint32_t layer, const Use& use) {
  auto& at = schedule.layers[layer];
  if (at.kind != Schedule::kCpu) return for_each_place(at, schedule.transfers, use);
  auto& work = schedule.cpu.at(layer);
  for (auto& source : work.sources) use(source.surface, false);
  use(work.destination.surface, true);
}

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_SCHEDULE_HPP
