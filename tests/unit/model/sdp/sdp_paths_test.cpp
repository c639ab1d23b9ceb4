// SPDX-License-Identifier: MIT
//
// Which way stand-alone layers of SDP go, all of which give the same results: as a stream, by the
// results of patterns, or in tiles. A set of kernels counts what is called.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

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

  Calls run() {
    calls = {};
    Dma dma(hw_, memory_);
    ThreadPool pool(1, 0);
    SdpPass pass(hw_, dma, kernels_);
    pass.begin(layer_, layer_.rdma.largest_input());
    pass.run_from_memory(pool);
    pass.end();
    return calls;
  }

  const nvdla_hw& hw_ = *nvdla_hw_find("nv_full");
  UnitKernels units_ = kPortableUnits;
  Kernels kernels_ = *kernel_choice(0).kernels;
  Memory memory_;
  SdpLayer layer_;
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

TEST_F(SdpPaths, CountersNeedTiles) {
  layer_.count_saturation = true;
  const Calls called = run();
  EXPECT_EQ(called.streams + called.maps, 0u);
  EXPECT_GT(called.tiles, 0u);
}

TEST_F(SdpPaths, TablesGoByPatterns) {
  layer_.y.active = layer_.y.lut = true;
  const Calls called = run();
  EXPECT_EQ(called.streams, 0u);
  EXPECT_EQ(called.maps, 1u);
  EXPECT_EQ(called.tiles, 1u) << "those of the patterns";
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
