// SPDX-License-Identifier: MIT
//
// Random convolutions of all modes and precisions against the reference: the output cube of every
// batch and the counters of CDMA and CACC.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "common/layers/conv_case.hpp"
#include "common/layers/random_conv.hpp"
#include "common/property.hpp"
#include "common/recorder.hpp"
#include "common/share.hpp"
#include "model/device.hpp"
#include "support/float.hpp"

namespace nvdla::test {
namespace {

using model::Device;
using model::Memory;
using model::Quirks;
using model::Ram;

// What SDP makes of a result that it passes through.
std::uint16_t passed(std::int32_t value, Number proc, Number out) {
  if (proc == Number::kFp16) return fp::narrow<fp::Fp32>(static_cast<std::uint32_t>(value));
  const std::int32_t limit = out == Number::kInt8 ? 127 : 32767;
  const auto kept = static_cast<std::uint16_t>(std::clamp(value, -limit - 1, limit));
  return out == Number::kInt8 ? kept & 0xff : kept;
}

using Change = std::function<void(Registers&)>;
using Prepare = std::function<void(Memory&)>;

// Empty if all is as it should be, whatever `change` does to the registers, and `prepare` to
// memory.
std::string check(ConvCase& layer, Random& random, Quirks quirks, const Change& change = {},
                  const Prepare& prepare = {}) {
  Memory memory;
  finish(layer, random, memory);
  if (prepare) prepare(memory);
  // On one, two or three threads, however small it is.
  Device device(*layer.hw, memory,
                {.quirks = quirks, .threads = 1 + layer.width % 3, .worth_sharing = 0});
  Registers regs(device);
  program(layer, regs);
  if (change) change(regs);
  enable(regs);
  while (device.step()) {
  }
  if (!device.idle()) {
    const auto blocked = device.blocked();
    return "blocked: " + (blocked.empty() ? "no reason" : blocked.front().reason);
  }
  const ConvResult want = reference(layer, memory, quirks == Quirks::kRtl);
  const unsigned bytes = layer.out == Number::kInt8 ? 1 : 2;
  const unsigned column = layer.hw->atom / bytes;
  const unsigned ow = layer.out_width(), oh = layer.out_height();
  const bool single = ow == 1 && oh == 1 && layer.batches == 1;
  const std::uint64_t surface = single ? layer.hw->atom : layer.output.surface;
  const auto got = memory.read(Ram::kPrimary, layer.output.base,
                               layer.batches * layer.out_batch_stride + layer.hw->atom);
  std::size_t i = 0;
  for (unsigned b = 0; b < layer.batches; ++b)
    for (unsigned y = 0; y < oh; ++y)
      for (unsigned x = 0; x < ow; ++x)
        for (unsigned k = 0; k < layer.kernels; ++k, ++i) {
          const std::uint64_t address = b * layer.out_batch_stride + k / column * surface +
                                        y * layer.output.line + std::uint64_t{x} * layer.hw->atom +
                                        std::uint64_t{k % column} * bytes;
          unsigned value = std::to_integer<unsigned>(got[address]);
          if (bytes == 2) value |= std::to_integer<unsigned>(got[address + 1]) << 8;
          const unsigned expected = passed(want.values[i], layer.proc, layer.out);
          if (value != expected)
            return "batch " + std::to_string(b) + " y " + std::to_string(y) + " x " +
                   std::to_string(x) + " kernel " + std::to_string(k) + " is " +
                   std::to_string(value) + ", not " + std::to_string(expected);
        }
  const std::pair<const char*, std::uint32_t> counters[] = {
      {"CDMA.D_NAN_INPUT_DATA_NUM", want.nan_data},
      {"CDMA.D_INF_INPUT_DATA_NUM", want.inf_data},
      {"CDMA.D_NAN_INPUT_WEIGHT_NUM", want.nan_weights},
      {"CDMA.D_INF_INPUT_WEIGHT_NUM", want.inf_weights},
      {"CACC.D_OUT_SATURATION", want.saturated}};
  for (const auto& [name, value] : counters)
    if ((layer.hw->features & NVDLA_HW_FP16) != 0 || name == std::string("CACC.D_OUT_SATURATION"))
      if (regs.read(name) != value)
        return std::string(name) + " is " + std::to_string(regs.read(name)) + ", not " +
               std::to_string(value);
  return {};
}

const nvdla_hw& full() { return *nvdla_hw_find("nv_full"); }

Quirks either(Random& random) { return one_in(random, 2) ? Quirks::kCmodel : Quirks::kRtl; }

TEST(ConvModes, DirectEqualsTheReference) {
  constexpr std::pair<Number, Number> kPairs[] = {{Number::kInt8, Number::kInt8},
                                                  {Number::kInt16, Number::kInt16},
                                                  {Number::kInt16, Number::kFp16},
                                                  {Number::kFp16, Number::kFp16},
                                                  {Number::kFp16, Number::kFp16}};
  const unsigned drawn = for_all(share(3000), [&](Random& random) {
    const auto [in, proc] = kPairs[pick(random, 0, std::ssize(kPairs) - 1)];
    ConvCase layer = random_direct(full(), random, in, proc);
    const std::string wrong = check(layer, random, either(random));
    return with_name(describe(layer), wrong);
  });
  count_layers("direct convolution, all precisions", drawn);
}

// Activations as behind a ReLU, of which a few may still be negative: sets of kernels may tell
// these apart.
TEST(ConvModes, NonnegativeActivationsEqualTheReference) {
  const unsigned drawn = for_all(share(1000), [&](Random& random) {
    ConvCase layer = random_direct(full(), random, Number::kInt8, Number::kInt8);
    layer.convert = false;
    if (!one_in(random, 4)) layer.pad_value &= 0x7f;
    const unsigned negative = static_cast<unsigned>(pick(random, 0, 1));
    const auto prepare = [&](Memory& memory) {
      auto bytes = memory.read(Ram::kPrimary, layer.input.base, layer.batches * layer.batch_stride);
      // Sums as great as they get, or any.
      const auto least = one_in(random, 2) ? std::byte{0x7f} : std::byte{0};
      for (std::byte& byte : bytes) byte = (byte & std::byte{0x7f}) | least;
      for (unsigned i = 0; i < negative; ++i)
        bytes[static_cast<std::size_t>(pick(random, 0, std::ssize(bytes) - 1))] = std::byte{0x80};
      memory.load(Ram::kPrimary, layer.input.base, bytes);
    };
    const std::string wrong = check(layer, random, Quirks::kRtl, {}, prepare);
    return with_name(describe(layer), wrong);
  });
  count_layers("direct convolution, hardly any activation negative", drawn);
}

TEST(ConvModes, ImagesOfAllFormatsEqualTheReference) {
  unsigned drawn = 0;
  for (unsigned format = 0; format < 36; ++format)
    drawn += for_all(share(45), [&](Random& random) {
      const auto proc = format_number(format) == Number::kFp16
                            ? Number::kFp16
                            : static_cast<Number>(pick(random, 0, 2));
      ConvCase layer = random_image(full(), random, format, proc);
      const std::string wrong = check(layer, random, Quirks::kRtl);
      return with_name(describe(layer), wrong);
    });
  count_layers("images of 36 formats, all precisions", drawn);
}

TEST(ConvModes, ImagesOfTheSecondGenerationEqualTheReference) {
  constexpr unsigned kFormats[] = {0, 12, 13, 14, 15, 16, 17, 18, 19, 26, 27, 28, 29};
  for (const char* name : {"nv_small", "nv_small_256", "nv_small_256_full", "nv_medium_512",
                           "nv_medium_1024_full", "nv_large"}) {
    unsigned drawn = 0;
    for (const unsigned format : kFormats)
      drawn += for_all(share(20), [&](Random& random) {
        ConvCase layer = random_image(*nvdla_hw_find(name), random, format, Number::kInt8);
        const std::string wrong = check(layer, random, Quirks::kRtl);
        return with_name(describe(layer), wrong);
      });
    count_layers(std::string("images, ") + name, drawn);
  }
}

// Registers without a say in images: they hold what an earlier layer left, or anything.
TEST(ConvModes, ImagesIgnoreWhatIsOfFeatures) {
  struct Field {
    const char* reg;
    const char* field;
    std::uint32_t value;
  };
  constexpr Field kFields[] = {
      {"CDMA.D_PIXEL_OFFSET", "PIXEL_Y_OFFSET", 5}, {"CDMA.D_DAIN_MAP", "LINE_PACKED", 1},
      {"CDMA.D_DAIN_MAP", "SURF_PACKED", 1},        {"CDMA.D_FETCH_GRAIN", "GRAINS", 4095},
      {"CDMA.D_SURF_STRIDE", "SURF_STRIDE", 7},     {"CDMA.D_BATCH_STRIDE", "BATCH_STRIDE", 7},
      {"CSC.D_ZERO_PADDING", "PAD_LEFT", 9},        {"CSC.D_ATOMICS", "ATOMICS", 0x1fffff},
      {"CSC.D_PRA_CFG", "PRA_TRUNCATE", 3}};
  const auto set = [](Registers& regs, const Field& field) {
    regs.change(field.reg, field.field, field.value);
  };
  for (const char* name : {"nv_full", "nv_small"})
    for (std::size_t i = 0; i <= std::size(kFields); ++i) {
      Random random(i);
      ConvCase layer = random_image(*nvdla_hw_find(name), random, 13, Number::kInt8);
      // One after the other, then all.
      EXPECT_EQ(check(layer, random, Quirks::kRtl,
                      [&](Registers& regs) {
                        if (i < std::size(kFields)) return set(regs, kFields[i]);
                        for (const Field& field : kFields) set(regs, field);
                      }),
                "")
          << name << (i < std::size(kFields) ? kFields[i].field : "all") << describe(layer);
    }
}

TEST(ConvModes, WinogradEqualsTheReference) {
  const unsigned drawn = for_all(share(600), [&](Random& random) {
    ConvCase layer = random_winograd(full(), random, static_cast<Number>(pick(random, 0, 2)));
    const std::string wrong = check(layer, random, either(random));
    return with_name(describe(layer), wrong);
  });
  count_layers("Winograd, all precisions", drawn);
}

// Runs what is in memory; the 16 bits of the first output.
std::uint16_t first_output(const ConvCase& layer, Memory& memory, Quirks quirks) {
  Device device(*layer.hw, memory, {.quirks = quirks});
  Registers regs(device);
  program(layer, regs);
  enable(regs);
  while (device.step()) {
  }
  EXPECT_TRUE(device.idle());
  const auto got = memory.read(Ram::kPrimary, layer.output.base, 2);
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(got[0]) |
                                    std::to_integer<unsigned>(got[1]) << 8);
}

// The reference model forgets the converter in Winograd mode, the logic has it in the way.
TEST(ConvModes, WinogradConvertsAsTheLogicDoesOnly) {
  for (const Quirks quirks : {Quirks::kRtl, Quirks::kCmodel}) {
    Random random(7);
    ConvCase layer = random_winograd(full(), random, Number::kInt16);
    layer.pad_value = 0;
    layer.convert = quirks == Quirks::kRtl;
    layer.scale = 3;
    layer.offset = 100;
    layer.truncate = 2;
    Memory memory;
    finish(layer, random, memory);
    const ConvResult want = reference(layer, memory, false);
    layer.convert = true;
    EXPECT_EQ(first_output(layer, memory, quirks), passed(want.values[0], layer.proc, layer.out));
  }
}

// The logic keeps 16 bits of the fraction of a sum, so that a longer shift takes a little more than
// minus a half for a half, and rounds it away from zero. The reference model keeps all bits.
TEST(ConvModes, LongShiftsOfTheAccumulatorDropBits) {
  struct Case {
    unsigned clip;
    std::int32_t sum, logic, reference;
  };
  constexpr Case kCases[] = {{16, -32768, -1, -1},       {16, -32767, 0, 0},
                             {17, -65536, -1, -1},       {17, -65535, -1, 0},
                             {17, -65534, 0, 0},         {17, 65535, 0, 0},
                             {17, 65536, 1, 1},          {20, -524288 + 15, -1, 0},
                             {20, -524288 + 16, 0, 0},   {20, -3 * 524288 + 15, -2, -1},
                             {20, 3 * 524288 - 1, 1, 1}, {24, -8388608 + 255, -1, 0},
                             {24, -8388608 + 256, 0, 0}, {24, 8388607, 0, 0}};
  for (const Number number : {Number::kInt8, Number::kInt16})
    for (const Case& one : kCases)
      for (const Quirks quirks : {Quirks::kRtl, Quirks::kCmodel}) {
        ConvCase layer;
        layer.hw = &full();
        layer.in = layer.proc = number;
        layer.channels = 1024;
        layer.clip = one.clip;
        Random random(1);
        Memory memory;
        finish(layer, random, memory);
        // Products of up to 127 * 127 until nothing is left.
        std::vector<std::byte> data, weights;
        const auto put = [&](std::vector<std::byte>& to, int value) {
          to.push_back(static_cast<std::byte>(value));
          if (number == Number::kInt16) to.push_back(static_cast<std::byte>(value < 0 ? 0xff : 0));
        };
        int left = one.sum;
        for (unsigned c = 0; c < layer.channels; ++c) {
          const int size = std::abs(left);
          const int value = size >= 127 ? 127 : 1;
          const int weight = std::min(size / value, 127);
          put(data, left < 0 ? -value : value);
          put(weights, weight);
          left -= (left < 0 ? -value : value) * weight;
        }
        ASSERT_EQ(left, 0) << one.sum;
        for (unsigned surface = 0; surface * 32 < data.size(); ++surface)
          memory.load(Ram::kPrimary, layer.input.base + surface * layer.input.surface,
                      std::vector<std::byte>(data.begin() + surface * 32,
                                             data.begin() + surface * 32 + 32));
        memory.load(Ram::kPrimary, 0x8300'0000, weights);
        const auto value = static_cast<std::int16_t>(first_output(layer, memory, quirks));
        EXPECT_EQ(value, quirks == Quirks::kRtl ? one.logic : one.reference)
            << one.sum << " >> " << one.clip;
      }
}

// Exactly the bytes that hardware reads: lines of images from their first atom, whole atoms of the
// table of group sizes, mask and compressed weights to their rounded ends.
TEST(ConvModes, ImagesAndCompressedWeightsAreReadInWholeAtoms) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const unsigned format = seed % 36;
    ConvCase layer =
        random_image(full(), random, format,
                     format_number(format) == Number::kFp16 ? Number::kFp16 : Number::kInt16);
    layer.compressed = true;
    Memory memory;
    finish(layer, random, memory);
    Recorder recorder(memory);
    Device device(*layer.hw, recorder);
    Registers regs(device);
    program(layer, regs);
    enable(regs);
    while (device.step()) {
    }
    ASSERT_TRUE(device.idle()) << device.blocked().front().reason;
    Bytes want;
    const bool two = layer.format_name.find("___") != std::string::npos;
    unsigned bytes = layer.in == Number::kInt8 ? 1 : 2;
    if (layer.channels == 4) bytes = format >= 20 && format <= 25 ? 4 : 4 * bytes;
    for (unsigned plane = 0; plane < (two ? 2u : 1u); ++plane) {
      const unsigned size = bytes << plane;
      const unsigned offset = layer.x_offset % (layer.hw->atom / size);
      const unsigned run =
          ((offset + layer.width) * size + layer.hw->atom - 1) / layer.hw->atom * layer.hw->atom;
      const Cube& cube = plane == 0 ? layer.input : layer.second;
      for (unsigned y = 0; y < layer.height; ++y) want.add(cube.base + y * cube.line, run);
    }
    want.add(0x8300'0000, regs.read("CDMA.D_WEIGHT_BYTES"));
    want.add(0x8400'0000, regs.read("CDMA.D_WMB_BYTES"));
    const unsigned groups = (layer.kernels + layer.group() - 1) / layer.group();
    want.add(0x8500'0000, (groups * 4 + 31) / 32 * 32);
    ASSERT_EQ(recorder.reads.merged(), want.merged()) << "seed " << seed << describe(layer);
  }
}

}  // namespace
}  // namespace nvdla::test
