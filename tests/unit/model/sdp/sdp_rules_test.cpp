// SPDX-License-Identifier: MIT
//
// What SDP does not end on, what it compares, which cube of a batch it writes, and the port of its
// tables.
#include <gtest/gtest.h>

#include <string>

#include "common/layers/sdp_generator.hpp"
#include "model/sdp/sdp_pass.hpp"

namespace nvdla::test {
namespace {

using model::Precision;
using model::Ram;
using model::SdpLayer;

const nvdla_hw& config(const char* name) { return *nvdla_hw_find(name); }

SdpCase small(const nvdla_hw& hw, unsigned in, unsigned proc, unsigned out) {
  SdpCase layer;
  layer.hw = &hw;
  layer.in = in;
  layer.proc = proc;
  layer.out = out;
  layer.width = 3;
  layer.height = 2;
  layer.channels = 40;
  Random random(0);
  place_sdp(layer, random, false);
  return layer;
}

std::string reason(const SdpCase& layer, void (*change)(Registers&) = nullptr) {
  UnitRig rig(*layer.hw);
  program_sdp(layer, rig.regs);
  if (change != nullptr) change(rig.regs);
  enable_sdp(rig.regs);
  rig.run();
  return rig.blocked();
}

TEST(SdpRules, ConversionsThatEnd) {
  const unsigned legal[][3] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {1, 1, 1},
                               {1, 1, 2}, {2, 2, 2}, {2, 2, 1}};
  for (const char* name : {"nv_full", "nv_large", "nv_small"})
    for (unsigned in = 0; in < 4; ++in)
      for (unsigned proc = 0; proc < 4; ++proc)
        for (unsigned out = 0; out < 4; ++out) {
          bool ends = false;
          for (const auto& one : legal) ends |= one[0] == in && one[1] == proc && one[2] == out;
          if (config(name).regmap != NVDLA_REGMAP_NV_FULL) ends = in + proc + out == 0;
          const std::string text = reason(small(config(name), in, proc, out));
          EXPECT_EQ(text.empty(), ends) << name << " " << in << proc << out << ": " << text;
          if (!ends) {
            EXPECT_NE(text.find("precisions"), std::string::npos) << text;
          }
        }
}

// Operands that are taken come from a DMA that brings those parts, and nobody brings others.
TEST(SdpRules, OperatorsAndTheirDmasAgree) {
  const char* const dmas[] = {"BRDMA", "NRDMA", "ERDMA"};
  const char* const operators[] = {"BS", "BN", "EW"};
  for (unsigned i = 0; i < 3; ++i) {
    SdpCase layer = small(config("nv_full"), kRefInt8, kRefInt8, kRefInt8);
    SdpUnit& unit = layer.units[i];
    unit.active = unit.alu.active = true;
    unit.alu.source = Source::kPerChannel;
    const std::string dma = dmas[i], name = operators[i];
    const auto reason_with = [&](const std::string& reg, const std::string& field,
                                 std::uint32_t value) {
      UnitRig rig(*layer.hw);
      program_sdp(layer, rig.regs);
      rig.regs.change(reg, field, value);
      enable_sdp(rig.regs);
      rig.run();
      return rig.blocked();
    };
    const std::string cfg = "SDP_RDMA.D_" + dma + "_CFG";
    EXPECT_EQ(reason_with(cfg, dma + "_DISABLE", 0), "");
    EXPECT_NE(reason_with(cfg, dma + "_DISABLE", 1).find(name + " takes an operand from memory"),
              std::string::npos);
    for (const std::uint32_t use : {0u, 2u})
      EXPECT_NE(reason_with(cfg, dma + "_DATA_USE", use).find("DATA_USE"), std::string::npos);
    EXPECT_NE(reason_with("SDP.D_DP_" + name + "_CFG", name + "_BYPASS", 1)
                  .find("nothing takes its operands"),
              std::string::npos);
  }
}

TEST(SdpRules, FloatsTakeTwoByteOperands) {
  SdpCase layer = small(config("nv_full"), kRefFp16, kRefFp16, kRefFp16);
  for (unsigned i = 0; i < 3; ++i) {
    SdpUnit& unit = layer.units[i];
    unit.active = unit.alu.active = true;
    unit.alu.source = Source::kPerChannel;
    unit.two_bytes = true;
    EXPECT_EQ(reason(layer), "");
    unit.two_bytes = false;
    EXPECT_NE(reason(layer).find("one byte"), std::string::npos);
    unit.active = false;
  }
}

TEST(SdpRules, EwAndItsTableMustExist) {
  for (const char* name : {"nv_full", "nv_large", "nv_medium_1024_full", "nv_medium_512",
                           "nv_small_256_full", "nv_small_256", "nv_small"}) {
    const nvdla_hw& hw = config(name);
    SdpCase layer = small(hw, kRefInt8, kRefInt8, kRefInt8);
    layer.units[2].active = true;
    const bool exists = (hw.features & NVDLA_HW_SDP_Y) != 0;
    EXPECT_EQ(reason(layer).empty(), exists) << name;
    layer.units[2].lut = true;
    layer.le.entries.resize(65);
    layer.lo.entries.resize(257);
    const std::string text = reason(layer);
    EXPECT_EQ(text.empty(), (hw.features & NVDLA_HW_LUT) != 0) << name << ": " << text;
    nvdla_hw without = hw;
    without.features &= ~static_cast<std::uint32_t>(NVDLA_HW_LUT);
    layer.hw = &without;
    EXPECT_NE(reason(layer).find(exists ? "table" : "EW"), std::string::npos) << name;
  }
}

TEST(SdpRules, ComparisonsConvertNothing) {
  SdpCase layer = small(config("nv_full"), kRefInt16, kRefInt16, kRefInt16);
  layer.units[2].active = layer.units[2].alu.active = true;
  layer.units[2].algorithm = 3;
  EXPECT_EQ(reason(layer), "");
  EXPECT_NE(reason(layer, [](Registers& r) { r.change("SDP.D_FEATURE_MODE_CFG", "OUTPUT_DST", 1); })
                .find("EW compares"),
            std::string::npos);
  layer.out = kRefFp16;
  EXPECT_NE(reason(layer).find("EW compares"), std::string::npos);
}

// The layer itself, since a convolution has to bring it.
SdpLayer flying() {
  SdpLayer layer;
  layer.flying = true;
  layer.width = layer.height = 8;
  layer.channels = 40;
  layer.scale = 1;
  layer.proc = layer.out = Precision::kInt16;
  return layer;
}

TEST(SdpRules, WinogradGivesWholeTilesOnTheFly) {
  const nvdla_hw& hw = config("nv_full");
  SdpLayer layer = flying();
  layer.winograd = true;
  EXPECT_EQ(sdp_fault(hw, layer), "");
  layer.width = 6;
  EXPECT_NE(sdp_fault(hw, layer).find("4 x 4"), std::string::npos);
  layer.width = 8;
  layer.height = 7;
  EXPECT_NE(sdp_fault(hw, layer).find("4 x 4"), std::string::npos);
  layer.height = 8;
  layer.proc = Precision::kInt8;
  EXPECT_NE(sdp_fault(hw, layer).find("not with WINOGRAD"), std::string::npos);
  SdpCase memory = small(hw, kRefInt8, kRefInt8, kRefInt8);
  EXPECT_NE(reason(memory,
                   [](Registers& r) {
                     r.change("SDP.D_FEATURE_MODE_CFG", "WINOGRAD", 1);
                     r.change("SDP_RDMA.D_FEATURE_MODE_CFG", "WINOGRAD", 1);
                   })
                .find("WINOGRAD with input from memory"),
            std::string::npos);
}

TEST(SdpRules, BatchesComeOnTheFly) {
  const nvdla_hw& hw = config("nv_full");
  SdpLayer layer = flying();
  layer.batches = 3;
  EXPECT_EQ(sdp_fault(hw, layer), "");
  layer.proc = Precision::kInt8;
  EXPECT_NE(sdp_fault(hw, layer).find("batches"), std::string::npos);
  SdpCase memory = small(hw, kRefInt8, kRefInt8, kRefInt8);
  const auto batches = [](Registers& r) {
    r.change("SDP.D_FEATURE_MODE_CFG", "BATCH_NUMBER", 1);
    r.change("SDP_RDMA.D_FEATURE_MODE_CFG", "BATCH_NUMBER", 1);
  };
  EXPECT_NE(reason(memory, batches).find("batches with input from memory"), std::string::npos);
  // There the register has no logic behind it.
  EXPECT_EQ(reason(small(config("nv_large"), kRefInt8, kRefInt8, kRefInt8), batches), "");
}

// Operands are those of one cube for all of a batch; single positions of a batch use the strides.
TEST(SdpPass, WritesEveryCubeOfABatch) {
  const nvdla_hw& hw = config("nv_full");
  for (const unsigned size : {1u, 3u}) {
    model::Memory memory;
    model::Dma dma(hw, memory);
    model::SdpPass pass(hw, dma, model::chosen_kernels());
    SdpLayer layer = flying();
    layer.width = layer.height = size;
    layer.batches = 3;
    layer.batch_stride = 0x1000;
    layer.destination = {Ram::kPrimary, kSdpOut, 0x80, 0x200};
    layer.has_rdma = true;
    layer.x[0].active = layer.x[0].alu.active = layer.x[0].alu.from_memory = true;
    layer.x[0].algorithm = model::Alu::kSum;
    model::OperandDma& operand = layer.rdma.operands[0];
    operand.disabled = false;
    operand.use = 1;
    operand.two_bytes = operand.per_element = true;
    operand.memory = {Ram::kPrimary, kSdpIn, 0x80, 0x200};
    memory.fill(Ram::kPrimary, kSdpIn, 0x1000, std::byte{1});  // 0x0101 everywhere
    memory.fill(Ram::kPrimary, kSdpOut, 0x4000, std::byte{kUntouched});
    pass.begin(layer);
    std::map<std::uint64_t, std::uint8_t> want;
    for (unsigned batch = 3; batch-- > 0;) {
      pass.select_batch(batch);
      for (unsigned block = 0; block < pass.blocks(); ++block) {
        std::vector<std::int32_t> values(std::size_t{size} * size * model::kBlock);
        for (unsigned position = 0; position < size * size; ++position)
          for (unsigned lane = 0; lane < pass.lanes(block); ++lane) {
            const auto value =
                static_cast<std::int32_t>(1000 * batch + 100 * block + 10 * position + lane);
            values[position * model::kBlock + lane] = value;
            const std::uint64_t at = kSdpOut + batch * 0x1000 +
                                     (block * model::kBlock + lane) / 16 * 0x200 +
                                     position / size * 0x80 + position % size * 32 + lane % 16 * 2;
            want[at] = static_cast<std::uint8_t>(value + 0x101);
            want[at + 1] = static_cast<std::uint8_t>((value + 0x101) >> 8);
          }
        pass.tile(values.data(), block, 0, size * size);
      }
    }
    pass.end();
    for (std::uint64_t at = kSdpOut; at < kSdpOut + 0x4000; ++at) {
      const auto found = want.find(at);
      const std::uint8_t got =
          std::to_integer<std::uint8_t>(memory.read(Ram::kPrimary, at, 1).front());
      ASSERT_EQ(got, found == want.end() ? kUntouched : found->second)
          << size << ", " << at - kSdpOut;
    }
  }
}

TEST(SdpPass, TakesFloatsOfAConvolution) {
  const nvdla_hw& hw = config("nv_full");
  for (const bool flush : {false, true}) {
    model::Memory memory;
    model::Dma dma(hw, memory);
    model::SdpPass pass(hw, dma, model::chosen_kernels());
    SdpLayer layer = flying();
    layer.width = layer.height = 1;
    layer.channels = 4;
    layer.proc = layer.out = Precision::kFp16;
    layer.flush_nan = flush;
    layer.destination = {Ram::kPrimary, kSdpOut, 0, 0};
    pass.begin(layer);
    std::int32_t values[model::kBlock] = {0x3f800000, static_cast<std::int32_t>(0xff800123),
                                          0x7f7fffff, 0x38800001};
    pass.tile(values, 0, 0, 1);
    const model::SdpCounters counters = pass.end();
    const auto bytes = memory.read(Ram::kPrimary, kSdpOut, 8);
    const std::uint16_t want[4] = {0x3c00, static_cast<std::uint16_t>(flush ? 0 : 0xfd23), 0x7bff,
                                   0x0400};
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(std::to_integer<unsigned>(bytes[2 * i]) |
                    std::to_integer<unsigned>(bytes[2 * i + 1]) << 8,
                want[i]);
    EXPECT_EQ(counters.nan_out, flush ? 0u : 1u);
    EXPECT_EQ(counters.nan_in, 0u) << "only memory's are counted";
    EXPECT_EQ(counters.saturated, 1u);
  }
}

// In quarters: what rounding carries past a limit, or back to it, and what lies beyond. The first
// generation looks at how far the result is from the truncated value, the second at both ends of
// its shifter.
TEST(SdpPass, CountsSaturationAsItsGenerationDoes) {
  const struct {
    std::int32_t value;
    bool first, second;
  } cases[] = {
      {4 * -65536, false, false},    {4 * -65536 - 1, false, true}, {4 * -65536 - 2, false, true},
      {4 * -65537, false, true},     {4 * -65537 - 1, true, true},  {4 * 65535, false, false},
      {4 * 65535 + 1, false, false}, {4 * 65535 + 2, false, true},  {4 * 65536, false, true},
      {4 * 65536 + 3, false, true},  {4 * 65537, true, true},       {-4, false, false},
      {INT32_MIN, true, true},       {INT32_MAX, true, true},
  };
  for (unsigned set = 0; set < model::kKernelChoices; ++set) {
    if (!model::kernel_choice(set).usable) continue;
    const model::Kernels& kernels = *model::kernel_choice(set).kernels;
    for (const char* name : {"nv_full", "nv_large", "nv_small"})
      for (const auto& one : cases) {
        const nvdla_hw& hw = config(name);
        model::Memory memory;
        model::Dma dma(hw, memory);
        model::SdpPass pass(hw, dma, kernels);
        SdpLayer layer = flying();
        layer.width = layer.height = 1;
        layer.channels = 1;
        layer.proc = layer.out = Precision::kInt8;
        layer.shift = 2;
        layer.count_saturation = true;
        layer.destination = {Ram::kPrimary, kSdpOut, 0, 0};
        pass.begin(layer);
        std::int32_t values[model::kBlock] = {one.value};
        pass.tile(values, 0, 0, 1);
        const bool first = hw.regmap == NVDLA_REGMAP_NV_FULL;
        EXPECT_EQ(pass.end().saturated, (first ? one.first : one.second) ? 1u : 0u)
            << kernels.name << ", " << name << ": " << one.value << " / 4";
      }
  }
}

// A window of one element gives what SDP hands on, bit for bit, infinities and NaNs too: PDP writes
// what SDP would have written.
TEST(SdpToPdp, HandsOnWhatItWouldWrite) {
  for (const char* name : {"nv_full", "nv_small_256_full", "nv_small"}) {
    const nvdla_hw& hw = config(name);
    unsigned layers = 0;
    for (unsigned seed = 0; layers < 60; ++seed) {
      Random random(seed);
      SdpGenerator generator(hw, random);
      const SdpCase layer = generator.layer();
      if (layer.proc != layer.out || layer.in != layer.proc || layer.equal()) continue;
      ++layers;
      UnitRig rig(hw);
      generator.fill(layer, rig);
      const std::uint64_t region = sdp_region(layer) + 8192;
      rig.memory.fill(Ram::kPrimary, kSdpOut - 4096, region, std::byte{kUntouched});
      const SdpOutcome want = sdp_reference(layer, rig);
      Registers& regs = rig.regs;
      program_sdp(layer, regs);
      regs.change("SDP.D_FEATURE_MODE_CFG", "OUTPUT_DST", 1);
      for (const std::string way : {"IN", "OUT"}) {
        regs.write("PDP.D_DATA_CUBE_" + way + "_WIDTH", layer.width - 1);
        regs.write("PDP.D_DATA_CUBE_" + way + "_HEIGHT", layer.height - 1);
        regs.write("PDP.D_DATA_CUBE_" + way + "_CHANNEL", layer.channels - 1);
      }
      regs.write("PDP.D_DATA_FORMAT", layer.out);
      regs.set("PDP.D_OPERATION_MODE_CFG", {{"POOLING_METHOD", 1}});
      regs.write("PDP.D_DST_BASE_ADDR_LOW", static_cast<std::uint32_t>(kSdpOut));
      regs.write("PDP.D_DST_LINE_STRIDE", static_cast<std::uint32_t>(layer.destination.line));
      regs.write("PDP.D_DST_SURFACE_STRIDE",
                 static_cast<std::uint32_t>(
                     layer.width == 1 && layer.height == 1 ? hw.atom : layer.destination.surface));
      regs.write("PDP.D_DST_RAM_CFG", 1);
      enable_sdp(regs);
      rig.run();
      ASSERT_NE(rig.blocked().find("PDP"), std::string::npos) << "SDP waits for it";
      regs.write("PDP.D_OP_ENABLE", 1);
      rig.run();
      ASSERT_EQ(rig.blocked(), "") << name << ", seed " << seed;
      ASSERT_EQ(rig.compare(kSdpOut - 4096, region, want.bytes), "") << name << ", seed " << seed;
      EXPECT_EQ(regs.read("SDP.D_PERF_OUT_SATURATION"),
                layer.count_saturation ? want.saturated : 0u);
      EXPECT_EQ(regs.read("GLB.S_INTR_STATUS"), 0x11u) << "both are done";
    }
  }
}

// Equal everywhere, and with one element that differs: of the cube, and of its padded lanes.
TEST(SdpEqual, FindsOneElement) {
  for (const unsigned precision : {+kRefInt8, +kRefInt16, +kRefFp16})
    for (const Source source : {Source::kRegister, Source::kPerElement})
      for (const int different : {-1, 0, 10, 39, 41}) {
        SdpCase layer = small(config("nv_full"), precision, precision, precision);
        SdpUnit& y = layer.units[2];
        y.active = y.alu.active = true;
        y.algorithm = 3;
        y.alu.source = source;
        y.two_bytes = precision != kRefInt8;
        // 0x3838 is 0.52734375 in fp16.
        y.alu.value = precision == kRefInt8 ? 0x38 : precision == kRefInt16 ? 0x3838 : 0x3f070000;
        Random random(0);
        place_sdp(layer, random, false);
        UnitRig rig(*layer.hw);
        for (const std::uint64_t address : {kSdpIn, sdp_operands(2)})
          rig.memory.fill(Ram::kPrimary, address, sdp_region(layer), std::byte{0x38});
        if (different >= 0)
          rig.memory.fill(
              Ram::kPrimary,
              layer.at(layer.source, ref_bytes(precision), 1, 1, static_cast<unsigned>(different)),
              1, std::byte{0x39});
        ASSERT_EQ(check_sdp(layer, rig), "") << precision;  // nothing written either
        EXPECT_EQ(rig.regs.read("SDP.D_STATUS"), different >= 0 ? 1u : 0u)
            << precision << " " << static_cast<int>(source) << " " << different;
        EXPECT_EQ(rig.regs.read("GLB.S_INTR_STATUS"), 1u);
      }
}

// The index moves on with each access of the data register and is set by the other one alone.
TEST(SdpTables, PortReadsBackWhatWasWritten) {
  UnitRig rig(config("nv_full"));
  Registers& regs = rig.regs;
  const unsigned sizes[2] = {65, 257};
  for (unsigned table = 0; table < 2; ++table) {
    regs.set("SDP.S_LUT_ACCESS_CFG", {{"LUT_TABLE_ID", table}, {"LUT_ACCESS_TYPE", 1}});
    for (unsigned i = 0; i < sizes[table]; ++i)
      regs.write("SDP.S_LUT_ACCESS_DATA", 0x8000 + 1000 * table + i);
  }
  for (unsigned table = 0; table < 2; ++table) {
    const std::uint32_t start = 7;
    regs.set("SDP.S_LUT_ACCESS_CFG", {{"LUT_TABLE_ID", table}, {"LUT_ADDR", start}});
    for (unsigned i = start; i < sizes[table]; ++i)
      ASSERT_EQ(regs.read("SDP.S_LUT_ACCESS_DATA"), 0x8000 + 1000 * table + i);
    // A write of the data register without ACCESS_TYPE moves on and changes nothing.
    regs.set("SDP.S_LUT_ACCESS_CFG", {{"LUT_TABLE_ID", table}});
    regs.write("SDP.S_LUT_ACCESS_DATA", 1);
    ASSERT_EQ(regs.read("SDP.S_LUT_ACCESS_DATA"), 0x8000 + 1000 * table + 1);
    regs.set("SDP.S_LUT_ACCESS_CFG", {{"LUT_TABLE_ID", table}});
    ASSERT_EQ(regs.read("SDP.S_LUT_ACCESS_DATA"), 0x8000 + 1000 * table);
  }
}

}  // namespace
}  // namespace nvdla::test
