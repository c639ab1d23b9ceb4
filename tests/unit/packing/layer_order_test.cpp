// SPDX-License-Identifier: MIT
//
// Which layers have ended when another starts, against a search through all events.
#include "packing/layer_order.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "common/random.hpp"

namespace nvdla {
namespace {

nvdla_layer layer(nvdla_layer_kind kind, std::initializer_list<std::uint32_t> waits = {}) {
  nvdla_layer l = {};
  l.kind = kind;
  for (const std::uint32_t wait : waits) l.waits[l.num_waits++] = wait;
  return l;
}

TEST(LayerOrder, WaitsReachAsFarAsTheyGo) {
  const std::vector<nvdla_layer> layers = {layer(NVDLA_LAYER_CDP), layer(NVDLA_LAYER_PDP, {0}),
                                           layer(NVDLA_LAYER_RUBIK, {1}), layer(NVDLA_LAYER_BDMA)};
  const detail::LayerOrder order(layers);
  EXPECT_TRUE(order.ended(0, 1));
  EXPECT_TRUE(order.ended(0, 2));
  EXPECT_TRUE(order.ended(1, 2));
  EXPECT_FALSE(order.ended(0, 3));
  EXPECT_FALSE(order.ended(2, 1));
  EXPECT_FALSE(order.ended(0, 0));
}

// The second is enabled while the first runs; who waits for the second need not ask for the first.
TEST(LayerOrder, LayersOfAUnitEndInOrderButDoNotWait) {
  const std::vector<nvdla_layer> layers = {layer(NVDLA_LAYER_CONV_SDP), layer(NVDLA_LAYER_CONV_SDP),
                                           layer(NVDLA_LAYER_PDP, {1})};
  const detail::LayerOrder order(layers);
  EXPECT_FALSE(order.ended(0, 1));
  EXPECT_TRUE(order.ended(0, 2));
}

// A pooling on the fly may end after a later convolution that passes PDP by.
TEST(LayerOrder, AnEndInAnotherUnitSaysNothing) {
  const std::vector<nvdla_layer> layers = {
      layer(NVDLA_LAYER_CONV_SDP_PDP), layer(NVDLA_LAYER_CONV_SDP), layer(NVDLA_LAYER_CDP, {1}),
      layer(NVDLA_LAYER_SDP),          layer(NVDLA_LAYER_SDP_PDP),  layer(NVDLA_LAYER_CDP, {4})};
  const detail::LayerOrder order(layers);
  EXPECT_FALSE(order.ended(0, 2));
  EXPECT_TRUE(order.ended(1, 2));
  EXPECT_TRUE(order.ended(3, 5)) << "its SDP came before that of layer 4";
  EXPECT_TRUE(order.ended(0, 5)) << "its PDP came before that of layer 4";
}

// What begins and ends before what, followed from event to event.
class Events {
 public:
  explicit Events(const std::vector<nvdla_layer>& layers) : layers_(layers) {}

  bool ended(std::uint32_t earlier, std::uint32_t later) const {
    std::set<std::uint32_t> ends;
    std::vector<std::uint32_t> open;
    const auto add = [&](std::uint32_t layer) {
      if (ends.insert(layer).second) open.push_back(layer);
    };
    const auto add_waits = [&](std::uint32_t layer) {
      for (std::uint32_t w = 0; w < layers_[layer].num_waits; ++w) add(layers_[layer].waits[w]);
    };
    add_waits(later);
    while (!open.empty()) {
      const std::uint32_t layer = open.back();
      open.pop_back();
      add_waits(layer);
      for (std::uint32_t before = 0; before < layer; ++before)
        if (units(layers_[layer].kind).contains(*units(layers_[before].kind).rbegin())) add(before);
    }
    return ends.contains(earlier);
  }

 private:
  // In the order in which data pass them.
  static std::set<int> units(std::uint32_t kind) {
    switch (kind) {
      case NVDLA_LAYER_CONV_SDP:
        return {0, 1};
      case NVDLA_LAYER_CONV_SDP_PDP:
        return {0, 1, 2};
      case NVDLA_LAYER_SDP:
        return {1};
      case NVDLA_LAYER_SDP_PDP:
        return {1, 2};
      case NVDLA_LAYER_PDP:
        return {2};
      case NVDLA_LAYER_CDP:
        return {3};
      case NVDLA_LAYER_RUBIK:
        return {4};
      default:
        return {5};
    }
  }

  const std::vector<nvdla_layer>& layers_;
};

TEST(LayerOrder, OfRandomProgramsIsThatOfTheirEvents) {
  test::Random random(7);
  for (int round = 0; round < 400; ++round) {
    std::vector<nvdla_layer> layers;
    const auto count = static_cast<std::uint32_t>(random.pick(2, 14));
    for (std::uint32_t i = 0; i < count; ++i) {
      nvdla_layer& one =
          layers.emplace_back(layer(static_cast<nvdla_layer_kind>(random.pick(1, 8))));
      for (std::int64_t waits = i == 0 ? 0 : random.pick(0, 2); waits > 0; --waits)
        one.waits[one.num_waits++] = static_cast<std::uint32_t>(random.pick(0, i - 1));
    }
    const detail::LayerOrder order(layers);
    const Events events(layers);
    for (std::uint32_t later = 0; later < count; ++later)
      for (std::uint32_t earlier = 0; earlier < count; ++earlier)
        ASSERT_EQ(order.ended(earlier, later), events.ended(earlier, later))
            << "round " << round << ": " << earlier << " before " << later;
  }
}

}  // namespace
}  // namespace nvdla
