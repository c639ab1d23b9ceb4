// SPDX-License-Identifier: MIT
#include "packing/layer_order.hpp"

#include <algorithm>
#include <cstddef>

namespace nvdla::detail {
namespace {

enum : std::uint32_t { kSdp, kPdp, kCdp, kRubik, kBdma };

}  // namespace

// Convolutions end with their SDP.
std::uint32_t last_unit(std::uint32_t kind) noexcept {
  switch (kind) {
    case NVDLA_LAYER_CONV_SDP_PDP:
    case NVDLA_LAYER_SDP_PDP:
    case NVDLA_LAYER_PDP:
      return kPdp;
    case NVDLA_LAYER_CDP:
      return kCdp;
    case NVDLA_LAYER_RUBIK:
      return kRubik;
    case NVDLA_LAYER_BDMA:
      return kBdma;
    default:
      return kSdp;
  }
}

namespace {

bool runs_in(std::uint32_t kind, std::uint32_t unit) {
  const bool through_sdp = kind == NVDLA_LAYER_CONV_SDP_PDP || kind == NVDLA_LAYER_SDP_PDP;
  return unit == last_unit(kind) || (through_sdp && unit == kSdp);
}

}  // namespace

LayerOrder::LayerOrder(std::span<const nvdla_layer> layers, const std::set<std::uint32_t>& starts) {
  const auto join = [](Clock& to, const Clock& from) {
    for (std::size_t u = 0; u < kUnits; ++u) to[u] = std::max(to[u], from[u]);
  };
  std::vector<Clock> at_end(layers.size());
  Clock count = {}, before = {};          // of those so far, and at the latest start
  std::array<Clock, kUnits> latest = {};  // when the latest layer that ends with the unit has ended
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const nvdla_layer& layer = layers[i];
    if (starts.contains(static_cast<std::uint32_t>(i))) before = count;
    Layer& own = layers_.emplace_back();
    own.at_start = before;
    own.last = last_unit(layer.kind);
    own.number = count[own.last]++;
    for (std::uint32_t w = 0; w < layer.num_waits; ++w) join(own.at_start, at_end[layer.waits[w]]);
    at_end[i] = own.at_start;
    for (std::uint32_t u = 0; u < kUnits; ++u)
      if (runs_in(layer.kind, u)) join(at_end[i], latest[u]);
    at_end[i][own.last] = count[own.last];
    latest[own.last] = at_end[i];
  }
}

bool LayerOrder::ended(std::span<const std::uint32_t> earlier,
                       std::span<const std::uint32_t> later) const noexcept {
  return std::all_of(later.begin(), later.end(), [&](std::uint32_t after) {
    return std::all_of(earlier.begin(), earlier.end(),
                       [&](std::uint32_t before) { return ended(before, after); });
  });
}

}  // namespace nvdla::detail
