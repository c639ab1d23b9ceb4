// SPDX-License-Identifier: MIT
#include <algorithm>

#include "compiler/passes/passes.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "packing/layer_order.hpp"

namespace nvdla::detail {
namespace {

// Layers that end with the same unit end in order: the last of them is enough.
void wait_for(nvdla_layer& layer, std::uint32_t earlier, const std::vector<nvdla_layer>& layers) {
  const std::uint32_t unit = last_unit(layers[earlier].kind);
  for (std::uint32_t w = 0; w < layer.num_waits; ++w) {
    if (last_unit(layers[layer.waits[w]].kind) != unit) continue;
    layer.waits[w] = std::max(layer.waits[w], earlier);
    return;
  }
  add_wait(layer, earlier);
}

}  // namespace

Schedule set_waits(Schedule schedule, const Graph&, PassContext& context) {
  for (std::uint32_t i = 0; i < schedule.layers.size(); ++i) {
    nvdla_layer& layer = schedule.layers[i];
    if (layer.kind == Schedule::kCpu) continue;
    for (const std::uint32_t earlier : schedule.operations[i].after)
      wait_for(layer, earlier, schedule.layers);
    context.applied += layer.num_waits;
  }
  return schedule;
}

}  // namespace nvdla::detail
