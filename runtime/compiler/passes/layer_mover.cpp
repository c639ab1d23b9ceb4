// SPDX-License-Identifier: MIT
#include "compiler/passes/layer_mover.hpp"

#include <utility>

namespace nvdla::detail {

LayerMover::LayerMover(Schedule& schedule) : schedule_(schedule) {
  old_.layers = std::exchange(schedule.layers, {});
  old_.operations = std::exchange(schedule.operations, {});
  old_.cpu = std::exchange(schedule.cpu, {});
  old_.segment_starts = std::exchange(schedule.segment_starts, {});
  last_.resize(old_.layers.size());
}

void LayerMover::come_to(std::uint32_t first) {
  if (old_.segment_starts.contains(first)) schedule_.segment_starts.insert(next());
}

std::vector<std::uint32_t> LayerMover::waits(std::uint32_t index, std::uint32_t end) const {
  std::vector<std::uint32_t> after;
  for (const std::uint32_t earlier : operation(index).after)
    if (earlier < end) after.push_back(last_[earlier]);
  return after;
}

void LayerMover::add(std::uint32_t index, const nvdla_layer& layer, Operation operation) {
  last_[index] = next();
  schedule_.layers.push_back(layer);
  schedule_.operations.push_back(std::move(operation));
}

void LayerMover::move(std::uint32_t index) {
  come_to(index);
  if (is_cpu(index)) schedule_.cpu.emplace(next(), std::move(old_.cpu.at(index)));
  old_.operations[index].after = waits(index, index);
  add(index, layer(index), std::move(old_.operations[index]));
}

Schedule replace_layers(Schedule schedule, const std::map<std::uint32_t, std::uint32_t>& merged,
                        const ReplaceLayer& replace) {
  LayerMover mover(schedule);
  for (std::uint32_t i = 0; i < mover.size(); ++i) {
    if (mover.is_cpu(i)) {
      mover.move(i);
      continue;
    }
    mover.come_to(i);
    if (const auto into = merged.find(i); into != merged.end()) {
      mover.merge(i, into->second);
      continue;
    }
    Operation operation = mover.operation(i);
    operation.after = mover.waits(i, i);
    replace(mover.layer(i), operation,
            [&](const nvdla_layer& layer, Operation own) { mover.add(i, layer, std::move(own)); });
  }
  mover.come_to(mover.size());
  return schedule;
}

}  // namespace nvdla::detail
