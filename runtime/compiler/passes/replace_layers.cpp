// SPDX-License-Identifier: MIT
#include "compiler/passes/replace_layers.hpp"

#include <utility>
#include <vector>

namespace nvdla::detail {

Schedule replace_layers(Schedule schedule, const std::map<std::uint32_t, std::uint32_t>& merged,
                        const ReplaceLayer& replace) {
  const auto old_layers = std::exchange(schedule.layers, {});
  auto old_operations = std::exchange(schedule.operations, {});
  auto old_cpu = std::exchange(schedule.cpu, {});
  const auto old_starts = std::exchange(schedule.segment_starts, {});
  // For each layer of before, the first and the last that replace it.
  std::vector<std::uint32_t> first, last;
  const auto next = [&] { return static_cast<std::uint32_t>(schedule.layers.size()); };
  const auto emit = [&](const nvdla_layer& layer, Operation operation) {
    schedule.layers.push_back(layer);
    schedule.operations.push_back(std::move(operation));
  };
  for (std::uint32_t i = 0; i < old_layers.size(); ++i) {
    Operation& operation = old_operations[i];
    for (std::uint32_t& earlier : operation.after) earlier = last[earlier];
    first.push_back(next());
    if (const auto to = merged.find(i); to != merged.end()) {
      last.push_back(last[to->second]);
      continue;
    }
    if (const auto work = old_cpu.find(i); work != old_cpu.end()) {
      schedule.cpu.emplace(next(), std::move(work->second));
      emit(old_layers[i], std::move(operation));
    } else {
      replace(old_layers[i], operation, emit);
    }
    last.push_back(next() - 1);
  }
  first.push_back(next());
  for (const std::uint32_t start : old_starts) schedule.segment_starts.insert(first[start]);
  return schedule;
}

}  // namespace nvdla::detail
