// SPDX-License-Identifier: MIT
//
// Layers that never end on hardware: each fault alone blocks a layer that otherwise runs, says why,
// and leaves everything as section 2.10 of the facts says.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/layers/model_layer.hpp"

namespace nvdla::test {
namespace {

using model::Blocked;
using model::Device;
using model::Memory;

// A convolution with operands in memory on both X units and room in every dimension.
TestLayer conv_layer(const nvdla_hw& hw) {
  TestLayer layer;
  layer.hw = &hw;
  RefLayer& ref = layer.ref;
  ref.first_generation = hw.regmap == NVDLA_REGMAP_NV_FULL;
  ref.width = 8;
  ref.height = 7;
  ref.channels = 20;
  ref.kernels = 40;
  ref.kernel_width = ref.kernel_height = 3;
  ref.left = ref.right = ref.top = ref.bottom = 1;
  ref.lanes = (ref.kernels + hw.atom - 1) / hw.atom * hw.atom;
  ref.input.assign(std::size_t{ref.width} * ref.height * ref.channels, 3);
  ref.weights.assign(std::size_t{ref.kernels} * 9 * ref.channels, 2);
  for (RefX& x : ref.x) {
    x.active = true;
    x.alu.active = x.mul.active = true;
    x.alu.source = x.mul.source = Source::kPerChannel;
    x.alu.values.assign(ref.lanes, 5);
    x.mul.values.assign(ref.lanes, 1);
  }
  Random random(0);
  finish_layout(layer, random, false);
  layer.grain = 2;
  // One more bank of each kind than needed, so that a bank count may go wrong by one and still fit.
  layer.data_banks += 1;
  layer.weight_banks += 1;
  return layer;
}

TestLayer sdp_layer(const nvdla_hw& hw) {
  TestLayer layer = conv_layer(hw);
  RefLayer& ref = layer.ref;
  ref.convolution = false;
  ref.kernel_width = ref.kernel_height = 1;
  ref.left = ref.right = ref.top = ref.bottom = 0;
  ref.channels = ref.kernels;
  ref.input.assign(std::size_t{ref.width} * ref.height * ref.lanes, 3);
  Random random(0);
  finish_layout(layer, random, false);
  return layer;
}

struct Fault {
  const char* name;
  const char* reg;  // changed after everything is programmed
  const char* field;
  int value;  // as written, or what is added to it
  bool relative;
  const char* reason;  // part of the reason
  // First generation only, or both.
  bool first_only = false;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

constexpr Fault kConvFaults[] = {
    {"ModeCsc", "CSC.D_MISC_CFG", "CONV_MODE", 1, false, "CONV_MODE"},
    {"ModeCmacA", "CMAC_A.D_MISC_CFG", "CONV_MODE", 1, false, "CONV_MODE"},
    {"ModeCmacB", "CMAC_B.D_MISC_CFG", "CONV_MODE", 1, false, "CONV_MODE"},
    {"ModeCacc", "CACC.D_MISC_CFG", "CONV_MODE", 1, false, "CONV_MODE"},
    {"PrecisionCdma", "CDMA.D_MISC_CFG", "PROC_PRECISION", 1, false, "PROC_PRECISION"},
    {"PrecisionCsc", "CSC.D_MISC_CFG", "PROC_PRECISION", 1, false, "PROC_PRECISION"},
    {"PrecisionCmacA", "CMAC_A.D_MISC_CFG", "PROC_PRECISION", 1, false, "PROC_PRECISION"},
    {"PrecisionCmacB", "CMAC_B.D_MISC_CFG", "PROC_PRECISION", 1, false, "PROC_PRECISION"},
    {"PrecisionCacc", "CACC.D_MISC_CFG", "PROC_PRECISION", 1, false, "PROC_PRECISION"},
    {"PrecisionSdp", "SDP.D_DATA_FORMAT", "PROC_PRECISION", 1, false, "PROC_PRECISION"},
    {"PrecisionIntoCsc", "CSC.D_MISC_CFG", "IN_PRECISION", 1, false, "CSC IN"},
    {"InputSize", "CDMA.D_MISC_CFG", "IN_PRECISION", 1, false, "differ in size"},
    {"DataReuseCdma", "CDMA.D_MISC_CFG", "DATA_REUSE", 1, false, "DATA_REUSE"},
    {"WeightReuseCsc", "CSC.D_MISC_CFG", "WEIGHT_REUSE", 1, false, "WEIGHT_REUSE"},
    {"KeepDataCsc", "CSC.D_MISC_CFG", "SKIP_DATA_RLS", 1, false, "SKIP_DATA_RLS"},
    {"KeepWeightsCdma", "CDMA.D_MISC_CFG", "SKIP_WEIGHT_RLS", 1, false, "SKIP_WEIGHT_RLS"},
    {"FormatCsc", "CSC.D_DATAIN_FORMAT", "DATAIN_FORMAT", 1, false, "DATAIN_FORMAT"},
    {"BatchesCsc", "CSC.D_BATCH_NUMBER", "BATCHES", 1, false, "BATCHES"},
    {"BatchesCacc", "CACC.D_BATCH_NUMBER", "BATCHES", 1, false, "BATCHES"},
    {"EntriesCdma", "CDMA.D_ENTRY_PER_SLICE", "ENTRIES", 1, true, "ENTRY_PER_SLICE"},
    {"EntriesCsc", "CSC.D_ENTRY_PER_SLICE", "ENTRIES", -1, true, "ENTRY_PER_SLICE"},
    {"WidthCdma", "CDMA.D_DATAIN_SIZE_0", "DATAIN_WIDTH", 1, true, "width"},
    {"WidthCsc", "CSC.D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT", 1, true, "width"},
    {"HeightCdma", "CDMA.D_DATAIN_SIZE_0", "DATAIN_HEIGHT", -1, true, "CSC waits for 7 lines"},
    {"HeightCsc", "CSC.D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT", 1, true, "CSC waits for 8 lines"},
    {"ChannelsCdma", "CDMA.D_DATAIN_SIZE_1", "DATAIN_CHANNEL", 1, true, "channels"},
    {"ChannelsCsc", "CSC.D_DATAIN_SIZE_EXT_1", "DATAIN_CHANNEL_EXT", 1, true, "channels"},
    {"ChannelsWeight", "CSC.D_WEIGHT_SIZE_EXT_1", "WEIGHT_CHANNEL_EXT", 1, true, "channels"},
    {"KernelsCdma", "CDMA.D_WEIGHT_SIZE_1", "WEIGHT_KERNEL", 1, true, "WEIGHT_KERNEL"},
    {"KernelsCsc", "CSC.D_WEIGHT_SIZE_EXT_1", "WEIGHT_KERNEL", 1, true, "WEIGHT_KERNEL"},
    {"KernelBytes", "CDMA.D_WEIGHT_SIZE_0", "BYTE_PER_KERNEL", 1, true, "BYTE_PER_KERNEL"},
    {"KernelWidth", "CSC.D_WEIGHT_SIZE_EXT_0", "WEIGHT_WIDTH_EXT", 1, true, "BYTE_PER_KERNEL"},
    {"KernelHeight", "CSC.D_WEIGHT_SIZE_EXT_0", "WEIGHT_HEIGHT_EXT", -1, true, "BYTE_PER_KERNEL"},
    {"WeightBytesCsc", "CSC.D_WEIGHT_BYTES", "WEIGHT_BYTES", 128, true, "WEIGHT_BYTES"},
    {"WeightBytesCdma", "CDMA.D_WEIGHT_BYTES", "WEIGHT_BYTES", -128, true, "WEIGHT_BYTES"},
    {"FormatWeight", "CSC.D_WEIGHT_FORMAT", "WEIGHT_FORMAT", 1, false, "WEIGHT_FORMAT"},
    {"DataBanksCdma", "CDMA.D_BANK", "DATA_BANK", -1, true, "DATA_BANK"},
    {"WeightBanksCsc", "CSC.D_BANK", "WEIGHT_BANK", -1, true, "WEIGHT_BANK"},
    {"OutWidthCsc", "CSC.D_DATAOUT_SIZE_0", "DATAOUT_WIDTH", 1, true, "DATAOUT_WIDTH"},
    {"OutHeightCsc", "CSC.D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT", 1, true, "DATAOUT_HEIGHT"},
    {"OutChannelsCsc", "CSC.D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL", 1, true, "DATAOUT_CHANNEL"},
    {"OutWidthCacc", "CACC.D_DATAOUT_SIZE_0", "DATAOUT_WIDTH", -1, true, "DATAOUT_WIDTH"},
    {"OutHeightCacc", "CACC.D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT", 1, true, "DATAOUT_HEIGHT"},
    {"OutChannelsCacc", "CACC.D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL", 1, true, "DATAOUT_CHANNEL"},
    {"AtomicsMore", "CSC.D_ATOMICS", "ATOMICS", 1, true, "ATOMICS"},
    {"AtomicsLess", "CSC.D_ATOMICS", "ATOMICS", -1, true, "ATOMICS"},
    {"Release", "CSC.D_RELEASE", "RLS_SLICES", 7, false, "RELEASE"},
    {"SdpWidth", "SDP.D_DATA_CUBE_WIDTH", "WIDTH", 1, true, "CACC delivers"},
    {"SdpHeight", "SDP.D_DATA_CUBE_HEIGHT", "HEIGHT", -1, true, "CACC delivers"},
    {"SdpChannels", "SDP.D_DATA_CUBE_CHANNEL", "CHANNEL", -8, true, "CACC delivers"},
};

constexpr Fault kSdpFaults[] = {
    {"Width", "SDP_RDMA.D_DATA_CUBE_WIDTH", "WIDTH", 1, true, "width"},
    {"Height", "SDP_RDMA.D_DATA_CUBE_HEIGHT", "HEIGHT", 1, true, "height"},
    {"Channels", "SDP_RDMA.D_DATA_CUBE_CHANNEL", "CHANNEL", 1, true, "channels"},
    {"Flying", "SDP_RDMA.D_FEATURE_MODE_CFG", "FLYING_MODE", 1, false, "FLYING_MODE"},
    {"Processing", "SDP_RDMA.D_FEATURE_MODE_CFG", "PROC_PRECISION", 1, false, "PROC_PRECISION"},
    {"Output", "SDP_RDMA.D_FEATURE_MODE_CFG", "OUT_PRECISION", 1, false, "OUT_PRECISION"},
    {"Winograd", "SDP_RDMA.D_FEATURE_MODE_CFG", "WINOGRAD", 1, false, "WINOGRAD", true},
    {"Batches", "SDP_RDMA.D_FEATURE_MODE_CFG", "BATCH_NUMBER", 1, false, "batches", true},
    {"BsDisabled", "SDP_RDMA.D_BRDMA_CFG", "BRDMA_DISABLE", 1, false, "BS takes an operand"},
    {"BnDisabled", "SDP_RDMA.D_NRDMA_CFG", "NRDMA_DISABLE", 1, false, "BN takes an operand"},
    {"BsUseAlu", "SDP_RDMA.D_BRDMA_CFG", "BRDMA_DATA_USE", 1, false, "DATA_USE"},
    {"BnUseMul", "SDP_RDMA.D_NRDMA_CFG", "NRDMA_DATA_USE", 0, false, "DATA_USE"},
    {"BsTakesLess", "SDP.D_DP_BS_MUL_CFG", "BS_MUL_SRC", 0, false, "DATA_USE"},
    {"ToPdp", "SDP.D_FEATURE_MODE_CFG", "OUTPUT_DST", 1, false, "waits for PDP"},
};

// Precision pairs of nv_full that do not complete: in, processing, out.
struct Triple {
  unsigned in, proc, out;
  bool ends;
};

class Blocking : public testing::TestWithParam<std::tuple<const char*, Fault>> {
 protected:
  const nvdla_hw& hw_ = *nvdla_hw_find(std::get<0>(GetParam()));
  const Fault& fault_ = std::get<1>(GetParam());

