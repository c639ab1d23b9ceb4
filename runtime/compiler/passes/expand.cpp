// SPDX-License-Identifier: MIT
#include "compiler/passes/expand.hpp"

#include <algorithm>
#include <variant>

namespace nvdla::detail {
namespace {

const CpuNode* expandable(const LayerNode& layer) {
  const auto* cpu = std::get_if<CpuNode>(&layer.part);
  return cpu != nullptr && cpu->on_device ? cpu : nullptr;
}

}  // namespace

std::optional<Network::Impl> expand_cpu_layers(const Network::Impl& net, const DeviceInfo& info) {
  if (!info.has_int16 || !info.has_sdp_y) return std::nullopt;
  if (std::none_of(net.layers.begin(), net.layers.end(),
                   [](const LayerNode& layer) { return expandable(layer) != nullptr; }))
    return std::nullopt;
  std::optional<Network::Impl> all(net);
  all->layers.clear();
  for (const LayerNode& layer : net.layers) {
    if (const CpuNode* cpu = expandable(layer)) {
      cpu->on_device(*all, TensorHandle::make(all->id, layer.input));
      // The last of these layers makes the tensor that the others of the network know.
      all->tensors.pop_back();
      all->layers.back().output = layer.output;
    } else {
      all->layers.push_back(layer);
    }
    if (layer.output != kNoTensor)
      all->tensors[layer.output].producer = static_cast<std::uint32_t>(all->layers.size() - 1);
  }
  return all;
}

}  // namespace nvdla::detail
