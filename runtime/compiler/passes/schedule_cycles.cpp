// SPDX-License-Identifier: MIT
#include "compiler/passes/schedule_cycles.hpp"

#include <span>
#include <vector>

namespace nvdla::detail {

std::vector<cost::SequenceLayer> sequence_of(const Schedule& schedule,
                                             const Schedule::Segment& segment,
                                             const DeviceInfo& info,
                                             const InterfaceOf& interface_of) {
  std::vector<cost::SequenceLayer> sequence;
  const nvdla_conv* before = nullptr;
  for (std::uint32_t i = segment.first; i < segment.second; ++i) {
    const nvdla_layer& layer = schedule.layers[i];
    cost::SequenceLayer& next = sequence.emplace_back();
    next.layer = geometry(info, layer, schedule.transfers);
    if (next.layer.kind == cost::LayerGeometry::Kind::kConv) {
      if (before != nullptr) leave_kept_lines(*before, layer.conv, next.layer.conv);
      before = &layer.conv;
    }
    set_interfaces(layer, schedule.transfers, interface_of, next.layer);
    for (const std::uint32_t earlier : schedule.operations[i].after)
      if (earlier >= segment.first) next.waits.push_back(earlier - segment.first);
  }
  return sequence;
}

cost::SequenceCycles predict_sequence(const DeviceInfo& info,
                                      std::span<const cost::SequenceLayer> sequence) {
  // The way around the fault of the clock gate enables no convolution ahead.
  return cost::sequence_cycles(machine_of(info), memory_of(info), sequence,
                               {.convolutions_ahead = !info.has_weight_gating});
}

}  // namespace nvdla::detail
