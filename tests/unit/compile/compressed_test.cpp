// SPDX-License-Identifier: MIT
//
// Compressed weights: what the compiler makes of them, and one fault per rule that keeps the tables
// and the layer from disagreeing.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "faults.hpp"

namespace nvdla::test {
namespace {

constexpr std::uint32_t kControl = 5;
// 40 channels, 3 x 3.
constexpr std::uint32_t kElements = 360;
constexpr std::uint32_t kKernels = 40;
constexpr std::uint32_t kMaskBytes = 1920;  // 40 * 360 / 8 = 1800, to 128
constexpr std::uint32_t kWgs = 256;         // behind something else
constexpr std::uint32_t kWmb = kWgs + 32;

std::uint32_t group_bytes(const Base& base, std::uint32_t group) {
  std::uint32_t word = 0;
  std::memcpy(&word, &base.control[kWgs + 4 * group], sizeof(word));
  return word;
}

void set_group_bytes(Base& base, std::uint32_t group, std::uint32_t word) {
  std::memcpy(&base.control[kWgs + 4 * group], &word, sizeof(word));
}

// Tables for the mask that is in the control data; the weights take what they need.
void count_groups(Base& base) {
  const std::uint32_t bytes = base.layer.conv.proc_precision == NVDLA_PRECISION_INT8 ? 1 : 2;
  const std::uint32_t group_bits = 32 / bytes * kElements;
  std::vector<std::uint32_t> sizes(div_up(kKernels * kElements, group_bits));
  for (std::uint32_t bit = 0; bit < kKernels * kElements; ++bit) {
    if (base.control[kWmb + bit / 8] >> bit % 8 & 1) sizes[bit / group_bits] += bytes;
  }
  std::uint32_t sum = 0;
  for (std::uint32_t group = 0; group < sizes.size(); ++group) {
    set_group_bytes(base, group, sizes[group]);
    sum += sizes[group];
  }
  base.layer.conv.weights.bytes = div_up(sum, 128) * 128;
  base.slots[kWeights].size = base.layer.conv.weights.bytes;
}

// Two kernel groups, 32 and 8; about a third of the weights are there.
Base base_compressed(const char* configuration) {
  Base base = base_conv(configuration);
  nvdla_conv& conv = base.layer.conv;
  conv.flags = NVDLA_CONV_COMPRESSED;
  conv.kernels = kKernels;
  for (nvdla_surface* surface : {&base.layer.sdp.output, &base.layer.sdp.x2.operand})
    surface->surface_stride = 10 * 8 * base.hw->atom;
  for (const std::uint32_t grown : {kOutput, kX1, kX2}) base.slots[grown].size *= 2;
  conv.wgs = {kWgs, kControl, 0};
  conv.wmb = {kWmb, kControl, 0};
  base.control.resize(kWmb + kMaskBytes);
  std::uint32_t state = 1;
  for (std::uint32_t bit = 0; bit < kKernels * kElements; ++bit) {
    state = state * 1664525 + 1013904223;
    if (state >> 16 < 0x5555)
      base.control[kWmb + bit / 8] |= static_cast<std::uint8_t>(1u << bit % 8);
  }
  nvdla_slot control = slot(base.control.size(), NVDLA_SLOT_CONTROL, 64);
  base.slots.push_back(control);
  count_groups(base);
  return base;
}

TEST(Compressed, RegistersNameTheTables) {
  const Base base = base_compressed("nv_full");
  Program program(*base.hw, base.slots, 1, 0, 0, {}, {}, base.control);
  ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
  ASSERT_TRUE(program.end());
  const std::uint64_t bases[] = {0x100000000, 0x200000000, 0x300000000,
                                 0x400000000, 0x500000000, 0x600000000};
  const auto registers = program.registers(0, bases);
  const auto value = [&](model::Unit unit, std::uint32_t offset) {
    return registers.at(*model::unit_base(model::RegisterMap::NVDLA_REGMAP_NV_FULL, unit) + offset);
  };
  EXPECT_EQ(value(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_WEIGHT_FORMAT), 1u);
  EXPECT_EQ(value(NVDLA_UNIT_CSC, NVDLA_CSC_D_WEIGHT_FORMAT), 1u);
  EXPECT_EQ(value(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_WGS_ADDR_HIGH), 6u);
  EXPECT_EQ(value(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_WGS_ADDR_LOW), kWgs);
  EXPECT_EQ(value(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_WMB_ADDR_HIGH), 6u);
  EXPECT_EQ(value(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_WMB_ADDR_LOW), kWmb);
  EXPECT_EQ(value(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_WMB_BYTES), kMaskBytes);
  EXPECT_EQ(value(NVDLA_UNIT_CSC, NVDLA_CSC_D_WMB_BYTES), kMaskBytes);
  EXPECT_EQ(value(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_WEIGHT_BYTES), base.layer.conv.weights.bytes);
  EXPECT_EQ(value(NVDLA_UNIT_CSC, NVDLA_CSC_D_WEIGHT_BYTES), base.layer.conv.weights.bytes);
}

TEST(Compressed, ClaimsExactlyWhatIsRead) {
  const Base base = base_compressed("nv_full");
  Program program(*base.hw, base.slots, 1, 0, 0, {}, {}, base.control);
  ASSERT_TRUE(program.add(base.layer));
  std::uint32_t seen = 0;
  for (const nvdla_access& access : program.accesses(0)) {
    if (access.dma == NVDLA_DMA_CDMA_WGS) {
      // Two words, read as an atom.
      EXPECT_EQ(access.begin, kWgs);
      EXPECT_EQ(access.end, kWgs + 32);
    } else if (access.dma == NVDLA_DMA_CDMA_WMB) {
      EXPECT_EQ(access.begin, kWmb);
      EXPECT_EQ(access.end, kWmb + kMaskBytes);
    } else {
      continue;
    }
    EXPECT_EQ(access.slot, kControl);
    EXPECT_EQ(access.write, 0);
    ++seen;
  }
  EXPECT_EQ(seen, 2u);
}

class CompressedFaults : public testing::TestWithParam<Fault> {};

TEST_P(CompressedFaults, IsNamedExactly) { expect_fault(GetParam()); }

class CompressedBoundaries : public testing::TestWithParam<Legal> {};

TEST_P(CompressedBoundaries, IsAccepted) { expect_legal(GetParam()); }

#define PACKED(name, statement, ...)                                     \
  Fault {                                                                \
    name, base_compressed, "nv_full", CHANGE(statement), { __VA_ARGS__ } \
  }
#define LEGAL(name, statement) \
  Legal { name, base_compressed, "nv_full", CHANGE(statement) }
#define SLOT_FIELD(member) static_cast<std::uint32_t>(offsetof(nvdla_slot, member))

constexpr std::uint32_t kGroup0 = 3879, kGroup1 = 977;
constexpr std::uint32_t kBytes = 4864;

TEST(Compressed, BaseIsWhatTheFaultsTakeItFor) {
  const Base base = base_compressed("nv_full");
  EXPECT_EQ(group_bytes(base, 0), kGroup0);
  EXPECT_EQ(group_bytes(base, 1), kGroup1);
  EXPECT_EQ(base.layer.conv.weights.bytes, kBytes);
}

// Every weight is there: the uncompressed stream and a mask.
void fill_mask(Base& base) {
  std::memset(&base.control[kWmb], 0xff, kKernels * kElements / 8);
  count_groups(base);
}

// One weight in each group.
void thin_mask(Base& base) {
  std::memset(&base.control[kWmb], 0, kMaskBytes);
  base.control[kWmb] = 1;
  base.control[kWmb + 32 * kElements / 8] = 1;
  count_groups(base);
}

// One position and as many channels as are asked for, of a bit each in 32 kernels.
void large_kernels(Base& base, std::uint32_t channels) {
  nvdla_conv& conv = base.layer.conv;
  conv.kernel_width = conv.kernel_height = 1;
  conv.width = conv.height = 1;
  conv.stride_width = 1;
  conv.pad_left = conv.pad_right = conv.pad_top = conv.pad_bottom = 0;
  conv.channels = channels;
  conv.weights.bytes = 128;
  conv.input = cube(kInput, 1, 1, 32);
  base.slots[kInput].size = div_up(channels, 32) * 32;
}

// Kernels of one position and @channels channels, of which each group has all weights or one.
void one_position(Base& base, std::uint32_t kernels, std::uint32_t channels, bool dense) {
  large_kernels(base, channels);
  nvdla_conv& conv = base.layer.conv;
  nvdla_sdp& sdp = base.layer.sdp;
  conv.kernels = kernels;
  sdp.x1 = sdp.x2 = {};
  sdp.output = cube(kOutput, 1, 1, 32);
  const std::uint32_t group_bytes = 32 * channels / 8;
  const std::uint32_t bytes = kernels * channels / 8;
  base.control.assign(kWmb + div_up(bytes, 128) * 128, 0);
  base.slots[kControl].size = base.control.size();
  std::uint32_t sum = 0;
  for (std::uint32_t group = 0; group * 32 < kernels; ++group) {
    std::uint8_t* mask = &base.control[kWmb + group * group_bytes];
    const std::uint32_t part = std::min(bytes - group * group_bytes, group_bytes);
    if (dense)
      std::memset(mask, 0xff, part);
    else
      *mask = 1;
    set_group_bytes(base, group, dense ? 8 * part : 1);
    sum += dense ? 8 * part : 1;
  }
  conv.weights.bytes = div_up(sum, 128) * 128;
  base.slots[kWeights].size = conv.weights.bytes;
}

// 33 kernels of 31 weights: 1023 bits, 31 of them in the last group.
void odd_mask(Base& base) {
  one_position(base, 40, 32, true);
  nvdla_conv& conv = base.layer.conv;
  conv.kernels = 33;
  conv.channels = 31;
  base.control.assign(kWmb + 128, 0);
  base.slots[kControl].size = base.control.size();
  std::memset(&base.control[kWmb], 0xff, 127);
  base.control[kWmb + 127] = 0x7f;
  set_group_bytes(base, 0, 992);
  set_group_bytes(base, 1, 31);
  conv.weights.bytes = 1024;
  base.slots[kWeights].size = 1024;
}

const Fault kCompressedFaults[] = {
    PACKED("a bit beside the last weight", (odd_mask(base), base.control[kWmb + 127] = 0xff),
           NVDLA_RULE_MASK_PADDING, F(conv.wmb), 127),
    PACKED("kept weights of a bank",
           (one_position(base, 32, 1024, true), c.weight_banks = 1,
            c.flags |= NVDLA_CONV_KEEP_WEIGHTS),
           NVDLA_RULE_KEEP_WEIGHTS, F(conv.weight_banks), 1, 2, 11),
    // 32 kernels of 1024 bytes are a bank; beside them 128 are kept free.
    PACKED("weights of a group", (one_position(base, 40, 1024, true), c.weight_banks = 1),
           NVDLA_RULE_WEIGHT_BANKS, F(conv.weight_banks), 1, 2, 11),
    PACKED("weights of the first group", (one_position(base, 64, 1024, true), c.weight_banks = 1),
           NVDLA_RULE_WEIGHT_BANKS, F(conv.weight_banks), 1, 2, 11),
    PACKED("masks that are to be kept, by a block of them",
           (one_position(base, 64, 4112, false), c.flags |= NVDLA_CONV_KEEP_WEIGHTS),
           NVDLA_RULE_MASK_BANK, F(conv.flags), 32896, 0, 32768),
    PACKED("no weight bytes", c.weights.bytes = 0, NVDLA_RULE_RANGE, F(conv.weights.bytes), 0, 128,
           14464),
    PACKED("weight bytes beyond the uncompressed", c.weights.bytes = 14592, NVDLA_RULE_RANGE,
           F(conv.weights.bytes), 14592, 128, 14464),
    PACKED("weight bytes odd", c.weights.bytes = kBytes - 64, NVDLA_RULE_MULTIPLE,
           F(conv.weights.bytes), kBytes - 64, 0, 0, 128),
    PACKED("weight bytes too few", c.weights.bytes = kBytes - 128, NVDLA_RULE_COMPRESSED,
           F(conv.weights.bytes), kBytes - 128, kBytes, kBytes),
    PACKED("weight bytes too many",
           (c.weights.bytes = kBytes + 128, slots[kWeights].size = kBytes + 128),
           NVDLA_RULE_COMPRESSED, F(conv.weights.bytes), kBytes + 128, kBytes, kBytes),
    PACKED("table bytes too few", c.wgs.bytes = 7, NVDLA_RULE_COMPRESSED, F(conv.wgs.bytes), 7, 8,
           128),
    PACKED("table bytes too many", c.wgs.bytes = 129, NVDLA_RULE_COMPRESSED, F(conv.wgs.bytes), 129,
           8, 128),
    PACKED("mask bytes", c.wmb.bytes = kMaskBytes - 128, NVDLA_RULE_COMPRESSED, F(conv.wmb.bytes),
           kMaskBytes - 128, kMaskBytes, kMaskBytes),
    PACKED("word of the first group", set_group_bytes(base, 0, kGroup0 + 1), NVDLA_RULE_GROUP_SIZE,
           F(conv.wgs), kGroup0 + 1, kGroup0, 0),
    // The hardware does not look at it, the rule does.
    PACKED("word of the last group", set_group_bytes(base, 1, kGroup1 - 1), NVDLA_RULE_GROUP_SIZE,
           F(conv.wgs), kGroup1 - 1, kGroup1, 1),
    PACKED("word far off", set_group_bytes(base, 1, 0xffffffff), NVDLA_RULE_GROUP_SIZE, F(conv.wgs),
           0xffffffff, kGroup1, 1),
    PACKED("a bit too many", base.control[kWmb + 5] ^= 0x40, NVDLA_RULE_GROUP_SIZE, F(conv.wgs),
           kGroup0, kGroup0 + 1, 0),
    PACKED("an empty group",
           (std::memset(&base.control[kWmb + 1440], 0, 360), set_group_bytes(base, 1, 0)),
           NVDLA_RULE_GROUP_EMPTY, F(conv.wmb), 1),
    PACKED("bits behind the last weight", base.control[kWmb + 1800] = 1, NVDLA_RULE_MASK_PADDING,
           F(conv.wmb), 1800),
    PACKED("bits at the very end", base.control[kWmb + kMaskBytes - 1] = 0x80,
           NVDLA_RULE_MASK_PADDING, F(conv.wmb), kMaskBytes - 1),
    PACKED("no bank for the mask", (c.data_banks = 12, c.weight_banks = 4), NVDLA_RULE_BANK_SUM,
           F(conv.weight_banks), 16, 0, 15),
    PACKED("data banks", c.height = 4095, NVDLA_RULE_DATA_BANKS, F(conv.data_banks), 4, 160, 11),
    PACKED("mask of a group", large_kernels(base, 8161), NVDLA_RULE_MASK_BANK, F(conv.channels),
           32644, 0, 32640),
    // All kernels but the mask is too large for the slot: the bank would do.
    PACKED("mask of a group that just fits", large_kernels(base, 8160), NVDLA_RULE_EXTENT,
           F(conv.wmb), kWmb + 40832 - 1, kWmb, kWmb + kMaskBytes, 0, NVDLA_DMA_CDMA_WMB, kControl),
    PACKED("masks that are to be kept",
           (large_kernels(base, 8160), c.flags |= NVDLA_CONV_KEEP_WEIGHTS), NVDLA_RULE_MASK_BANK,
           F(conv.flags), 40832, 0, 32768),
    PACKED("tables in a slot to read", c.wgs.slot = kX1, NVDLA_RULE_SLOT_ACCESS, F(conv.wgs.slot),
           NVDLA_SLOT_CONTROL, 0, 0, 0, NVDLA_DMA_CDMA_WGS, kX1),
    PACKED("mask in a slot to read", c.wmb.slot = kX1, NVDLA_RULE_SLOT_ACCESS, F(conv.wmb.slot),
           NVDLA_SLOT_CONTROL, 0, 0, 0, NVDLA_DMA_CDMA_WMB, kX1),
    PACKED("weights in the control slot", c.weights.slot = kControl, NVDLA_RULE_SLOT_ACCESS,
           F(conv.weights.slot), NVDLA_SLOT_READ, 0, 0, 0, NVDLA_DMA_CDMA_WEIGHT, kControl),
    PACKED("input in the control slot", c.input.slot = kControl, NVDLA_RULE_SLOT_ACCESS,
           F(conv.input.slot), NVDLA_SLOT_READ, 0, 0, 0, NVDLA_DMA_CDMA_DATA, kControl),
    PACKED("output in the control slot", s.output.slot = kControl, NVDLA_RULE_SLOT_ACCESS,
           F(sdp.output.slot), NVDLA_SLOT_WRITE, 0, 0, 0, NVDLA_DMA_SDP_WDMA, kControl),
    PACKED("tables beyond the slot", c.wgs.offset = kWmb + kMaskBytes, NVDLA_RULE_EXTENT,
           F(conv.wgs), kWmb + kMaskBytes + 31, kWmb + kMaskBytes, kWmb + kMaskBytes, 0,
           NVDLA_DMA_CDMA_WGS, kControl),
    PACKED("mask beyond the slot", c.wmb.offset = kWmb + 32, NVDLA_RULE_EXTENT, F(conv.wmb),
           kWmb + kMaskBytes + 31, kWmb + 32, kWmb + kMaskBytes, 0, NVDLA_DMA_CDMA_WMB, kControl),
    PACKED("tables between atoms", c.wgs.offset = kWgs + 4, NVDLA_RULE_MULTIPLE, F(conv.wgs),
           kWgs + 4, 0, 0, 32, NVDLA_DMA_CDMA_WGS, kControl),
    PACKED("another memory", slots[kWeights].memory = NVDLA_MEMORY_SRAM, NVDLA_RULE_SAME_MEMORY,
           F(conv.wgs.slot), NVDLA_MEMORY_DRAM, NVDLA_MEMORY_SRAM, NVDLA_MEMORY_SRAM),
    PACKED("tables without the flag", c.flags = 0, NVDLA_RULE_RANGE, F(conv.weights.bytes), kBytes,
           14464, 14464),
    PACKED("control data missing", base.control.clear(), NVDLA_RULE_CONTROL_SIZE, SLOT_FIELD(size),
           kWmb + kMaskBytes, 0, 0, 0, 0, 0, NVDLA_OBJECT_SLOT, kControl),
    PACKED("control data short by one", base.control.pop_back(), NVDLA_RULE_CONTROL_SIZE,
           SLOT_FIELD(size), kWmb + kMaskBytes, kWmb + kMaskBytes - 1, kWmb + kMaskBytes - 1, 0, 0,
           0, NVDLA_OBJECT_SLOT, kControl),
    PACKED("control data short by one, before another slot",
           (base.control.pop_back(), slots.push_back(nvdla_slot(slots[0]))),
           NVDLA_RULE_CONTROL_SIZE, SLOT_FIELD(size), kWmb + kMaskBytes, kWmb + kMaskBytes - 1,
           kWmb + kMaskBytes - 1, 0, 0, 0, NVDLA_OBJECT_SLOT, kControl),
    PACKED("control data without a slot", slots.pop_back(), NVDLA_RULE_CONTROL_SIZE,
           NVDLA_PART_CONTROL, 0, kWmb + kMaskBytes, kWmb + kMaskBytes, 0, 0, 0,
           NVDLA_OBJECT_PROGRAM, 0),
    PACKED("two control slots", slots.push_back(slots[kControl]), NVDLA_RULE_CONTROL_SLOT,
           SLOT_FIELD(access), kControl + 1, kControl, kControl, 0, 0, 0, NVDLA_OBJECT_SLOT,
           kControl + 1),
    PACKED("control slot to read, too", slots[kControl].access |= NVDLA_SLOT_READ, NVDLA_RULE_FLAGS,
           SLOT_FIELD(access), NVDLA_SLOT_CONTROL | NVDLA_SLOT_READ, 0,
           NVDLA_SLOT_READ | NVDLA_SLOT_WRITE, 0, 0, 0, NVDLA_OBJECT_SLOT, kControl),
    PACKED("too many control data", base.control.resize(NVDLA_MAX_CONTROL_BYTES + 1),
           NVDLA_RULE_LIMIT, NVDLA_PART_CONTROL, NVDLA_MAX_CONTROL_BYTES + 1, 0,
           NVDLA_MAX_CONTROL_BYTES, 0, 0, 0, NVDLA_OBJECT_PROGRAM, 0),
};

const Legal kCompressedLegal[] = {
    LEGAL("given byte counts", (c.wgs.bytes = 8, c.wmb.bytes = kMaskBytes)),
    LEGAL("a padded table", c.wgs.bytes = 128),
    LEGAL("all weights", fill_mask(base)),
    LEGAL("one weight in a group", thin_mask(base)),
    LEGAL("all but the last bank", (c.data_banks = 11, c.weight_banks = 4)),
    LEGAL("weights of a group that just fit",
          (one_position(base, 40, 1020, true), c.weight_banks = 1)),
    LEGAL("weights of a group in two banks",
          (one_position(base, 40, 1024, true), c.weight_banks = 2)),
    LEGAL("a mask that ends within a byte", odd_mask(base)),
    LEGAL("kept masks of a whole bank",
          (one_position(base, 64, 4096, false), c.flags |= NVDLA_CONV_KEEP_WEIGHTS)),
    LEGAL("kept", c.flags |= NVDLA_CONV_KEEP_WEIGHTS),
    LEGAL("control data that no layer uses",
          (c.flags = 0, c.wgs = {}, c.wmb = {}, c.weights.bytes = 0, slots[kWeights].size = 14464)),
    LEGAL("half a kernel group of fp16",
          (c.in_precision = c.proc_precision = NVDLA_PRECISION_FP16,
           s.proc_precision = s.out_precision = NVDLA_PRECISION_FP16, s.x1 = {}, s.x2 = {},
           s.out_cvt = {}, c.clip_truncate = 0, c.pad_value = 0, slots[kInput].size *= 2,
           slots[kOutput].size *= 2, c.data_banks = 6, count_groups(base))),
};

// Kept weights are of one format.
TEST(Compressed, KeptWeightsAreReusedCompressedOnly) {
  Base base = base_compressed("nv_full");
  fill_mask(base);
  nvdla_layer second = base.layer;
  base.layer.conv.flags |= NVDLA_CONV_KEEP_WEIGHTS;
  second.conv.flags |= NVDLA_CONV_REUSE_WEIGHTS;
  for (const bool compressed : {true, false}) {
    Program program(*base.hw, base.slots, 2, 0, 0, {}, {}, base.control);
    ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
    if (!compressed) {
      second.conv.flags = NVDLA_CONV_REUSE_WEIGHTS;
      second.conv.wgs = second.conv.wmb = {};
    }
    EXPECT_EQ(program.add(second), compressed) << to_string(program.error());
    EXPECT_EQ(program.error().rule, compressed ? NVDLA_RULE_NONE : NVDLA_RULE_REUSE_DIFFERS);
    EXPECT_EQ(program.error().field, compressed ? 0 : F(conv.flags));
  }
}

// Nothing is bound to the control slot but the program's own data.
TEST(Compressed, ControlDataCannotBeReplaced) {
  const Base base = base_compressed("nv_full");
  Program program(*base.hw, base.slots, 1, 0, 0, {}, {}, base.control);
  ASSERT_TRUE(program.add(base.layer));
  ASSERT_TRUE(program.end());
  std::vector<nvdla_binding> bindings;
  for (std::uint32_t i = 0; i < base.slots.size(); ++i)
    bindings.push_back({0x10000u * (i + 1), base.slots[i].size, NVDLA_MEMORY_DRAM,
                        i == kControl ? NVDLA_SLOT_CONTROL : NVDLA_SLOT_READ | NVDLA_SLOT_WRITE});
  nvdla_error error{};
  const auto check = [&] {
    return nvdla_program_check_bindings(&program.get(), bindings.data(),
                                        static_cast<std::uint32_t>(bindings.size()), &error);
  };
  EXPECT_EQ(check(), 0) << to_string(error);
  for (const std::uint32_t access :
       {0u, NVDLA_SLOT_READ | NVDLA_SLOT_WRITE, NVDLA_SLOT_CONTROL | NVDLA_SLOT_WRITE}) {
    bindings[kControl].access = access;
    EXPECT_EQ(check(), -1);
    EXPECT_EQ(error.rule, NVDLA_RULE_BINDING_CONTROL);
    EXPECT_EQ(error.object, NVDLA_OBJECT_BINDING);
    EXPECT_EQ(error.index, kControl);
    EXPECT_EQ(error.slot, kControl);
    EXPECT_EQ(error.dma, NVDLA_DMA_NONE);
    EXPECT_EQ(error.field, 0u);
    EXPECT_EQ(error.value, 0);
    EXPECT_EQ(error.min, 0);
    EXPECT_EQ(error.max, 0);
  }
  // Nor are the data of another program a buffer for anything else.
  bindings[kControl].access = NVDLA_SLOT_CONTROL;
  bindings[kWeights].access = NVDLA_SLOT_CONTROL;
  EXPECT_EQ(check(), -1);
  EXPECT_EQ(error.rule, NVDLA_RULE_SLOT_ACCESS);
}

INSTANTIATE_TEST_SUITE_P(All, CompressedFaults, testing::ValuesIn(kCompressedFaults),
                         row_name<Fault>);
INSTANTIATE_TEST_SUITE_P(All, CompressedBoundaries, testing::ValuesIn(kCompressedLegal),
                         row_name<Legal>);

}  // namespace
}  // namespace nvdla::test
