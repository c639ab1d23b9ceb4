// SPDX-License-Identifier: MIT
//
// How the set of AMX takes positions to rows of tiles, that threads keep none of these, and the
// tiles that are emulated here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

#include "model/device.hpp"
#include "model/kernels/amx_tiles.hpp"
#include "model/memory.hpp"
#include "support/emulated/tiles.hpp"
#include "support/model_layer.hpp"

namespace nvdla::model {
namespace {

using test::pick;

#include "model/kernels/amx_windows.ipp"

// Lines of `width` positions.
std::vector<std::ptrdiff_t> walk(unsigned count, unsigned width, std::ptrdiff_t step,
                                 std::ptrdiff_t line, unsigned first = 0) {
  std::vector<std::ptrdiff_t> at(count);
  for (unsigned i = 0; i < count; ++i)
    at[i] = (first + i) / width * line + (first + i) % width * step;
  const std::ptrdiff_t origin = at[0];
  for (std::ptrdiff_t& one : at) one -= origin;
  return at;
}

struct Planned {
  unsigned windows, gathered;
  bool operator==(const Planned&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Planned& planned) {
  return out << planned.windows << " windows, " << planned.gathered << " gathered";
}

Planned plan(const std::vector<std::ptrdiff_t>& at) {
  Window windows[kMostWindows];
  const unsigned planned = plan_windows(at.data(), static_cast<unsigned>(at.size()), windows);
  return {planned, static_cast<unsigned>(std::count_if(
                       windows, windows + planned, [](const Window& w) { return w.gathered; }))};
}

TEST(AmxWindows, AreAsFewAsLinesAllow) {
  // A 1x1 kernel sees no lines, whatever their width.
  EXPECT_EQ(plan(walk(56, 56, 64, 56 * 64)), (Planned{4, 0}));
  EXPECT_EQ(plan(walk(56, 7, 64, 7 * 64, 3)), (Planned{4, 0}));
  EXPECT_EQ(plan(walk(64, 14, 64, 14 * 64)), (Planned{4, 0}));
  // 3x3 kernels: two positions between lines.
  EXPECT_EQ(plan(walk(56, 56, 64, 58 * 64)), (Planned{4, 0}));
  EXPECT_EQ(plan(walk(56, 28, 64, 30 * 64)), (Planned{4, 0}));
  EXPECT_EQ(plan(walk(56, 14, 64, 16 * 64)), (Planned{4, 0}));
  EXPECT_EQ(plan(walk(49, 7, 64, 9 * 64)), (Planned{4, 0}));
  // Strides of 2: a line is followed by one that is skipped.
  EXPECT_EQ(plan(walk(56, 28, 128, 2 * 58 * 64)), (Planned{4, 0}));
  EXPECT_EQ(plan(walk(49, 7, 128, 2 * 16 * 64)), (Planned{4, 4}));
  // One position, and fewer than there are rows.
  EXPECT_EQ(plan({0}), (Planned{1, 0}));
  EXPECT_EQ(plan(walk(9, 3, 64, 5 * 64)), (Planned{1, 1}));
  // Lines that do not fit the step, and no order at all.
  EXPECT_EQ(plan(walk(64, 4, 2, 9)), (Planned{4, 4}));
  EXPECT_EQ(plan({0, 0, 0}), (Planned{1, 1}));
  EXPECT_EQ(plan({100, 50, 0}), (Planned{1, 1}));
}

TEST(AmxWindows, HoldEachPositionOnceAndReadNothingAround) {
  test::Random random(1);
  unsigned direct = 0;
  for (unsigned round = 0; round < 20000; ++round) {
    const auto count = static_cast<unsigned>(pick(random, 1, kGroup));
    const auto width = static_cast<unsigned>(pick(random, 1, 70));
    const auto step = pick(random, 1, 5);
    const auto at = walk(count, width, step, width * step + pick(random, 0, 20),
                         static_cast<unsigned>(pick(random, 0, 60)));
    Window windows[kMostWindows];
    const unsigned planned = plan_windows(at.data(), count, windows);
    ASSERT_LE(planned, kMostWindows);
    unsigned next = 0;
    for (const Window* window = windows; window != windows + planned; ++window) {
      ASSERT_EQ(window->first, next);
      next += window->count;
      ASSERT_LE(window->count, kTileRows);
      direct += !window->gathered;
      for (unsigned i = 0; i < window->count; ++i) {
        ASSERT_LT(window->rows[i], kTileRows);
        if (window->gathered) {
          ASSERT_EQ(window->rows[i], i);
        } else {
          ASSERT_EQ(window->at + window->rows[i] * window->stride, at[window->first + i]);
        }
      }
      if (window->gathered) continue;
      ASSERT_GE(window->at, at.front());
      ASSERT_LE(window->at + window->stride * (kTileRows - 1), at.back());
    }
    ASSERT_EQ(next, count);
  }
  EXPECT_GT(direct, 20000u);
}

// Where an application calls, its thread has no tiles afterwards; none of the pool's would compute
// without.
TEST(AmxThreads, KeepNoTiles) {
  for (const unsigned threads : {1u, 3u}) {
    test::Random random(threads);
    for (unsigned layers = 0; layers < 20;) {
      const test::TestLayer layer = test::random_layer(*nvdla_hw_find("nv_small"), random, true);
      if (layer.ref.wide_proc) continue;
      ++layers;
      Memory memory;
      test::load(layer, memory);
      Device device(*layer.hw, memory, {.threads = threads, .worth_sharing = 0});
      test::Registers registers(device);
      test::program(layer, registers, 0, 0);
      test::enable(layer, registers);
      while (device.step()) {
      }
      EXPECT_FALSE(test::Tiles::here().configured());
    }
  }
}

TileConfig config_of(unsigned rows, unsigned bytes) {
  TileConfig config{};
  config.palette = 1;
  for (unsigned i = 0; i < kTiles; ++i) {
    config.rows[i] = static_cast<std::uint8_t>(rows);
    config.row_bytes[i] = static_cast<std::uint16_t>(bytes);
  }
  return config;
}

// Bytes of all ones are -1 or 255, and 128 is the least or just that.
TEST(EmulatedTiles, ExtendBytesAsTheInstructionSays) {
  test::Tiles& tiles = test::Tiles::here();
  const TileConfig config = config_of(1, 4);
  tiles.configure(&config);
  const std::uint8_t data[4] = {255, 128, 0, 2}, weights[4] = {255, 128, 7, 3};
  const auto dot = [&](bool data_sign, bool weight_sign) {
    tiles.zero(0);
    tiles.load(1, data, 4);
    tiles.load(2, weights, 4);
    tiles.dot(0, 1, 2, {data_sign, weight_sign});
    tiles.dot(0, 1, 2, {data_sign, weight_sign});
    std::int32_t sum;
    tiles.store(0, &sum, 4);
    return sum;
  };
  EXPECT_EQ(dot(true, true), 2 * (1 + 16384 + 6));
  EXPECT_EQ(dot(true, false), 2 * (-255 - 16384 + 6));
  EXPECT_EQ(dot(false, true), 2 * (-255 - 16384 + 6));
  EXPECT_EQ(dot(false, false), 2 * (65025 + 16384 + 6));
  tiles.release();
}

// Rows of the weights' tile are the data's double words, its double words columns of the sums.
TEST(EmulatedTiles, MultiplyMatrices) {
  test::Random random(2);
  test::Tiles& tiles = test::Tiles::here();
  TileConfig config = config_of(16, 64);
  config.rows[1] = config.rows[0] = 5;
  config.row_bytes[1] = 12;
  config.rows[2] = 3;
  tiles.configure(&config);
  std::int8_t data[5][12], weights[3][64];
  for (auto& row : data)
    for (auto& one : row) one = static_cast<std::int8_t>(pick(random, -128, 127));
  for (auto& row : weights)
    for (auto& one : row) one = static_cast<std::int8_t>(pick(random, -128, 127));
  std::int32_t before[5][16], after[5][16];
  for (auto& row : before)
    for (auto& one : row) one = static_cast<std::int32_t>(pick(random, INT32_MIN, INT32_MAX));
  tiles.load(0, before, 64);
  tiles.load(1, data, 12);
  tiles.load(2, weights, 64);
  tiles.dot(0, 1, 2, {true, true});
  tiles.store(0, after, 64);
  for (unsigned m = 0; m < 5; ++m)
    for (unsigned n = 0; n < 16; ++n) {
      std::int64_t sum = before[m][n];
      for (unsigned k = 0; k < 12; ++k) sum += data[m][k] * weights[k / 4][n * 4 + k % 4];
      EXPECT_EQ(after[m][n], static_cast<std::int32_t>(sum));
    }
  tiles.release();
}

TEST(EmulatedTiles, FaultWhereTheProcessorDoes) {
  using test::Tiles;
  const auto with = [](const TileConfig& config, auto use) {
    Tiles::here().configure(&config);
    use(Tiles::here());
  };
  EXPECT_DEATH(Tiles::here().zero(0), "tilezero: tiles are not configured");
  TileConfig odd = config_of(16, 64);
  odd.rows[3] = 0;
  EXPECT_DEATH(with(odd, [](Tiles&) {}), "rows without bytes");
  odd.row_bytes[3] = 0;
  char bytes[1024] = {};
  EXPECT_DEATH(with(odd, [&](Tiles& tiles) { tiles.load(3, bytes, 64); }),
               "this tile is not configured");
  odd.rows[3] = 17;
  odd.row_bytes[3] = 64;
  EXPECT_DEATH(with(odd, [](Tiles&) {}), "larger than the palette's tiles");
  odd.rows[3] = 8;
  EXPECT_DEATH(with(odd,
                    [](Tiles& tiles) {
                      tiles.dot(3, 1, 2, {true, true});
                    }),
               "tiles do not fit each other");
  odd.reserved[0] = 1;
  EXPECT_DEATH(with(odd, [](Tiles&) {}), "reserved bytes are not zero");
}

}  // namespace
}  // namespace nvdla::model
