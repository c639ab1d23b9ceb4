// SPDX-License-Identifier: MIT
//
// PDP against a slow pooling that is written from the description, window by window; the bytes that
// it touches; layers behind SDP; and what it does not end on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/unit_rig.hpp"

namespace nvdla::test {
namespace {

constexpr std::uint64_t kIn = 0x8000'0000, kOut = 0x8200'0000;
constexpr std::uint64_t kRegion = 1 << 18;
constexpr std::uint32_t kDone = 1u << 4;

enum Method : unsigned { kAverage, kMax, kMin };
enum Precision : unsigned { kInt8, kInt16, kFp16 };

struct Layer {
  const nvdla_hw* hw = nullptr;
  unsigned precision = kInt8, method = kMax;
  unsigned width = 1, height = 1, channels = 1, out_width = 1, out_height = 1;
  unsigned kw = 1, kh = 1, sx = 1, sy = 1, left = 0, right = 0, top = 0, bottom = 0;
  unsigned bands = 1, in[3] = {1, 1, 1}, out[3] = {1, 1, 1};  // first, middle, last
  std::uint32_t reciprocal[2] = {0x10000, 0x10000};
  std::uint32_t padding[8] = {};
  bool flush = false;
  Cube source, destination;

  unsigned bytes() const { return precision == kInt8 ? 1 : 2; }
  unsigned lanes() const { return hw->atom / bytes(); }
  unsigned surfaces() const { return (channels + lanes() - 1) / lanes(); }
  std::uint64_t at(const Cube& cube, unsigned x, unsigned y, unsigned c) const {
    return cube.base + c / lanes() * cube.surface + y * cube.line + x * hw->atom +
           c % lanes() * bytes();
  }
};

// Numbers of fp17 as doubles: 11 bits, to nearest even. For numbers that neither overflow nor
// vanish.
double round17(double value) {
  if (value == 0) return value;
  int exponent;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
}

double value16(std::uint16_t bits) {
  const double magnitude = (bits & 0x7c00) == 0
                               ? std::ldexp(bits & 0x3ff, -24)
                               : std::ldexp(1024 + (bits & 0x3ff), (bits >> 10 & 31) - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double value17(std::uint32_t bits) {
  if ((bits & 0xffff) == 0) return 0;
  const double magnitude =
      std::ldexp(1024 + (bits & 0x3ff), static_cast<int>(bits >> 10 & 63) - 41);
  return (bits & 0x10000) != 0 ? -magnitude : magnitude;
}

bool nan16(std::uint16_t bits) { return (bits & 0x7fff) > 0x7c00; }

long long round_shift16(long long value) {
  const long long magnitude = (std::llabs(value) + 0x8000) / 0x10000;
  return value < 0 ? -magnitude : magnitude;
}

// The real part of a window.
struct Window {
  unsigned x0, x1, y0, y1, missing_left, missing_right, missing_rows;
};

Window window(const Layer& layer, unsigned ox, unsigned oy) {
  const auto clip = [](unsigned o, unsigned stride, unsigned kernel, unsigned before, unsigned size,
                       unsigned& missing_before, unsigned& missing_after, unsigned& begin,
                       unsigned& end) {
    missing_before = missing_after = 0;
    begin = size;
    end = 0;
    for (unsigned i = 0; i < kernel; ++i) {
      const int at = static_cast<int>(o * stride + i) - static_cast<int>(before);
      if (at < 0) {
        ++missing_before;
      } else if (at >= static_cast<int>(size)) {
        ++missing_after;
      } else {
        begin = std::min(begin, static_cast<unsigned>(at));
        end = static_cast<unsigned>(at) + 1;
      }
    }
  };
  Window w{};
  unsigned above, below;
  clip(ox, layer.sx, layer.kw, layer.left, layer.width, w.missing_left, w.missing_right, w.x0,
       w.x1);
  clip(oy, layer.sy, layer.kh, layer.top, layer.height, above, below, w.y0, w.y1);
  w.missing_rows = above + below;
  return w;
}

int padding_int(const Layer& layer, unsigned n) {
  const unsigned bits8[8] = {1, 8, 9, 10, 10, 11, 11, 11};
  const unsigned bits = layer.precision == kInt8 ? bits8[n] : 19;
  int value = static_cast<int>(layer.padding[n] % (1u << bits));
  if (value >= 1 << (bits - 1)) value -= 1 << bits;
  return value;
}

// One output element; `read(x, y)` gives the bits of an input element of its channel.
template <typename Read>
std::uint16_t pooled(const Layer& layer, unsigned ox, unsigned oy, Read read) {
  const Window w = window(layer, ox, oy);
  if (layer.precision == kFp16) {
    const auto element = [&](unsigned x, unsigned y) {
      const std::uint16_t bits = read(x, y);
      return layer.flush && nan16(bits) ? std::uint16_t{0} : bits;
    };
    if (layer.method != kAverage) {
      // The leftmost NaN of the lowest line that has one.
      for (unsigned y = w.y1; y-- > w.y0;)
        for (unsigned x = w.x0; x < w.x1; ++x)
          if (nan16(element(x, y))) return element(x, y);
      std::uint16_t best = element(w.x0, w.y0);
      const auto key = [](std::uint16_t bits) {
        return (bits & 0x8000) != 0 ? -1 - (bits & 0x7fff) : bits;
      };
      for (unsigned y = w.y0; y < w.y1; ++y)
        for (unsigned x = w.x0; x < w.x1; ++x) {
          const std::uint16_t bits = element(x, y);
          if (layer.method == kMax ? key(bits) > key(best) : key(bits) < key(best)) best = bits;
        }
      return best;
    }
    double sum = 0;
    for (unsigned y = w.y0; y < w.y1; ++y) {
      double row = value16(element(w.x0, y));
      for (unsigned x = w.x0 + 1; x < w.x1; ++x) row = round17(row + value16(element(x, y)));
      if (w.missing_left != 0) row = round17(row + value17(layer.padding[w.missing_left]));
      if (w.missing_right != 0) row = round17(row + value17(layer.padding[w.missing_right]));
      sum = y == w.y0 ? row : round17(row + sum);
    }
    if (w.missing_rows != 0)
      sum = round17(sum + round17(value17(layer.padding[w.missing_rows]) * layer.kw));
    const double value =
        round17(round17(sum * value17(layer.reciprocal[0])) * value17(layer.reciprocal[1]));
    // In range by construction, so a number of fp17 is one of fp16.
    if (value == 0) return 0;
    const int exponent = std::ilogb(value);
    EXPECT_GE(exponent, -14);
    EXPECT_LE(exponent, 15);
    const unsigned mantissa =
        static_cast<unsigned>(std::ldexp(std::fabs(value), 10 - exponent)) & 0x3ff;
    return static_cast<std::uint16_t>((value < 0 ? 0x8000u : 0u) |
                                      static_cast<unsigned>(exponent + 15) << 10 | mantissa);
  }
  const auto element = [&](unsigned x, unsigned y) -> long long {
    const std::uint16_t bits = read(x, y);
    return layer.precision == kInt8 ? static_cast<std::int8_t>(bits)
                                    : static_cast<std::int16_t>(bits);
  };
  const long long low = layer.precision == kInt8 ? -128 : -32768;
  long long result;
  if (layer.method == kAverage) {
    result = 0;
    for (unsigned y = w.y0; y < w.y1; ++y) {
      for (unsigned x = w.x0; x < w.x1; ++x) result += element(x, y);
      if (w.missing_left + w.missing_right != 0)
        result += padding_int(layer, w.missing_left + w.missing_right);
    }
    if (w.missing_rows != 0)
      result += static_cast<long long>(layer.kw) * padding_int(layer, w.missing_rows);
    result = round_shift16(round_shift16(result * layer.reciprocal[0]) * layer.reciprocal[1]);
    result = std::clamp(result, low, -low - 1);
  } else {
    result = element(w.x0, w.y0);
    for (unsigned y = w.y0; y < w.y1; ++y)
      for (unsigned x = w.x0; x < w.x1; ++x)
        result = layer.method == kMax ? std::max(result, element(x, y))
                                      : std::min(result, element(x, y));
  }
  return static_cast<std::uint16_t>(result);
}

// Splits the output into bands, if that can be.
void split(Layer& layer, std::mt19937_64& random) {
  const auto any = [&](int low, int high) {
    return static_cast<unsigned>(pick(random, low, high));
  };
  if (layer.out_width < 2) return;
  const unsigned bands = any(2, static_cast<int>(std::min(4u, layer.out_width)));
  const unsigned middle =
      bands > 2 ? any(1, static_cast<int>((layer.out_width - 2) / (bands - 2))) : 0;
  const unsigned rest = layer.out_width - middle * (bands - 2);
  const unsigned first = any(1, static_cast<int>(rest - 1)), last = rest - first;
  const int overlap = static_cast<int>(layer.kw) - static_cast<int>(layer.sx);
  const int first_in = static_cast<int>((first - 1) * layer.sx + layer.kw - layer.left);
  const int middle_in = static_cast<int>(middle * layer.sx);
  const int last_in =
      static_cast<int>(layer.width) - first_in - middle_in * static_cast<int>(bands - 2);
  if (first_in < 1 || last_in < 1 || first_in < overlap || last_in + overlap < 1) return;
  if (bands > 2 && (middle_in < 1 || middle_in + overlap < 1)) return;
  layer.bands = bands;
  layer.in[0] = static_cast<unsigned>(first_in);
  layer.in[1] = bands > 2 ? static_cast<unsigned>(middle_in) : 1;
  layer.in[2] = static_cast<unsigned>(last_in);
  layer.out[0] = first;
  layer.out[1] = bands > 2 ? middle : 1;
  layer.out[2] = last;
}

void place(Layer& layer, std::mt19937_64& random, bool gaps) {
  const auto gap = [&] {
    return gaps ? layer.hw->atom * static_cast<unsigned>(pick(random, 0, 2)) : 0;
  };
  layer.source = {kIn, layer.width * layer.hw->atom + gap(), 0};
  layer.source.surface = layer.source.line * layer.height + gap();
  layer.destination = {kOut, layer.out_width * layer.hw->atom + gap(), 0};
  layer.destination.surface = layer.destination.line * layer.out_height + gap();
}

Layer random_layer(const nvdla_hw& hw, std::mt19937_64& random) {
  const auto any = [&](int low, int high) {
    return static_cast<unsigned>(pick(random, low, high));
  };
  Layer layer;
  layer.hw = &hw;
  layer.precision = hw.regmap == NVDLA_REGMAP_NV_FULL ? any(0, 2) : 0;
  layer.method = any(0, 2);
  layer.channels = any(1, 40);
  const auto axis = [&](unsigned& size, unsigned& out, unsigned& kernel, unsigned& stride,
                        unsigned& before, unsigned& behind) {
    for (;;) {
      out = any(1, 7);
      kernel = any(1, 8);
      stride = any(1, any(0, 3) == 0 ? 16 : 3);
      before = any(0, static_cast<int>(kernel) - 1);
      const unsigned used = (out - 1) * stride + kernel;
      const unsigned missing = any(0, static_cast<int>(kernel) - 1);
      if (used <= before + missing) continue;
      size = used - before - missing;
      before = std::min(before, 7u);
      // Padding behind the last window is of no use, but may be there.
      behind = any(static_cast<int>(missing), static_cast<int>(kernel) - 1);
      return;
    }
  };
  axis(layer.width, layer.out_width, layer.kw, layer.sx, layer.left, layer.right);
  axis(layer.height, layer.out_height, layer.kh, layer.sy, layer.top, layer.bottom);
  layer.flush = any(0, 1) != 0;
  if (layer.precision == kFp16) {
    for (unsigned n = 1; n < 8; ++n)
      layer.padding[n] = any(0, 1) << 16 | (31 + any(-3, 3)) << 10 | any(0, 1023);
    const std::uint32_t reciprocals[] = {0x7c00, 0x7800, 0x7555, 0x7400,
                                         0x7266, 0x7155, 0x7092, 0x7000};
    layer.reciprocal[0] = reciprocals[layer.kw - 1];
    layer.reciprocal[1] = reciprocals[layer.kh - 1];
  } else {
    for (unsigned n = 1; n < 8; ++n)
      layer.padding[n] = static_cast<std::uint32_t>(random()) & 0x7ffff;
    const bool proper = any(0, 3) != 0;
    layer.reciprocal[0] = proper ? 0x10000 / layer.kw : any(0, 0x1ffff);
    layer.reciprocal[1] = proper ? 0x10000 / layer.kh : any(0, 0x1ffff);
  }
  if (any(0, 2) == 0) split(layer, random);
  place(layer, random, true);
  return layer;
}

void program(const Layer& layer, Registers& regs, bool flying = false) {
  const auto u32 = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const unsigned columns_in[3] = {layer.in[0] - 1, layer.in[1] - 1, layer.in[2] - 1};
  for (const std::string unit : {"PDP", "PDP_RDMA"}) {
    // Nobody looks at the width of a layer in bands.
    regs.write(unit + ".D_DATA_CUBE_IN_WIDTH", layer.bands > 1 ? 0 : layer.width - 1);
    regs.write(unit + ".D_DATA_CUBE_IN_HEIGHT", layer.height - 1);
    regs.write(unit + ".D_DATA_CUBE_IN_CHANNEL", layer.channels - 1);
    regs.write(unit + ".D_DATA_FORMAT", layer.precision);
    regs.set(unit + ".D_PARTIAL_WIDTH_IN", {{"PARTIAL_WIDTH_IN_FIRST", columns_in[0]},
                                            {"PARTIAL_WIDTH_IN_MID", columns_in[1]},
                                            {"PARTIAL_WIDTH_IN_LAST", columns_in[2]}});
  }
  regs.write("PDP_RDMA.D_FLYING_MODE", 1);
  regs.write("PDP_RDMA.D_SRC_BASE_ADDR_LOW", u32(layer.source.base));
  regs.write("PDP_RDMA.D_SRC_LINE_STRIDE", u32(layer.source.line));
  regs.write("PDP_RDMA.D_SRC_SURFACE_STRIDE", u32(layer.source.surface));
  regs.write("PDP_RDMA.D_SRC_RAM_CFG", 1);
  regs.write("PDP_RDMA.D_OPERATION_MODE_CFG", layer.bands - 1);
  regs.set("PDP_RDMA.D_POOLING_KERNEL_CFG",
           {{"KERNEL_WIDTH", layer.kw - 1}, {"KERNEL_STRIDE_WIDTH", layer.sx - 1}});
  regs.write("PDP_RDMA.D_POOLING_PADDING_CFG", layer.left);
  regs.write("PDP.D_DATA_CUBE_OUT_WIDTH", layer.out_width - 1);
  regs.write("PDP.D_DATA_CUBE_OUT_HEIGHT", layer.out_height - 1);
  regs.write("PDP.D_DATA_CUBE_OUT_CHANNEL", layer.channels - 1);
  regs.set("PDP.D_OPERATION_MODE_CFG", {{"POOLING_METHOD", layer.method},
                                        {"FLYING_MODE", flying ? 0 : 1},
                                        {"SPLIT_NUM", layer.bands - 1}});
  regs.write("PDP.D_NAN_FLUSH_TO_ZERO", layer.flush ? 1 : 0);
  regs.set("PDP.D_PARTIAL_WIDTH_OUT", {{"PARTIAL_WIDTH_OUT_FIRST", layer.out[0] - 1},
                                       {"PARTIAL_WIDTH_OUT_MID", layer.out[1] - 1},
                                       {"PARTIAL_WIDTH_OUT_LAST", layer.out[2] - 1}});
  regs.set("PDP.D_POOLING_KERNEL_CFG", {{"KERNEL_WIDTH", layer.kw - 1},
                                        {"KERNEL_HEIGHT", layer.kh - 1},
                                        {"KERNEL_STRIDE_WIDTH", layer.sx - 1},
                                        {"KERNEL_STRIDE_HEIGHT", layer.sy - 1}});
  regs.write("PDP.D_RECIP_KERNEL_WIDTH", layer.reciprocal[0]);
  regs.write("PDP.D_RECIP_KERNEL_HEIGHT", layer.reciprocal[1]);
  regs.set("PDP.D_POOLING_PADDING_CFG", {{"PAD_LEFT", layer.left},
                                         {"PAD_TOP", layer.top},
                                         {"PAD_RIGHT", layer.right},
                                         {"PAD_BOTTOM", layer.bottom}});
  for (unsigned n = 1; n < 8; ++n)
    regs.write("PDP.D_POOLING_PADDING_VALUE_" + std::to_string(n) + "_CFG", layer.padding[n]);
  regs.write("PDP.D_DST_BASE_ADDR_LOW", u32(layer.destination.base));
  regs.write("PDP.D_DST_LINE_STRIDE", u32(layer.destination.line));
  regs.write("PDP.D_DST_SURFACE_STRIDE", u32(layer.destination.surface));
  regs.write("PDP.D_DST_RAM_CFG", 1);
}

void enable(Registers& regs) {
  regs.write("PDP.D_OP_ENABLE", 1);
  regs.write("PDP_RDMA.D_OP_ENABLE", 1);
}

std::map<std::uint64_t, std::uint8_t> expected(const Layer& layer, UnitRig& rig) {
  std::map<std::uint64_t, std::uint8_t> bytes;
  for (unsigned c = 0; c < layer.surfaces() * layer.lanes(); ++c)
    for (unsigned oy = 0; oy < layer.out_height; ++oy)
      for (unsigned ox = 0; ox < layer.out_width; ++ox) {
        const std::uint16_t value = pooled(layer, ox, oy, [&](unsigned x, unsigned y) {
          const std::uint64_t at = layer.at(layer.source, x, y, c);
          return layer.bytes() == 1 ? rig.byte(at) : rig.half(at);
        });
        const std::uint64_t at = layer.at(layer.destination, ox, oy, c);
        bytes[at] = static_cast<std::uint8_t>(value);
        if (layer.bytes() == 2) bytes[at + 1] = static_cast<std::uint8_t>(value >> 8);
      }
  return bytes;
}

// fp16 that stays in range, for averages; now and then special, for the others.
void tame(const Layer& layer, UnitRig& rig, std::mt19937_64& random) {
  if (layer.precision != kFp16) return;
  std::vector<std::byte> bytes(kRegion / 4);
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    unsigned value = static_cast<unsigned>(random()) & 0xffff;
    if (layer.method == kAverage) {
      value = (value & 0x83ff) | (15u + static_cast<unsigned>(pick(random, 0, 3))) << 10;
      // Positive numbers cannot cancel to something too small.
      if (layer.padding[1] % 2 == 0) value &= 0x7fff;
    }
    bytes[i] = static_cast<std::byte>(value);
    bytes[i + 1] = static_cast<std::byte>(value >> 8);
  }
  rig.memory.load(model::Ram::kPrimary, kIn, bytes);
}

// As the bytes in memory differ only in the sign of zeros: an average of exactly 0 may be -0.
void forgive_zeros(const Layer& layer, UnitRig& rig, std::map<std::uint64_t, std::uint8_t>& want) {
  if (layer.precision != kFp16 || layer.method != kAverage) return;
  for (auto& [address, byte] : want)
    if (address % 2 == 1 && byte == 0 && want.at(address - 1) == 0 && rig.byte(address) == 0x80)
      byte = 0x80;
}

class PdpLayers : public testing::TestWithParam<const char*> {};

TEST_P(PdpLayers, EqualTheReference) {
  const nvdla_hw& hw = *nvdla_hw_find(GetParam());
  unsigned split_layers = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937_64 random(seed);
    Layer layer = random_layer(hw, random);
    if (layer.precision == kFp16 && layer.method == kAverage) {
      // All of one sign.
      for (std::uint32_t& value : layer.padding) value &= 0xffff;
      layer.padding[1] &= ~1u;
    }
    UnitRig rig(hw);
    rig.randomise(kIn, kRegion / 4, random);
    tame(layer, rig, random);
    rig.memory.fill(model::Ram::kPrimary, kOut, kRegion, std::byte{kUntouched});
    program(layer, rig.regs);
    enable(rig.regs);
    rig.run();
    ASSERT_EQ(rig.blocked(), "") << seed;
    auto want = expected(layer, rig);
    forgive_zeros(layer, rig, want);
    ASSERT_EQ(rig.compare(kOut, kRegion, want), "")
        << "seed " << seed << " precision " << layer.precision << " method " << layer.method
        << " kernel " << layer.kw << "x" << layer.kh << " bands " << layer.bands;
    ASSERT_EQ(rig.regs.read("GLB.S_INTR_STATUS"), kDone);
    ASSERT_EQ(rig.regs.read("PDP.S_POINTER"), 1u << 16);
    ASSERT_EQ(rig.regs.read("PDP_RDMA.S_POINTER"), 1u << 16);

    Bytes reads, writes;
    const std::uint64_t atom = hw.atom;
    if (layer.bands == 1) {
      add_cube(reads, layer.source, layer.surfaces(), layer.height, layer.width * atom);
    } else {
      ++split_layers;
      int begin = 0;
      for (unsigned band = 0; band < layer.bands; ++band) {
        const unsigned fresh = layer.in[band == 0 ? 0 : band + 1 < layer.bands ? 1 : 2];
        const int overlap = band == 0 ? 0 : static_cast<int>(layer.kw) - static_cast<int>(layer.sx);
        Cube cube = layer.source;
        cube.base += static_cast<std::uint64_t>(begin - overlap) * atom;
        add_cube(reads, cube, layer.surfaces(), layer.height,
                 static_cast<std::uint64_t>(static_cast<int>(fresh) + overlap) * atom);
        begin += static_cast<int>(fresh);
      }
    }
    add_cube(writes, layer.destination, layer.surfaces(), layer.out_height, layer.out_width * atom);
    ASSERT_EQ(rig.recorder.reads.merged(), reads.merged()) << seed;
    ASSERT_EQ(rig.recorder.writes.merged(), writes.merged()) << seed;
  }
  EXPECT_GT(split_layers, 20u);
}

INSTANTIATE_TEST_SUITE_P(Configurations, PdpLayers,
                         testing::Values("nv_full", "nv_large", "nv_medium_1024_full",
                                         "nv_medium_512", "nv_small_256_full", "nv_small_256",
                                         "nv_small"),
                         [](const auto& which) { return std::string(which.param); });

Layer simple(const nvdla_hw& hw) {
  Layer layer;
  layer.hw = &hw;
  layer.width = 9;
  layer.height = 7;
  layer.channels = 20;
  layer.kw = layer.kh = 3;
  layer.sx = layer.sy = 2;
  layer.left = layer.right = layer.top = layer.bottom = 1;
  layer.out_width = 5;
  layer.out_height = 4;
  std::mt19937_64 random(0);
  place(layer, random, false);
  return layer;
}

TEST(Pdp, CountsNansAndInfinities) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  Layer layer = simple(hw);
  layer.precision = kFp16;
  layer.channels = 16;
  std::mt19937_64 random(0);
  place(layer, random, false);
  UnitRig rig(hw);
  const auto put = [&](unsigned x, unsigned y, unsigned c, std::uint16_t value) {
    const std::byte bytes[2] = {static_cast<std::byte>(value), static_cast<std::byte>(value >> 8)};
    rig.memory.load(model::Ram::kPrimary, layer.at(layer.source, x, y, c), bytes);
  };
  put(0, 0, 0, 0x7e01);
  put(3, 3, 4, 0xfc01);  // in four windows
  put(8, 6, 15, 0x7c00);
  put(1, 1, 1, 0xfc00);
  program(layer, rig.regs);
  enable(rig.regs);
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
    Layer layer;
    layer.hw = &hw;
    layer.method = kAverage;
    layer.reciprocal[0] = 0x1ffff;
    std::mt19937_64 random(0);
    place(layer, random, false);
    model::Options options;
    options.quirks = quirks;
    UnitRig rig(hw, options);
    rig.memory.fill(model::Ram::kPrimary, kIn, 32, std::byte{100});
    program(layer, rig.regs);
    enable(rig.regs);
    rig.run();
    EXPECT_EQ(rig.byte(kOut), quirks == model::Quirks::kRtl ? 127 : 200);
  }
}

