// SPDX-License-Identifier: MIT
//
// Every input where there are few enough of them: all fp16 patterns through each path of CDP, all
// int8 through every mode of its tables.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "common/layers/cdp_case.hpp"
#include "common/layers/host_float.hpp"
#include "common/share.hpp"

namespace nvdla::test {
namespace {

int half(double value) { return static_cast<int>(float_bits(kHalf, value < 0, std::abs(value))); }
std::int64_t single(double value) { return float_bits(kSingle, value < 0, std::abs(value)); }

// LE over -8..8 or in powers of two from -8 on, LO over a part of that.
void fp16_tables(CdpCase& layer, bool exponential) {
  layer.le.exponential = exponential;
  layer.le.offset = -20;
  layer.le.select = -2;
  layer.le.start = single(-8);
  layer.le.end = single(exponential ? 1e6 : 8);
  layer.lo.select = -6;
  layer.lo.start = single(-2);
  layer.lo.end = single(2);
  for (CdpTable* table : {&layer.le, &layer.lo}) {
    table->under_scale = half(0.37);
    table->over_scale = half(-1.7);
  }
  for (unsigned i = 0; i < 65; ++i) layer.le.entries.push_back(half(std::tanh(i / 4.0 - 8) + 0.01));
  for (unsigned i = 0; i < 257; ++i) layer.lo.entries.push_back(half(i * 0.03 - 4));
}

class CdpFp16 : public testing::TestWithParam<std::tuple<bool, bool>> {
 protected:
  // 64 x 64 positions of 16 channels take every pattern once.
  CdpCase layer(bool exponential) const {
    CdpCase layer;
    layer.hw = nvdla_hw_find("nv_full");
    layer.precision = 2;
    layer.flush = std::get<0>(GetParam());
    layer.bypass_mul = std::get<1>(GetParam());
    layer.width = layer.height = 64;
    layer.channels = 16;
    fp16_tables(layer, exponential);
    return layer;
  }
  // `pattern(i)` is element i of the input.
  template <typename Pattern>
  void run(CdpCase layer, Pattern pattern, const std::string& what) {
    if (!share_.next()) return;
    layer.source = {kCdpIn, layer.width * 32, layer.width * layer.height * 32};
    layer.destination = layer.source;
    layer.destination.base = kCdpOut;
    std::vector<std::byte> bytes;
    for (unsigned i = 0; i < 0x10000; ++i) {
      const unsigned bits = pattern(i);
      bytes.push_back(static_cast<std::byte>(bits));
      bytes.push_back(static_cast<std::byte>(bits >> 8));
    }
    UnitRig rig(*layer.hw);
    rig.memory.load(model::Ram::kPrimary, kCdpIn, bytes);
    ASSERT_EQ(check_cdp(layer, rig), "") << what;
  }

