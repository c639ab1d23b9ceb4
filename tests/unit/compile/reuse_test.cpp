// SPDX-License-Identifier: MIT
//
// Sequences of convolutions that keep and reuse what is in the convolution
// buffer.
#include <gtest/gtest.h>

#include "layers.hpp"
#include "support/compiled.hpp"

namespace nvdla::test {
namespace {

class Reuse : public testing::Test {
 protected:
  Base base_ = base_conv("nv_small");
  nvdla_layer layer_ = base_.layer;
  Program program_{*base_.hw, base_.slots, 4};

  nvdla_layer with(std::uint32_t flags) const {
    nvdla_layer layer = layer_;
    layer.conv.flags = flags;
    return layer;
  }
  void expect_refused(const nvdla_layer& layer, std::uint32_t rule, std::uint32_t field,
                      std::int64_t value, std::int64_t min, std::int64_t max) {
    EXPECT_FALSE(program_.add(layer));
    const nvdla_error& error = program_.error();
    EXPECT_EQ(error.rule, rule) << to_string(error);
    EXPECT_EQ(error.field, field);
    EXPECT_EQ(error.value, value);
    EXPECT_EQ(error.min, min);
    EXPECT_EQ(error.max, max);
  }
  std::uint32_t reg(std::uint32_t layer, model::Unit unit, std::uint32_t offset) const {
    const std::uint64_t bases[5] = {0x1000000, 0x2000000, 0x3000000, 0x4000000, 0x5000000};
    return program_.registers(layer, bases)
        .at(*model::unit_base(NVDLA_REGMAP_NV_SMALL, unit) + offset);
  }
};

TEST_F(Reuse, KeptDataAndWeights) {
  ASSERT_TRUE(program_.add(with(NVDLA_CONV_KEEP_DATA | NVDLA_CONV_KEEP_WEIGHTS)));
  ASSERT_TRUE(program_.add(with(NVDLA_CONV_REUSE_DATA | NVDLA_CONV_REUSE_WEIGHTS |
                                NVDLA_CONV_KEEP_DATA | NVDLA_CONV_KEEP_WEIGHTS)));
  ASSERT_TRUE(program_.add(with(NVDLA_CONV_REUSE_DATA | NVDLA_CONV_REUSE_WEIGHTS)));
  EXPECT_EQ(reg(0, NVDLA_UNIT_CDMA, NVDLA_CDMA_D_MISC_CFG), 0x11000000u);
  EXPECT_EQ(reg(1, NVDLA_UNIT_CDMA, NVDLA_CDMA_D_MISC_CFG), 0x11110000u);
  EXPECT_EQ(reg(2, NVDLA_UNIT_CSC, NVDLA_CSC_D_MISC_CFG), 0x00110000u);
  expect_refused(with(NVDLA_CONV_REUSE_DATA), NVDLA_RULE_REUSE_NOTHING, LAYER_FIELD(conv.flags),
                 NVDLA_CONV_REUSE_DATA, 0, 0);
}

TEST_F(Reuse, NothingOfAnotherProgram) {
  ASSERT_TRUE(program_.add(with(NVDLA_CONV_KEEP_DATA)));
  Program other(*base_.hw, base_.slots, 1);
  EXPECT_FALSE(other.add(with(NVDLA_CONV_REUSE_DATA)));
  EXPECT_EQ(other.error().rule, NVDLA_RULE_REUSE_NOTHING);
}

TEST_F(Reuse, WeightsThatWereNotKept) {
  ASSERT_TRUE(program_.add(with(NVDLA_CONV_KEEP_DATA)));
  expect_refused(with(NVDLA_CONV_REUSE_WEIGHTS), NVDLA_RULE_REUSE_NOTHING, LAYER_FIELD(conv.flags),
                 NVDLA_CONV_REUSE_WEIGHTS, 0, 0);
}

TEST_F(Reuse, DataThatWereNotKept) {
  ASSERT_TRUE(program_.add(with(NVDLA_CONV_KEEP_WEIGHTS)));
  expect_refused(with(NVDLA_CONV_REUSE_DATA), NVDLA_RULE_REUSE_NOTHING, LAYER_FIELD(conv.flags),
                 NVDLA_CONV_REUSE_DATA, 0, 0);
}

// A layer between that does not reuse frees what was kept.
TEST_F(Reuse, OnlyOfThePreviousConvolution) {
  ASSERT_TRUE(program_.add(with(NVDLA_CONV_KEEP_DATA | NVDLA_CONV_KEEP_WEIGHTS)));
  ASSERT_TRUE(program_.add(with(0)));
  expect_refused(with(NVDLA_CONV_REUSE_WEIGHTS), NVDLA_RULE_REUSE_NOTHING, LAYER_FIELD(conv.flags),
                 NVDLA_CONV_REUSE_WEIGHTS, 0, 0);
}

// Other pipelines do not touch the buffer.
TEST_F(Reuse, AcrossAnSdpLayer) {
  Base sdp = base_sdp("nv_small");
  ASSERT_TRUE(program_.add(with(NVDLA_CONV_KEEP_DATA)));
  sdp.layer.sdp.x1 = {};
  sdp.layer.sdp.x2 = {};
  ASSERT_TRUE(program_.add(sdp.layer)) << to_string(program_.error());
  EXPECT_TRUE(program_.add(with(NVDLA_CONV_REUSE_DATA)));
}

// A refused layer leaves nothing: the program is dropped, the state stays.
TEST_F(Reuse, ARefusedLayerKeepsNothing) {
  nvdla_layer bad = with(NVDLA_CONV_KEEP_DATA);
  bad.sdp.output.slot = 99;
  EXPECT_FALSE(program_.add(bad));
  EXPECT_EQ(program_.get().kept.lines, 0u);
}

// Two of eight lines stay; the next layer fetches those that follow.
TEST_F(Reuse, PartialRelease) {
  nvdla_layer first = layer_;
  first.conv.release = 6;
  ASSERT_TRUE(program_.add(first));
  EXPECT_EQ(reg(0, NVDLA_UNIT_CSC, NVDLA_CSC_D_RELEASE), 5u);
  nvdla_layer second = with(NVDLA_CONV_REUSE_DATA);
  ASSERT_TRUE(program_.add(second)) << to_string(program_.error());
  // Eight lines, six of them fetched, from the third on.
  EXPECT_EQ(reg(1, NVDLA_UNIT_CSC, NVDLA_CSC_D_DATAIN_SIZE_EXT_0), 7u << 16 | 18u);
  EXPECT_EQ(reg(1, NVDLA_UNIT_CDMA, NVDLA_CDMA_D_DATAIN_SIZE_0), 5u << 16 | 18u);
  EXPECT_EQ(reg(1, NVDLA_UNIT_CDMA, NVDLA_CDMA_D_DAIN_ADDR_LOW_0), 0x1000000u + 2 * 19 * 8);
}

TEST_F(Reuse, AsManyLinesAsWereKept) {
  nvdla_layer first = layer_;
  first.conv.release = 1;
  ASSERT_TRUE(program_.add(first));
  nvdla_layer second = with(NVDLA_CONV_REUSE_DATA);
  second.conv.height = 7;
  // Seven kept: at least one more is to be fetched.
  expect_refused(second, NVDLA_RULE_REUSE_LINES, LAYER_FIELD(conv.height), 7, 1, 6);
}

TEST_F(Reuse, AllKeptLinesAndNoMore) {
  ASSERT_TRUE(program_.add(with(NVDLA_CONV_KEEP_DATA)));
  nvdla_layer second = with(NVDLA_CONV_REUSE_DATA);
  second.conv.height = 7;
  expect_refused(second, NVDLA_RULE_REUSE_LINES, LAYER_FIELD(conv.height), 8, 7, 7);
}

TEST_F(Reuse, AGrainOfFetchedLinesOnly) {
  nvdla_layer first = layer_;
  first.conv.release = 6;
  ASSERT_TRUE(program_.add(first));
  nvdla_layer second = with(NVDLA_CONV_REUSE_DATA);
  second.conv.fetch_grain = 7;
  expect_refused(second, NVDLA_RULE_GRAIN, LAYER_FIELD(conv.fetch_grain), 7, 1, 6);
}

struct Difference {
  const char* name;
  std::uint32_t keep, reuse;
  void (*change)(nvdla_layer&);
  std::uint32_t field;
  std::int64_t value, then;
};

class ReuseDifference : public testing::TestWithParam<Difference> {};

TEST_P(ReuseDifference, IsRefused) {
  const Difference& d = GetParam();
  Base base = base_conv("nv_small");
  // Room for whatever the change asks for.
  for (auto& s : base.slots) s.size *= 4;
  Program program(*base.hw, base.slots, 2);
  base.layer.conv.flags = d.keep;
  ASSERT_TRUE(program.add(base.layer));
  base.layer.conv.flags = d.reuse;
  d.change(base.layer);
  EXPECT_FALSE(program.add(base.layer));
  EXPECT_EQ(program.error().rule, NVDLA_RULE_REUSE_DIFFERS) << to_string(program.error());
  EXPECT_EQ(program.error().field, d.field);
  EXPECT_EQ(program.error().index, 1u);
  EXPECT_EQ(program.error().value, d.value);
  EXPECT_EQ(program.error().min, d.then);
  EXPECT_EQ(program.error().max, d.then);
}

constexpr std::uint32_t kKeepData = NVDLA_CONV_KEEP_DATA;
constexpr std::uint32_t kReuseData = NVDLA_CONV_REUSE_DATA;
constexpr std::uint32_t kKeepWeights = NVDLA_CONV_KEEP_WEIGHTS;
constexpr std::uint32_t kReuseWeights = NVDLA_CONV_REUSE_WEIGHTS;

INSTANTIATE_TEST_SUITE_P(
    All, ReuseDifference,
    testing::Values(
        Difference{"data banks", kKeepData, kReuseData,
                   [](nvdla_layer& l) { l.conv.data_banks = 5; }, LAYER_FIELD(conv.data_banks), 5,
                   4},
        Difference{"weight banks", kKeepData, kReuseData,
                   [](nvdla_layer& l) { l.conv.weight_banks = 5; }, LAYER_FIELD(conv.weight_banks),
                   5, 4},
        Difference{"channels", kKeepData, kReuseData, [](nvdla_layer& l) { l.conv.channels = 39; },
                   LAYER_FIELD(conv.channels), 39, 40},
        Difference{"width", kKeepData, kReuseData, [](nvdla_layer& l) { l.conv.width = 17; },
                   LAYER_FIELD(conv.width), 17, 19},
        Difference{"data banks of weights", kKeepWeights, kReuseWeights,
                   [](nvdla_layer& l) { l.conv.data_banks = 5; }, LAYER_FIELD(conv.data_banks), 5,
                   4},
        Difference{"kernels", kKeepWeights, kReuseWeights,
                   [](nvdla_layer& l) { l.conv.kernels = 19; }, LAYER_FIELD(conv.kernels), 19, 20},
        Difference{"kernel width", kKeepWeights, kReuseWeights,
                   [](nvdla_layer& l) {
                     l.conv.kernel_width = 1, l.conv.pad_left = 0, l.conv.pad_right = 0;
                   },
                   LAYER_FIELD(conv.kernel_width), 1, 3},
        Difference{"kernel height", kKeepWeights, kReuseWeights,
                   [](nvdla_layer& l) { l.conv.kernel_height = 2; },
                   LAYER_FIELD(conv.kernel_height), 2, 3},
        Difference{"weight bytes", kKeepWeights, kReuseWeights,
                   [](nvdla_layer& l) { l.conv.weights.bytes = 7200; },
                   LAYER_FIELD(conv.weights.bytes), 7200, 7296}));

// Precisions exist in one configuration only.
TEST(ReuseFull, OtherPrecision) {
  Base base = base_conv("nv_full");
  for (auto& s : base.slots) s.size *= 4;
  base.layer.sdp.x1 = {};
  base.layer.sdp.x2 = {};
  Program program(*base.hw, base.slots, 2);
  base.layer.conv.flags = NVDLA_CONV_KEEP_WEIGHTS;
  ASSERT_TRUE(program.add(base.layer));
  base.layer.conv.flags = NVDLA_CONV_REUSE_WEIGHTS;
  base.layer.conv.in_precision = base.layer.conv.proc_precision = NVDLA_PRECISION_INT16;
  base.layer.sdp.proc_precision = base.layer.sdp.out_precision = NVDLA_PRECISION_INT16;
  EXPECT_FALSE(program.add(base.layer));
  EXPECT_EQ(program.error().rule, NVDLA_RULE_REUSE_DIFFERS);
  EXPECT_EQ(program.error().field, LAYER_FIELD(conv.in_precision));
}

}  // namespace
}  // namespace nvdla::test