TEST(Pdp, TakesWhatSdpHandsOn) {
  for (const char* name : {"nv_full", "nv_small", "nv_medium_512"}) {
    const nvdla_hw& hw = *nvdla_hw_find(name);
    for (unsigned seed = 0; seed < 50; ++seed) {
      std::mt19937_64 random(seed);
      Layer layer = random_layer(hw, random);
      if (layer.precision == kFp16) layer.precision = kInt16;
      layer.bands = 1;
      place(layer, random, false);
      UnitRig rig(hw);
      rig.randomise(kIn, kRegion / 4, random);
      rig.memory.fill(model::Ram::kPrimary, kOut, kRegion, std::byte{kUntouched});
      program(layer, rig.regs, true);
      Registers& regs = rig.regs;
      const auto u32 = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
      for (const std::string unit : {"SDP", "SDP_RDMA"}) {
        regs.write(unit + ".D_DATA_CUBE_WIDTH", layer.width - 1);
        regs.write(unit + ".D_DATA_CUBE_HEIGHT", layer.height - 1);
        regs.write(unit + ".D_DATA_CUBE_CHANNEL", layer.channels - 1);
      }
      for (const std::string x : {"BS", "BN", "EW"}) regs.write("SDP.D_DP_" + x + "_CFG", 1);
      for (const std::string x : {"BRDMA", "NRDMA", "ERDMA"})
        regs.write("SDP_RDMA.D_" + x + "_CFG", 1);
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
      // SDP is held back until PDP is there.
      regs.write("SDP_RDMA.D_OP_ENABLE", 1);
      regs.write("SDP.D_OP_ENABLE", 1);
      rig.run();
      ASSERT_NE(rig.blocked().find("waits for PDP on the fly"), std::string::npos);
      regs.write("PDP.D_OP_ENABLE", 1);
      rig.run();
      ASSERT_EQ(rig.blocked(), "") << name << " " << seed;
      ASSERT_EQ(rig.compare(kOut, kRegion, expected(layer, rig)), "") << name << " " << seed;
      ASSERT_EQ(regs.read("GLB.S_INTR_STATUS"), kDone | 1u);
      // PDP_RDMA took no part.
      ASSERT_EQ(regs.read("PDP_RDMA.S_POINTER"), 0u);
      Bytes writes;
      add_cube(writes, layer.destination, layer.surfaces(), layer.out_height,
               layer.out_width * hw.atom);
      ASSERT_EQ(rig.recorder.writes.merged(), writes.merged());
    }
  }
}

