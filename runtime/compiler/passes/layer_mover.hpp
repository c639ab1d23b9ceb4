// SPDX-License-Identifier: MIT
//
// A schedule gets other layers in place of those that it has.
#ifndef NVDLA_COMPILER_PASSES_LAYER_MOVER_HPP
#define NVDLA_COMPILER_PASSES_LAYER_MOVER_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "compiler/lower/schedule.hpp"

namespace nvdla::detail {

// `LayerMover` takes the layers out of a schedule and puts others into it, in the same order but
// for those that take turns. Whoever waited for a layer waits for the last that stands for it.
class LayerMover {
 public:
  explicit LayerMover(Schedule& schedule);

  std::uint32_t size() const { return static_cast<std::uint32_t>(old_.layers.size()); }
  const nvdla_layer& layer(std::uint32_t index) const { return old_.layers[index]; }
  const Operation& operation(std::uint32_t index) const { return old_.operations[index]; }
  // Returns the number of the layer that comes next.
  std::uint32_t next() const { return static_cast<std::uint32_t>(schedule_.layers.size()); }

  // Comes to the layers from `first` on, or behind all: a segment begins where one did.
  void come_to(std::uint32_t first);
  // Returns the layers that stand for those that an operation waits for, if these are before `end`.
  std::vector<std::uint32_t> waits(std::uint32_t index, std::uint32_t end) const;
  // Puts a layer into the schedule, which stands for that of `index` until the next does.
  void add(std::uint32_t index, const nvdla_layer& layer, Operation operation);
  // Lets what stands for a layer stand for another one, too.
  void merge(std::uint32_t index, std::uint32_t into) { last_[index] = last_[into]; }
  // Returns true for work of the CPU, which moves as it is.
  bool is_cpu(std::uint32_t index) const { return old_.cpu.contains(index); }
  void move(std::uint32_t index);

 private:
  Schedule& schedule_;
  Schedule old_;                     // but for its allocations
  std::vector<std::uint32_t> last_;  // by layer of before, the last that stands for it
};

using EmitLayer = std::function<void(const nvdla_layer&, Operation)>;
using ReplaceLayer = std::function<void(const nvdla_layer&, const Operation&, const EmitLayer&)>;

// Returns a schedule with the layers that replace(layer, operation, emit) emits, one or several, in
// place of each layer of the device. Layers of `merged` are left out: the layer before that is
// their value there does their work, too.
Schedule replace_layers(Schedule schedule, const std::map<std::uint32_t, std::uint32_t>& merged,
                        const ReplaceLayer& replace);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_LAYER_MOVER_HPP
