// SPDX-License-Identifier: MIT
//
// What PDP counts, layers behind SDP, what the reference model does otherwise, and what PDP does
// not end on.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "common/layers/pdp_case.hpp"

namespace nvdla::test {
namespace {

PdpCase simple(const nvdla_hw& hw) {
  PdpCase layer;
  layer.hw = &hw;
  layer.width = 9;
  layer.height = 7;
  layer.channels = 20;
  layer.kw = layer.kh = 3;
  layer.sx = layer.sy = 2;
  layer.left = layer.right = layer.top = layer.bottom = 1;
  layer.out_width = 5;
  layer.out_height = 4;
  Random random(0);
  place_pdp(layer, random, false);
  return layer;
}

TEST(Pdp, CountsNansAndInfinities) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  PdpCase layer = simple(hw);
  layer.precision = 2;
  layer.channels = 16;
  Random random(0);
  place_pdp(layer, random, false);
  UnitRig rig(hw);
  const auto put = [&](unsigned x, unsigned y, unsigned c, std::uint16_t value) {
    const std::byte bytes[2] = {static_cast<std::byte>(value), static_cast<std::byte>(value >> 8)};
    rig.memory.load(model::Ram::kPrimary, layer.at(layer.source, x, y, c), bytes);
  };
  put(0, 0, 0, 0x7e01);
  put(3, 3, 4, 0xfc01);  // in four windows
  put(8, 6, 15, 0x7c00);
  put(1, 1, 1, 0xfc00);
  program_pdp(layer, rig.regs);
  enable_pdp(rig.regs);
  rig.run();
  EXPECT_EQ(rig.regs.read("PDP.D_NAN_INPUT_NUM"), 2u);
  EXPECT_EQ(rig.regs.read("PDP.D_INF_INPUT_NUM"), 2u);
  EXPECT_EQ(rig.regs.read("PDP.D_NAN_OUTPUT_NUM"), 5u);
  // The next layer of the group clears them when it is enabled.
  rig.regs.write("PDP.D_OP_ENABLE", 1);
  EXPECT_EQ(rig.regs.read("PDP.D_NAN_INPUT_NUM"), 0u);
  EXPECT_EQ(rig.regs.read("PDP.D_INF_INPUT_NUM"), 0u);
}

TEST(Pdp, AverageSaturatesWhereTheReferenceModelWraps) {
  for (const model::Quirks quirks : {model::Quirks::kRtl, model::Quirks::kCmodel}) {
    const nvdla_hw& hw = *nvdla_hw_find("nv_full");
    PdpCase layer;
    layer.hw = &hw;
    layer.method = kAverage;
    layer.reciprocal[0] = 0x1ffff;
    Random random(0);
    place_pdp(layer, random, false);
    model::Options options;
    options.quirks = quirks;
    UnitRig rig(hw, options);
    rig.memory.fill(model::Ram::kPrimary, kPdpIn, 32, std::byte{100});
    program_pdp(layer, rig.regs);
    enable_pdp(rig.regs);
    rig.run();
    EXPECT_EQ(rig.byte(kPdpOut), quirks == model::Quirks::kRtl ? 127 : 200);
  }
}

// They are counted where they are read, and what two bands share is read by both.
TEST(Pdp, CountsWhatBandsShareTwice) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  PdpCase layer = simple(hw);
  layer.precision = 2;
  layer.channels = 16;
  layer.flush = true;
  layer.bands = 2;
  layer.in[0] = 4;
  layer.in[2] = 5;
  layer.out[0] = 2;
  layer.out[2] = 3;
  Random random(0);
  place_pdp(layer, random, false);
  UnitRig rig(hw);
  const auto put = [&](unsigned x, std::uint16_t value) {
    const std::byte bytes[2] = {static_cast<std::byte>(value), static_cast<std::byte>(value >> 8)};
    rig.memory.load(model::Ram::kPrimary, layer.at(layer.source, x, 2, 5), bytes);
  };
  put(2, 0x7e01);
  put(3, 0x7e01);  // the one that they share
  put(4, 0x7c00);
  program_pdp(layer, rig.regs);
  enable_pdp(rig.regs);
  rig.run();
  ASSERT_EQ(rig.blocked(), "");
  EXPECT_EQ(rig.regs.read("PDP.D_NAN_INPUT_NUM"), 3u);
  EXPECT_EQ(rig.regs.read("PDP.D_INF_INPUT_NUM"), 1u);
  EXPECT_EQ(rig.regs.read("PDP.D_NAN_OUTPUT_NUM"), 0u);
}