 private:
  Share share_;
};

// The table sees the number.
TEST_P(CdpFp16, EveryInputThroughTheTables) {
  for (const bool exponential : {false, true})
    for (unsigned priorities = 0; priorities < 8; ++priorities) {
      CdpCase layer = this->layer(exponential);
      layer.bypass_sum = true;
      for (unsigned i = 0; i < 3; ++i) layer.priority[i] = priorities >> i & 1;
      run(layer, std::identity{},
          (exponential ? "exponential " : "linear ") + std::to_string(priorities));
    }
}

// The table sees the sum of squares of neighbours of like size.
TEST_P(CdpFp16, EveryInputThroughTheSquares) {
  for (const bool exponential : {false, true})
    for (unsigned reach = 1; reach <= 4; ++reach) {
      CdpCase layer = this->layer(exponential);
      layer.reach = reach;
      run(layer, std::identity{}, "reach " + std::to_string(reach));
    }
}

// All numbers among neighbours of any size.
TEST_P(CdpFp16, EveryInputAmongOthers) {
  CdpCase layer = this->layer(true);
  layer.reach = 4;
  run(
      layer, [](unsigned i) { return i * 0x9e37 & 0xffff; }, "scattered");
}

INSTANTIATE_TEST_SUITE_P(AllInputs, CdpFp16, testing::Combine(testing::Bool(), testing::Bool()),
                         [](const auto& which) {
                           return std::string(std::get<0>(which.param) ? "Flush" : "Keep") +
                                  (std::get<1>(which.param) ? "Alone" : "Multiplied");
                         });

// All int8 through every mode of the tables: kinds of LE, priorities, steps, each as it is and as
// a sum of squares.
TEST(CdpTables, EveryInt8ThroughEveryMode) {
  for (const char* name : {"nv_full", "nv_large", "nv_medium_512", "nv_small"}) {
    const nvdla_hw& hw = *nvdla_hw_find(name);
    std::vector<std::byte> bytes;
    for (unsigned i = 0; i < 256; ++i) bytes.push_back(static_cast<std::byte>(i));
    Share share;
    for (unsigned mode = 0; mode < 1024; ++mode) {
      if (!share.next()) continue;
      Random random(mode);
      CdpCase layer;
      layer.hw = &hw;
      layer.width = 256 / hw.atom;
      layer.channels = hw.atom;
      layer.bypass_sum = (mode >> 8 & 1) == 0;
      layer.bypass_mul = (mode >> 9 & 1) == 0;
      layer.le = random_table(random, true, 0);
      layer.lo = random_table(random, false, 0);
      layer.le.exponential = (mode & 1) != 0;
      for (unsigned i = 0; i < 3; ++i) layer.priority[i] = mode >> (1 + i) & 1;
      constexpr int kOffsets[4] = {-20, 0, 1, 4};
      constexpr int kSelects[4] = {-2, 0, 1, 2};
      // Squares reach further.
      const int wider = layer.bypass_sum ? 0 : 7;
      layer.le.offset = kOffsets[mode >> 4 & 3];
      layer.le.select = kSelects[mode >> 6 & 3] + wider;
      layer.lo.select = kSelects[mode >> 4 & 3] - 1 + wider;
      for (CdpTable* table : {&layer.le, &layer.lo}) {
        table->start = layer.bypass_sum ? pick(random, -140, 60) : pick(random, -100, 20000);
        table->end = table->start + (layer.bypass_sum ? 64 : 5000);
      }
      layer.out_shift = layer.bypass_mul ? 8 : 15;
      place_cdp(layer, random);
      UnitRig rig(hw);
      for (unsigned x = 0; x < layer.width; ++x)
        rig.memory.load(model::Ram::kPrimary, layer.at(layer.source, x, 0, 0),
                        std::span(bytes).subspan(std::size_t{x} * hw.atom, hw.atom));
      ASSERT_EQ(check_cdp(layer, rig), "") << name << ", mode " << mode;
    }
  }
}

// No input reaches these steps, but slopes start from them however far they are.
TEST(CdpTables, ExponentsAboveEveryInput) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  std::vector<std::byte> bytes;
  for (unsigned i = 0; i < 256; ++i) bytes.push_back(static_cast<std::byte>(i));
  for (const int offset : {36, 62, 63, 64, 90}) {
    for (const int scale : {-32768, -1, 0, 1}) {
      for (const int shift : {-16, 0, 15}) {
        Random random(1);
        CdpCase layer;
        layer.hw = &hw;
        layer.width = 256 / hw.atom;
        layer.channels = hw.atom;
        layer.bypass_sum = layer.bypass_mul = true;
        layer.le = random_table(random, true, 0);
        layer.lo = random_table(random, false, 0);
        layer.le.exponential = true;
        layer.le.offset = offset;
        layer.le.start = 0;
        layer.le.under_scale = scale;
        layer.le.under_shift = shift;
        layer.lo.start = 1000;
        layer.out_shift = 8;
        place_cdp(layer, random);
        UnitRig rig(hw);
        for (unsigned x = 0; x < layer.width; ++x)
          rig.memory.load(model::Ram::kPrimary, layer.at(layer.source, x, 0, 0),
                          std::span(bytes).subspan(std::size_t{x} * hw.atom, hw.atom));
        ASSERT_EQ(check_cdp(layer, rig), "") << offset << ", " << scale << " >> " << shift;
      }
    }
  }
}

}  // namespace
}  // namespace nvdla::test
