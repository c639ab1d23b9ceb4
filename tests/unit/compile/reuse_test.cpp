// SPDX-License-Identifier: MIT
//
// Sequences of convolutions that keep and reuse what is in the convolution
// buffer.
#include <gtest/gtest.h>

#include "unit_faults.hpp"

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
  // Weights stay although nobody is to reuse them: this device loses what is freed at the end.
  EXPECT_EQ(reg(2, NVDLA_UNIT_CDMA, NVDLA_CDMA_D_MISC_CFG), 0x10110000u);
  EXPECT_EQ(reg(2, NVDLA_UNIT_CSC, NVDLA_CSC_D_MISC_CFG), 0x10110000u);
  expect_refused(with(NVDLA_CONV_REUSE_DATA), NVDLA_RULE_REUSE_NOTHING, LAYER_FIELD(conv.flags),
                 NVDLA_CONV_REUSE_DATA, 0, 0);
}

TEST_F(Reuse, WeightsThatNobodyKeepsAreFreedByMendedLogic) {
  nvdla_hw mended = *base_.hw;
  mended.features &= ~NVDLA_HW_WEIGHT_GATING;
  Program program(mended, base_.slots, 2);
  ASSERT_TRUE(program.add(with(NVDLA_CONV_KEEP_WEIGHTS)));
  ASSERT_TRUE(program.add(with(NVDLA_CONV_REUSE_WEIGHTS)));
  const std::uint64_t bases[5] = {};
  for (const auto& [unit, offset] : {std::pair{NVDLA_UNIT_CDMA, NVDLA_CDMA_D_MISC_CFG},
                                     std::pair{NVDLA_UNIT_CSC, NVDLA_CSC_D_MISC_CFG}}) {
    const auto at = *model::unit_base(NVDLA_REGMAP_NV_SMALL, unit) + offset;
    EXPECT_EQ(program.registers(0, bases).at(at), 0x10000000u);
    EXPECT_EQ(program.registers(1, bases).at(at), 0x00100000u);
  }
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

// All layers behind the convolution that kept something, up to the one that takes it: no other
// program may come in between.
TEST_F(Reuse, TiesLayers) {
  Base sdp = base_sdp("nv_small");
  sdp.layer.sdp.x1 = {};
  sdp.layer.sdp.x2 = {};
  const nvdla_layer layers[] = {
      with(NVDLA_CONV_KEEP_DATA | NVDLA_CONV_KEEP_WEIGHTS),
      sdp.layer,
      with(NVDLA_CONV_REUSE_DATA | NVDLA_CONV_KEEP_WEIGHTS),
      with(NVDLA_CONV_REUSE_WEIGHTS | NVDLA_CONV_KEEP_DATA),
      sdp.layer,
      with(NVDLA_CONV_KEEP_DATA),
      sdp.layer,
      sdp.layer,
      with(NVDLA_CONV_REUSE_DATA),
      sdp.layer,
  };
  // So many from there on.
  const std::uint32_t tied[] = {0, 3, 2, 1, 0, 0, 3, 2, 1, 0};
  Program program(*base_.hw, base_.slots, std::size(layers));
  for (const nvdla_layer& layer : layers) ASSERT_TRUE(program.add(layer));
  ASSERT_TRUE(program.end());
  for (std::uint32_t i = 0; i < std::size(layers); ++i)
    EXPECT_EQ(program.image(i).tied, tied[i]) << i;
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

// CDMA takes a single position of packed surfaces for one run of atoms, and a single line that is
// fetched for one position.
TEST(ReuseOfLines, SurfacesArePackedByWhatIsFetched) {
  for (const char* configuration : {"nv_full", "nv_small"}) {
    Base base = base_conv(configuration);
    const std::uint32_t atom = base.hw->atom;
    nvdla_conv& conv = base.layer.conv;
    conv.width = 1;
    conv.height = 4;
    conv.channels = 3 * atom;
    conv.kernel_width = conv.kernel_height = 1;
    conv.stride_width = conv.stride_height = 1;
    conv.pad_left = conv.pad_right = conv.pad_top = conv.pad_bottom = 0;
    conv.input = cube(kInput, 1, 4, atom);
    base.layer.sdp.x1 = base.layer.sdp.x2 = {};
    base.layer.sdp.output = cube(kOutput, 1, 4, atom);
    for (nvdla_slot& slot : base.slots) slot.size = 1 << 14;
    conv.release = 1;
    const nvdla_layer first = base.layer;
    conv.flags = NVDLA_CONV_REUSE_DATA;
    conv.input.offset = atom;
    conv.release = 0;
    Program program(*base.hw, base.slots, 2);
    ASSERT_TRUE(program.add(first)) << to_string(program.error());
    ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
    const auto map = static_cast<model::RegisterMap>(base.hw->regmap);
    const std::uint64_t bases[5] = {};
    const auto reg = [&](std::uint32_t layer, std::uint32_t offset) {
      return program.registers(layer, bases).at(*model::unit_base(map, NVDLA_UNIT_CDMA) + offset);
    };
    EXPECT_EQ(reg(1, NVDLA_CDMA_D_DATAIN_SIZE_0), 0u);
    const std::uint32_t packed = NVDLA_CDMA_D_DAIN_MAP_SURF_PACKED_MASK;
    EXPECT_EQ(reg(0, NVDLA_CDMA_D_DAIN_MAP) & packed, packed);
    EXPECT_EQ(reg(1, NVDLA_CDMA_D_DAIN_MAP) & packed, 0u);
  }
}

// Features lie in the buffer without padding: what is kept serves any.
TEST_F(Reuse, FeaturesWithOtherPadding) {
  ASSERT_TRUE(program_.add(with(NVDLA_CONV_KEEP_DATA)));
  nvdla_layer second = with(NVDLA_CONV_REUSE_DATA);
  second.conv.pad_left = 0;
  second.conv.pad_right = 2;
  second.conv.pad_value = 7;
  EXPECT_TRUE(program_.add(second)) << to_string(program_.error());
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
  std::string name;
  Base (*base)(const char*);
  const char* configuration;
  std::uint32_t keep, reuse;
  Mutation change;
  std::uint32_t field;
  std::int64_t value, then;
};

void PrintTo(const Difference& difference, std::ostream* out) { *out << difference.name; }

class ReuseDifference : public testing::TestWithParam<Difference> {
 protected:
  // Room for whatever the change asks for.
  static Base roomy(const Difference& difference) {
    Base base = difference.base(difference.configuration);
    nvdla_sdp& sdp = base.layer.sdp;
    sdp.x1 = sdp.x2 = {};
    sdp.output.line_stride = 1 << 11;
    sdp.output.surface_stride = 1 << 16;
    for (auto& slot : base.slots) {
      slot.size = 1 << 21;
      slot.access |= NVDLA_SLOT_READ;
    }
    return base;
  }
};

TEST_P(ReuseDifference, IsRefused) {
  const Difference& d = GetParam();
  Base base = roomy(d);
  nvdla_layer first = base.layer;
  first.conv.flags |= d.keep;
  d.change(base);
  Program fresh(*base.hw, base.slots, 2);
  ASSERT_TRUE(fresh.add(first)) << to_string(fresh.error());
  ASSERT_TRUE(fresh.add(base.layer)) << "legal without reuse: " << to_string(fresh.error());

  Program program(*base.hw, base.slots, 2);
  ASSERT_TRUE(program.add(first));
  base.layer.conv.flags |= d.reuse;
  EXPECT_FALSE(program.add(base.layer));
  EXPECT_EQ(program.error().rule, NVDLA_RULE_REUSE_DIFFERS) << to_string(program.error());
  EXPECT_EQ(program.error().field, d.field);
  EXPECT_EQ(program.error().index, 1u);
  EXPECT_EQ(program.error().value, d.value);
  EXPECT_EQ(program.error().min, d.then);
  EXPECT_EQ(program.error().max, d.then);
}

// The same layer again, with whatever its input is.
TEST_P(ReuseDifference, IsAllThatIsWrong) {
  const Difference& d = GetParam();
  Base base = roomy(d);
  Program program(*base.hw, base.slots, 2);
  nvdla_layer layer = base.layer;
  layer.conv.flags |= d.keep;
  ASSERT_TRUE(program.add(layer));
  base.layer.conv.flags |= d.reuse;
  EXPECT_TRUE(program.add(base.layer)) << to_string(program.error());
}

#define DATA NVDLA_CONV_KEEP_DATA, NVDLA_CONV_REUSE_DATA
#define WEIGHTS NVDLA_CONV_KEEP_WEIGHTS, NVDLA_CONV_REUSE_WEIGHTS

Base base_half(const char* configuration) {
  Base base = base_conv(configuration);
  nvdla_conv& conv = base.layer.conv;
  nvdla_sdp& sdp = base.layer.sdp;
  conv.in_precision = conv.proc_precision = NVDLA_PRECISION_FP16;
  conv.pad_value = 0;
  conv.clip_truncate = 0;
  sdp.proc_precision = sdp.out_precision = NVDLA_PRECISION_FP16;
  sdp.out_cvt = {};
  return base;
}

// What is computed in fp16 comes as an integer, and back.
void make_integer_input(nvdla_layer& layer) {
  layer.conv.in_precision = NVDLA_PRECISION_INT16;
  layer.conv.flags |= NVDLA_CONV_CONVERT;
  layer.conv.cvt_scale = 1;
}
void make_integer(nvdla_layer& layer) {
  make_integer_input(layer);
  layer.conv.proc_precision = NVDLA_PRECISION_INT16;
  layer.sdp.proc_precision = layer.sdp.out_precision = NVDLA_PRECISION_INT16;
  layer.sdp.out_cvt.scale = 1;
}

// fp16 from integers, as the other of a pair that differs in what it computes in only.
Base base_half_of_integers(const char* configuration) {
  Base base = base_half(configuration);
  make_integer_input(base.layer);
  return base;
}

// As many bytes as pixels of four bytes take, but taken as a cube.
void make_direct(nvdla_conv& conv) {
  conv.mode = NVDLA_CONV_DIRECT;
  conv.flags &= ~(NVDLA_CONV_MEAN | NVDLA_CONV_SIGNED_PIXELS);
  for (std::int32_t& mean : conv.mean) mean = 0;
  conv.pixel_format = conv.pixel_offset = 0;
  conv.input = cube(kInput, conv.width, conv.height, 32);
}

void make_batch(nvdla_layer& layer) {
  layer.conv.batch = 2;
  layer.conv.input.batch_stride = 1 << 17;
  layer.sdp.output.batch_stride = 1 << 17;
}

// How weights lie in the buffer does not depend on how many cubes they meet.
TEST(ReuseBoundaries, WeightsWithAnotherBatch) {
  Base base = base_conv("nv_full");
  base.layer.sdp.x1 = base.layer.sdp.x2 = {};
  for (nvdla_slot& slot : base.slots) slot.size = 1 << 20;
  Program program(*base.hw, base.slots, 2);
  base.layer.conv.flags = NVDLA_CONV_KEEP_WEIGHTS;
  ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
  base.layer.conv.flags = NVDLA_CONV_REUSE_WEIGHTS;
  make_batch(base.layer);
  EXPECT_TRUE(program.add(base.layer)) << to_string(program.error());
}

const Difference kDifferences[] = {
    {"mode", base_image, "nv_full", DATA, CHANGE(make_direct(c)), F(conv.mode), 0, 1},
    {"mode of weights", base_image, "nv_full", WEIGHTS, CHANGE(make_direct(c)), F(conv.mode), 0, 1},
    {"input precision", base_half, "nv_full", DATA, CHANGE(make_integer_input(l)),
     F(conv.in_precision), 1, 2},
    {"input precision of weights", base_half, "nv_full", WEIGHTS, CHANGE(make_integer_input(l)),
     F(conv.in_precision), 1, 2},
    {"precision", base_half_of_integers, "nv_full", DATA, CHANGE(make_integer(l)),
     F(conv.proc_precision), 1, 2},
    {"precision of weights", base_half_of_integers, "nv_full", WEIGHTS, CHANGE(make_integer(l)),
     F(conv.proc_precision), 1, 2},
    {"channels", base_conv, "nv_small", DATA, CHANGE(c.channels = 39), F(conv.channels), 39, 40},
    {"channels of weights", base_conv, "nv_small", WEIGHTS, CHANGE(c.channels = 39),
     F(conv.channels), 39, 40},
    {"batch", base_conv, "nv_full", DATA, CHANGE(make_batch(l)), F(conv.batch), 2, 1},
    {"pixel format", base_image, "nv_small", DATA, CHANGE(c.pixel_format = NVDLA_PIXEL_A8B8G8R8),
     F(conv.pixel_format), NVDLA_PIXEL_A8B8G8R8, NVDLA_PIXEL_A8R8G8B8},
    {"pixel format of weights", base_image, "nv_small", WEIGHTS,
     CHANGE(c.pixel_format = NVDLA_PIXEL_A8B8G8R8), F(conv.pixel_format), NVDLA_PIXEL_A8B8G8R8,
     NVDLA_PIXEL_A8R8G8B8},
    {"data banks", base_conv, "nv_small", DATA, CHANGE(c.data_banks = 5), F(conv.data_banks), 5, 4},
    {"data banks of weights", base_conv, "nv_small", WEIGHTS, CHANGE(c.data_banks = 5),
     F(conv.data_banks), 5, 4},
    {"weight banks", base_conv, "nv_small", DATA, CHANGE(c.weight_banks = 5), F(conv.weight_banks),
     5, 4},
    {"weight banks of weights", base_conv, "nv_small", WEIGHTS, CHANGE(c.weight_banks = 5),
     F(conv.weight_banks), 5, 4},
    {"width", base_conv, "nv_small", DATA, CHANGE(c.width = 17), F(conv.width), 17, 19},
    /* Pixels are padded on their way into the buffer; the output is as wide. */
    {"padding on the left", base_image, "nv_small", DATA, CHANGE((c.pad_left = 2, c.pad_right = 0)),
     F(conv.pad_left), 2, 1},
    {"padding on the right", base_image, "nv_small", DATA, CHANGE(c.pad_right = 0),
     F(conv.pad_right), 0, 1},
    {"padding value", base_image, "nv_small", DATA, CHANGE(c.pad_value = -7), F(conv.pad_value), -7,
     0},
    {"kernels", base_conv, "nv_small", WEIGHTS, CHANGE(c.kernels = 19), F(conv.kernels), 19, 20},
    {"kernel width", base_conv, "nv_small", WEIGHTS,
     CHANGE((c.kernel_width = 1, c.pad_left = c.pad_right = 0)), F(conv.kernel_width), 1, 3},
    {"kernel height", base_conv, "nv_small", WEIGHTS, CHANGE(c.kernel_height = 2),
     F(conv.kernel_height), 2, 3},
    {"weights of another slot", base_conv, "nv_small", WEIGHTS, CHANGE(c.weights.slot = kX1),
     F(conv.weights.slot), kX1, kWeights},
    {"weights elsewhere", base_conv, "nv_small", WEIGHTS, CHANGE(c.weights.offset = 64),
     F(conv.weights), 64, 0},
};

INSTANTIATE_TEST_SUITE_P(All, ReuseDifference, testing::ValuesIn(kDifferences),
                         row_name<Difference>);

}  // namespace
}  // namespace nvdla::test
