// SPDX-License-Identifier: MIT
//
// Layer by layer through a small file that declares memory without end: what is touched is what the
// layers use.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <vector>

#include "loadable/format/container.hpp"
#include "maker.hpp"
#include "nvdla/loadable.hpp"

namespace nvdla {
namespace {

constexpr std::uint64_t kDeclared = std::uint64_t{1} << 30;

// Memory of this process that has pages.
std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::vector<std::byte> file_that_declares_much() {
  test::Maker maker;
  loadable::Container c = maker.container();
  // Its input and its output.
  for (const std::size_t i : {1U, 2U}) c.addresses[i].size = c.memories[i].size = kDeclared;
  return loadable::write_container(c);
}

TEST(LayersOfHugeMemory, TouchWhatTheyUse) {
  const std::vector<std::byte> bytes = file_that_declares_much();
  const Device device = Device::open("model:nv_small"), other = Device::open("model:nv_small");
  Request request = Loadable::load(std::span(bytes)).open(device);
  request.run();
  std::uint32_t seen = 0;
  std::uint64_t most = 0;
  const std::uint64_t before = resident_bytes();
  const auto visit = [&](const LayerTensor&) {
    ++seen;
    most = std::max(most, resident_bytes());
  };
  request.visit_layers(visit);
  EXPECT_EQ(seen, 1U);
  EXPECT_EQ(request.compare_layers(other, visit), std::nullopt);
  EXPECT_EQ(seen, 2U);
  EXPECT_LT(most - std::min(before, most), kDeclared / 16);
}

}  // namespace
}  // namespace nvdla
