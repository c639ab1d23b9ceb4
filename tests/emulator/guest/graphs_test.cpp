// SPDX-License-Identifier: MIT
//
// Random graphs through the kernel: buffers of planned memory, many programs one after the other.
#include <gtest/gtest.h>

#include <nvdla/nvdla.hpp>
#include <random>

#include "common/runtime/random_graph.hpp"

namespace {

class Source {
 public:
  explicit Source(std::uint32_t seed) : engine_(seed) {}
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }

 private:
  std::mt19937_64 engine_;
};

void expect_graphs(std::uint32_t first, std::uint32_t count) {
  const nvdla::Device device = nvdla::Device::open("auto");
  ASSERT_EQ(device.info().backend, "kernel");
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    Source source(seed);
    const nvdla::test::RandomGraph graph(source, device.info());
    ASSERT_EQ(graph.wrong(device), "") << "seed " << seed;
  }
}

TEST(Graphs, EveryOutputEqualsTheReference) { expect_graphs(0, 10); }

// For suite.sh graphs, on two configurations.
TEST(ManyGraphs, EveryOutputEqualsTheReference) { expect_graphs(1000, 1000); }

}  // namespace