// One window with an element in its middle and an edge of padding all around it.
PdpCase one_element(const nvdla_hw& hw, unsigned precision, unsigned kw, unsigned kh) {
  PdpCase layer;
  layer.hw = &hw;
  layer.precision = precision;
  layer.method = kAverage;
  layer.kw = kw;
  layer.kh = kh;
  layer.left = layer.right = kw / 2;
  layer.top = layer.bottom = kh / 2;
  Random random(0);
  place_pdp(layer, random, false);
  return layer;
}

std::uint16_t run_one(const PdpCase& layer, std::uint16_t element,
                      model::Quirks quirks = model::Quirks::kRtl) {
  model::Options options;
  options.quirks = quirks;
  UnitRig rig(*layer.hw, options);
  const std::byte bytes[2] = {static_cast<std::byte>(element),
                              static_cast<std::byte>(element >> 8)};
  rig.memory.load(model::Ram::kPrimary, kPdpIn, bytes);
  program_pdp(layer, rig.regs);
  enable_pdp(rig.regs);
  rig.run();
  EXPECT_EQ(rig.blocked(), "");
  return layer.bytes() == 1 ? rig.byte(kPdpOut) : rig.half(kPdpOut);
}

// What is missing left and right is one entry of the table, rounded once: 1 + 2^-10 and twice
// 1.5 * 2^-11 are 1 + 2.5 * 2^-10, half way to the even one. Added one after the other they would
// be rounded up twice.
TEST(Pdp, AddsOneEntryForWhatIsMissingOnBothSides) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  constexpr std::uint32_t kOnce = 0x7c00 - (11 << 10) + 0x200, kTwice = kOnce + (1 << 10);
  PdpCase across = one_element(hw, 2, 3, 1);
  across.reciprocal[0] = across.reciprocal[1] = 0x7c00;
  across.padding[1] = kOnce;
  across.padding[2] = kTwice;
  EXPECT_EQ(run_one(across, 0x3c01), 0x3c02);
  PdpCase down = one_element(hw, 2, 1, 3);
  down.reciprocal[0] = down.reciprocal[1] = 0x7c00;
  down.padding[1] = kOnce;
  down.padding[2] = kTwice;
  EXPECT_EQ(run_one(down, 0x3c01), 0x3c02);
  // The line first, 1 + 2 * 2^-10; then three times the entry for the lines, 4.5 * 2^-10 more: half
  // way again, to 1 + 6 * 2^-10.
  PdpCase around = one_element(hw, 2, 3, 3);
  around.reciprocal[0] = around.reciprocal[1] = 0x7c00;
  around.padding[1] = kOnce;
  around.padding[2] = kTwice;
  EXPECT_EQ(run_one(around, 0x3c01), 0x3c06);
}

// Entries that are not n times the entry of one tell which of them is taken, and how often.
TEST(Pdp, IntegerAveragesAddOneEntryForEachSide) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  for (const unsigned precision : {0u, 1u}) {
    for (const auto& [kw, kh, want] : {std::tuple{3u, 1u, 10 + 7},
                                       {1u, 3u, 10 + 7},
                                       {3u, 3u, 10 + 7 + 3 * 7},
                                       {5u, 3u, 10 + 30 + 5 * 7}}) {
      PdpCase layer = one_element(hw, precision, kw, kh);
      layer.padding[1] = 100;
      layer.padding[2] = 7;
      layer.padding[3] = 200;
      layer.padding[4] = 30;
      EXPECT_EQ(run_one(layer, 10), want) << precision << ": " << kw << " x " << kh;
    }
  }
}

