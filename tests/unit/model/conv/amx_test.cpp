// SPDX-License-Identifier: MIT
//
// How the set of AMX takes positions to rows of tiles, that threads keep none of these, and the
// tiles that are emulated here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "common/emulated/tiles.hpp"
#include "common/layers/model_layer.hpp"
#include "model/core/memory.hpp"
#include "model/device.hpp"
#include "model/simd/gemm/amx_tiles.hpp"
#include "model/simd/kernels.hpp"
#include "network/shapes.hpp"

namespace nvdla::model {
namespace {

using test::pick;

#include "model/simd/gemm/amx_windows.ipp"

struct Planned {
  unsigned windows, gathered;
  bool operator==(const Planned&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Planned& planned) {
  return out << planned.windows << " windows, " << planned.gathered << " gathered";
}

Planned plan(unsigned count, const TileLines& lines) {
  Windows windows;
  plan_windows(lines, count, windows);
  return {windows.count, windows.gathered ? windows.count : 0};
}

TEST(AmxWindows, AreAsFewAsLinesAllow) {
  // A 1x1 kernel sees no lines, whatever their width.
  EXPECT_EQ(plan(56, {0, 56, 64, 56 * 64}), (Planned{4, 0}));
  EXPECT_EQ(plan(56, {3, 7, 64, 7 * 64}), (Planned{4, 0}));
  EXPECT_EQ(plan(64, {0, 14, 64, 14 * 64}), (Planned{4, 0}));
  // 3x3 kernels: two positions between lines.
  EXPECT_EQ(plan(56, {0, 56, 64, 58 * 64}), (Planned{4, 0}));
  EXPECT_EQ(plan(56, {0, 28, 64, 30 * 64}), (Planned{4, 0}));
  EXPECT_EQ(plan(56, {0, 14, 64, 16 * 64}), (Planned{4, 0}));
  EXPECT_EQ(plan(49, {0, 7, 64, 9 * 64}), (Planned{4, 0}));
  // Strides of 2: a line is followed by one that is skipped.
  EXPECT_EQ(plan(56, {0, 28, 128, 2 * 58 * 64}), (Planned{4, 0}));
  EXPECT_EQ(plan(49, {0, 7, 128, 2 * 16 * 64}), (Planned{4, 4}));
  // One position, and fewer than there are rows.
  EXPECT_EQ(plan(1, {2, 5, 64, 5 * 64}), (Planned{1, 0}));
  EXPECT_EQ(plan(9, {0, 3, 64, 5 * 64}), (Planned{1, 1}));
  // Lines that do not fit the step, but for one; and no lines at all.
  EXPECT_EQ(plan(64, {0, 4, 2, 9}), (Planned{4, 4}));
  EXPECT_EQ(plan(64, {8, 80, 2, 201}), (Planned{4, 0}));
  EXPECT_EQ(plan(3, {0, 3, 0, 0}), (Planned{1, 1}));
  EXPECT_EQ(plan(64, {0, 8, 4, 12}), (Planned{4, 4}));
}

std::ptrdiff_t place(const TileLines& lines, unsigned position) {
  const auto at = [&](unsigned x) {
    return static_cast<std::ptrdiff_t>(x / lines.width * lines.line + x % lines.width * lines.step);
  };
  return at(lines.x + position) - at(lines.x);
}

TEST(AmxWindows, HoldEachPositionOnceAndReadNothingAround) {
  test::Random random(1);
  const auto number = [&](unsigned low, unsigned high) {
    return static_cast<unsigned>(pick(random, low, high));
  };
  unsigned direct = 0;
  for (unsigned round = 0; round < 20000; ++round) {
    const unsigned count = number(1, kGroup), width = number(1, 70), step = number(1, 5);
    const TileLines lines{number(0, 69) % width, width, step, width * step + number(0, 20)};
    Windows windows;
    plan_windows(lines, count, windows);
    unsigned next = 0;
    for (unsigned i = 0; i < windows.count; ++i) {
      const Window& window = windows.all[i];
      ASSERT_EQ(window.first, next);
      next += window.count;
      ASSERT_LE(window.count, kTileRows);
      for (unsigned k = 0; k < window.count; ++k) {
        const std::ptrdiff_t at = place(lines, window.first + k);
        ASSERT_LT(window.rows[k], kTileRows);
        if (windows.gathered) {
          ASSERT_EQ(window.rows[k], k);
          ASSERT_EQ(window.each[k], at);
        } else {
          ASSERT_EQ(window.at + window.rows[k] * windows.stride, at);
        }
      }
      if (windows.gathered) continue;
      ++direct;
      ASSERT_GE(window.at, 0);
      ASSERT_LE(window.at + windows.stride * (kTileRows - 1), place(lines, count - 1));
    }
    ASSERT_EQ(next, count);
  }
  EXPECT_GT(direct, 20000u);
}

// Positions of a tile, and windows of a layer.
struct Cost {
  unsigned tile;
  unsigned windows;
  bool operator==(const Cost&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << cost.windows << " windows in tiles of " << cost.tile;
}

// Of positions in a square.
Cost cut(unsigned side, std::size_t step, std::size_t line) {
  const TileLines lines{0, side, step, line};
  const unsigned count = side * side;
  Cost cost{cut_positions(lines, count), 0};
  for (unsigned first = 0; first < count; first += cost.tile)
    cost.windows += plan(std::min(cost.tile, count - first), lines_from(lines, first)).windows;
  return cost;
}

// No layer takes many more than its rows, gaps included, are sixteens.
TEST(AmxWindows, TilesFillThem) {
  EXPECT_EQ(cut(56, 64, 56 * 64), (Cost{128, 196}));
  EXPECT_EQ(cut(28, 64, 28 * 64), (Cost{128, 49}));
  EXPECT_EQ(cut(14, 64, 14 * 64), (Cost{128, 13}));
  EXPECT_EQ(cut(7, 64, 7 * 64), (Cost{49, 4}));
  EXPECT_EQ(cut(56, 64, 58 * 64), (Cost{108, 204}));
  EXPECT_EQ(cut(28, 64, 30 * 64), (Cost{104, 53}));
  EXPECT_EQ(cut(14, 64, 16 * 64), (Cost{126, 14}));
  EXPECT_EQ(cut(7, 64, 9 * 64), (Cost{49, 4}));
  EXPECT_EQ(cut(112, 6, 2 * 230 * 3), (Cost{112, 784}));
  EXPECT_EQ(cut(28, 128, 2 * 56 * 64), (Cost{128, 60}));
}

// Which part of what tiles multiply is products of a layer.
double used(const bench::ConvShape& shape) {
  const std::uint32_t out = shape.out();
  const std::uint32_t width =
      std::max(shape.pad + shape.side, (out - 1) * shape.stride + shape.size);
  const std::size_t step = std::size_t{shape.stride} * shape.channels;
  const unsigned windows = cut(out, step, step * width).windows;
  const auto full = [](std::uint32_t count, std::uint32_t of) {
    return (count + of - 1) / of * of;
  };
  const double made = 1.0 * windows * kTileRows * full(shape.kernels, kBlock) * shape.size *
                      full(shape.size * shape.channels, kRowBytes);
  return shape.macs() / made;
}

// Of all convolutions of a network, in percent: how full tiles are where they go by.
TEST(AmxWindows, FillTilesOfNetworks) {
  std::map<std::string, int> percent;
  for (const bench::NetworkShapes& network : bench::network_shapes()) {
    double products = 0, made = 0;
    for (const bench::ConvShape& shape : network.convolutions) {
      if (shape.out() == 1) continue;
      products += shape.count * shape.macs();
      made += shape.count * shape.macs() / used(shape);
    }
    percent[network.name] = static_cast<int>(100 * products / made);
  }
  const std::map<std::string, int> expected = {
      {"alexnet", 70}, {"googlenet", 88}, {"lenet5", 18}, {"mobilenetv1", 80}, {"resnet50", 82}};
  EXPECT_EQ(percent, expected);
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
