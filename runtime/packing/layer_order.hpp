// SPDX-License-Identifier: MIT
//
// The order of layers tells which ones have ended for sure when another one starts.
#ifndef NVDLA_PACKING_LAYER_ORDER_HPP
#define NVDLA_PACKING_LAYER_ORDER_HPP

#include <drm/nvdla_layer.h>

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace nvdla::detail {

// The unit with which a layer ends, by its kind: layers that end with the same one end in order.
std::uint32_t last_unit(std::uint32_t kind) noexcept;

// `LayerOrder` follows from what layers wait for, and from the order of those of a unit, not from
// their times. A layer that is enabled while the one before in its units runs has not waited for
// it.
class LayerOrder {
 public:
  // Before layers of `starts` begin all others have ended.
  explicit LayerOrder(std::span<const nvdla_layer> layers,
                      const std::set<std::uint32_t>& starts = {});

  // `earlier` has ended before `later` starts.
  bool ended(std::uint32_t earlier, std::uint32_t later) const noexcept {
    const Layer& layer = layers_[earlier];
    return layer.number < layers_[later].at_start[layer.last];
  }
  // All of `earlier` have before any of `later` does.
  bool ended(std::span<const std::uint32_t> earlier,
             std::span<const std::uint32_t> later) const noexcept;

 private:
  // The units with which layers end: SDP, PDP, CDP, RUBIK, BDMA.
  static constexpr std::size_t kUnits = 5;
  // A clock counts for each unit how many of the layers that end with it have ended.
  using Clock = std::array<std::uint32_t, kUnits>;

  struct Layer {
    std::uint32_t last = 0;    // the unit with which it ends
    std::uint32_t number = 0;  // among those that end with it
    Clock at_start = {};
  };

  std::vector<Layer> layers_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_PACKING_LAYER_ORDER_HPP
