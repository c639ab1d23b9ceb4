// SPDX-License-Identifier: MIT
//
// How long layers may take together when convolutions among them reuse what others kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/compiled.hpp"
#include "unit_layers.hpp"

namespace nvdla::test {
namespace {

constexpr std::uint32_t kKeepAll = NVDLA_CONV_KEEP_DATA | NVDLA_CONV_KEEP_WEIGHTS;
constexpr std::uint32_t kAndData = NVDLA_CONV_REUSE_DATA | kKeepAll;
constexpr std::uint32_t kAndWeights = NVDLA_CONV_REUSE_WEIGHTS | kKeepAll;

class TiedRun : public testing::Test {
 protected:
  nvdla_layer conv(std::uint32_t flags) const {
    nvdla_layer layer = base_.layer;
    layer.conv.flags = flags;
    return layer;
  }
  static nvdla_layer sdp() {
    Base base = base_sdp("nv_small");
    base.layer.sdp.x1 = {};
    base.layer.sdp.x2 = {};
    return base.layer;
  }
  // All of it with a clock so slow, or what is refused first.
  nvdla_error compile(const std::vector<nvdla_layer>& layers, std::uint32_t clock_khz) const {
    Program program(*base_.hw, base_.slots, static_cast<std::uint32_t>(layers.size()), 0,
                    clock_khz);
    for (const nvdla_layer& layer : layers) program.add(layer);
    program.end();
    return program.error();
  }
  std::vector<std::uint64_t> cycles(const std::vector<nvdla_layer>& layers) const {
    Program program(*base_.hw, base_.slots, static_cast<std::uint32_t>(layers.size()));
    std::vector<std::uint64_t> result;
    for (const nvdla_layer& layer : layers) {
      EXPECT_TRUE(program.add(layer)) << to_string(program.error());
      result.push_back(program.image(static_cast<std::uint32_t>(result.size())).cycles);
    }
    return result;
  }
  // The slowest clock with which so many cycles take five seconds at most.
  static std::uint32_t clock_for(std::uint64_t cycles) {
    return static_cast<std::uint32_t>((cycles + 4999) / 5000);
  }

  Base base_ = base_conv("nv_small");
};

// To the cycle: with as many layers as make it whole seconds, that clock is enough, and one layer
// more is too much.
TEST_F(TiedRun, IsBounded) {
  for (const std::uint32_t flags : {kAndData, kAndWeights, kAndData | kAndWeights}) {
    std::vector<nvdla_layer> layers = {conv(kKeepAll), conv(flags)};
    const std::vector<std::uint64_t> each = cycles(layers);
    std::uint64_t sum = each[0] + each[1];
    for (; sum % 5000 != 0; sum += each[1]) {
      ASSERT_LT(layers.size(), std::size_t{NVDLA_MAX_LAYERS} - 1) << "never whole seconds";
      layers.push_back(conv(flags));
    }
    const std::uint32_t clock = clock_for(sum);
    EXPECT_EQ(compile(layers, clock).rule, NVDLA_RULE_NONE);
    layers.push_back(conv(flags));
    const nvdla_error error = compile(layers, clock);
    EXPECT_EQ(error.rule, NVDLA_RULE_TIED_CYCLES) << to_string(error);
    EXPECT_EQ(error.object, NVDLA_OBJECT_LAYER);
    EXPECT_EQ(error.index, layers.size() - 1);
    EXPECT_EQ(error.field, LAYER_FIELD(conv.flags));
    EXPECT_EQ(error.value, static_cast<std::int64_t>(sum + each[1]));
    EXPECT_EQ(error.min, 0) << "the first layer";
    EXPECT_EQ(error.max, static_cast<std::int64_t>(sum));
  }
}

// All between a convolution and the one that reuses what it kept counts; what came before and what
// comes behind does not.
TEST_F(TiedRun, BeginsWithAConvolutionThatReusesNothing) {
  const std::vector<nvdla_layer> layers = {sdp(), conv(kKeepAll), conv(kKeepAll), sdp(),
                                           sdp(), sdp(),          conv(kAndData), conv(kAndWeights),
                                           sdp(), sdp(),          sdp(),          conv(kAndWeights),
                                           sdp(), sdp(),          sdp()};
  const std::vector<std::uint64_t> each = cycles(layers);
  std::uint64_t sum = 0;
  for (std::size_t i = 2; i < 12; ++i) sum += each[i];
  const std::uint32_t clock = clock_for(sum);
  EXPECT_EQ(compile(layers, clock).rule, NVDLA_RULE_NONE);
  const nvdla_error error = compile(layers, clock - 1);
  EXPECT_EQ(error.rule, NVDLA_RULE_TIED_CYCLES) << to_string(error);
  EXPECT_EQ(error.index, 11u);
  EXPECT_EQ(error.value, static_cast<std::int64_t>(sum));
  EXPECT_EQ(error.min, 2);
}

// What nobody reuses ties nothing, however many layers there are, and what is kept may be: only
// who reuses has to wait for others.
TEST_F(TiedRun, EndsWhereAConvolutionFetchesAll) {
  const std::uint64_t longest = cycles({conv(kKeepAll)})[0];
  const std::vector<nvdla_layer> kept(100, conv(kKeepAll));
  EXPECT_EQ(compile(kept, clock_for(longest)).rule, NVDLA_RULE_NONE);

  // Pairs, each as long as the clock allows.
  std::vector<nvdla_layer> pairs;
  for (int i = 0; i < 50; ++i) {
    pairs.push_back(conv(kKeepAll));
    pairs.push_back(conv(NVDLA_CONV_REUSE_DATA));
  }
  const std::vector<std::uint64_t> each = cycles(pairs);
  EXPECT_EQ(compile(pairs, clock_for(each[0] + each[1])).rule, NVDLA_RULE_NONE);
  EXPECT_EQ(compile(pairs, clock_for(each[0] + each[1]) - 1).rule, NVDLA_RULE_TIED_CYCLES);
}

// A layer that is too long alone is refused as such.
TEST_F(TiedRun, OfOneLayerThatIsTooLong) {
  const std::vector<nvdla_layer> layers = {conv(kKeepAll), conv(kAndData)};
  const std::vector<std::uint64_t> each = cycles(layers);
  const std::uint32_t clock = clock_for(std::max(each[0], each[1]));
  EXPECT_EQ(compile(layers, clock).rule, NVDLA_RULE_TIED_CYCLES);
  EXPECT_EQ(compile(layers, clock - 1).rule, NVDLA_RULE_CYCLES);
}

}  // namespace
}  // namespace nvdla::test