// Entries that no sum of int8 has do not compile. The logic takes 11 bits of them across, and 14 of
// the product down; the reference model as many as such a sum needs.
TEST(Pdp, EntriesBeyondInt8AreCutToBits) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_small");
  const auto across = [&](std::uint32_t entry, model::Quirks quirks) {
    PdpCase layer = one_element(hw, 0, 3, 1);
    layer.padding[2] = entry;
    layer.reciprocal[0] = 0x1000;  // by 16
    return static_cast<std::int8_t>(run_one(layer, 0, quirks));
  };
  const auto down = [&](std::uint32_t entry, model::Quirks quirks) {
    PdpCase layer = one_element(hw, 0, 3, 3);
    // Of columns nothing.
    layer.width = layer.in[0] = 3;
    layer.left = layer.right = 0;
    layer.padding[2] = entry;
    layer.reciprocal[0] = 0x400;  // by 64
    return static_cast<std::int8_t>(run_one(layer, 0, quirks));
  };
  using model::Quirks;
  for (const Quirks quirks : {Quirks::kRtl, Quirks::kCmodel}) {
    EXPECT_EQ(across(2 * 127, quirks), 16);
    EXPECT_EQ(across(static_cast<std::uint32_t>(-256), quirks), -16);
    EXPECT_EQ(down(2 * 127, quirks), 12);
  }
  EXPECT_EQ(across(512, Quirks::kRtl), 32);
  EXPECT_EQ(across(512, Quirks::kCmodel), 0);
  EXPECT_EQ(across(1024 + 64, Quirks::kRtl), -60);
  EXPECT_EQ(across(1024 + 64, Quirks::kCmodel), 4);
  EXPECT_EQ(down(1024, Quirks::kRtl), 48);
  EXPECT_EQ(down(1024, Quirks::kCmodel), 0);
  EXPECT_EQ(down(4096, Quirks::kRtl), -64);
}

// SDP takes the source of the pooling from memory, and hands it on as it is.
void program_sdp_before(const PdpCase& layer, Registers& regs) {
  const auto u32 = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  for (const std::string unit : {"SDP", "SDP_RDMA"}) {
    regs.write(unit + ".D_DATA_CUBE_WIDTH", layer.width - 1);
    regs.write(unit + ".D_DATA_CUBE_HEIGHT", layer.height - 1);
    regs.write(unit + ".D_DATA_CUBE_CHANNEL", layer.channels - 1);
  }
  for (const std::string x : {"BS", "BN", "EW"}) regs.write("SDP.D_DP_" + x + "_CFG", 1);
  for (const std::string x : {"BRDMA", "NRDMA", "ERDMA"}) regs.write("SDP_RDMA.D_" + x + "_CFG", 1);
  regs.write("SDP.D_CVT_SCALE", 1);
  regs.set("SDP.D_FEATURE_MODE_CFG", {{"OUTPUT_DST", 1}});
  regs.set("SDP.D_DATA_FORMAT",
           {{"PROC_PRECISION", layer.precision}, {"OUT_PRECISION", layer.precision}});
  regs.set("SDP_RDMA.D_FEATURE_MODE_CFG", {{"IN_PRECISION", layer.precision},
                                           {"PROC_PRECISION", layer.precision},
                                           {"OUT_PRECISION", layer.precision}});
  regs.write("SDP_RDMA.D_SRC_BASE_ADDR_LOW", u32(layer.source.base));
  regs.write("SDP_RDMA.D_SRC_LINE_STRIDE", u32(layer.source.line));
  regs.write("SDP_RDMA.D_SRC_SURFACE_STRIDE", u32(layer.source.surface));
  regs.write("SDP_RDMA.D_SRC_DMA_CFG", 1);
}

