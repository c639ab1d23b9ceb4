// SPDX-License-Identifier: MIT
#include <utility>

#include "compiler/lower/schedule_text.hpp"
#include "support/layer_places.hpp"

namespace nvdla::detail {
namespace {

// `Joiner` appends programs and operations of the CPU to one schedule.
class Joiner {
 public:
  explicit Joiner(const CompiledNetwork::Impl& compiled) {
    for (std::size_t i = 0; i < compiled.slots.size(); ++i) {
      Allocation& allocation = schedule_.allocations.emplace_back();
      allocation.name = compiled.slot_names[i];
      allocation.slot = compiled.slots[i];
      if (i >= compiled.constants.size() || !compiled.constants[i]) continue;
      const Map map = compiled.constants[i].map(MapMode::kRead);
      allocation.contents.assign(map.bytes().begin(), map.bytes().end());
    }
  }

  void operator()(const ProgramPart& part) {
    const std::uint32_t first = begin(), first_transfer = size(schedule_.transfers),
                        first_lut = size(out_.luts), control = size(schedule_.allocations);
    append(part.transfers, schedule_.transfers);
    append(part.luts, out_.luts);
    if (!part.control.empty())
      schedule_.allocations.push_back(
          {part.slot_names.back(), part.slots.back(), part.control, false});
    const auto slot_of = [&](std::uint32_t slot) {
      return part.bound[slot] == ProgramPart::kOwn ? control : part.bound[slot];
    };
    const auto bind = [&](auto& place, bool) { place.slot = slot_of(place.slot); };
    for (std::size_t i = 0; i < part.layers.size(); ++i) {
      nvdla_layer layer = part.layers[i];
      for (std::uint32_t w = 0; w < layer.num_waits; ++w) layer.waits[w] += first;
      if (layer.kind == NVDLA_LAYER_BDMA) layer.bdma.first_transfer += first_transfer;
      if (layer.lut != 0) layer.lut += first_lut;
      for_each_place(layer, schedule_.transfers, bind);
      if ((layer.conv.flags & NVDLA_CONV_COMPRESSED) != 0) {
        bind(layer.conv.wgs, false);
        bind(layer.conv.wmb, false);
      }
      add(layer, (*part.layer_names)[i]);
    }
  }

  void operator()(const CpuPart& part) {
    const std::uint32_t index = begin();
    CpuWork work;
    if (part.operation != nullptr) work.node.operation = *part.operation;
    for (std::size_t i = 0; i < part.inputs.size(); ++i)
      work.sources.push_back(place_of(part.inputs[i], part.sources[i]));
    if (part.output) work.destination = place_of(*part.output, part.destination);
    nvdla_layer layer = {};
    layer.kind = Schedule::kCpu;
    add(layer, part.name);
    schedule_.cpu.emplace(index, std::move(work));
  }

  ScheduleWithLuts take() { return std::move(out_); }

 private:
  template <typename T>
  static std::uint32_t size(const std::vector<T>& list) {
    return static_cast<std::uint32_t>(list.size());
  }
  template <typename T>
  static void append(const std::vector<T>& from, std::vector<T>& to) {
    to.insert(to.end(), from.begin(), from.end());
  }
  static CpuPlace place_of(const LayerOutput& at, std::uint32_t slot) {
    CpuPlace place;
    place.surface.slot = slot;
    place.surface.offset = at.offset;
    place.desc = at.desc;
    return place;
  }
  // Begins a segment; returns the number of its first layer.
  std::uint32_t begin() {
    const std::uint32_t first = size(schedule_.layers);
    if (first != 0) schedule_.segment_starts.insert(first);
    return first;
  }
  void add(const nvdla_layer& layer, const std::string& name) {
    schedule_.layers.push_back(layer);
    schedule_.operations.push_back({.name = name});
  }

  ScheduleWithLuts out_;
  Schedule& schedule_ = out_.schedule;
};

}  // namespace

ScheduleWithLuts schedule_of(const CompiledNetwork::Impl& compiled) {
  Joiner joiner(compiled);
  for (const ChainPart& part : compiled.parts) std::visit(joiner, part);
  return joiner.take();
}

}  // namespace nvdla::detail
