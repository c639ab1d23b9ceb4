// SPDX-License-Identifier: MIT
//
// RUBIK against the definition of its three modes, element by element, with the bytes that it
// touches; and what it does not end on.
#include <gtest/gtest.h>

#include "common/kernel_sets.hpp"
#include "common/property.hpp"
#include "common/share.hpp"
#include "common/unit_rig.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::test {
namespace {

constexpr std::uint64_t kIn = 0x8000'0000, kOut = 0x8200'0000;
constexpr std::uint64_t kRegion = 1 << 19;

enum Mode : unsigned { kContract, kSplit, kMerge };

struct Layer {
  Mode mode = kContract;
  unsigned precision = 0;
  unsigned width = 1, height = 1, channels = 1;  // channels of the output
  unsigned sx = 1, sy = 1;
  Cube in, out;  // `surface` is the plane stride where the side is planar

  unsigned bytes() const { return precision == 0 ? 1 : 2; }
  unsigned lanes() const { return 32 / bytes(); }
  unsigned surfaces() const { return (channels + lanes() - 1) / lanes(); }
  std::uint64_t planar_line() const { return (width * bytes() + 31) / 32 * 32; }

  std::uint64_t feature(const Cube& cube, unsigned x, unsigned y, unsigned c) const {
    return cube.base + c / lanes() * cube.surface + y * cube.line + x * 32 + c % lanes() * bytes();
  }
  std::uint64_t planar(const Cube& cube, unsigned x, unsigned y, unsigned c) const {
    return cube.base + c * cube.surface + y * cube.line + x * bytes();
  }
};

std::string describe(const Layer& layer) {
  constexpr const char* kModes[] = {"contract", "split", "merge"};
  return std::string("RUBIK ") + kModes[layer.mode] + " " + kPrecisionNames[layer.precision] +
         numbers({layer.width, layer.height, layer.channels, layer.sx, layer.sy});
}

Layer random_layer(Random& random) {
  const auto any = [&](int low, int high) {
    return static_cast<unsigned>(pick(random, low, high));
  };
  Layer layer;
  layer.mode = static_cast<Mode>(any(0, 2));
  layer.precision = any(0, 2);
  layer.width = any(1, layer.mode == kContract ? 9 : 70);
  layer.height = any(1, 4);
  if (layer.mode == kContract) {
    layer.sx = any(1, 4);
    layer.sy = any(1, 4);
    layer.channels = layer.lanes() * any(1, 2);
  } else {
    layer.channels = any(1, 40);
  }
  const auto feature = [&](std::uint64_t base, unsigned width, unsigned height) {
    Cube cube;
    cube.base = base;
    cube.line = width * 32 + 32 * any(0, 2);
    cube.surface = cube.line * height + 32 * any(0, 2);
    return cube;
  };
  const auto planar = [&](std::uint64_t base) {
    Cube cube;
    cube.base = base;
    cube.line = (layer.width * layer.bytes() + 63) / 64 * 64 + 64 * any(0, 1);
    cube.surface = cube.line * layer.height + 64 * any(0, 1);
    return cube;
  };
  layer.in = layer.mode == kMerge ? planar(kIn) : feature(kIn, layer.width, layer.height);
  layer.out = layer.mode == kSplit ? planar(kOut)
                                   : feature(kOut, layer.width * layer.sx, layer.height * layer.sy);
  return layer;
}

void program(const Layer& layer, Registers& regs) {
  const auto u32 = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  regs.set("RBK.D_MISC_CFG", {{"RUBIK_MODE", layer.mode}, {"IN_PRECISION", layer.precision}});
  regs.write("RBK.D_DAIN_RAM_TYPE", 1);
  regs.write("RBK.D_DAOUT_RAM_TYPE", 1);
  regs.set("RBK.D_DATAIN_SIZE_0",
           {{"DATAIN_WIDTH", layer.width - 1}, {"DATAIN_HEIGHT", layer.height - 1}});
  regs.write("RBK.D_DATAIN_SIZE_1", layer.channels * layer.sx * layer.sy - 1);
  regs.write("RBK.D_DATAOUT_SIZE_1", layer.channels - 1);
  regs.write("RBK.D_DAIN_ADDR_LOW", u32(layer.in.base));
  regs.write("RBK.D_DAOUT_ADDR_LOW", u32(layer.out.base));
  regs.write("RBK.D_DAIN_LINE_STRIDE", u32(layer.in.line));
  regs.write("RBK.D_DAOUT_LINE_STRIDE", u32(layer.out.line));
  regs.write(layer.mode == kMerge ? "RBK.D_DAIN_PLANAR_STRIDE" : "RBK.D_DAIN_SURF_STRIDE",
             u32(layer.in.surface));
  regs.write(layer.mode == kSplit ? "RBK.D_DAOUT_PLANAR_STRIDE" : "RBK.D_DAOUT_SURF_STRIDE",
             u32(layer.out.surface));
  regs.write("RBK.D_CONTRACT_STRIDE_0", u32(layer.surfaces() * layer.in.surface));
  regs.write("RBK.D_CONTRACT_STRIDE_1", u32(layer.sy * layer.out.line));
  regs.set("RBK.D_DECONV_STRIDE",
           {{"DECONV_X_STRIDE", layer.sx - 1}, {"DECONV_Y_STRIDE", layer.sy - 1}});
}

std::map<std::uint64_t, std::uint8_t> expected(const Layer& layer, UnitRig& rig) {
  std::map<std::uint64_t, std::uint8_t> bytes;
  const auto copy = [&](std::uint64_t to, std::uint64_t from) {
    for (unsigned i = 0; i < layer.bytes(); ++i) bytes[to + i] = rig.byte(from + i);
  };
  for (unsigned c = 0; c < layer.channels; ++c)
    for (unsigned y = 0; y < layer.height * layer.sy; ++y) {
      if (layer.mode == kSplit)
        for (unsigned i = 0; i < layer.planar_line(); ++i)
          bytes[layer.planar(layer.out, 0, y, c) + i] = 0;
      for (unsigned x = 0; x < layer.width * layer.sx; ++x) switch (layer.mode) {
          case kContract:
            copy(layer.feature(layer.out, x, y, c),
                 layer.feature(layer.in, x / layer.sx, y / layer.sy,
                               (y % layer.sy * layer.sx + x % layer.sx) * layer.channels + c));
            break;
          case kSplit:
            copy(layer.planar(layer.out, x, y, c), layer.feature(layer.in, x, y, c));
            break;
          case kMerge:
            if (c == layer.channels - 1)
              for (unsigned lane = c; lane < layer.surfaces() * layer.lanes(); ++lane)
                for (unsigned i = 0; i < layer.bytes(); ++i)
                  bytes[layer.feature(layer.out, x, y, lane) + i] = 0;
            copy(layer.feature(layer.out, x, y, c), layer.planar(layer.in, x, y, c));
            break;
        }
    }
  return bytes;
}

TEST(Rubik, EqualsItsDefinition) {
  const unsigned drawn = for_all(share(1500), [](Random& random) {
    const Layer layer = random_layer(random);
    UnitRig rig(*nvdla_hw_find("nv_full"),
                {.threads = one_in(random, 2) ? 3u : 1u, .worth_sharing = 0});
    rig.randomise(kIn, kRegion, random);
    rig.memory.fill(model::Ram::kPrimary, kOut, kRegion, std::byte{kUntouched});
    program(layer, rig.regs);
    rig.recorder.open = one_in(random, 2);
    rig.regs.write("RBK.D_OP_ENABLE", 1);
    rig.run();
    std::string wrong = rig.blocked();
    if (wrong.empty()) wrong = rig.compare(kOut, kRegion, expected(layer, rig));
    if (wrong.empty())
      wrong = rig.compare_registers({{"GLB.S_INTR_STATUS", 1u << 8}, {"RBK.S_POINTER", 1u << 16}});

    Bytes reads, writes;
    if (layer.mode == kMerge) {
      add_cube(reads, layer.in, layer.channels, layer.height, layer.planar_line());
    } else {
      Cube block = layer.in;
      for (unsigned i = 0; i < layer.sx * layer.sy; ++i) {
        add_cube(reads, block, layer.surfaces(), layer.height, layer.width * 32);
        block.base += layer.surfaces() * layer.in.surface;
      }
    }
    if (layer.mode == kSplit)
      add_cube(writes, layer.out, layer.channels, layer.height, layer.planar_line());
    else
      add_cube(writes, layer.out, layer.surfaces(), layer.height * layer.sy,
               layer.width * layer.sx * 32);
    if (wrong.empty() && !rig.recorder.open) wrong = rig.compare_access(reads, writes);
    if (wrong.empty() && rig.recorder.announced.merged() != writes.merged())
      wrong = "announced writes are not those that are made";
    return with_name(describe(layer), wrong);
  });
  count_layers("RUBIK", drawn);
}

class RubikKernels : public KernelSets {};

// Of any width and any number of lanes, to lines and back, with what lies between them untouched.
TEST_P(RubikKernels, SplitAndMergeAtoms) {
  const model::UnitKernels& units = *kernels_->units;
  constexpr std::size_t kStride = 160;
  for (const unsigned bytes : {1u, 2u})
    for (unsigned width = 1; width <= 70; ++width)
      for (const unsigned lanes : {1u, 7u, 8u, 9u, 15u, 16u, 17u, 31u, 32u}) {
        if (lanes * bytes > 32) continue;
        const auto atoms = numbers<std::uint8_t>(std::size_t{width} * 32, 0, 255);
        std::vector<std::uint8_t> lines(lanes * kStride, kUntouched), expected = lines;
        std::vector<std::uint8_t> kept(atoms.size());
        for (unsigned lane = 0; lane < lanes; ++lane)
          for (unsigned at = 0; at < width * bytes; ++at) {
            const std::size_t from = at / bytes * 32 + lane * bytes + at % bytes;
            expected[lane * kStride + at] = kept[from] = atoms[from];
          }
        units.split_atoms(atoms.data(), width, bytes, lanes, lines.data(), kStride);
        ASSERT_EQ(lines, expected) << width << " atoms, " << lanes << " lanes of " << bytes;
        std::vector<std::uint8_t> merged(atoms.size() + 32, kUntouched);
        units.merge_atoms(lines.data(), kStride, width, bytes, lanes, merged.data());
        kept.resize(merged.size(), kUntouched);
        ASSERT_EQ(merged, kept) << width << " atoms, " << lanes << " lanes of " << bytes;
      }
}

INSTANTIATE_TEST_SUITE_P(Sets, RubikKernels, kAllKernelSets, kernel_set_name);

// A layer whose output lies in its input reads what it has just written, in open memory too.
TEST(Rubik, WritesLineByLineWhereItReads) {
  std::vector<std::byte> outcomes[2];
  for (const bool open : {false, true}) {
    Random random(5);
    Layer layer;
    layer.mode = kSplit;
    layer.width = 32;
    layer.height = 4;
    layer.channels = 40;
    layer.in = {kIn, 32 * 32, 4 * 32 * 32};
    layer.out = {kIn + 32, 32, 4 * 32};
    UnitRig rig(*nvdla_hw_find("nv_full"));
    rig.randomise(kIn, kRegion, random);
    program(layer, rig.regs);
    rig.recorder.open = open;
    rig.regs.write("RBK.D_OP_ENABLE", 1);
    rig.run();
    EXPECT_EQ(rig.blocked(), "");
    outcomes[open ? 1 : 0] = rig.memory.read(model::Ram::kPrimary, kIn, kRegion);
  }
  EXPECT_EQ(outcomes[0], outcomes[1]);
}

TEST(Rubik, ContractStride1MovesOnlyTheReferenceModel) {
  for (const model::Quirks quirks : {model::Quirks::kRtl, model::Quirks::kCmodel}) {
    Random random(3);
    Layer layer;
    layer.width = layer.height = layer.sx = layer.sy = 2;
    layer.channels = 32;
    layer.in = {kIn, 64, 128};
    layer.out = {kOut, 128, 512};
    model::Options options;
    options.quirks = quirks;
    UnitRig rig(*nvdla_hw_find("nv_full"), options);
    rig.randomise(kIn, 4096, random);
    program(layer, rig.regs);
    rig.regs.write("RBK.D_CONTRACT_STRIDE_1", 1024);
    rig.regs.write("RBK.D_OP_ENABLE", 1);
    rig.run();
    // Line 1 of the first block.
    const std::uint64_t at = quirks == model::Quirks::kRtl ? kOut + 256 : kOut + 1024;
    EXPECT_EQ(rig.half(at), rig.half(kIn + 64));
  }
}

TEST(Rubik, Blocks) {
  struct Fault {
    const char *reg, *field;
    std::uint32_t value;
    const char* reason;
    Mode mode;
  };
  const Fault faults[] = {
      {"RBK.D_MISC_CFG", "RUBIK_MODE", 3, "RUBIK_MODE", kSplit},
      {"RBK.D_MISC_CFG", "IN_PRECISION", 3, "IN_PRECISION", kSplit},
      {"RBK.D_DATAIN_SIZE_1", "DATAIN_CHANNEL", 100, "DATAOUT_CHANNEL", kSplit},
      {"RBK.D_DATAIN_SIZE_1", "DATAIN_CHANNEL", 100, "DATAOUT_CHANNEL", kMerge},
      {"RBK.D_DATAIN_SIZE_1", "DATAIN_CHANNEL", 100, "contract", kContract},
      {"RBK.D_DATAIN_SIZE_0", "DATAIN_WIDTH", 4096, "more than 8192", kContract},
  };
  for (const Fault& fault : faults) {
    Layer layer;
    layer.mode = fault.mode;
    layer.channels = 32;
    if (fault.mode == kContract) layer.sx = 2;
    layer.in = {kIn, 64, 128};
    layer.out = {kOut, 128, 512};
    UnitRig rig(*nvdla_hw_find("nv_full"));
    program(layer, rig.regs);
    rig.regs.change(fault.reg, fault.field, fault.value);
    rig.regs.write("RBK.D_OP_ENABLE", 1);
    rig.run();
    EXPECT_NE(rig.blocked().find(fault.reason), std::string::npos)
        << fault.reason << ": " << rig.blocked();
    EXPECT_EQ(rig.regs.read("RBK.S_STATUS"), 1u);
    EXPECT_EQ(rig.regs.read("GLB.S_INTR_STATUS"), 0u);
    EXPECT_TRUE(rig.recorder.writes.merged().empty());
  }
  UnitRig rig(*nvdla_hw_find("nv_full"));
  rig.regs.write("RBK.S_POINTER", 1);
  rig.regs.write("RBK.D_OP_ENABLE", 1);
  rig.run();
  EXPECT_NE(rig.blocked().find("waits for group 0"), std::string::npos);
}

}  // namespace
}  // namespace nvdla::test
