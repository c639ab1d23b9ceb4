// SPDX-License-Identifier: MIT
//
// What stays in the convolution buffer: kept lines and weights are those that were fetched,
// whatever became of memory since; and the cache of repacked weights is never taken for memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/layers/chain.hpp"
#include "common/layers/conv_case.hpp"
#include "common/layers/model_layer.hpp"

namespace nvdla::test {
namespace {

using model::Device;
using model::Memory;
using model::Ram;

class Reuse : public testing::TestWithParam<const char*> {
 protected:
  Reuse() {
    RefLayer& ref = layer_.ref;
    layer_.hw = &hw_;
    ref.first_generation = hw_.regmap == NVDLA_REGMAP_NV_FULL;
    ref.width = 9;
    ref.height = 8;
    ref.channels = 21;
    ref.kernels = 35;
    ref.kernel_width = ref.kernel_height = 3;
    ref.left = ref.right = ref.top = ref.bottom = 1;
    ref.pad_value = -7;
    ref.clip = 3;
    ref.shift = 4;
    ref.lanes = (ref.kernels + hw_.atom - 1) / hw_.atom * hw_.atom;
    ref.input = numbers(std::size_t{9} * 8 * 21);
    ref.weights = numbers(std::size_t{35} * 9 * 21);
    finish_layout(layer_, random_, false);
    layer_.grain = 1;
    layer_.data_banks += 2;
  }

  std::vector<std::int32_t> numbers(std::size_t count) {
    std::vector<std::int32_t> result(count);
    for (auto& one : result) one = static_cast<std::int32_t>(pick(random_, -128, 127));
    return result;
  }

  // Runs and returns the first reason if it does not end.
  std::string run(const TestLayer& layer) {
    program(layer, regs_, group_, 0);
    enable(layer, regs_);
    group_ ^= 1;
    while (device_.step()) {
    }
    if (device_.idle()) return {};
    return device_.blocked().front().reason;
  }

  // What is in memory is what the layer would give with what it holds.
  void expect_output(const TestLayer& layer) {
    for (const auto& [address, byte] : expected_bytes(layer, reference(layer.ref))) {
      std::byte got;
      memory_.read(Ram::kPrimary, address, {&got, 1});
      ASSERT_EQ(std::to_integer<int>(got), byte) << "at output + " << address - layer.output.base;
    }
  }

