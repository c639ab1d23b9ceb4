// SPDX-License-Identifier: MIT
//
// CDP against a slow normalisation that is written from the description: integers for random layers
// and tables with all counters, fp16 where its arithmetic is exact; the bytes that it touches; and
// what it does not end on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/unit_rig.hpp"

namespace nvdla::test {
namespace {

using Wide = __int128;

constexpr std::uint64_t kIn = 0x8000'0000, kOut = 0x8200'0000;
constexpr std::uint64_t kRegion = 1 << 16;
constexpr std::uint32_t kDone = 1u << 2;

enum Precision : unsigned { kInt8, kInt16, kFp16 };

struct Table {
  bool exponential = false;
  int offset = 0, select = 0;
  std::int64_t start = 0, end = 0;
  int under_scale = 0, over_scale = 0, under_shift = 0, over_shift = 0;
  std::vector<int> entries;
};

struct Layer {
  const nvdla_hw* hw = nullptr;
  unsigned precision = kInt8;
  unsigned width = 1, height = 1, channels = 1, reach = 1;
  bool bypass_sum = false, bypass_mul = false, flush = false;
  std::int64_t in_offset = 0, in_scale = 1, out_offset = 0, out_scale = 1;
  unsigned in_shift = 0, out_shift = 0;
  Table le, lo;
  unsigned priority[3] = {0, 0, 0};  // underflow, overflow, hybrid
  bool count = true;
  Cube source, destination;