TEST(Pdp, TakesWhatSdpHandsOn) {
  for (const char* name : {"nv_full", "nv_small", "nv_medium_512"}) {
    const nvdla_hw& hw = *nvdla_hw_find(name);
    for (unsigned seed = 0; seed < 50; ++seed) {
      Random random(seed);
      PdpCase layer = random_pdp(hw, random);
      if (layer.real()) layer.precision = 1;
      layer.bands = 1;
      place_pdp(layer, random, false);
      UnitRig rig(hw);
      fill_pdp(layer, rig, random);
      rig.memory.fill(model::Ram::kPrimary, kPdpOut, kPdpRegion, std::byte{kUntouched});
      program_pdp(layer, rig.regs, true);
      Registers& regs = rig.regs;
      program_sdp_before(layer, regs);
      // SDP is held back until PDP is there.
      regs.write("SDP_RDMA.D_OP_ENABLE", 1);
      regs.write("SDP.D_OP_ENABLE", 1);
      rig.run();
      ASSERT_NE(rig.blocked().find("waits for PDP on the fly"), std::string::npos);
      regs.write("PDP.D_OP_ENABLE", 1);
      rig.run();
      ASSERT_EQ(rig.blocked(), "") << name << " " << seed;
      ASSERT_EQ(rig.compare(kPdpOut, kPdpRegion, pdp_reference(layer, rig).bytes), "")
          << name << " " << seed;
      ASSERT_EQ(regs.read("GLB.S_INTR_STATUS"), kPdpDone | 1u);
      // PDP_RDMA took no part.
      ASSERT_EQ(regs.read("PDP_RDMA.S_POINTER"), 0u);
      Bytes writes;
      add_cube(writes, layer.destination, layer.surfaces(), layer.out_height,
               layer.out_width * hw.atom);
      ASSERT_EQ(rig.recorder.writes.merged(), writes.merged());
    }
  }
}

// NaNs are counted and flushed where they are read: the read DMA takes no part here.
TEST(Pdp, LeavesNansAloneThatSdpHandsOn) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  PdpCase layer = simple(hw);
  layer.precision = 2;
  Random random(0);
  place_pdp(layer, random, false);
  UnitRig rig(hw);
  for (const unsigned x : {0u, 3u}) {
    const std::byte nan[2] = {std::byte{1}, std::byte{0x7e}};
    rig.memory.load(model::Ram::kPrimary, layer.at(layer.source, x, 3, x), nan);
  }
  rig.memory.fill(model::Ram::kPrimary, kPdpOut, kPdpRegion, std::byte{kUntouched});
  layer.flush = true;
  program_pdp(layer, rig.regs, true);
  program_sdp_before(layer, rig.regs);
  for (const char* unit : {"SDP_RDMA", "SDP", "PDP"})
    rig.regs.write(std::string(unit) + ".D_OP_ENABLE", 1);
  rig.run();
  ASSERT_EQ(rig.blocked(), "");
  layer.flush = false;
  const PdpOutcome want = pdp_reference(layer, rig);
  EXPECT_EQ(rig.compare(kPdpOut, kPdpRegion, want.bytes), "");
  EXPECT_GT(want.nan_out, 0u);
  EXPECT_EQ(rig.regs.read("PDP.D_NAN_OUTPUT_NUM"), want.nan_out);
  EXPECT_EQ(rig.regs.read("PDP.D_NAN_INPUT_NUM"), 0u);
}

struct Fault {
  const char *reg, *field;
  std::uint32_t value;
  const char* reason;
};

