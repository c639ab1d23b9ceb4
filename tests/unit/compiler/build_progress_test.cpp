// SPDX-License-Identifier: MIT
//
// What an application is told while a network is built, and that it can end that.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/runtime/counting_device.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

constexpr std::int16_t kOne[] = {1};

Network make_network() {
  Network net;
  Tensor tensor = net.input("in", {.channels = 8, .height = 4, .width = 4});
  tensor = net.pointwise(tensor, {.name = "first", .x1 = bias(kOne)});
  tensor = net.pooling(tensor, {.name = "pool", .kernel_height = 2, .kernel_width = 2});
  net.output(net.pointwise(tensor, {.name = "last", .x1 = scale(kOne)}), "out");
  return net;
}

struct Steps {
  std::vector<std::string> names;

  // Keeps what is told, and that it counts.
  BuildOptions options() {
    return {.progress = [this](const BuildProgress& at) {
      EXPECT_EQ(at.done, names.size());
      EXPECT_LT(at.done, at.steps);
      if (names.empty()) all = at.steps;
      EXPECT_EQ(at.steps, all);
      names.emplace_back(at.step);
    }};
  }
  std::uint32_t all = 0;
};

TEST(BuildProgress, NamesLayersAndWhatComesAfterThem) {
  Steps steps;
  make_network().compile(Device::open("model:nv_small"), steps.options());
  EXPECT_EQ(steps.names,
            (std::vector<std::string>{"layer 0 'first'", "layer 1 'pool'", "layer 2 'last'",
                                      "memory", "programs", "constants"}));
  EXPECT_EQ(steps.names.size(), steps.all);
}

TEST(BuildProgress, WhatItThrowsEndsTheBuildAtEachStep) {
  const Network net = make_network();
  const auto backend = std::make_shared<test::CountingBackend>("model:nv_small");
  const auto device = detail::Handles::make<Device>(backend);
  for (std::uint32_t last = 0; last < 6; ++last) {
    const auto stop = [&](const BuildProgress& at) {
      if (at.done == last) throw std::runtime_error(std::string(at.step));
    };
    EXPECT_THROW(net.compile(device, {.progress = stop}), std::runtime_error) << last;
    EXPECT_EQ(backend->take().buffers, 0U) << last;
  }
  // Neither network nor device has kept anything of it. The pooling is part of the layer before.
  EXPECT_EQ(net.compile(device).layers(), 2U);
}

}  // namespace
}  // namespace nvdla
