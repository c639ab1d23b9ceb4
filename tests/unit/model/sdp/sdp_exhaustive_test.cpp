// SPDX-License-Identifier: MIT
//
// Every input where there are few enough of them: all fp16 and int16 patterns through each
// element-wise path of SDP, all int8 through every mode of the table.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

#include "common/layers/host_float.hpp"
#include "common/layers/sdp_reference.hpp"
#include "common/share.hpp"

namespace nvdla::test {
namespace {

const nvdla_hw& nv_full() { return *nvdla_hw_find("nv_full"); }

// 64 x 64 positions of 16 channels take every 16-bit pattern once.
SdpCase all_patterns(unsigned precision, unsigned out) {
  SdpCase layer;
  layer.hw = &nv_full();
  layer.in = layer.proc = precision;
  layer.out = out;
  layer.width = layer.height = 64;
  layer.channels = 16;
  return layer;
}

void run(SdpCase layer, const std::string& what) {
  static Share share;  // of all tests that the process runs
  if (!share.next()) return;
  SCOPED_TRACE(what);
  Random random(0);
  place_sdp(layer, random, false);
  UnitRig rig(*layer.hw);
  std::vector<std::byte> bytes;
  for (unsigned i = 0; i < 0x10000; ++i) {
    bytes.push_back(static_cast<std::byte>(i));
    bytes.push_back(static_cast<std::byte>(i >> 8));
  }
  rig.memory.load(model::Ram::kPrimary, kSdpIn, bytes);
  ASSERT_EQ(check_sdp(layer, rig), "");
}

// A zero, a denormal, an ordinary number, the largest, infinity and NaN.
constexpr std::uint16_t kHalves[] = {0x8000, 0x83ff, 0x4248, 0x7bff, 0xfc00, 0xfd55};
constexpr std::uint16_t kOrdinary = 0x4248;

class SdpFp16 : public testing::TestWithParam<std::tuple<unsigned, bool>> {
 protected:
  SdpCase layer() const {
    SdpCase layer = all_patterns(kRefFp16, std::get<0>(GetParam()));
    layer.flush_nan = std::get<1>(GetParam());
    return layer;
  }
};

TEST_P(SdpFp16, PassesEveryInput) { run(layer(), "bypass"); }

TEST_P(SdpFp16, OperatorsOfX) {
  for (unsigned index = 0; index < 2; ++index)
    for (const std::uint16_t operand : kHalves) {
      if (index == 1 && operand != kOrdinary) continue;  // the same logic twice
      const std::string what = "X" + std::to_string(index + 1) + " " + std::to_string(operand);
      for (unsigned algorithm = 0; algorithm < 3; ++algorithm) {
        SdpCase layer = this->layer();
        SdpUnit& x = layer.units[index];
        x.active = x.alu.active = true;
        x.algorithm = algorithm;
        x.alu.value = operand;
        x.relu = algorithm == 2;
        run(layer, what + " ALU " + std::to_string(algorithm));
      }
      for (const bool prelu : {false, true}) {
        SdpCase layer = this->layer();
        SdpUnit& x = layer.units[index];
        x.active = x.mul.active = true;
        x.prelu = prelu;
        x.mul.value = operand;
        run(layer, what + (prelu ? " PReLU" : " MUL"));
      }
    }
  SdpCase layer = this->layer();
  layer.units[0].active = layer.units[0].relu = true;
  run(layer, "ReLU");
}

TEST_P(SdpFp16, OperatorsOfY) {
  for (const std::uint16_t half : {kHalves[1], kOrdinary, kHalves[5]}) {
    // A register operand is fp32 as it is.
    const std::uint32_t operand = float_convert(kHalf, kSingle, half);
    for (unsigned algorithm = 0; algorithm < 3; ++algorithm) {
      SdpCase layer = this->layer();
      SdpUnit& y = layer.units[2];
      y.active = y.alu.active = true;
      y.algorithm = algorithm;
      y.alu.value = operand;
      run(layer, "Y ALU " + std::to_string(algorithm) + " " + std::to_string(half));
    }
    for (const bool prelu : {false, true}) {
      SdpCase layer = this->layer();
      SdpUnit& y = layer.units[2];
      y.active = y.mul.active = true;
      y.prelu = prelu;
      y.mul.value = operand;
      run(layer, (prelu ? "Y PReLU " : "Y MUL ") + std::to_string(half));
    }
  }
}

std::uint32_t single(double value) { return float_bits(kSingle, value < 0, std::abs(value)); }
std::uint16_t half(double value) {
  return static_cast<std::uint16_t>(float_bits(kHalf, value < 0, std::abs(value)));
}

// A table of [-8, 8) and one of a quarter of that range, or powers of two from -8 on.
void fp16_tables(SdpCase& layer, bool exponential) {
  layer.units[2].active = layer.units[2].lut = true;
  SdpTable& le = layer.le;
  SdpTable& lo = layer.lo;
  le.exponential = exponential;
  le.offset = -20;
  le.select = -2;
  le.start = single(-8);
  le.end = single(exponential ? 1e6 : 8);
  lo.select = -6;
  lo.start = single(-2);
  lo.end = single(2);
  for (SdpTable* table : {&le, &lo}) {
    table->under_scale = half(0.37);
    table->over_scale = half(-1.7);
  }
  for (unsigned i = 0; i < 65; ++i) le.entries.push_back(half(std::tanh(i / 4.0 - 8) + 0.01 * i));
  for (unsigned i = 0; i < 257; ++i) lo.entries.push_back(half(i * 0.03 - 4));
}

TEST_P(SdpFp16, Tables) {
  for (const bool exponential : {false, true})
    for (unsigned priorities = 0; priorities < 8; ++priorities) {
      SdpCase layer = this->layer();
      fp16_tables(layer, exponential);
      layer.under_priority = priorities & 1;
      layer.over_priority = priorities >> 1 & 1;
      layer.hybrid_priority = priorities >> 2;
      run(layer, (exponential ? "exponential " : "linear ") + std::to_string(priorities));
    }
}

INSTANTIATE_TEST_SUITE_P(AllInputs, SdpFp16,
                         testing::Values(std::tuple{+kRefFp16, false}, std::tuple{+kRefFp16, true},
                                         std::tuple{+kRefInt16, false}),
                         [](const auto& which) {
                           return std::string(std::get<0>(which.param) == kRefFp16 ? "Fp16"
                                                                                   : "Int16") +
                                  (std::get<1>(which.param) ? "Flush" : "Keep");
                         });

TEST(SdpInt16, EveryInputToBothPrecisions) {
  for (const unsigned out : {+kRefInt16, +kRefFp16}) {
    struct Converter {
      std::int32_t offset, scale;
      unsigned shift;
    };
    for (const Converter& one :
         {Converter{0, 1, 0}, Converter{-40000, 3, 1}, Converter{123, -32768, 12}}) {
      SdpCase layer = all_patterns(kRefInt16, out);
      layer.offset = one.offset;
      layer.scale = one.scale;
      layer.shift = one.shift;
      run(layer, std::to_string(out) + " " + std::to_string(one.offset));
    }
  }
}

// All int8 through every mode of the tables.
TEST(SdpTables, EveryInt8ThroughEveryMode) {
  for (const char* name : {"nv_full", "nv_large", "nv_medium_1024_full", "nv_small_256_full"}) {
    const nvdla_hw& hw = *nvdla_hw_find(name);
    std::vector<std::byte> bytes;
    for (unsigned i = 0; i < 256; ++i) bytes.push_back(static_cast<std::byte>(i));
    for (unsigned mode = 0; mode < 256; ++mode) {
      Random random(mode);
      SdpCase layer;
      layer.hw = &hw;
      layer.width = 256 / hw.atom;
      layer.channels = hw.atom;
      layer.units[2].active = layer.units[2].lut = true;
      SdpTable& le = layer.le;
      SdpTable& lo = layer.lo;
      le.exponential = (mode & 1) != 0;
      layer.under_priority = mode >> 1 & 1;
      layer.over_priority = mode >> 2 & 1;
      layer.hybrid_priority = mode >> 3 & 1;
      constexpr int kOffsets[4] = {-20, 0, 1, 4};
      constexpr int kSelects[4] = {-2, 0, 1, 2};
      le.offset = kOffsets[mode >> 4 & 3];
      le.select = kSelects[mode >> 6];
      lo.select = kSelects[mode >> 4 & 3] - 1;
      le.start = static_cast<std::uint32_t>(pick(random, -140, 60));
      lo.start = static_cast<std::uint32_t>(pick(random, -140, 60));
      le.end = le.start + 64;
      lo.end = lo.start + 100;
      for (SdpTable* table : {&le, &lo}) {
        table->entries.resize(table == &le ? 65 : 257);
        for (std::uint16_t& entry : table->entries) entry = static_cast<std::uint16_t>(random());
        table->under_scale = static_cast<std::uint16_t>(random());
        table->over_scale = static_cast<std::uint16_t>(random());
        table->under_shift = static_cast<int>(pick(random, -16, 15));
        table->over_shift = static_cast<int>(pick(random, -16, 15));
      }
      layer.scale = 1;
      layer.shift = 8;
      place_sdp(layer, random, false);
      UnitRig rig(hw);
      rig.memory.load(model::Ram::kPrimary, kSdpIn, bytes);
      ASSERT_EQ(check_sdp(layer, rig), "") << name << ", mode " << mode;
    }
  }
}

// No input reaches these steps, but slopes start from them however far they are.
TEST(SdpTables, ExponentsAboveEveryInput) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  std::vector<std::byte> bytes;
  for (unsigned i = 0; i < 256; ++i) bytes.push_back(static_cast<std::byte>(i));
  for (const int offset : {31, 32, 62, 63, 64, 90}) {
    for (const int scale : {-32768, -1, 0, 1}) {
      for (const int shift : {-16, 0, 15}) {
        Random random(1);
        SdpCase layer;
        layer.hw = &hw;
        layer.width = 256 / hw.atom;
        layer.channels = hw.atom;
        layer.units[2].active = layer.units[2].lut = true;
        layer.le.exponential = true;
        layer.le.offset = offset;
        layer.le.entries.assign(65, 1000);
        layer.le.under_scale = static_cast<std::uint16_t>(scale);
        layer.le.under_shift = shift;
        layer.lo.start = 1000;
        layer.lo.entries.assign(257, 0);
        layer.scale = 1;
        layer.shift = 20;
        place_sdp(layer, random, false);
        UnitRig rig(hw);
        rig.memory.load(model::Ram::kPrimary, kSdpIn, bytes);
        ASSERT_EQ(check_sdp(layer, rig), "") << offset << ", " << scale << " >> " << shift;
      }
    }
  }
}

}  // namespace
}  // namespace nvdla::test
