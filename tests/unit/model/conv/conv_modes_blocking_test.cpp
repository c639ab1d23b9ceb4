// SPDX-License-Identifier: MIT
//
// Image, Winograd, batched and compressed layers that never end on hardware: each fault alone
// blocks a layer that otherwise runs, and says why.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "common/layers/conv_case.hpp"
#include "model/device.hpp"

namespace nvdla::test {
namespace {

using model::Blocked;
using model::Device;
using model::Memory;
using model::Ram;

ConvCase image() {
  ConvCase layer;
  layer.image = true;
  layer.format = 13;
  layer.format_name = pixel_format_name(13);
  layer.in = layer.proc = Number::kInt8;
  layer.out = Number::kInt16;
  layer.channels = 4;
  layer.width = 12;
  layer.height = 9;
  layer.kernel_width = 3;
  layer.kernel_height = 3;
  layer.left = layer.right = layer.top = layer.bottom = 1;
  layer.x_offset = 2;
  layer.kernels = 5;
  layer.convert = true;
  return layer;
}

ConvCase winograd() {
  ConvCase layer;
  layer.winograd = true;
  layer.in = layer.proc = layer.out = Number::kInt16;
  layer.channels = 20;
  layer.width = 14;
  layer.height = 10;
  layer.left = layer.right = layer.top = layer.bottom = 1;
  layer.kernels = 5;
  return layer;
}

ConvCase direct() {
  ConvCase layer;
  layer.in = layer.proc = layer.out = Number::kInt16;
  layer.channels = 20;
  layer.width = layer.height = 6;
  layer.kernel_width = layer.kernel_height = 3;
  layer.kernels = 40;
  return layer;
}

ConvCase batch() {
  ConvCase layer = direct();
  layer.batches = 3;
  return layer;
}

ConvCase compressed() {
  ConvCase layer = direct();
  layer.compressed = true;
  return layer;
}

struct ModeFault {
  const char* name;
  ConvCase (*layer)();
  const char* reg;
  const char* field;
  int value;  // as written, or what is added to it
  bool relative;
  const char* reason;
};

void PrintTo(const ModeFault& fault, std::ostream* out) { *out << fault.name; }

constexpr ModeFault kFaults[] = {
    {"PixelFormat", image, "CDMA.D_DATAIN_FORMAT", "PIXEL_FORMAT", 36, false, "does not exist"},
    {"PixelMapping", image, "CDMA.D_DATAIN_FORMAT", "PIXEL_MAPPING", 1, false, "PIXEL_MAPPING"},
    {"PixelPrecision", image, "CDMA.D_MISC_CFG", "IN_PRECISION", 1, false, "IN_PRECISION"},
    {"PixelComponents", image, "CDMA.D_DATAIN_FORMAT", "PIXEL_FORMAT", 0, false, "components"},
    {"PixelOffset", image, "CDMA.D_PIXEL_OFFSET", "PIXEL_X_OFFSET", 8, false, "PIXEL_X_OFFSET"},
    {"PixelDilation", image, "CSC.D_DILATION_EXT", "Y_DILATION_EXT", 1, false, "dilation"},
    {"PixelKernel", image, "CSC.D_WEIGHT_SIZE_EXT_0", "WEIGHT_WIDTH_EXT", 2, false, "width 1"},
    {"PixelChannels", image, "CSC.D_WEIGHT_SIZE_EXT_1", "WEIGHT_CHANNEL_EXT", 1, true,
     "components"},
    {"PixelEntriesCdma", image, "CDMA.D_ENTRY_PER_SLICE", "ENTRIES", 1, true, "ENTRY_PER_SLICE"},
    {"PixelPadding", image, "CDMA.D_ZERO_PADDING", "PAD_RIGHT", 0, false, "output width"},
    {"PixelExtensionReserved", image, "CSC.D_POST_Y_EXTENSION", "Y_EXTENSION", 3, false,
     "Y_EXTENSION"},
    {"ExtensionWithoutImage", direct, "CSC.D_POST_Y_EXTENSION", "Y_EXTENSION", 1, false,
     "without image"},
    {"WinogradStride", winograd, "CSC.D_CONV_STRIDE_EXT", "CONV_X_STRIDE_EXT", 1, false, "stride"},
    {"WinogradDilation", winograd, "CSC.D_DILATION_EXT", "X_DILATION_EXT", 1, false, "dilation"},
    {"WinogradExtension", winograd, "CSC.D_POST_Y_EXTENSION", "Y_EXTENSION", 1, false,
     "without image"},
    {"WinogradKernel", winograd, "CSC.D_WEIGHT_SIZE_EXT_0", "WEIGHT_HEIGHT_EXT", 2, false, "4x4"},
    {"WinogradFold", winograd, "CDMA.D_CONV_STRIDE", "CONV_X_STRIDE", 1, false, "folding makes"},
    {"WinogradPadding", winograd, "CDMA.D_ZERO_PADDING", "PAD_LEFT", 2, false, "padded width"},
    {"WinogradExtended", winograd, "CDMA.D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT", 4, true,
     "DATAIN_WIDTH_EXT"},
    {"WinogradRelease", winograd, "CSC.D_RELEASE", "RLS_SLICES", -1, true, "RELEASE"},
    {"WinogradEntries", winograd, "CSC.D_ENTRY_PER_SLICE", "ENTRIES", -1, true, "ENTRY_PER_SLICE"},
    {"WinogradSdp", winograd, "SDP.D_FEATURE_MODE_CFG", "WINOGRAD", 0, false, "SDP WINOGRAD"},
    {"BatchesSdp", batch, "SDP.D_FEATURE_MODE_CFG", "BATCH_NUMBER", 1, false, "batches"},
    {"BatchesCacc", batch, "CACC.D_BATCH_NUMBER", "BATCHES", 1, false, "BATCHES"},
    {"MaskBytesCsc", compressed, "CSC.D_WMB_BYTES", "WMB_BYTES", 128, true, "WMB_BYTES"},
    {"MaskBank", compressed, "CSC.D_BANK", "WEIGHT_BANK", 14, false, "WEIGHT_BANK"},
};

class ConvModesBlocking : public testing::TestWithParam<ModeFault> {};

// What `change` makes of a layer that runs without it; empty if it still ends.
std::string run(const ConvCase& base, const std::function<void(Registers&, Memory&)>& change) {
  ConvCase layer = base;
  layer.hw = nvdla_hw_find("nv_full");
  Random random(1);
  Memory memory;
  finish(layer, random, memory);
  Device device(*layer.hw, memory);
  Registers regs(device);
  program(layer, regs);
  change(regs, memory);
  enable(regs);
  while (device.step()) {
  }
  if (device.idle()) return {};
  EXPECT_EQ(regs.read("GLB.S_INTR_STATUS"), 0u);
  std::string reasons;
  for (const Blocked& one : device.blocked()) reasons += one.reason + "; ";
  return reasons;
}

TEST_P(ConvModesBlocking, OneFaultBlocks) {
  const ModeFault& fault = GetParam();
  ASSERT_EQ(run(fault.layer(), [](Registers&, Memory&) {}), "");
  const std::string reasons = run(fault.layer(), [&](Registers& regs, Memory&) {
    const std::uint32_t before = regs.field(fault.reg, fault.field);
    const auto value = static_cast<std::uint32_t>(fault.value);
    regs.change(fault.reg, fault.field, fault.relative ? before + value : value);
  });
  EXPECT_NE(reasons.find(fault.reason), std::string::npos) << reasons;
}

INSTANTIATE_TEST_SUITE_P(Modes, ConvModesBlocking, testing::ValuesIn(kFaults),
                         [](const auto& which) { return std::string(which.param.name); });

void change(Memory& memory, std::uint64_t address, unsigned bits) {
  auto byte = memory.read(Ram::kPrimary, address, 1);
  byte[0] ^= static_cast<std::byte>(bits);
  memory.load(Ram::kPrimary, address, byte);
}

// CDMA waits for the running sum of the table's words, CSC expands by the mask.
TEST(ConvCompressedBlocking, GroupSizeThatTheMaskDoesNotHave) {
  const std::string reasons =
      run(compressed(), [](Registers&, Memory& memory) { change(memory, 0x8500'0000, 2); });
  EXPECT_NE(reasons.find("WGS says"), std::string::npos) << reasons;
}

TEST(ConvCompressedBlocking, LastGroupSizeIsNotLookedAt) {
  EXPECT_EQ(run(compressed(), [](Registers&, Memory& memory) { change(memory, 0x8500'0008, 2); }),
            "");
}

TEST(ConvCompressedBlocking, MaskWithMoreOrFewerWeights) {
  for (const unsigned bits : {0xffu, 0x01u}) {
    const std::string reasons =
        run(compressed(), [&](Registers&, Memory& memory) { change(memory, 0x8400'0000, bits); });
    EXPECT_NE(reasons.find("its mask"), std::string::npos) << reasons;
  }
}

TEST(ConvCompressedBlocking, WeightBytesOfAnotherSize) {
  for (const int difference : {128, -128}) {
    const std::string reasons = run(compressed(), [&](Registers& regs, Memory&) {
      for (const char* reg : {"CDMA.D_WEIGHT_BYTES", "CSC.D_WEIGHT_BYTES"})
        regs.write(reg, regs.read(reg) + static_cast<std::uint32_t>(difference));
    });
    EXPECT_NE(reasons.find("WEIGHT_BYTES"), std::string::npos) << reasons;
  }
}

TEST(ConvCompressedBlocking, MaskOfAnotherSize) {
  const std::string reasons = run(compressed(), [&](Registers& regs, Memory&) {
    for (const char* reg : {"CDMA.D_WMB_BYTES", "CSC.D_WMB_BYTES"})
      regs.write(reg, regs.read(reg) + 128);
  });
  EXPECT_NE(reasons.find("WMB_BYTES"), std::string::npos) << reasons;
}

// Bank 15 holds the mask.
TEST(ConvCompressedBlocking, SixteenBanksOfDataAndWeights) {
  const std::string reasons = run(compressed(), [&](Registers& regs, Memory&) {
    for (const char* reg : {"CDMA.D_BANK", "CSC.D_BANK"}) {
      regs.change(reg, "DATA_BANK", 7);
      regs.change(reg, "WEIGHT_BANK", 7);
    }
  });
  EXPECT_NE(reasons.find("there are 15"), std::string::npos) << reasons;
}

// More mask than its bank holds comes group by group, if it may go again and a group fits.
TEST(ConvCompressedBlocking, MaskBeyondItsBank) {
  ConvCase layer;
  layer.compressed = true;
  layer.channels = 1024;
  layer.kernels = 300;
  EXPECT_EQ(run(layer, [](Registers&, Memory&) {}), "");
  std::string reasons = run(layer, [](Registers& regs, Memory&) {
    for (const char* reg : {"CDMA.D_MISC_CFG", "CSC.D_MISC_CFG"})
      regs.change(reg, "SKIP_WEIGHT_RLS", 1);
  });
  EXPECT_NE(reasons.find("SKIP_WEIGHT_RLS with 38400 mask bytes, a bank holds 32768"),
            std::string::npos)
      << reasons;
  layer.kernels = 33;
  layer.channels = 8160;
  EXPECT_EQ(run(layer, [](Registers&, Memory&) {}), "");
  layer.channels += 1;
  reasons = run(layer, [](Registers&, Memory&) {});
  EXPECT_NE(reasons.find("the mask of a kernel group takes"), std::string::npos) << reasons;
}

TEST(ConvImageBlocking, ExtensionWithoutRoomForTheLanes) {
  ConvCase layer = image();
  layer.kernel_width = 5;  // 20 channels
  EXPECT_EQ(run(layer,
                [](Registers& regs, Memory&) {
                  regs.set("CSC.D_POST_Y_EXTENSION", {{"Y_EXTENSION", 1}});
                }),
            "");
  const std::string reasons = run(layer, [](Registers& regs, Memory&) {
    regs.set("CSC.D_POST_Y_EXTENSION", {{"Y_EXTENSION", 2}});
  });
  EXPECT_NE(reasons.find("lanes"), std::string::npos) << reasons;
}

// What all units agree on, and none can do.
TEST(ConvModesTogether, DoNotGoWithEachOther) {
  const auto batches = [](Registers& regs, Memory&) {
    for (const char* unit : {"CDMA", "CSC", "CACC"})
      regs.change(std::string(unit) + ".D_BATCH_NUMBER", "BATCHES", 1);
  };
  const auto tiles = [](Registers& regs, Memory&) {
    for (const char* unit : {"CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC"})
      regs.change(std::string(unit) + ".D_MISC_CFG", "CONV_MODE", 1);
    // There a kernel has the channels of a pixel.
    regs.change("CSC.D_WEIGHT_SIZE_EXT_1", "WEIGHT_CHANNEL_EXT", 3);
  };
  std::string reasons = run(image(), batches);
  EXPECT_NE(reasons.find("image input with batches"), std::string::npos) << reasons;
  reasons = run(image(), tiles);
  EXPECT_NE(reasons.find("image input with Winograd"), std::string::npos) << reasons;
  reasons = run(winograd(), batches);
  EXPECT_NE(reasons.find("Winograd with batches"), std::string::npos) << reasons;
}

TEST(ConvFeatureBlocking, ConverterWithHalfFeatureData) {
  ConvCase layer = direct();
  layer.in = layer.proc = layer.out = Number::kFp16;
  EXPECT_EQ(run(layer, [](Registers&, Memory&) {}), "");
  const std::string reasons = run(layer, [](Registers& regs, Memory&) {
    regs.set("CDMA.D_CVT_CFG", {{"CVT_EN", 1}});
  });
  EXPECT_NE(reasons.find("CVT_EN"), std::string::npos) << reasons;
}

}  // namespace
}  // namespace nvdla::test
