// SPDX-License-Identifier: MIT
//
// What the compiler makes of the shipped networks does not change by accident: hashes of their
// loadables for each configuration, or why there is none, were recorded in compiled/networks.txt.
// Who changes them on purpose records them anew (support/recorded.hpp).
#include <gtest/gtest.h>

#include <cstdint>
#include <nvdla/nvdla.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalogue.hpp"
#include "common/hash.hpp"
#include "common/recorded.hpp"
#include "describe.hpp"

namespace networks {
namespace {

std::string text_of(const Network& network, std::string_view configuration) {
  const std::vector<Value> shown = {static_cast<Value>(network.graph.layers().size() - 1)};
  return nvdla::test::text_or_error([&] {
    nvdla::test::Hash hash;
    hash.add(
        nvdla::make_loadable(describe(network, nvdla::Precision::kInt8, shown), configuration));
    return hash.text();
  });
}

TEST(CompiledNetworks, AreAsRecorded) {
  std::string text;
  for (const Entry& entry : catalogue()) {
    // Two graphs at most: of devices with tables, and without.
    for (const bool has_lut : {true, false}) {
      std::optional<Network> network;
      for (std::uint32_t i = 0; i < nvdla::configuration_count(); ++i) {
        const std::string_view name = nvdla::configuration_name(i);
        const nvdla::DeviceInfo info = nvdla::configuration_info(name);
        if (info.has_lut != has_lut) continue;
        if (!network) network = draw(entry.graph_for(info), 1, nvdla::Precision::kInt8);
        text += std::string(entry.name) + " " + std::string(name) + " " + text_of(*network, name) +
                "\n";
      }
    }
  }
  nvdla::test::expect_recorded("tests/examples/compiled/networks.txt", text);
}

}  // namespace
}  // namespace networks
