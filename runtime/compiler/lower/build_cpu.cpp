// SPDX-License-Identifier: MIT
//
// Building layers that the CPU computes.
#include <utility>

#include "compiler/lower/builder.hpp"

namespace nvdla::detail {

void Builder::add_part(const LayerNode& node, const CpuNode& cpu) {
  const auto index = static_cast<std::uint32_t>(layers_.size());
  const auto place = [&](std::uint32_t tensor) {
    return CpuPlace{surface(tensor), descs_[tensor]};
  };
  CpuWork work{cpu, {place(node.input)}, place(node.output)};
  for (const std::uint32_t operand : node.operands) work.sources.push_back(place(operand));
  schedule_.cpu.emplace(index, std::move(work));
  schedule_.segment_starts.insert({index, index + 1});
  nvdla_layer layer = {};
  layer.kind = Schedule::kCpu;
  layers_.push_back(layer);
  compiled_.layers.push_back({node.name, node.macs, 0, true, this_layer_});
}

}  // namespace nvdla::detail
