// SPDX-License-Identifier: MIT
//
// Whole graphs on the model, whose memory is planned, against plain integers.
#include "common/runtime/random_graph.hpp"

#include <gtest/gtest.h>

#include "common/property.hpp"
#include "common/runtime/random_layers.hpp"
#include "common/share.hpp"

namespace nvdla {
namespace {

TEST(RandomGraphs, EveryOutputEqualsTheReference) {
  test::for_all(test::share(2000), [](test::Random& random) -> std::string {
    const std::string configuration = test::any_configuration(random);
    const Device device = Device::open("model:" + configuration);
    const test::RandomGraph graph(random, device.info());
    return test::with_name(configuration, graph.wrong(device));
  });
}

}  // namespace
}  // namespace nvdla
