// SPDX-License-Identifier: MIT
//
// The bound on a layer's cycles, as sums that are written out from what the hardware is documented
// and was measured to do: each beat of memory takes 8 cycles (100 cycles of latency, 16 requests on
// their way: a little more than 6), each step of the convolution one per output, each operator what
// it passes in a cycle, and a layer a thousand.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/compiled.hpp"
#include "unit_layers.hpp"

namespace nvdla::test::bounds {
namespace {

// Build parameters, without the help of nvdla_hw.c. SDP is as fast as its slowest operator: X, or
// Y where that works. A beat has one atom or two.
struct Built {
  const char* name;
  std::uint64_t atom, beat, channels, kernels, x, y, pdp, cdp;
};
constexpr Built kBuilt[] = {
    {"nv_full", 32, 2, 64, 32, 16, 4, 8, 8},
    {"nv_large", 32, 1, 64, 32, 16, 4, 8, 8},
    {"nv_medium_1024_full", 32, 1, 32, 32, 8, 2, 4, 4},
    {"nv_medium_512", 16, 1, 32, 16, 4, 4, 2, 2},
    {"nv_small_256_full", 8, 1, 32, 8, 2, 1, 1, 1},
    {"nv_small_256", 8, 1, 32, 8, 1, 1, 1, 1},
    {"nv_small", 8, 1, 8, 8, 1, 1, 1, 1},
};
constexpr Built kFull = kBuilt[0];

constexpr std::uint64_t kLayer = 1000;
constexpr std::uint64_t kBeat = 8;

constexpr std::uint64_t up(std::uint64_t n, std::uint64_t step) { return (n + step - 1) / step; }

std::uint64_t cycles(const Base& base) {
  Program program(*base.hw, base.slots, 1, 0, 0, base.luts, base.transfers, base.control);
  EXPECT_TRUE(program.add(base.layer)) << to_string(program.error());
  return program.ok() ? program.image(0).cycles : 0;
}

// Elements of 1 or 2 bytes that pass an operator: a column of an atom at a time.
constexpr std::uint64_t pass(const Built& hw, std::uint64_t pixels, std::uint64_t channels,
                             std::uint64_t bytes, std::uint64_t throughput) {
  const std::uint64_t lanes = hw.atom / bytes;
  return pixels * up(channels, lanes) * up(lanes, throughput);
}

// Beats of so many atoms in a row, which may begin inside of one.
constexpr std::uint64_t run(const Built& hw, std::uint64_t atoms) {
  return up(atoms + hw.beat - 1, hw.beat);
}

constexpr std::uint64_t cube(const Built& hw, std::uint64_t width, std::uint64_t height,
                             std::uint64_t channels) {
  return up(channels, hw.atom) * height * run(hw, width);
}

// Operators that base_sdp and base_conv have: X1 reads two bytes per channel, X2 one per element.
constexpr std::uint64_t operands(const Built& hw) {
  return run(hw, 2 * up(20, hw.atom)) + cube(hw, 10, 8, 20);
}

// 20 kernels of 3 x 3 over 19 x 8 x 32: 10 x 8 outputs in 5760 bytes of weights, which are whole
// entries of every buffer.
Base conv(const char* configuration) {
  Base base = base_conv(configuration);
  base.layer.conv.channels = 32;
  return base;
}

constexpr std::uint64_t conv_memory(const Built& hw) {
  return cube(hw, 19, 8, 32) + run(hw, 5760 / hw.atom) + operands(hw);
}

constexpr std::uint64_t conv_steps(const Built& hw) {
  return up(20, hw.kernels) * up(32, hw.channels) * 9;
}

TEST(Cycles, OfConvolutions) {
  for (const Built& hw : kBuilt)
    EXPECT_EQ(cycles(conv(hw.name)), kLayer + kBeat * (conv_memory(hw) + cube(hw, 10, 8, 20)) +
                                         conv_steps(hw) * 80 + pass(hw, 80, 20, 1, hw.x))
        << hw.name;
}

// Stripes of 16 outputs, and never less than it takes to load a group's kernels.
TEST(Cycles, OfConvolutionsWithFewOutputs) {
  struct Case {
    std::uint32_t side;
    std::uint64_t outputs;  // 16 or 32 at least, where the group has that many kernels
  };
  for (const Built& hw : kBuilt)
    for (const Case& c : {Case{1, 16}, Case{4, 16}, Case{5, 32}}) {
      Base base = conv(hw.name);
      nvdla_conv& conv = base.layer.conv;
      nvdla_sdp& sdp = base.layer.sdp;
      conv.width = conv.height = c.side;
      conv.kernel_width = conv.kernel_height = conv.stride_width = 1;
      conv.pad_left = conv.pad_right = conv.pad_top = conv.pad_bottom = 0;
      conv.pad_value = 0;
      conv.input = test::cube(kInput, c.side, c.side, base.hw->atom);
      sdp.x1 = sdp.x2 = {};
      sdp.output = test::cube(kOutput, c.side, c.side, base.hw->atom);
      const std::uint64_t pixels = std::uint64_t{c.side} * c.side;
      EXPECT_EQ(cycles(base),
                kLayer +
                    kBeat * (cube(hw, c.side, c.side, 32) + run(hw, 640 / hw.atom) +
                             cube(hw, c.side, c.side, 20)) +
                    up(20, hw.kernels) * up(32, hw.channels) * std::max(c.outputs, hw.kernels) +
                    pass(hw, pixels, 20, 1, hw.x))
          << hw.name << " " << c.side;
    }
}

// Half as many kernels in a group, twice the bytes.
TEST(Cycles, OfConvolutionsInSixteenBits) {
  for (std::uint32_t precision : {kInt16, kHalf}) {
    Base base = conv("nv_full");
    nvdla_conv& conv = base.layer.conv;
    nvdla_sdp& sdp = base.layer.sdp;
    conv.in_precision = conv.proc_precision = sdp.proc_precision = sdp.out_precision = precision;
    conv.pad_value = 0;
    conv.clip_truncate = 0;
    sdp.x1 = sdp.x2 = {};
    sdp.out_cvt = {.offset = 0, .scale = precision == kHalf ? 0 : 1, .truncate = 0, .pad = 0};
    for (nvdla_slot& slot : base.slots) slot.size *= 2;
    EXPECT_EQ(cycles(base), kLayer +
                                kBeat * (2 * cube(kFull, 19, 8, 1) + run(kFull, 11520 / 32) +
                                         2 * cube(kFull, 10, 8, 1)) +
                                up(20, 16) * 9 * 80 + pass(kFull, 80, 20, 2, 16));
  }
}

TEST(Cycles, OfBatches) {
  Base base = base_batch("nv_full");
  base.layer.conv.channels = 32;
  // 20 channels are one column: the weights and what is per channel come once.
  EXPECT_EQ(cycles(base), kLayer +
                              kBeat * (3 * cube(kFull, 19, 8, 1) + run(kFull, 5760 / 32) +
                                       operands(kFull) + 3 * cube(kFull, 10, 8, 1)) +
                              9 * 3 * 80 + 3 * pass(kFull, 80, 20, 1, 16));
}

// A stripe ends with its line: 20 outputs take 32.
TEST(Cycles, OfImages) {
  for (const Built& hw : kBuilt) {
    Base base = base_image(hw.name);
    base.layer.conv.kernels = 32;
    for (nvdla_slot& slot : base.slots) slot.size *= 4;
    EXPECT_EQ(cycles(base), kLayer +
                                kBeat * (8 * run(hw, up(21 * 4, hw.atom)) +
                                         run(hw, 1152 / hw.atom) + cube(hw, 20, 8, 32)) +
                                up(32, hw.kernels) * 9 * 32 * 8 + pass(hw, 160, 32, 1, hw.x))
        << hw.name;
  }
}

// Each line takes the time to load a group's kernels.
TEST(Cycles, OfNarrowImages) {
  for (const Built& hw : kBuilt) {
    Base base = base_image(hw.name);
    nvdla_conv& conv = base.layer.conv;
    conv.width = 10;
    conv.kernels = 32;
    conv.input.line_stride = static_cast<std::uint32_t>(up(11 * 4, hw.atom) * hw.atom);
    base.layer.sdp.output = test::cube(2, 10, 8, base.hw->atom);
    for (nvdla_slot& slot : base.slots) slot.size *= 4;
    EXPECT_EQ(cycles(base),
              kLayer +
                  kBeat * (8 * run(hw, up(11 * 4, hw.atom)) + run(hw, 1152 / hw.atom) +
                           cube(hw, 10, 8, 32)) +
                  up(32, hw.kernels) * 9 * std::max<std::uint64_t>(16, hw.kernels) * 8 +
                  pass(hw, 80, 32, 1, hw.x))
        << hw.name;
  }
}

// 64 channels of 8 x 16 after extension, 4 x 12 results in tiles of four.
TEST(Cycles, OfWinograd) {
  EXPECT_EQ(cycles(base_winograd("nv_full")),
            kLayer +
                kBeat * (2 * cube(kFull, 11, 13, 1) + run(kFull, 20 * 16 * 64 * 2 / 32) +
                         run(kFull, 2) + 2 * 2 * cube(kFull, 4, 12, 1)) +
                up(20, 16) * (64 / 4) * 48 + pass(kFull, 48, 20, 2, 16));
}

TEST(Cycles, OfSdp) {
  for (const Built& hw : kBuilt)
    EXPECT_EQ(cycles(base_sdp(hw.name)),
              kLayer + kBeat * (operands(hw) + 2 * cube(hw, 10, 8, 20)) + pass(hw, 80, 20, 1, hw.x))
        << hw.name;
}

// What a comparison reads it does not write.
TEST(Cycles, OfComparisons) {
  EXPECT_EQ(cycles(base_equal("nv_full")),
            kLayer + kBeat * (operands(kFull) + 2 * cube(kFull, 10, 8, 20)) +
                pass(kFull, 80, 20, 1, kFull.y));
}

// Y reads an operand of two bytes for each of its two parts.
TEST(Cycles, OfSdpWithY) {
  for (const Built& hw : {kBuilt[0], kBuilt[1], kBuilt[2], kBuilt[4]})
    EXPECT_EQ(cycles(base_y(hw.name)),
              kLayer + kBeat * (operands(hw) + cube(hw, 40, 8, 20) + 2 * cube(hw, 10, 8, 20)) +
                  pass(hw, 80, 20, 1, hw.y))
        << hw.name;
}

// A column takes part in two windows of two, one apart.
TEST(Cycles, OfPooling) {
  for (const Built& hw : kBuilt)
    EXPECT_EQ(cycles(base_pdp(hw.name)), kLayer +
                                             kBeat * (cube(hw, 10, 8, 20) + cube(hw, 10, 4, 20)) +
                                             2 * pass(hw, 80, 20, 1, hw.pdp))
        << hw.name;
}

// Windows of three, two apart: two; a line of 360 is fetched once.
TEST(Cycles, OfPoolingInBands) {
  for (const Built& hw : kBuilt)
    EXPECT_EQ(cycles(base_bands(hw.name)), kLayer +
                                               kBeat * (cube(hw, 360, 4, 1) + cube(hw, 180, 4, 1)) +
                                               2 * pass(hw, 360 * 4, 1, 1, hw.pdp))
        << hw.name;
}

TEST(Cycles, OfPoolingInSixteenBits) {
  Base base = base_pdp("nv_full");
  base.layer.pdp.precision = kInt16;
  for (nvdla_slot& slot : base.slots) slot.size *= 2;
  EXPECT_EQ(cycles(base), kLayer + kBeat * 2 * (cube(kFull, 10, 8, 1) + cube(kFull, 10, 4, 1)) +
                              2 * pass(kFull, 80, 20, 2, 8));
}

// What passes from unit to unit is not written and read.
TEST(Cycles, OfFusedPooling) {
  for (const Built& hw : kBuilt) {
    const std::uint64_t sdp = pass(hw, 80, 20, 1, hw.x);
    const std::uint64_t pdp = kBeat * cube(hw, 10, 4, 20) + 2 * pass(hw, 80, 20, 1, hw.pdp);
    EXPECT_EQ(cycles(base_sdp_pdp(hw.name)),
              kLayer + kBeat * (operands(hw) + cube(hw, 10, 8, 20)) + sdp + pdp)
        << hw.name;
    Base base = base_conv_pdp(hw.name);
    base.layer.conv.channels = 32;
    EXPECT_EQ(cycles(base), kLayer + kBeat * conv_memory(hw) + conv_steps(hw) * 80 + sdp + pdp)
        << hw.name;
  }
}

TEST(Cycles, OfNormalisation) {
  for (const Built& hw : kBuilt)
    EXPECT_EQ(cycles(base_cdp(hw.name)),
              kLayer + kBeat * 2 * cube(hw, 10, 8, 20) + 80 * up(20, hw.atom) * up(hw.atom, hw.cdp))
        << hw.name;
  // In 16 bits an atom has half the elements: the bound is the same for each atom.
  EXPECT_EQ(cycles(base_cdp_half("nv_full")),
            kLayer + kBeat * 2 * 2 * cube(kFull, 10, 8, 1) + 160 * 4);
}

TEST(Cycles, OfMoves) {
  EXPECT_EQ(cycles(base_contract("nv_full")),
            kLayer + kBeat * (12 * cube(kFull, 5, 3, 1) + 2 * cube(kFull, 15, 6, 1)));
  // Planes of 3 lines of 40 bytes, in atoms.
  EXPECT_EQ(cycles(base_split("nv_full")),
            kLayer + kBeat * (cube(kFull, 40, 3, 1) + 20 * cube(kFull, 2, 3, 1)));
  EXPECT_EQ(cycles(base_merge("nv_full")),
            kLayer + kBeat * (cube(kFull, 40, 3, 1) + 20 * cube(kFull, 2, 3, 1)));
  EXPECT_EQ(cycles(base_bdma("nv_full")),
            kLayer + kBeat * 2 * (3 * cube(kFull, 5, 4, 1) + cube(kFull, 1, 8, 1)));
}

}  // namespace
}  // namespace nvdla::test::bounds