struct Fault {
  const char *reg, *field;
  std::uint32_t value;
  const char* reason;
};

void expect_blocked(const Layer& layer, const Fault& fault) {
  UnitRig rig(*layer.hw);
  program(layer, rig.regs);
  rig.regs.change(fault.reg, fault.field, fault.value);
  enable(rig.regs);
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
  Layer wide = simple(small);
  wide.precision = kInt16;
  expect_blocked(wide, {"PDP.D_NAN_FLUSH_TO_ZERO", "NAN_TO_ZERO", 0, "no such precision"});
  expect_blocked(simple(small), {"PDP.D_DST_RAM_CFG", "DST_RAM_TYPE", 0, "secondary memory"});
  expect_blocked(simple(small), {"PDP_RDMA.D_SRC_RAM_CFG", "SRC_RAM_TYPE", 0, "secondary memory"});
}

TEST(Pdp, LineBufferHoldsSixteenColumnsOfEightLines) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_small");
  const struct {
    unsigned kh, sy, most;
  } limits[] = {{2, 2, 128}, {3, 2, 64}, {3, 1, 32}, {8, 1, 16}, {8, 8, 128}, {5, 2, 32}};
  for (const auto& limit : limits)
    for (const unsigned over : {0u, 1u}) {
      Layer layer;
      layer.hw = &hw;
      layer.kh = layer.height = limit.kh;
      layer.sy = limit.sy;
      layer.width = layer.out_width = limit.most + over;
      std::mt19937_64 random(0);
      place(layer, random, false);
      UnitRig rig(hw);
      program(layer, rig.regs);
      enable(rig.regs);
      rig.run();
      if (over == 0) {
        EXPECT_EQ(rig.blocked(), "");
      } else {
        EXPECT_NE(rig.blocked().find("line buffer"), std::string::npos) << limit.kh;
        // In bands it fits.
        Layer bands = layer;
        bands.bands = 2;
        bands.in[0] = bands.out[0] = limit.most;
        bands.in[2] = bands.out[2] = 1;
        UnitRig again(hw);
        program(bands, again.regs);
        enable(again.regs);
        again.run();
        EXPECT_EQ(again.blocked(), "");
      }
    }
}

