// SPDX-License-Identifier: MIT
//
// CDP at work in place, with all fp16 where its arithmetic is exact, what it counts, and what it
// does not end on.
#include <gtest/gtest.h>

#include <cmath>

#include "common/layers/cdp_case.hpp"

namespace nvdla::test {
namespace {

CdpCase simple(const nvdla_hw& hw) {
  CdpCase layer;
  layer.hw = &hw;
  layer.width = 4;
  layer.height = 3;
  layer.channels = 20;
  Random random(0);
  layer.le = random_table(random, true, 0);
  layer.lo = random_table(random, false, 0);
  place_cdp(layer, random);
  return layer;
}

// Every fp16 through a table that is the identity where it can be: LE from -1 to 63 in steps of 1,
// whose entries are the numbers themselves, and slopes of 1 outside.
TEST(Cdp, PassesEveryFp16ThroughTheIdentity) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  for (const bool flush : {false, true}) {
    CdpCase layer = simple(hw);
    layer.precision = 2;
    layer.flush = flush;
    layer.bypass_sum = layer.bypass_mul = true;
    layer.width = 64;
    layer.height = 64;
    layer.channels = 16;
    layer.source = {kCdpIn, 64 * 32, 64 * 64 * 32};
    layer.destination = {kCdpOut, 64 * 32, 64 * 64 * 32};
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
    rig.memory.load(model::Ram::kPrimary, kCdpIn, all);
    program_cdp(layer, rig.regs);
    enable_cdp(rig.regs);
    rig.run();
    ASSERT_EQ(rig.blocked(), "");
    unsigned exact = 0;
    for (unsigned i = 0; i < 0x10000; ++i) {
      const std::uint16_t got = rig.half(kCdpOut + 2 * i);
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

// Neighbours that are NaNs make the sum one, and so what the table says of it: the product with a
// NaN is the NaN of the input, whichever the sum took.
TEST(Cdp, TheNanOfTheInputStays) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  CdpCase layer;
  layer.hw = &hw;
  layer.precision = 2;
  layer.channels = 3;
  Random random(0);
  layer.le = random_table(random, true, 2);
  layer.lo = random_table(random, false, 2);
  place_cdp(layer, random);
  UnitRig rig(hw);
  rig.memory.load(model::Ram::kPrimary, kCdpIn,
                  std::vector<std::byte>{std::byte{0x01}, std::byte{0x7c}, std::byte{0x00},
                                         std::byte{0x7e}, std::byte{0x00}, std::byte{0x3c}});
  program_cdp(layer, rig.regs);
  enable_cdp(rig.regs);
  rig.run();
  ASSERT_EQ(rig.blocked(), "");
  EXPECT_EQ(rig.half(kCdpOut), 0x7c01);
  EXPECT_EQ(rig.half(kCdpOut + 2), 0x7e00);
  EXPECT_EQ(rig.half(kCdpOut + 4) & 0x7fff, 0x7e00) << "a number takes what the sum has";
}

// The logic of the second generation has no such counter; the reference model counts there as in
// the first. In fp16 neither does.
TEST(Cdp, SaturationIsCountedInIntegersOfTheFirstGeneration) {
  for (const char* name : {"nv_full", "nv_large", "nv_small"})
    for (const bool reference_model : {false, true})
      for (const unsigned precision : {0u, 2u}) {
        CdpCase layer = simple(*nvdla_hw_find(name));
        const bool first = layer.hw->regmap == NVDLA_REGMAP_NV_FULL;
        if (precision == 2 && !first) continue;
        layer.precision = precision;
        layer.reference_model = reference_model;
        Random random(1);
        layer.le = random_table(random, true, precision);
        layer.lo = random_table(random, false, precision);
        if (precision != 2) layer.out_scale = 32767;
        place_cdp(layer, random);
        model::Options options;
        if (reference_model) options.quirks = model::Quirks::kCmodel;
        UnitRig rig(*layer.hw, options);
        fill_cdp(layer, rig, random);
        EXPECT_EQ(check_cdp(layer, rig), "") << name;
        const bool counts = precision == 0 && (first || reference_model);
        EXPECT_EQ(rig.regs.read("CDP.D_OUT_SATURATION") != 0, counts) << name << precision;
      }
}

TEST(Cdp, CountersOfTheTableNeedTheirEnable) {
  for (const model::Quirks quirks : {model::Quirks::kRtl, model::Quirks::kCmodel}) {
    CdpCase layer = simple(*nvdla_hw_find("nv_full"));
    layer.count = false;
    model::Options options;
    options.quirks = quirks;
    UnitRig rig(*layer.hw, options);
    program_cdp(layer, rig.regs);
    enable_cdp(rig.regs);
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
  Random random(5);
  CdpCase layer = simple(hw);
  layer.width = 70;
  place_cdp(layer, random);
  UnitRig apart(hw), in_place(hw);
  apart.randomise(kCdpIn, 16384, random);
  in_place.memory.load(model::Ram::kPrimary, kCdpIn,
                       apart.memory.read(model::Ram::kPrimary, kCdpIn, 16384));
  layer.destination = layer.source;
  layer.destination.base = kCdpOut;
  program_cdp(layer, apart.regs);
  enable_cdp(apart.regs);
  apart.run();
  layer.destination = layer.source;
  program_cdp(layer, in_place.regs);
  enable_cdp(in_place.regs);
  in_place.run();
  for (unsigned c = 0; c < layer.channels; ++c)
    for (unsigned y = 0; y < layer.height; ++y)
      for (unsigned x = 0; x < layer.width; ++x) {
        const std::uint64_t at = layer.at(layer.source, x, y, c);
        ASSERT_EQ(in_place.byte(at), apart.byte(at - kCdpIn + kCdpOut));
      }
}

TEST(Cdp, Blocks) {
  const auto reason = [](const CdpCase& layer, const char* reg, std::uint32_t value) {
    UnitRig rig(*layer.hw);
    program_cdp(layer, rig.regs);
    if (reg != nullptr) rig.regs.write(reg, value);
    enable_cdp(rig.regs);
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
  CdpCase layer = simple(full);
  layer.precision = 3;
  has(reason(layer, nullptr, 0), "no such precision");
  layer = simple(small);
  layer.precision = 2;
  has(reason(layer, nullptr, 0), "no such precision");
  has(reason(simple(small), "CDP.D_DST_DMA_CFG", 0), "secondary memory");
  has(reason(simple(small), "CDP_RDMA.D_SRC_DMA_CFG", 0), "secondary memory");
  for (const char* only : {"CDP", "CDP_RDMA"}) {
    UnitRig rig(small);
    program_cdp(simple(small), rig.regs);
    rig.regs.write(std::string(only) + ".D_OP_ENABLE", 1);
    rig.run();
    has(rig.blocked(), "to be enabled");
    enable_cdp(rig.regs);
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