  unsigned bytes() const { return precision == kInt8 ? 1 : 2; }
  unsigned lanes() const { return hw->atom / bytes(); }
  unsigned surfaces() const { return (channels + lanes() - 1) / lanes(); }
  std::uint64_t at(const Cube& cube, unsigned x, unsigned y, unsigned c) const {
    return cube.base + c / lanes() * cube.surface + y * cube.line + x * hw->atom +
           c % lanes() * bytes();
  }
};

Wide clamp_bits(Wide value, unsigned bits) {
  const Wide limit = Wide{1} << (bits - 1);
  return value < -limit ? -limit : value >= limit ? limit - 1 : value;
}

// value / 2^shift, half away from zero.
Wide divide(Wide value, int shift) {
  if (shift < 0) return value * (Wide{1} << -shift);
  const Wide unit = Wide{1} << shift;
  const Wide magnitude = value < 0 ? -value : value;
  const Wide result = (magnitude + unit / 2) / unit;
  return value < 0 ? -result : result;
}

enum Side { kUnder, kHit, kOver };

struct Answer {
  Side side;
  int value;
};

int miss(const Table& table, std::int64_t x, bool over) {
  Wide distance = Wide{x} - (over ? table.end : table.start);
  if (!over && table.exponential && table.offset >= 0) distance -= Wide{1} << table.offset;
  const Wide step = clamp_bits(divide(distance * (over ? table.over_scale : table.under_scale),
                                      over ? table.over_shift : table.under_shift),
                               56);
  return static_cast<int>(
      clamp_bits((over ? table.entries.back() : table.entries.front()) + step, 16));
}

Answer look_up(const Table& table, std::int64_t x) {
  if (x <= table.start) return {kUnder, miss(table, x, false)};
  const Wide distance = Wide{x} - table.start;
  Wide index, fraction;
  if (table.exponential) {
    int log = 0;
    while (distance >> (log + 1) != 0) ++log;
    index = log - table.offset;
    if (index < 0) return {kUnder, miss(table, x, false)};
    fraction = (distance - (Wide{1} << log)) * 65536 / (Wide{1} << log);
  } else if (table.select > 0) {
    const Wide step = Wide{1} << table.select;
    index = distance / step;
    fraction = distance % step * 65536 / step;
  } else {
    index = distance * (Wide{1} << -table.select);
    fraction = 0;
  }
  if (index >= static_cast<int>(table.entries.size()) - 1) return {kOver, miss(table, x, true)};
  const int low = table.entries[static_cast<std::size_t>(index)];
  const int high = table.entries[static_cast<std::size_t>(index) + 1];
  return {kHit, static_cast<int>(clamp_bits(low + divide((high - low) * fraction, 16), 16))};
}

struct Counters {
  unsigned saturated = 0, under = 0, over = 0, hybrid = 0, le = 0, lo = 0;
};

std::map<std::uint64_t, std::uint8_t> expected(const Layer& layer, UnitRig& rig, Counters& count) {
  std::map<std::uint64_t, std::uint8_t> bytes;
  const unsigned in_bits = layer.precision == kInt8 ? 9 : 17;
  const unsigned out_bits = layer.precision == kInt8 ? 8 : 16;
  for (unsigned y = 0; y < layer.height; ++y)
    for (unsigned x = 0; x < layer.width; ++x) {
      const auto converted = [&](int c) -> std::int64_t {
        if (c < 0 || c >= static_cast<int>(layer.channels)) return 0;
        const std::uint64_t at = layer.at(layer.source, x, y, static_cast<unsigned>(c));
        const std::int64_t value = layer.precision == kInt8
                                       ? static_cast<std::int8_t>(rig.byte(at))
                                       : static_cast<std::int16_t>(rig.half(at));
        return static_cast<std::int64_t>(
            clamp_bits(divide(Wide{value - layer.in_offset} * layer.in_scale,
                              static_cast<int>(layer.in_shift)),
                       in_bits));
      };
      for (unsigned lane = 0; lane < layer.surfaces() * layer.lanes(); ++lane) {
        const int c = static_cast<int>(lane);
        std::int64_t index = converted(c);
        if (!layer.bypass_sum) {
          index = 0;
          for (int i = -static_cast<int>(layer.reach); i <= static_cast<int>(layer.reach); ++i)
            index += converted(c + i) * converted(c + i);
        }
        const Answer le = look_up(layer.le, index), lo = look_up(layer.lo, index);
        unsigned priority = layer.priority[2];
        if (le.side == kUnder && lo.side == kUnder) {
          ++count.under;
          priority = layer.priority[0];
        } else if (le.side == kOver && lo.side == kOver) {
          ++count.over;
          priority = layer.priority[1];
        } else if (le.side == kHit && lo.side != kHit) {
          ++count.le;
          priority = 0;
        } else if (lo.side == kHit && le.side != kHit) {
          ++count.lo;
          priority = 1;
        } else {
          ++count.hybrid;
        }
        Wide result = priority == 0 ? le.value : lo.value;
        if (!layer.bypass_mul) result *= converted(c);
        const Wide product = (result - layer.out_offset) * layer.out_scale;
        const Wide rounded = divide(product, static_cast<int>(layer.out_shift));
        const Wide out = clamp_bits(rounded, out_bits);
        Wide floor = product / (Wide{1} << layer.out_shift);
        if (floor * (Wide{1} << layer.out_shift) > product) --floor;
        const bool saturated = layer.hw->regmap == NVDLA_REGMAP_NV_FULL
                                   ? floor - out > 1 || out - floor > 1
                                   : rounded != out;
        count.saturated += saturated;
        const std::uint64_t at = layer.at(layer.destination, x, y, lane);
        bytes[at] = static_cast<std::uint8_t>(out);
        if (layer.bytes() == 2) bytes[at + 1] = static_cast<std::uint8_t>(out >> 8);
      }
    }
  return bytes;
}

void place(Layer& layer, std::mt19937_64& random) {
  const auto gap = [&] { return layer.hw->atom * static_cast<unsigned>(pick(random, 0, 2)); };
  for (Cube* cube : {&layer.source, &layer.destination}) {
    cube->base = cube == &layer.source ? kIn : kOut;
    cube->line = layer.width * layer.hw->atom + gap();
    cube->surface = cube->line * layer.height + gap();
  }
}

Table random_table(std::mt19937_64& random, bool le, unsigned precision) {
  Table table;
  table.entries.resize(le ? 65 : 257);
  for (int& entry : table.entries) entry = static_cast<int>(pick(random, -32768, 32767));
  table.exponential = le && pick(random, 0, 1) != 0;
  const bool bytes = precision == kInt8;
  if (table.exponential) {
    table.offset = static_cast<int>(pick(random, -5, bytes ? 20 : 36));
  } else {
    table.select = static_cast<int>(pick(random, -6, bytes ? 15 : 29));
  }
  const int magnitude = static_cast<int>(pick(random, 0, bytes ? 20 : 36));
  const std::int64_t range = std::int64_t{1} << magnitude;
  table.start = pick(random, -range, range);
  table.end = table.start + pick(random, 0, range);
  table.under_scale = static_cast<int>(pick(random, -32768, 32767));
  table.over_scale = static_cast<int>(pick(random, -32768, 32767));
  table.under_shift = static_cast<int>(pick(random, -16, 15));
  table.over_shift = static_cast<int>(pick(random, -16, 15));
  return table;
}

Layer random_layer(const nvdla_hw& hw, std::mt19937_64& random) {
  const auto any = [&](int low, int high) {
    return static_cast<unsigned>(pick(random, low, high));
  };
  Layer layer;
  layer.hw = &hw;
  layer.precision = hw.regmap == NVDLA_REGMAP_NV_FULL ? any(0, 1) : 0;
  layer.width = any(1, any(0, 9) == 0 ? 70 : 5);
  layer.height = any(1, 3);
  layer.channels = any(1, 40);
  layer.reach = any(1, 4);
  layer.bypass_sum = any(0, 3) == 0;
  layer.bypass_mul = any(0, 3) == 0;
  const bool bytes = layer.precision == kInt8;
  if (any(0, 1) != 0) {
    layer.in_offset = pick(random, bytes ? -128 : -32768, bytes ? 127 : 32767);
    layer.in_scale = pick(random, -32768, 32767);
    layer.in_shift = any(0, 31);
  }
  if (any(0, 3) != 0) {
    layer.out_offset = pick(random, -(1 << 20), 1 << 20);
    layer.out_scale = pick(random, -32768, 32767);
    layer.out_shift = any(0, 63);
  }
  layer.le = random_table(random, true, layer.precision);
  layer.lo = random_table(random, false, layer.precision);
  for (unsigned& priority : layer.priority) priority = any(0, 1);
  place(layer, random);
  return layer;
}

void load_table(Registers& regs, const Table& table, unsigned id) {
  regs.set("CDP.S_LUT_ACCESS_CFG", {{"LUT_TABLE_ID", id}, {"LUT_ACCESS_TYPE", 1}});
  for (const int entry : table.entries)
    regs.write("CDP.S_LUT_ACCESS_DATA", static_cast<std::uint16_t>(entry));
  const std::string name = id == 0 ? "CDP.S_LUT_LE_" : "CDP.S_LUT_LO_";
  const auto low = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const auto high = [](std::int64_t value) {
    return static_cast<std::uint32_t>(value >> 32) & 0x3f;
  };
  regs.write(name + "START_LOW", low(table.start));
  regs.write(name + "START_HIGH", high(table.start));
  regs.write(name + "END_LOW", low(table.end));
  regs.write(name + "END_HIGH", high(table.end));
  regs.write(name + "SLOPE_SCALE", static_cast<std::uint16_t>(table.under_scale) |
                                       static_cast<std::uint32_t>(table.over_scale) << 16);
  regs.write(name + "SLOPE_SHIFT", (static_cast<std::uint32_t>(table.under_shift) & 31) |
                                       (static_cast<std::uint32_t>(table.over_shift) & 31) << 5);
}

void program(const Layer& layer, Registers& regs) {
  const auto u32 = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const auto address = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  regs.write("CDP_RDMA.D_DATA_CUBE_WIDTH", layer.width - 1);
  regs.write("CDP_RDMA.D_DATA_CUBE_HEIGHT", layer.height - 1);
  regs.write("CDP_RDMA.D_DATA_CUBE_CHANNEL", layer.channels - 1);
  regs.write("CDP_RDMA.D_DATA_FORMAT", layer.precision);
  regs.write("CDP_RDMA.D_SRC_DMA_CFG", 1);
  regs.write("CDP_RDMA.D_SRC_BASE_ADDR_LOW", address(layer.source.base));
  regs.write("CDP_RDMA.D_SRC_LINE_STRIDE", address(layer.source.line));
  regs.write("CDP_RDMA.D_SRC_SURFACE_STRIDE", address(layer.source.surface));
  regs.write("CDP.D_DATA_FORMAT", layer.precision);
  regs.write("CDP.D_DST_DMA_CFG", 1);
  regs.write("CDP.D_DST_BASE_ADDR_LOW", address(layer.destination.base));
  regs.write("CDP.D_DST_LINE_STRIDE", address(layer.destination.line));
  regs.write("CDP.D_DST_SURFACE_STRIDE", address(layer.destination.surface));
  regs.set("CDP.D_FUNC_BYPASS",
           {{"SQSUM_BYPASS", layer.bypass_sum ? 1 : 0}, {"MUL_BYPASS", layer.bypass_mul ? 1 : 0}});
  regs.write("CDP.D_NAN_FLUSH_TO_ZERO", layer.flush ? 1 : 0);
  regs.write("CDP.D_LRN_CFG", layer.reach - 1);
  regs.write("CDP.D_DATIN_OFFSET", u32(layer.in_offset));
  regs.write("CDP.D_DATIN_SCALE", u32(layer.in_scale));
  regs.write("CDP.D_DATIN_SHIFTER", layer.in_shift);
  regs.write("CDP.D_DATOUT_OFFSET", u32(layer.out_offset));
  regs.write("CDP.D_DATOUT_SCALE", u32(layer.out_scale));
  regs.write("CDP.D_DATOUT_SHIFTER", layer.out_shift);
  regs.set("CDP.D_PERF_ENABLE", {{"LUT_EN", layer.count ? 1 : 0}});
  load_table(regs, layer.le, 0);
  load_table(regs, layer.lo, 1);
  regs.set("CDP.S_LUT_CFG", {{"LUT_LE_FUNCTION", layer.le.exponential ? 0 : 1},
                             {"LUT_UFLOW_PRIORITY", layer.priority[0]},
                             {"LUT_OFLOW_PRIORITY", layer.priority[1]},
                             {"LUT_HYBRID_PRIORITY", layer.priority[2]}});
  regs.write("CDP.S_LUT_INFO", (static_cast<std::uint32_t>(layer.le.offset) & 0xff) |
                                   (static_cast<std::uint32_t>(layer.le.select) & 0xff) << 8 |
                                   (static_cast<std::uint32_t>(layer.lo.select) & 0xff) << 16);
}

void enable(Registers& regs) {
  regs.write("CDP.D_OP_ENABLE", 1);
  regs.write("CDP_RDMA.D_OP_ENABLE", 1);
}

class CdpLayers : public testing::TestWithParam<const char*> {};

TEST_P(CdpLayers, EqualTheReference) {
  const nvdla_hw& hw = *nvdla_hw_find(GetParam());
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937_64 random(seed);
    const Layer layer = random_layer(hw, random);
    UnitRig rig(hw);
    rig.randomise(kIn, kRegion / 2, random);
    rig.memory.fill(model::Ram::kPrimary, kOut, kRegion, std::byte{kUntouched});
    program(layer, rig.regs);
    enable(rig.regs);
    rig.run();
    ASSERT_EQ(rig.blocked(), "") << seed;
    Counters count;
    const auto want = expected(layer, rig, count);
    ASSERT_EQ(rig.compare(kOut, kRegion, want), "") << "seed " << seed;
    ASSERT_EQ(rig.regs.read("GLB.S_INTR_STATUS"), kDone);
    ASSERT_EQ(rig.regs.read("CDP.S_POINTER"), 1u << 16);
    ASSERT_EQ(rig.regs.read("CDP_RDMA.S_POINTER"), 1u << 16);
    ASSERT_EQ(rig.regs.read("CDP.D_OUT_SATURATION"), count.saturated) << seed;
    ASSERT_EQ(rig.regs.read("CDP.D_PERF_LUT_UFLOW"), count.under) << seed;
    ASSERT_EQ(rig.regs.read("CDP.D_PERF_LUT_OFLOW"), count.over) << seed;
    ASSERT_EQ(rig.regs.read("CDP.D_PERF_LUT_HYBRID"), count.hybrid) << seed;
    ASSERT_EQ(rig.regs.read("CDP.D_PERF_LUT_LE_HIT"), count.le) << seed;
    ASSERT_EQ(rig.regs.read("CDP.D_PERF_LUT_LO_HIT"), count.lo) << seed;
    Bytes reads, writes;
    add_cube(reads, layer.source, layer.surfaces(), layer.height, layer.width * hw.atom);
    add_cube(writes, layer.destination, layer.surfaces(), layer.height, layer.width * hw.atom);
    ASSERT_EQ(rig.recorder.reads.merged(), reads.merged()) << seed;
    ASSERT_EQ(rig.recorder.writes.merged(), writes.merged()) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Configurations, CdpLayers,
                         testing::Values("nv_full", "nv_large", "nv_medium_1024_full",
                                         "nv_medium_512", "nv_small_256_full", "nv_small_256",
                                         "nv_small"),
                         [](const auto& which) { return std::string(which.param); });

Layer simple(const nvdla_hw& hw) {
  Layer layer;
  layer.hw = &hw;
  layer.width = 4;
  layer.height = 3;
  layer.channels = 20;
  std::mt19937_64 random(0);
  layer.le = random_table(random, true, kInt8);
  layer.lo = random_table(random, false, kInt8);
  place(layer, random);
  return layer;
}

// Every fp16 through a table that is the identity where it can be: LE from -1 to 63 in steps of 1,
// whose entries are the numbers themselves, and slopes of 1 outside.
TEST(Cdp, PassesEveryFp16ThroughTheIdentity) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  for (const bool flush : {false, true}) {
    Layer layer = simple(hw);
    layer.precision = kFp16;
    layer.flush = flush;
    layer.bypass_sum = layer.bypass_mul = true;
    layer.width = 64;
    layer.height = 64;
    layer.channels = 16;
    layer.source = {kIn, 64 * 32, 64 * 64 * 32};
    layer.destination = {kOut, 64 * 32, 64 * 64 * 32};
    const auto half = [](double value) {
      if (value == 0) return 0;
      const int exponent = std::ilogb(value);
      return static_cast<int>(
          (value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 |
          (static_cast<int>(std::ldexp(std::fabs(value), 10 - exponent)) & 0x3ff));
    };
    for (unsigned i = 0; i < 65; ++i) layer.le.entries[i] = half(static_cast<int>(i) - 1);
    layer.le.exponential = false;
    layer.le.select = 0;
    layer.le.start = 0xbf800000;  // -1
    layer.le.end = 0x427c0000;    // 63
    layer.le.under_scale = layer.le.over_scale = half(1);
    // LO never hits, and never answers.
    layer.lo = layer.le;
    layer.lo.entries.assign(257, 0);
    layer.lo.start = 0x7f000000;
    layer.lo.end = 0x7f000000;
    UnitRig rig(hw);
    std::vector<std::byte> all(0x20000);
    for (unsigned i = 0; i < 0x10000; ++i) {
      all[2 * i] = static_cast<std::byte>(i);
      all[2 * i + 1] = static_cast<std::byte>(i >> 8);
    }
    rig.memory.load(model::Ram::kPrimary, kIn, all);
    program(layer, rig.regs);
    enable(rig.regs);
    rig.run();
    ASSERT_EQ(rig.blocked(), "");
    unsigned exact = 0;
    for (unsigned i = 0; i < 0x10000; ++i) {
      const std::uint16_t got = rig.half(kOut + 2 * i);
      const unsigned magnitude = i & 0x7fff;
      if (magnitude > 0x7c00) {
        ASSERT_EQ(got, flush ? 0 : i) << i;
      } else if (magnitude == 0x7c00) {
        ASSERT_EQ(got, (i & 0x8000) | 0x7bff);
      } else {
        // Interpolation keeps 16 bits below the step of 1.
        const double value = std::ldexp(magnitude < 0x400 ? magnitude : 1024 + (magnitude & 0x3ff),
                                        static_cast<int>(std::max(magnitude >> 10, 1u)) - 25) *
                             ((i & 0x8000) != 0 ? -1 : 1);
        const unsigned result = got & 0x7fff;
        const double back = std::ldexp(result < 0x400 ? result : 1024 + (result & 0x3ff),
                                       static_cast<int>(std::max(result >> 10, 1u)) - 25) *
                            ((got & 0x8000) != 0 ? -1 : 1);
        ASSERT_LE(std::fabs(back - value), std::max(std::fabs(value), 1.0) / 512) << std::hex << i;
        exact += got == i;
      }
    }
    EXPECT_GT(exact, 30000u);
    EXPECT_EQ(rig.regs.read("CDP.D_NAN_INPUT_NUM"), 2046u);
    EXPECT_EQ(rig.regs.read("CDP.D_INF_INPUT_NUM"), 2u);
    EXPECT_EQ(rig.regs.read("CDP.D_NAN_OUTPUT_NUM"), flush ? 0u : 2046u);
    // NaNs count as too small; the zero that they are flushed to does not.
    EXPECT_EQ(rig.regs.read("CDP.D_PERF_LUT_HYBRID") + rig.regs.read("CDP.D_PERF_LUT_UFLOW") +
                  rig.regs.read("CDP.D_PERF_LUT_LE_HIT"),
              0x10000u);
  }
}

TEST(Cdp, CountersOfTheTableNeedTheirEnable) {
  for (const model::Quirks quirks : {model::Quirks::kRtl, model::Quirks::kCmodel}) {
    Layer layer = simple(*nvdla_hw_find("nv_full"));
    layer.count = false;
    model::Options options;
    options.quirks = quirks;
    UnitRig rig(*layer.hw, options);
    program(layer, rig.regs);
    enable(rig.regs);
    rig.run();
    std::uint32_t sum = 0;
    for (const char* name : {"UFLOW", "OFLOW", "HYBRID", "LE_HIT", "LO_HIT"})
      sum += rig.regs.read(std::string("CDP.D_PERF_LUT_") + name);
    EXPECT_EQ(sum, quirks == model::Quirks::kRtl ? 0u : 4u * 3 * 32);
    // Not cleared when the group is enabled again.
    rig.regs.write("CDP.D_OP_ENABLE", 1);
    std::uint32_t again = 0;
    for (const char* name : {"UFLOW", "OFLOW", "HYBRID", "LE_HIT", "LO_HIT"})
      again += rig.regs.read(std::string("CDP.D_PERF_LUT_") + name);
    EXPECT_EQ(again, sum);
  }
}

TEST(Cdp, WorksInPlace) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_medium_512");
  std::mt19937_64 random(5);
  Layer layer = simple(hw);
  layer.width = 70;
  place(layer, random);
  UnitRig apart(hw), in_place(hw);
  apart.randomise(kIn, 16384, random);
  in_place.memory.load(model::Ram::kPrimary, kIn,
                       apart.memory.read(model::Ram::kPrimary, kIn, 16384));
  layer.destination = layer.source;
  layer.destination.base = kOut;
  program(layer, apart.regs);
  enable(apart.regs);
  apart.run();
  layer.destination = layer.source;
  program(layer, in_place.regs);
  enable(in_place.regs);
  in_place.run();
  for (unsigned c = 0; c < layer.channels; ++c)
    for (unsigned y = 0; y < layer.height; ++y)
      for (unsigned x = 0; x < layer.width; ++x) {
        const std::uint64_t at = layer.at(layer.source, x, y, c);
        ASSERT_EQ(in_place.byte(at), apart.byte(at - kIn + kOut));
      }
}

TEST(Cdp, Blocks) {
  const auto reason = [](const Layer& layer, const char* reg, std::uint32_t value) {
    UnitRig rig(*layer.hw);
    program(layer, rig.regs);
    if (reg != nullptr) rig.regs.write(reg, value);
    enable(rig.regs);
    rig.run();
    EXPECT_EQ(rig.regs.read("GLB.S_INTR_STATUS"), 0u);
    EXPECT_EQ(rig.regs.read("CDP.S_STATUS"), 1u);
    EXPECT_TRUE(rig.recorder.writes.merged().empty());
    return rig.blocked();
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const nvdla_hw& full = *nvdla_hw_find("nv_full");
  const nvdla_hw& small = *nvdla_hw_find("nv_small");
  has(reason(simple(full), "CDP.D_DATA_FORMAT", 1), "INPUT_DATA_TYPE");
  Layer layer = simple(full);
  layer.precision = 3;
  has(reason(layer, nullptr, 0), "no such precision");
  layer = simple(small);
  layer.precision = kFp16;
  has(reason(layer, nullptr, 0), "no such precision");
  has(reason(simple(small), "CDP.D_DST_DMA_CFG", 0), "secondary memory");
  has(reason(simple(small), "CDP_RDMA.D_SRC_DMA_CFG", 0), "secondary memory");
  for (const char* only : {"CDP", "CDP_RDMA"}) {
    UnitRig rig(small);
    program(simple(small), rig.regs);
    rig.regs.write(std::string(only) + ".D_OP_ENABLE", 1);
    rig.run();
    has(rig.blocked(), "to be enabled");
    enable(rig.regs);
    rig.run();
    EXPECT_EQ(rig.blocked(), "");
  }
  UnitRig rig(small);
  rig.regs.write("CDP.S_POINTER", 1);
  rig.regs.write("CDP.D_OP_ENABLE", 1);
  rig.run();
  has(rig.blocked(), "waits for group 0");
}

}  // namespace
}  // namespace nvdla::test