  const nvdla_hw& hw_ = *nvdla_hw_find(GetParam());
  Random random_{5};
  TestLayer layer_;
  Memory memory_;
  Device device_{hw_, memory_};
  Registers regs_{device_};
  unsigned group_ = 0;
};

TEST_P(Reuse, KeptDataAreUsedAlthoughMemoryChanged) {
  load(layer_, memory_);
  layer_.keep_data = true;
  ASSERT_EQ(run(layer_), "");
  expect_output(layer_);
  // Other weights on the same data; the data in memory are gone.
  memory_.fill(Ram::kPrimary, layer_.input.base, 0x10000, std::byte{0x55});
  TestLayer second = layer_;
  second.data_reuse = true;
  second.ref.weights = numbers(second.ref.weights.size());
  TestLayer weights_only = second;
  weights_only.input.base = 0x9000'0000;  // the test's loader puts the input elsewhere
  load(weights_only, memory_);
  ASSERT_EQ(run(second), "");
  expect_output(second);
  // Kept again, used again, then fetched again.
  ASSERT_EQ(run(second), "");
  TestLayer fresh = second;
  fresh.data_reuse = false;
  fresh.ref.input.assign(fresh.ref.input.size(), 0x55);
  ASSERT_EQ(run(fresh), "");
  expect_output(fresh);
}

TEST_P(Reuse, KeptWeightsAreUsedAlthoughMemoryChanged) {
  load(layer_, memory_);
  layer_.keep_weights = true;
  ASSERT_EQ(run(layer_), "");
  memory_.fill(Ram::kPrimary, layer_.weights, layer_.weight_bytes, std::byte{1});
  TestLayer second = layer_;
  second.weight_reuse = true;
  ASSERT_EQ(run(second), "");
  expect_output(second);
  // Kept over any number of layers; without reuse they are fetched.
  ASSERT_EQ(run(second), "");
  expect_output(second);
  TestLayer fresh = layer_;
  fresh.ref.weights.assign(fresh.ref.weights.size(), 1);
  ASSERT_EQ(run(fresh), "");
  expect_output(fresh);
}

TEST_P(Reuse, PartlyReleasedLinesPrecedeTheFetchedOnes) {
  // The first layer keeps its last three lines; the second fetches five more behind them.
  load(layer_, memory_);
  layer_.release = 5;
  ASSERT_EQ(run(layer_), "");
  TestLayer second = layer_;
  second.data_reuse = true;
  second.fetched_height = 5;
  second.input.base = 0x9000'0000;
  second.ref.input = numbers(second.ref.input.size());
  second.ref.height = 5;
  TestLayer fetched = second;
  fetched.ref.input.resize(std::size_t{5} * 9 * 21);
  load(fetched, memory_);
  second.ref.height = 8;
  std::vector<std::int32_t> lines(layer_.ref.input.begin() + 5 * 9 * 21, layer_.ref.input.end());
  lines.insert(lines.end(), fetched.ref.input.begin(), fetched.ref.input.end());
  second.ref.input = lines;
  second.release = 8;
  ASSERT_EQ(run(second), "");
  expect_output(second);
}

// A kernel of one position with strides sees few of them, and what it leaves out is there for the
// next layer: all lines that are kept, or the last ones.
TEST_P(Reuse, WhatStridesLeaveOutIsKept) {
  RefLayer& ref = layer_.ref;
  ref.kernel_width = ref.kernel_height = 1;
  ref.left = ref.right = ref.top = ref.bottom = 0;
  ref.weights.resize(std::size_t{35} * 21);
  TestLayer second = layer_;
  second.data_reuse = true;
  ref.stride_width = 3;
  ref.stride_height = 2;
  finish_layout(layer_, random_, false);
  for (const bool keep : {true, false}) {
    load(layer_, memory_);
    layer_.keep_data = keep;
    layer_.release = keep ? 8 : 5;
    ASSERT_EQ(run(layer_), "");
    expect_output(layer_);
    finish_layout(second, random_, false);
    // Three lines are left of the second time, and the fetched ones come behind them.
    second.fetched_height = 5;
    second.release = 8;
    ASSERT_EQ(run(second), "");
    if (!keep) {
      const std::size_t line = std::size_t{9} * 21;
      auto& input = second.ref.input;
      std::copy(ref.input.begin() + 5 * line, ref.input.end(), input.begin());
      std::copy(ref.input.begin(), ref.input.begin() + 5 * line, input.begin() + 3 * line);
    }
    expect_output(second);
  }
}

// The input is what was in memory before the first result is written over it, also of kernels of
// one position.
TEST_P(Reuse, ResultsOverTheInputChangeNoResult) {
  RefLayer& ref = layer_.ref;
  ref.kernel_width = ref.kernel_height = 1;
  ref.left = ref.right = ref.top = ref.bottom = 0;
  ref.weights.resize(std::size_t{35} * 21);
  for (const unsigned behind : {0, 1, 40, 60, 71, 72, 100, 300}) {
    finish_layout(layer_, random_, false);
    layer_.output.base = layer_.input.base + std::uint64_t{behind} * hw_.atom;
    load(layer_, memory_);
    ASSERT_EQ(run(layer_), "");
    expect_output(layer_);
    layer_.output.base = layer_.input.base - std::uint64_t{behind} * hw_.atom;
    load(layer_, memory_);
    ASSERT_EQ(run(layer_), "");
    expect_output(layer_);
  }
}

TEST_P(Reuse, ABankChangeEmptiesTheBuffer) {
  load(layer_, memory_);
  layer_.keep_data = layer_.keep_weights = true;
  // CDMA of the second generation counts the weights as there still: nobody has freed them.
  layer_.weight_banks *= 2;
  ASSERT_EQ(run(layer_), "");
  TestLayer second = layer_;
  second.data_reuse = second.weight_reuse = true;
  second.data_banks -= 1;
  second.ref.input = numbers(second.ref.input.size());
  second.ref.weights = numbers(second.ref.weights.size());
  load(second, memory_);
  ASSERT_EQ(run(second), "") << "reuse flags are ignored, everything is fetched";
  expect_output(second);
  // Other weight banks alone leave the lines alone.
  TestLayer third = second;
  third.weight_banks += 4;
  third.weight_reuse = false;
  third.ref.weights = numbers(third.ref.weights.size());
  TestLayer in_memory = third;
  in_memory.ref.input.assign(third.ref.input.size(), 0x55);
  load(in_memory, memory_);
  ASSERT_EQ(run(third), "");
  expect_output(third);
}

// CDMA stores all that it is told to, CSC reads and frees what the kernels take: what is left over
// is where the next layer begins to read.
TEST_P(Reuse, TheNextLayerReadsWhatIsLeftOver) {
  layer_.weight_banks = 8;
  load(layer_, memory_);
  TestLayer more = layer_;
  more.weight_bytes += hw_.cbuf_entry_bytes;
  const std::vector<std::byte> behind(hw_.cbuf_entry_bytes, std::byte{9});
  memory_.load(Ram::kPrimary, layer_.weights + layer_.weight_bytes, behind);
  ASSERT_EQ(run(more), "");
  expect_output(more);
  TestLayer second = layer_;
  std::vector<std::byte> stream = weight_stream(layer_);
  stream.insert(stream.begin(), behind.begin(), behind.end());
  take_stream(second, stream);
  ASSERT_EQ(run(layer_), "");
  expect_output(second);
  // Nobody comes back to the beginning, until the banks change or by reset.
  TestLayer other = layer_;
  other.data_banks -= 1;
  ASSERT_EQ(run(other), "");
  expect_output(other);
  ASSERT_EQ(run(more), "");
  device_.reset();
  group_ = 0;
  ASSERT_EQ(run(layer_), "");
  expect_output(layer_);
}

TEST_P(Reuse, ReuseOfNothingFetches) {
  load(layer_, memory_);
  layer_.data_reuse = layer_.weight_reuse = true;
  ASSERT_EQ(run(layer_), "");
  expect_output(layer_);
  // All lines were released, so again.
  layer_.ref.input = numbers(layer_.ref.input.size());
  load(layer_, memory_);
  ASSERT_EQ(run(layer_), "");
  expect_output(layer_);
}

TEST_P(Reuse, TooFewKeptLinesBlock) {
  load(layer_, memory_);
  layer_.keep_data = true;
  layer_.keep_weights = true;
  ASSERT_EQ(run(layer_), "");
  TestLayer second = layer_;
  second.data_reuse = true;
  second.ref.height = 9;
  second.ref.input.resize(std::size_t{9} * 9 * 21);
  EXPECT_NE(run(second).find("CSC waits for 9 lines"), std::string::npos);
}

TEST_P(Reuse, OtherKeptLinesBlock) {
  load(layer_, memory_);
  layer_.keep_data = true;
  ASSERT_EQ(run(layer_), "");
  TestLayer second = layer_;
  second.data_reuse = true;
  second.ref.width -= 1;
  second.ref.input.resize(std::size_t{8} * 8 * 21);
  Random random(0);
  finish_layout(second, random, false);
  second.data_banks = layer_.data_banks;
  second.weight_banks = layer_.weight_banks;
  EXPECT_NE(run(second).find("DATA_REUSE of lines that were kept with another width"),
            std::string::npos);
}

// The second layer works on five of eight lines and frees these.
TEST_P(Reuse, LinesThatAreLeftBlockOthers) {
  load(layer_, memory_);
  layer_.keep_data = true;
  ASSERT_EQ(run(layer_), "");
  TestLayer second = layer_;
  second.data_reuse = true;
  second.keep_data = false;
  second.ref.height = 5;
  ASSERT_EQ(run(second), "");
  TestLayer third = layer_;
  third.ref.width -= 1;
  third.ref.input.resize(std::size_t{8} * 8 * 21);
  Random random(0);
  finish_layout(third, random, false);
  third.data_banks = layer_.data_banks;
  third.weight_banks = layer_.weight_banks;
  EXPECT_NE(run(third).find("CSC takes 3 lines first"), std::string::npos);
}

TEST(CompressedBehindOthers, Blocks) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  Memory memory;
  Device device(hw, memory);
  Registers regs(device);
  const auto run = [&] {
    while (device.step()) {
    }
  };
  TestLayer plain = one_by_one(hw, 64, 32);
  load(plain, memory);
  plain.weight_bytes += 128;
  Random random(4);
  ConvCase compressed;
  compressed.hw = &hw;
  compressed.compressed = true;
  compressed.out = Number::kInt8;
  compressed.channels = 64;
  compressed.kernels = 32;
  finish(compressed, random, memory);
  program(compressed, regs);
  // The banks must not change between them.
  plain.data_banks = regs.field("CDMA.D_BANK", "DATA_BANK") + 1;
  plain.weight_banks = regs.field("CDMA.D_BANK", "WEIGHT_BANK") + 1;
  for (unsigned group = 0; group < 2; ++group) {
    program(plain, regs, group, 0);
    enable(plain, regs);
    run();
    ASSERT_TRUE(device.idle());
  }
  for (const std::string unit : {"CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC", "SDP"})
    regs.write(unit + ".S_POINTER", 0);
  program(compressed, regs);
  enable(regs);
  run();
  ASSERT_FALSE(device.idle());
  EXPECT_EQ(device.blocked().front().reason,
            "compressed weights behind 2 entries that an earlier layer has left in the weight "
            "banks: not modelled");
}

TEST_P(Reuse, OtherKeptWeightsBlock) {
  load(layer_, memory_);
  layer_.keep_weights = true;
  ASSERT_EQ(run(layer_), "");
  TestLayer second = layer_;
  second.weight_reuse = true;
  second.ref.kernels -= 1;
  second.ref.weights.resize(std::size_t{34} * 9 * 21);
  Random random(0);
  const unsigned banks = second.data_banks;
  finish_layout(second, random, false);
  second.data_banks = banks;
  second.weight_banks = layer_.weight_banks;
  EXPECT_NE(run(second).find("WEIGHT_REUSE"), std::string::npos);
}

TEST_P(Reuse, ResetForgets) {
  load(layer_, memory_);
  layer_.keep_data = true;
  ASSERT_EQ(run(layer_), "");
  device_.reset();
  group_ = 0;
  TestLayer second = layer_;
  second.data_reuse = true;
  second.ref.input = numbers(second.ref.input.size());
  load(second, memory_);
  ASSERT_EQ(run(second), "");
  expect_output(second);
}

TEST_P(Reuse, ChangedWeightsAreSeenWhateverTheBusKnows) {
  // Memory knows its generations; the second device's bus does not.
  class Forgetful final : public model::Bus {
   public:
    explicit Forgetful(Memory& memory) : memory_(memory) {}
    model::Mapping map(Ram ram, std::uint64_t address, std::uint64_t size,
                       bool write) noexcept override {
      // Short mappings, as a guest's pages are.
      model::Mapping mapping = memory_.map(ram, address, size, write);
      mapping.size = std::min<std::uint64_t>(mapping.size, 256 - address % 256);
      return mapping;
    }
    std::uint64_t generation(Ram, std::uint64_t, std::uint64_t) const noexcept override {
      return 0;
    }
    void written(Ram, std::uint64_t, std::uint64_t) noexcept override {}

   private:
    Memory& memory_;
  } forgetful(memory_);
  Device other(hw_, forgetful);
  Registers other_regs(other);
  for (unsigned round = 0; round < 4; ++round) {
    if (round != 1) layer_.ref.weights = numbers(layer_.ref.weights.size());
    load(layer_, memory_);
    ASSERT_EQ(run(layer_), "");
    expect_output(layer_);
    memory_.fill(Ram::kPrimary, layer_.output.base, 0x4000, std::byte{0});
    program(layer_, other_regs, round % 2, 0);
    enable(layer_, other_regs);
    while (other.step()) {
    }
    ASSERT_TRUE(other.idle());
    expect_output(layer_);
  }
  // Weights that the device itself wrote are seen as well: an SDP layer copies over them.
  TestLayer copy;
  copy.hw = &hw_;
  copy.ref.convolution = false;
  copy.ref.first_generation = layer_.ref.first_generation;
  copy.ref.channels = copy.ref.kernels = copy.ref.lanes = hw_.atom;
  copy.ref.width = static_cast<unsigned>(layer_.weight_bytes / hw_.atom);
  copy.ref.input.assign(std::size_t{copy.ref.width} * hw_.atom, 2);
  finish_layout(copy, random_, false);
  copy.input.base = 0x9000'0000;
  copy.output.base = layer_.weights;
  load(copy, memory_);
  ASSERT_EQ(run(copy), "");
  layer_.ref.weights.assign(layer_.ref.weights.size(), 2);
  // The copy used a group of SDP that the convolution units did not; they are at `group_ ^ 1`.
  device_.reset();
  group_ = 0;
  ASSERT_EQ(run(layer_), "");
  expect_output(layer_);
}

INSTANTIATE_TEST_SUITE_P(Configurations, Reuse, testing::Values("nv_full", "nv_small"),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