void expect_blocked(const PdpCase& layer, const Fault& fault) {
  UnitRig rig(*layer.hw);
  program_pdp(layer, rig.regs);
  rig.regs.change(fault.reg, fault.field, fault.value);
  enable_pdp(rig.regs);
  rig.run();
  EXPECT_NE(rig.blocked().find(fault.reason), std::string::npos)
      << fault.reg << "." << fault.field << ": " << rig.blocked();
  EXPECT_EQ(rig.regs.read("PDP.S_STATUS"), 1u);
  EXPECT_EQ(rig.regs.read("PDP.S_POINTER"), 0u);
  EXPECT_EQ(rig.regs.read("GLB.S_INTR_STATUS"), 0u);
  EXPECT_TRUE(rig.recorder.writes.merged().empty());
}

TEST(Pdp, Blocks) {
  const Fault faults[] = {
      {"PDP_RDMA.D_DATA_CUBE_IN_WIDTH", "CUBE_IN_WIDTH", 7, "width"},
      {"PDP_RDMA.D_DATA_CUBE_IN_HEIGHT", "CUBE_IN_HEIGHT", 7, "height"},
      {"PDP_RDMA.D_DATA_CUBE_IN_CHANNEL", "CUBE_IN_CHANNEL", 7, "channels"},
      {"PDP_RDMA.D_DATA_FORMAT", "INPUT_DATA", 1, "INPUT_DATA"},
      {"PDP_RDMA.D_OPERATION_MODE_CFG", "SPLIT_NUM", 1, "bands"},
      {"PDP.D_DATA_CUBE_OUT_WIDTH", "CUBE_OUT_WIDTH", 3, "width: 4 windows"},
      {"PDP.D_DATA_CUBE_OUT_WIDTH", "CUBE_OUT_WIDTH", 5, "width: 6 windows"},
      {"PDP.D_DATA_CUBE_OUT_HEIGHT", "CUBE_OUT_HEIGHT", 2, "height: 3 windows"},
      {"PDP.D_DATA_CUBE_OUT_CHANNEL", "CUBE_OUT_CHANNEL", 20, "CUBE_OUT_CHANNEL"},
      {"PDP.D_OPERATION_MODE_CFG", "POOLING_METHOD", 3, "POOLING_METHOD"},
      {"PDP.D_POOLING_KERNEL_CFG", "KERNEL_WIDTH", 8, "larger than 8"},
      {"PDP.D_POOLING_KERNEL_CFG", "KERNEL_HEIGHT", 15, "larger than 8"},
      {"PDP.D_POOLING_PADDING_CFG", "PAD_LEFT", 3, "PAD_LEFT 3"},
      {"PDP.D_POOLING_PADDING_CFG", "PAD_BOTTOM", 3, "PAD_BOTTOM 3"},
      {"PDP.D_POOLING_PADDING_CFG", "PAD_RIGHT", 0, "width: 5 windows"},
  };
  for (const char* name : {"nv_full", "nv_small"})
    for (const Fault& fault : faults) expect_blocked(simple(*nvdla_hw_find(name)), fault);
  const nvdla_hw& small = *nvdla_hw_find("nv_small");
  PdpCase wide = simple(small);
  wide.precision = 1;
  expect_blocked(wide, {"PDP.D_NAN_FLUSH_TO_ZERO", "NAN_TO_ZERO", 0, "no such precision"});
  expect_blocked(simple(small), {"PDP.D_DST_RAM_CFG", "DST_RAM_TYPE", 0, "secondary memory"});
  expect_blocked(simple(small), {"PDP_RDMA.D_SRC_RAM_CFG", "SRC_RAM_TYPE", 0, "secondary memory"});
}