  void apply(Registers& regs) {
    const auto value = static_cast<std::uint32_t>(fault_.value);
    // A unit's producer points at the group that was programmed.
    const std::uint32_t before = regs.field(fault_.reg, fault_.field);
    regs.change(fault_.reg, fault_.field, fault_.relative ? before + value : value);
  }

  // Sound before, stuck with the fault.
  void run(const TestLayer& layer) {
    // Where a field has no logic behind it, it has no effect.
    const bool ends = fault_.first_only && hw_.regmap != NVDLA_REGMAP_NV_FULL;
    Memory memory;
    load(layer, memory);
    {
      Device device(hw_, memory);
      Registers regs(device);
      program(layer, regs, 0, 0);
      enable(layer, regs);
      while (device.step()) {
      }
      ASSERT_TRUE(device.idle()) << device.blocked().front().reason;
      EXPECT_TRUE(device.blocked().empty());
    }
    Device device(hw_, memory);
    Registers regs(device);
    program(layer, regs, 0, 0);
    apply(regs);
    enable(layer, regs);
    while (device.step()) {
    }
    ASSERT_EQ(device.idle(), ends);
    if (ends) return;
    EXPECT_FALSE(device.step()) << "nothing is left to do";
    EXPECT_EQ(regs.read("GLB.S_INTR_STATUS"), 0u);
    const std::vector<Blocked> blocked = device.blocked();
    ASSERT_FALSE(blocked.empty());
    EXPECT_TRUE(std::any_of(blocked.begin(), blocked.end(), [&](const Blocked& one) {
      return one.reason.find(fault_.reason) != std::string::npos;
    })) << blocked.front().reason;
    // Every unit of the layer stays where it is; its group stays closed, the other one open.
    std::vector<std::string> units = {"SDP"};
    if (layer.uses_rdma()) units.push_back("SDP_RDMA");
    if (layer.ref.convolution)
      for (const char* unit : {"CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC"}) units.push_back(unit);
    for (const std::string& unit : units) {
      EXPECT_EQ(regs.read(unit + ".S_STATUS"), 1u) << unit;
      EXPECT_EQ(regs.read(unit + ".S_POINTER"), 0u) << unit;
      regs.write(unit + ".D_OP_ENABLE", 0);
      EXPECT_EQ(regs.read(unit + ".D_OP_ENABLE"), 1u) << unit;
      EXPECT_TRUE(std::any_of(blocked.begin(), blocked.end(), [&](const Blocked& one) {
        return model::unit_name(static_cast<model::Unit>(one.unit)) == unit && one.group == 0 &&
               !one.reason.empty();
      })) << unit;
    }
    program(layer, regs, 1, 1);
    enable(layer, regs);
    while (device.step()) {
    }
    EXPECT_EQ(regs.read("SDP.S_STATUS"), 0x20001u) << "the other group only pends";
    device.reset();
    EXPECT_TRUE(device.idle());
    EXPECT_TRUE(device.blocked().empty());
    program(layer, regs, 0, 0);
    enable(layer, regs);
    while (device.step()) {
    }
    EXPECT_TRUE(device.idle()) << "after a reset it runs again";
  }
};

class ConvolutionBlocking : public Blocking {};
TEST_P(ConvolutionBlocking, BlocksAndSaysWhy) { run(conv_layer(hw_)); }

class SdpBlocking : public Blocking {};
TEST_P(SdpBlocking, BlocksAndSaysWhy) { run(sdp_layer(hw_)); }

std::string fault_name(const testing::TestParamInfo<std::tuple<const char*, Fault>>& which) {
  return std::string(std::get<0>(which.param)) + "_" + std::get<1>(which.param).name;
}

INSTANTIATE_TEST_SUITE_P(All, ConvolutionBlocking,
                         testing::Combine(testing::Values("nv_full", "nv_small"),
                                          testing::ValuesIn(kConvFaults)),
                         fault_name);
INSTANTIATE_TEST_SUITE_P(All, SdpBlocking,
                         testing::Combine(testing::Values("nv_full", "nv_small"),
                                          testing::ValuesIn(kSdpFaults)),
                         fault_name);

// Runs it and returns the first reason, empty if it ends.
std::string reason_of(const TestLayer& layer, void (*change)(Registers&)) {
  Memory memory;
  load(layer, memory);
  Device device(*layer.hw, memory);
  Registers regs(device);
  program(layer, regs, 0, 0);
  if (change != nullptr) change(regs);
  enable(layer, regs);
  while (device.step()) {
  }
  if (device.idle()) return {};
  const auto blocked = device.blocked();
  return blocked.empty() ? "no reason" : blocked.front().reason;
}

TEST(BlockingRules, AllLinesMustFitTheDataBanks) {
  for (const char* name : {"nv_full", "nv_small"}) {
    TestLayer layer = conv_layer(*nvdla_hw_find(name));
    RefLayer& ref = layer.ref;
    ref.kernel_width = ref.kernel_height = 1;
    ref.left = ref.right = ref.top = ref.bottom = 0;
    ref.weights.assign(std::size_t{ref.kernels} * ref.channels, 1);
    Random random(0);
    // The last line that fits one bank, and the first that does not.
    ref.height = layer.hw->cbuf_entries / layer.entries();
    ref.input.assign(std::size_t{ref.width} * ref.height * ref.channels, 1);
    finish_layout(layer, random, false);
    layer.data_banks = 1;
    EXPECT_EQ(reason_of(layer, nullptr), "") << name;
    ref.height += 1;
    ref.input.resize(std::size_t{ref.width} * ref.height * ref.channels);
    finish_layout(layer, random, false);
    layer.data_banks = 1;
    EXPECT_NE(reason_of(layer, nullptr).find("1 data banks hold"), std::string::npos) << name;
    layer.data_banks = 2;
    EXPECT_EQ(reason_of(layer, nullptr), "") << name;
  }
}

TEST(BlockingRules, BanksMustExist) {
  for (const char* name : {"nv_full", "nv_small"}) {
    TestLayer layer = conv_layer(*nvdla_hw_find(name));
    layer.data_banks = layer.hw->cbuf_banks / 2;
    layer.weight_banks = layer.hw->cbuf_banks / 2;
    EXPECT_EQ(reason_of(layer, nullptr), "") << name;
    layer.weight_banks += 1;
    EXPECT_NE(reason_of(layer, nullptr).find("there are"), std::string::npos) << name;
  }
}

TEST(BlockingRules, WeightBytes) {
  struct Case {
    const char* hw;
    std::uint64_t bytes;
    bool ends;
  };
  // 40 kernels of 9 * 20 bytes are 7200; more stays in the buffer. The last kernel group waits for
  // all of it, and finds room for two banks of nv_full or three of nv_small, and for the groups
  // before it, which are freed: one of 32 kernels, or four of 8.
  const Case cases[] = {
      {"nv_full", 7296, true},    {"nv_full", 7168, false},  {"nv_full", 7424, true},
      {"nv_full", 71296, true},   {"nv_full", 71424, false}, {"nv_small", 7200, true},
      {"nv_small", 7208, true},   {"nv_small", 7296, true},  {"nv_small", 7192, false},
      {"nv_small", 7204, false},  {"nv_small", 7304, true},  {"nv_small", 18048, true},
      {"nv_small", 18056, false}, {"nv_large", 7232, true},  {"nv_large", 7200, false},
      {"nv_large", 0, false},
  };
  for (const Case& one : cases) {
    TestLayer layer = conv_layer(*nvdla_hw_find(one.hw));
    layer.weight_bytes = one.bytes;
    const std::string reason = reason_of(layer, nullptr);
    EXPECT_EQ(reason.empty(), one.ends) << one.hw << " " << one.bytes << ": " << reason;
    if (!one.ends) {
      EXPECT_NE(reason.find("WEIGHT_BYTES"), std::string::npos) << reason;
    }
  }
}

TEST(BlockingRules, AKernelGroupMustFitTheWeightBanks) {
  TestLayer layer = conv_layer(*nvdla_hw_find("nv_full"));
  RefLayer& ref = layer.ref;
  ref.channels = 64;
  ref.kernels = 40;
  ref.kernel_width = ref.kernel_height = 5;
  ref.left = ref.right = ref.top = ref.bottom = 2;
  ref.input.assign(std::size_t{ref.width} * ref.height * ref.channels, 1);
  ref.weights.assign(std::size_t{ref.kernels} * 25 * ref.channels, 1);
  Random random(0);
  finish_layout(layer, random, false);
  // A group is 32 * 1600 = 51,200 bytes, all weights are 64,000; a bank holds 32,768.
  layer.weight_banks = 2;
  EXPECT_EQ(reason_of(layer, nullptr), "");
  layer.weight_banks = 1;
  EXPECT_NE(reason_of(layer, nullptr).find("a kernel group takes"), std::string::npos);
  layer.keep_weights = true;
  EXPECT_NE(reason_of(layer, nullptr).find("SKIP_WEIGHT_RLS"), std::string::npos);
  layer.weight_banks = 2;
  EXPECT_EQ(reason_of(layer, nullptr), "");
}

TEST(BlockingRules, StridesMayLeaveInputOver) {
  // Golden cases do it: the output size is rounded down.
  TestLayer layer = conv_layer(*nvdla_hw_find("nv_full"));
  layer.ref.stride_width = 3;
  Random random(0);
  finish_layout(layer, random, false);
  ASSERT_NE((layer.ref.left + layer.ref.width + layer.ref.right - 3) % 3, 0u);
  EXPECT_EQ(reason_of(layer, nullptr), "");
}

TEST(BlockingRules, GrainsMayHaveMoreLinesThanTheInput) {
  for (const char* name : {"nv_full", "nv_small"})
    for (const unsigned lines : {7u, 8u, 4096u}) {
      TestLayer layer = conv_layer(*nvdla_hw_find(name));
      ASSERT_TRUE(layer.line_packed);
      ASSERT_EQ(layer.ref.height, 7u);
      layer.grain = lines;
      EXPECT_EQ(reason_of(layer, nullptr), "") << name << " " << lines;
    }
}

// Hardware would take padding for all of it.
TEST(BlockingRules, OutputsFarBehindTheInputAreNotModelled) {
  const TestLayer layer = conv_layer(*nvdla_hw_find("nv_full"));
  // Eight outputs of three positions from one before the input of eight on.
  EXPECT_EQ(
      reason_of(layer, [](Registers& r) { r.change("CSC.D_DILATION_EXT", "X_DILATION_EXT", 31); }),
      "");
  const std::string reason = reason_of(layer, [](Registers& r) {
    r.change("CSC.D_CONV_STRIDE_EXT", "CONV_X_STRIDE_EXT", 7);
    r.change("CSC.D_DILATION_EXT", "X_DILATION_EXT", 31);
  });
  EXPECT_NE(reason.find("112 columns and 1 lines behind the input"), std::string::npos) << reason;
}

TEST(BlockingRules, PrecisionsOfSdp) {
  const Triple triples[] = {{0, 0, 0, true},  {0, 0, 1, true},  {1, 0, 0, true}, {1, 1, 1, true},
                            {0, 1, 1, false}, {1, 1, 0, false}, {0, 1, 0, false}};
  for (const Triple& triple : triples) {
    TestLayer layer = sdp_layer(*nvdla_hw_find("nv_full"));
    layer.ref.wide_input = triple.in != 0;
    layer.ref.wide_proc = triple.proc != 0;
    layer.ref.wide_output = triple.out != 0;
    layer.ref.lanes = 64;
    layer.ref.input.assign(std::size_t{layer.ref.width} * layer.ref.height * 64, 1);
    Random random(0);
    finish_layout(layer, random, false);
    for (RefX& x : layer.ref.x) {
      x.alu.values.assign(64, 1);
      x.mul.values.assign(64, 1);
    }
    const std::string reason = reason_of(layer, nullptr);
    EXPECT_EQ(reason.empty(), triple.ends)
        << triple.in << triple.proc << triple.out << ": " << reason;
  }
}

TEST(BlockingRules, SixteenBitProcessingTakesTwoByteOperands) {
  TestLayer layer = sdp_layer(*nvdla_hw_find("nv_full"));
  layer.ref.wide_input = layer.ref.wide_proc = layer.ref.wide_output = true;
  layer.ref.lanes = 48;
  layer.ref.input.assign(std::size_t{layer.ref.width} * layer.ref.height * 48, 1);
  EXPECT_EQ(reason_of(layer, nullptr), "");
  const std::string reason = reason_of(
      layer, [](Registers& regs) { regs.change("SDP_RDMA.D_BRDMA_CFG", "BRDMA_DATA_SIZE", 0); });
  EXPECT_NE(reason.find("one byte"), std::string::npos) << reason;
}

TEST(BlockingRules, UnconsumedOperandsHoldSdpRdmaForEver) {
  for (const char* name : {"nv_full", "nv_small"}) {
    const TestLayer layer = sdp_layer(*nvdla_hw_find(name));
    Memory memory;
    load(layer, memory);
    Device device(*layer.hw, memory);
    Registers regs(device);
    program(layer, regs, 0, 0);
    regs.set("SDP.D_DP_BN_CFG", {{"BN_BYPASS", 1}, {"BN_ALU_BYPASS", 1}, {"BN_MUL_BYPASS", 1}});
    enable(layer, regs);
    while (device.step()) {
    }
    EXPECT_EQ(regs.read("SDP.S_STATUS"), 0u) << "SDP itself ends";
    EXPECT_EQ(regs.read("GLB.S_INTR_STATUS"), 1u);
    EXPECT_EQ(regs.read("SDP_RDMA.S_STATUS"), 1u);
    const auto blocked = device.blocked();
    ASSERT_EQ(blocked.size(), 1u);
    EXPECT_EQ(blocked[0].unit, static_cast<std::uint32_t>(NVDLA_UNIT_SDP_RDMA));
    EXPECT_NE(blocked[0].reason.find("BN"), std::string::npos);
  }
}

TEST(BlockingRules, AMissingUnitIsWaitedFor) {
  const TestLayer layer = conv_layer(*nvdla_hw_find("nv_small"));
  for (const std::string missing : {"CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA", "SDP", "SDP_RDMA"}) {
    Memory memory;
    load(layer, memory);
    Device device(*layer.hw, memory);
    Registers regs(device);
    program(layer, regs, 0, 0);
    for (const std::string unit : {"SDP_RDMA", "SDP", "CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"})
      if (unit != missing) regs.write(unit + ".D_OP_ENABLE", 1);
    while (device.step()) {
    }
    EXPECT_FALSE(device.idle());
    const auto blocked = device.blocked();
    EXPECT_FALSE(blocked.empty()) << missing;
    for (const auto& one : blocked)
      EXPECT_NE(one.reason.find("waits for"), std::string::npos) << one.reason;
    // Unlike a fault this heals.
    regs.write(missing + ".D_OP_ENABLE", 1);
    while (device.step()) {
    }
    EXPECT_TRUE(device.idle()) << missing;
    EXPECT_TRUE(device.blocked().empty());
  }
}

// Every unit of the layer is told of it, and none has the logic.
TEST(BlockingRules, FeaturesMustExist) {
  for (const char* name : {"nv_large", "nv_small"}) {
    const TestLayer layer = conv_layer(*nvdla_hw_find(name));
    const auto expect = [&](void (*change)(Registers&), const char* part) {
      const std::string reason = reason_of(layer, change);
      EXPECT_NE(reason.find(part), std::string::npos) << name << ": " << reason;
    };
    expect(
        [](Registers& r) {
          for (const char* unit : {"CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC"})
            r.change(std::string(unit) + ".D_MISC_CFG", "CONV_MODE", 1);
          r.write("CDMA.D_DATAIN_SIZE_EXT_0", r.read("CSC.D_DATAIN_SIZE_EXT_0"));
        },
        "Winograd");
    expect(
        [](Registers& r) {
          for (const char* unit : {"CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC"})
            r.change(std::string(unit) + ".D_MISC_CFG", "PROC_PRECISION", 1);
          for (const char* unit : {"CDMA", "CSC"})
            r.change(std::string(unit) + ".D_MISC_CFG", "IN_PRECISION", 1);
        },
        "int8 only");
    expect(
        [](Registers& r) {
          for (const char* unit : {"CDMA", "CSC", "CACC"})
            r.change(std::string(unit) + ".D_BATCH_NUMBER", "BATCHES", 1);
        },
        "batches");
    expect(
        [](Registers& r) {
          for (const char* unit : {"CDMA", "CSC"})
            r.change(std::string(unit) + ".D_WEIGHT_FORMAT", "WEIGHT_FORMAT", 1);
        },
        "compressed weights");
  }
}

TEST(BlockingRules, SecondaryMemoryMustExist) {
  for (const char* name : {"nv_small", "nv_medium_512"}) {
    TestLayer layer = conv_layer(*nvdla_hw_find(name));
    const auto secondary = [&](void (*change)(Registers&)) {
      EXPECT_NE(reason_of(layer, change).find("secondary memory"), std::string::npos) << name;
    };
    secondary([](Registers& r) { r.change("CDMA.D_DAIN_RAM_TYPE", "DATAIN_RAM_TYPE", 0); });
    secondary([](Registers& r) { r.change("CDMA.D_WEIGHT_RAM_TYPE", "WEIGHT_RAM_TYPE", 0); });
    secondary([](Registers& r) { r.change("SDP.D_DST_DMA_CFG", "DST_RAM_TYPE", 0); });
    secondary([](Registers& r) { r.change("SDP_RDMA.D_BRDMA_CFG", "BRDMA_RAM_TYPE", 0); });
    secondary([](Registers& r) { r.change("SDP_RDMA.D_NRDMA_CFG", "NRDMA_RAM_TYPE", 0); });
    layer = sdp_layer(*nvdla_hw_find(name));
    secondary([](Registers& r) { r.change("SDP_RDMA.D_SRC_DMA_CFG", "SRC_RAM_TYPE", 0); });
  }
}

}  // namespace
}  // namespace nvdla::test