TEST(Pdp, BlocksOnWrongBands) {
  Layer layer = simple(*nvdla_hw_find("nv_full"));
  layer.bands = 3;
  layer.out[0] = 2;
  layer.out[1] = 1;
  layer.out[2] = 2;
  layer.in[0] = 4;  // (2 - 1) * 2 + 3 - 1
  layer.in[1] = 2;
  layer.in[2] = 3;  // 2 * 2 - 1
  {
    UnitRig rig(*layer.hw);
    program(layer, rig.regs);
    enable(rig.regs);
    rig.run();
    ASSERT_EQ(rig.blocked(), "");
  }
  const auto both = [&](unsigned which, unsigned value, const char* reason) {
    Layer wrong = layer;
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
      {"PDP.D_DATA_CUBE_OUT_WIDTH", "CUBE_OUT_WIDTH", 9, "CUBE_OUT_WIDTH"},
      {"PDP.D_OPERATION_MODE_CFG", "SPLIT_NUM", 64, "bands"},
  };
  for (const Fault& fault : faults) expect_blocked(layer, fault);
}

TEST(Pdp, WaitsForItsPartner) {
  for (const char* only : {"PDP", "PDP_RDMA"}) {
    const Layer layer = simple(*nvdla_hw_find("nv_small"));
    UnitRig rig(*layer.hw);
    program(layer, rig.regs);
    rig.regs.write(std::string(only) + ".D_OP_ENABLE", 1);
    rig.run();
    EXPECT_NE(rig.blocked().find("to be enabled"), std::string::npos);
    enable(rig.regs);
    rig.run();
    EXPECT_EQ(rig.blocked(), "");
  }
}

}  // namespace
}  // namespace nvdla::test