// Both count for themselves: what differs leaves one of them waiting.
TEST(Pdp, TakesExactlyWhatSdpGives) {
  const auto run = [](const Fault* fault) {
    const PdpCase layer = simple(*nvdla_hw_find("nv_full"));
    UnitRig rig(*layer.hw);
    program_pdp(layer, rig.regs, true);
    program_sdp_before(layer, rig.regs);
    if (fault != nullptr) rig.regs.change(fault->reg, fault->field, fault->value);
    for (const char* unit : {"SDP_RDMA", "SDP", "PDP"})
      rig.regs.write(std::string(unit) + ".D_OP_ENABLE", 1);
    rig.run();
    EXPECT_EQ(rig.regs.read("PDP.S_STATUS"), fault == nullptr ? 0u : 1u);
    return rig.blocked();
  };
  const Fault faults[] = {
      {"PDP.D_DATA_CUBE_IN_WIDTH", "CUBE_IN_WIDTH", 9, "SDP gives width 9, PDP takes 10"},
      {"PDP.D_DATA_CUBE_IN_HEIGHT", "CUBE_IN_HEIGHT", 5, "SDP gives height 7, PDP takes 6"},
      {"PDP.D_DATA_CUBE_IN_CHANNEL", "CUBE_IN_CHANNEL", 20, "SDP gives channels 20, PDP takes 21"},
      {"PDP.D_DATA_FORMAT", "INPUT_DATA", 1, "SDP gives int8, PDP takes int16"},
      {"PDP.D_OPERATION_MODE_CFG", "SPLIT_NUM", 1, "on the fly is split"},
  };
  EXPECT_EQ(run(nullptr), "");
  for (const Fault& fault : faults) {
    const std::string reason = run(&fault);
    EXPECT_NE(reason.find(fault.reason), std::string::npos) << fault.reason << ": " << reason;
  }
}

// Sizes that would wrap and addresses below the cube.
TEST(Pdp, BandsBeginInTheBandBefore) {
  PdpCase layer = simple(*nvdla_hw_find("nv_full"));
  const auto reason = [&](unsigned kernel, unsigned stride, unsigned first, unsigned mid,
                          unsigned last) {
    layer.kw = kernel;
    layer.sx = stride;
    layer.bands = 3;
    layer.in[0] = first;
    layer.in[1] = mid;
    layer.in[2] = last;
    UnitRig rig(*layer.hw);
    program_pdp(layer, rig.regs);
    enable_pdp(rig.regs);
    rig.run();
    return rig.blocked();
  };
  EXPECT_NE(reason(5, 1, 3, 4, 4).find("PARTIAL_WIDTH_IN_FIRST 3 is less than the overlap of 4"),
            std::string::npos);
  EXPECT_NE(reason(2, 5, 2, 3, 4).find("PARTIAL_WIDTH_IN_MID 3 is all skipped"), std::string::npos);
  EXPECT_NE(reason(2, 5, 2, 5, 3).find("PARTIAL_WIDTH_IN_LAST 3 is all skipped"),
            std::string::npos);
}

TEST(Pdp, LineBufferHoldsSixteenColumnsOfEightLines) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_small");
  const struct {
    unsigned kh, sy, most;
  } limits[] = {{2, 2, 128}, {3, 2, 64}, {3, 1, 32}, {8, 1, 16}, {8, 8, 128}, {5, 2, 32}};
  for (const auto& limit : limits)
    for (const unsigned over : {0u, 1u}) {
      PdpCase layer;
      layer.hw = &hw;
      layer.kh = layer.height = limit.kh;
      layer.sy = limit.sy;
      layer.width = layer.out_width = limit.most + over;
      Random random(0);
      place_pdp(layer, random, false);
      UnitRig rig(hw);
      program_pdp(layer, rig.regs);
      enable_pdp(rig.regs);
      rig.run();
      if (over == 0) {
        EXPECT_EQ(rig.blocked(), "");
      } else {
        EXPECT_NE(rig.blocked().find("line buffer"), std::string::npos) << limit.kh;
        // In bands it fits.
        PdpCase bands = layer;
        bands.bands = 2;
        bands.in[0] = bands.out[0] = limit.most;
        bands.in[2] = bands.out[2] = 1;
        UnitRig again(hw);
        program_pdp(bands, again.regs);
        enable_pdp(again.regs);
        again.run();
        EXPECT_EQ(again.blocked(), "");
      }
    }
}

