// SPDX-License-Identifier: MIT
//
// Which way stand-alone layers of SDP go, all of which give the same results: as a stream, by the
// results of patterns, or in tiles. A set of kernels counts what is called.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/counting_bus.hpp"
#include "model/core/memory.hpp"
#include "model/core/thread_pool.hpp"
#include "model/sdp/sdp_pass.hpp"

namespace nvdla::model {
namespace {

struct Calls {
  unsigned streams = 0, maps = 0, tiles = 0;
};
Calls calls;

HalfCounts count_stream(const SdpStream& stream, const void* in, std::size_t count, void* out) {
  ++calls.streams;
  return kPortableUnits.sdp_stream(stream, in, count, out);
}

void count_map(const std::uint8_t* results, const void* in, std::size_t count, void* out) {
  ++calls.maps;
  kPortableUnits.sdp_map_bytes(results, in, count, out);
}

void count_tile(const SdpElements& from, std::int32_t* to) {
  ++calls.tiles;
  kernel_choice(0).kernels->sdp_widen(from, to);
}

class SdpPaths : public testing::Test {
 protected:
  SdpPaths() {
    units_.sdp_stream = count_stream;
    units_.sdp_map_bytes = count_map;
    kernels_.units = &units_;
    kernels_.sdp_widen = count_tile;
    layer_.has_rdma = true;
    layer_.width = 20;
    layer_.height = 5;
    layer_.channels = 32;
    layer_.scale = 1;
    layer_.x[0].active = layer_.x[0].relu = true;
    layer_.rdma.source = {Ram::kPrimary, 0x8000'0000, 20 * 32, 5 * 20 * 32};
    layer_.destination = {Ram::kPrimary, 0x8001'0000, 20 * 32, 5 * 20 * 32};
    layer_.table.le.entries = layer_.table.lo.entries = entries_.data();
    layer_.table.le.last = 64;
    layer_.table.lo.last = 256;
  }

  Calls run() { return run(memory_); }
  Calls run(Bus& bus) {
    calls = {};
    Dma dma(hw_, bus);
    ThreadPool pool(1, 0);
    SdpPass pass(hw_, dma, kernels_);
    pass.begin(layer_, layer_.rdma.largest_input());
    pass.run_from_memory(pool);
    counted_ = pass.end();
    return calls;
  }

  const nvdla_hw& hw_ = *nvdla_hw_find("nv_full");
  UnitKernels units_ = kPortableUnits;
  Kernels kernels_ = *kernel_choice(0).kernels;
  Memory memory_;
  SdpLayer layer_;
  SdpCounters counted_;
  std::array<std::int16_t, 257> entries_ = {};
};

TEST_F(SdpPaths, ElementsGoAsAStream) {
  const Calls called = run();
  EXPECT_EQ(called.streams, 1u);
  EXPECT_EQ(called.maps + called.tiles, 0u);
}

TEST_F(SdpPaths, LinesWithGapsGoOneByOne) {
  layer_.destination.line += 32;
  layer_.destination.surface += 5 * 32;
  EXPECT_EQ(run().streams, 5u);
}

TEST_F(SdpPaths, StreamsCountNothingWhereNothingSaturates) {
  layer_.count_saturation = true;
  layer_.scale = 511;
  EXPECT_EQ(run().streams, 1u) << "128 * 511 fits 17 bits";
  layer_.scale = 512;
  const Calls called = run();
  EXPECT_EQ(called.streams, 0u);
  EXPECT_EQ(called.maps, 1u);
}

TEST_F(SdpPaths, TablesGoByPatterns) {
  layer_.y.active = layer_.y.lut = true;
  const Calls called = run();
  EXPECT_EQ(called.streams, 0u);
  EXPECT_EQ(called.maps, 1u);
  EXPECT_EQ(called.tiles, 1u) << "those of the patterns";
}

// All counters of a table and of the converter, with lines that have gaps, and a rest of a line
// that is no multiple of what is counted at once.
TEST_F(SdpPaths, PatternsCountLikeTiles) {
  layer_.y.active = layer_.y.lut = layer_.count_lut = layer_.count_saturation = true;
  layer_.x[0].relu = false;
  layer_.scale = 3;
  layer_.width = 137;
  layer_.rdma.source.line = layer_.destination.line = 137 * 32 + 32;
  layer_.rdma.source.surface = layer_.destination.surface = 5 * layer_.destination.line;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    entries_[i] = static_cast<std::int16_t>(i * 251);
  layer_.table.le.start = -90;
  layer_.table.le.end = 38;
  layer_.table.lo.start = -20;
  layer_.table.lo.end = 100;
  layer_.table.le.underflow_scale = layer_.table.lo.overflow_scale = 9;
  std::vector<std::byte> input(layer_.rdma.source.surface);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::byte>(i * 7 + i / 97);
  // A bus that has to see each access: layers go in tiles.
  test::CountingBus closed;
  SdpCounters expected;
  for (const bool alike : {false, true}) {
    if (alike) std::fill(input.begin(), input.end(), std::byte{3});
    if (alike) layer_.table.le = layer_.table.lo;
    closed.memory.load(Ram::kPrimary, layer_.rdma.source.base, input);
    memory_.load(Ram::kPrimary, layer_.rdma.source.base, input);
    EXPECT_GT(run(closed).tiles, 1u);
    expected = counted_;
    EXPECT_EQ(run().maps, 5u);
    EXPECT_EQ(counted_.saturated, expected.saturated);
    EXPECT_EQ(counted_.lut.underflow, expected.lut.underflow);
    EXPECT_EQ(counted_.lut.overflow, expected.lut.overflow);
    EXPECT_EQ(counted_.lut.hit, expected.lut.hit);
    EXPECT_EQ(counted_.lut.le_hit, expected.lut.le_hit);
    EXPECT_EQ(counted_.lut.lo_hit, expected.lut.lo_hit);
    const auto crc = [&](const Memory& memory) {
      return memory.crc(Ram::kPrimary, layer_.destination.base, layer_.destination.surface);
    };
    EXPECT_EQ(crc(memory_), crc(closed.memory));
    if (!alike) {
      for (const std::uint64_t number :
           {std::uint64_t{expected.saturated}, expected.lut.underflow, expected.lut.overflow,
            expected.lut.hit, expected.lut.le_hit, expected.lut.lo_hit})
        EXPECT_GT(number, 0u);
    }
  }
}

// Layers that take turns have results of their own.
TEST_F(SdpPaths, PatternsAreKeptForEachTable) {
  layer_.y.active = layer_.y.lut = true;
  Dma dma(hw_, memory_);
  ThreadPool pool(1, 0);
  SdpPass pass(hw_, dma, kernels_);
  const auto run_with = [&](std::int16_t entry) {
    entries_.fill(entry);
    pass.begin(layer_, layer_.rdma.largest_input());
    pass.run_from_memory(pool);
    pass.end();
    return memory_.crc(Ram::kPrimary, layer_.destination.base, 32);
  };
  const auto first = run_with(5), second = run_with(9);
  EXPECT_NE(first, second);
  calls = {};
  EXPECT_EQ(run_with(5), first);
  EXPECT_EQ(run_with(9), second);
  EXPECT_EQ(calls.tiles, 0u) << "the patterns' results are known";
}

TEST_F(SdpPaths, FewElementsOfATableGoInTiles) {
  layer_.y.active = layer_.y.lut = true;
  layer_.width = 8;
  layer_.height = 1;
  const Calls called = run();
  EXPECT_EQ(called.streams + called.maps, 0u);
  EXPECT_GT(called.tiles, 0u);
}

TEST_F(SdpPaths, AnOutputWithinTheInputGoesInTiles) {
  layer_.destination.base = layer_.rdma.source.base + 32;
  const Calls called = run();
  EXPECT_EQ(called.streams + called.maps, 0u);
  EXPECT_GT(called.tiles, 0u);
}

}  // namespace
}  // namespace nvdla::model