TEST(Pdp, BlocksOnWrongBands) {
  PdpCase layer = simple(*nvdla_hw_find("nv_full"));
  layer.bands = 3;
  layer.out[0] = 2;
  layer.out[1] = 1;
  layer.out[2] = 2;
  layer.in[0] = 4;  // (2 - 1) * 2 + 3 - 1
  layer.in[1] = 2;
  layer.in[2] = 3;  // 2 * 2 - 1
  {
    UnitRig rig(*layer.hw);
    program_pdp(layer, rig.regs);
    enable_pdp(rig.regs);
    rig.run();
    ASSERT_EQ(rig.blocked(), "");
  }
  const auto both = [&](unsigned which, unsigned value, const char* reason) {
    PdpCase wrong = layer;
    wrong.in[which] = value;
    expect_blocked(wrong, {"PDP.D_NAN_FLUSH_TO_ZERO", "NAN_TO_ZERO", 0, reason});
  };
  both(0, 5, "first band");
  both(1, 3, "PARTIAL_WIDTH_IN_MID");
  both(2, 2, "PARTIAL_WIDTH_IN_LAST");
  both(2, 5, "PARTIAL_WIDTH_IN_LAST");
  const Fault faults[] = {
      {"PDP_RDMA.D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_FIRST", 9, "PARTIAL_WIDTH_IN_FIRST"},
      {"PDP_RDMA.D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_MID", 9, "PARTIAL_WIDTH_IN_MID"},
      {"PDP_RDMA.D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_LAST", 9, "PARTIAL_WIDTH_IN_LAST"},
      {"PDP_RDMA.D_POOLING_KERNEL_CFG", "KERNEL_WIDTH", 5, "KERNEL_WIDTH"},
      {"PDP_RDMA.D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_WIDTH", 5, "KERNEL_STRIDE_WIDTH"},
      {"PDP.D_OPERATION_MODE_CFG", "SPLIT_NUM", 64, "bands"},
  };
  for (const Fault& fault : faults) expect_blocked(layer, fault);
}

// The widths of the whole cube are nowhere used, nor is what the read DMA is told of padding.
TEST(Pdp, BandsSayHowWideTheCubesAre) {
  PdpCase layer = simple(*nvdla_hw_find("nv_full"));
  layer.bands = 3;
  const unsigned out[] = {2, 1, 2}, in[] = {4, 2, 3};
  std::copy(std::begin(out), std::end(out), layer.out);
  std::copy(std::begin(in), std::end(in), layer.in);
  for (const char* reg : {"PDP.D_DATA_CUBE_IN_WIDTH", "PDP_RDMA.D_DATA_CUBE_IN_WIDTH",
                          "PDP.D_DATA_CUBE_OUT_WIDTH", "PDP_RDMA.D_POOLING_PADDING_CFG"}) {
    Random random(1);
    UnitRig rig(*layer.hw);
    fill_pdp(layer, rig, random);
    rig.memory.fill(model::Ram::kPrimary, kPdpOut, kPdpRegion, std::byte{kUntouched});
    program_pdp(layer, rig.regs);
    rig.regs.write(reg, 8191);
    enable_pdp(rig.regs);
    rig.run();
    EXPECT_EQ(rig.blocked(), "") << reg;
    EXPECT_EQ(rig.compare(kPdpOut, kPdpRegion, pdp_reference(layer, rig).bytes), "") << reg;
  }
}

TEST(Pdp, WaitsForItsPartner) {
  for (const char* only : {"PDP", "PDP_RDMA"}) {
    const PdpCase layer = simple(*nvdla_hw_find("nv_small"));
    UnitRig rig(*layer.hw);
    program_pdp(layer, rig.regs);
    rig.regs.write(std::string(only) + ".D_OP_ENABLE", 1);
    rig.run();
    EXPECT_NE(rig.blocked().find("to be enabled"), std::string::npos);
    enable_pdp(rig.regs);
    rig.run();
    EXPECT_EQ(rig.blocked(), "");
  }
}

}  // namespace
}  // namespace nvdla::test
