// SPDX-License-Identifier: MIT
//
// One pass of a tile from integers to int8 against SDP operator by operator.
#include "model/sdp/sdp_finishing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/kernel_sets.hpp"
#include "model/sdp/sdp_pass.hpp"

namespace nvdla::test {
namespace {

using model::Alu;
using model::kBlock;
using model::Precision;
using model::Ram;
using model::SdpLayer;

constexpr std::uint64_t kOperands = 0x100000, kOperandBytes = 0x8000, kOut = 0x400000,
                        kOutBytes = 0x4000;

struct Drawn {
  const nvdla_hw* hw;
  SdpLayer layer;
  std::uint64_t largest;
};

bool one_in(Random& random, int count) { return pick(random, 0, count - 1) == 0; }

// Mostly large, at times of any size.
std::int16_t factor(Random& random) {
  return static_cast<std::int16_t>(pick(random, INT16_MIN, INT16_MAX) >>
                                   (one_in(random, 3) ? pick(random, 0, 15) : 0));
}

void add_channels(Random& random, model::OperatorX& x, model::OperandDma& dma) {
  x.active = true;
  x.relu = one_in(random, 4);
  const bool memory = one_in(random, 2);
  x.alu = {!one_in(random, 4), memory, static_cast<std::int32_t>(pick(random, -32768, 32767))};
  if (x.alu.active) x.algorithm = Alu::kSum;
  x.alu_shift = static_cast<unsigned>(pick(random, 0, 8));
  x.mul = {!one_in(random, 4), memory && x.alu.active, factor(random)};
  if (x.mul.active) x.mul_shift = static_cast<unsigned>(pick(random, 0, 30));
  dma.disabled = !memory;
  dma.two_bytes = true;
  dma.memory = {Ram::kPrimary, kOperands, 0, 0};
}

void add_tensor(Random& random, Drawn& drawn) {
  SdpLayer& layer = drawn.layer;
  const unsigned unit = static_cast<unsigned>(pick(random, 0, 1)) + 1;
  model::OperandDma& dma = layer.rdma.operands[unit];
  dma.disabled = false;
  dma.use = 1;
  dma.per_element = true;
  dma.two_bytes = one_in(random, 3);
  const std::uint64_t line = std::uint64_t{layer.width} * drawn.hw->atom * (dma.two_bytes ? 2 : 1);
  dma.memory = {Ram::kPrimary, kOperands + kOperandBytes / 2, line, line * layer.height};
  model::OperandPart& alu = unit == 1 ? layer.x[1].alu : layer.y.alu;
  alu = {true, true, 0};
  if (unit == 1) {
    layer.x[1].active = true;
    layer.x[1].algorithm = Alu::kSum;
    layer.x[1].alu_shift = static_cast<unsigned>(pick(random, 0, 12));
    layer.x[1].relu = one_in(random, 2);
  } else {
    layer.y.active = true;
    layer.y.algorithm = Alu::kSum;
    layer.y.alu_converter = {one_in(random, 2), static_cast<std::int32_t>(pick(random, -9, 9)),
                             factor(random), static_cast<unsigned>(pick(random, 0, 20))};
  }
}

Drawn draw(Random& random) {
  Drawn drawn{nvdla_hw_find(one_in(random, 3) ? "nv_small_256_full" : "nv_full"), {}, 0};
  SdpLayer& layer = drawn.layer;
  layer.flying = layer.has_rdma = true;
  layer.width = static_cast<std::uint32_t>(pick(random, 1, 20));
  layer.height = static_cast<std::uint32_t>(pick(random, 1, 3));
  layer.channels = static_cast<std::uint32_t>(pick(random, 1, 70));
  const std::uint64_t line = (layer.width + (one_in(random, 3) ? 2 : 0)) * drawn.hw->atom;
  layer.destination = {Ram::kPrimary, kOut, line, line * layer.height};
  if (!one_in(random, 4)) add_channels(random, layer.x[0], layer.rdma.operands[0]);
  layer.rdma.operands[0].use = layer.x[0].mul.from_memory ? 2 : 1;
  if (one_in(random, 2)) add_tensor(random, drawn);
  layer.scale = one_in(random, 3) ? 1 : static_cast<std::int16_t>(pick(random, 1, 32767));
  layer.shift = static_cast<unsigned>(pick(random, 0, one_in(random, 5) ? 63 : 24));
  drawn.largest = std::uint64_t{1} << pick(random, 7, 31);
  return drawn;
}

// Sums that come out near halves and limits, as far as the first operator says where these are;
// and any.
std::vector<std::int32_t> sums(Random& random, const Drawn& drawn) {
  const SdpLayer& layer = drawn.layer;
  double scale = std::ldexp(1.0 / layer.scale, static_cast<int>(layer.shift));
  const model::OperatorX& x = layer.x[0];
  if (x.mul.active && !x.mul.from_memory && x.mul.value != 0)
    scale *= std::ldexp(1.0 / x.mul.value, static_cast<int>(x.mul_shift));
  const double limit = static_cast<double>(std::min<std::uint64_t>(drawn.largest, INT32_MAX));
  std::vector<std::int32_t> values(std::size_t{model::SdpPass::kPositions} * kBlock);
  for (std::int32_t& value : values) {
    double wanted = 0;
    if (one_in(random, 4)) {
      wanted = std::ldexp(static_cast<double>(pick(random, -65536, 65536)),
                          static_cast<int>(pick(random, 0, 15)));
    } else if (one_in(random, 6)) {
      wanted = one_in(random, 2) ? limit : -limit;
    } else {
      const std::int64_t range = one_in(random, 3) ? 3 : 131;
      wanted = (static_cast<double>(pick(random, -range, range)) + 0.5) * scale +
               static_cast<double>(pick(random, -2, 2));
      if (x.alu.active && !x.alu.from_memory)
        wanted -= std::ldexp(x.alu.value, static_cast<int>(x.alu_shift));
    }
    value = static_cast<std::int32_t>(std::clamp(wanted, -limit, limit));
  }
  return values;
}

class SdpFinishes : public KernelSets {
 protected:
  std::uint32_t run(const Drawn& drawn, const model::Kernels& kernels, std::uint64_t seed) {
    Random random(seed);
    model::Memory memory;
    std::vector<std::byte> bytes(kOperandBytes);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    memory.load(Ram::kPrimary, kOperands, bytes);
    model::Dma dma(*drawn.hw, memory);
    model::SdpPass pass(*drawn.hw, dma, kernels);
    pass.begin(drawn.layer, drawn.largest);
    const std::uint32_t positions = drawn.layer.width * drawn.layer.height;
    for (unsigned block = 0; block < pass.blocks(); ++block)
      for (std::uint32_t first = 0; first < positions; first += model::SdpPass::kPositions) {
        std::vector<std::int32_t> values = sums(random, drawn);
        pass.tile(values.data(), block, first,
                  std::min<std::uint32_t>(model::SdpPass::kPositions, positions - first));
      }
    pass.end();
    return memory.crc(Ram::kPrimary, kOut, kOutBytes);
  }
  bool one_pass(const Drawn& drawn) {
    model::Memory memory;
    model::Dma dma(*drawn.hw, memory);
    const unsigned atom = drawn.hw->atom;
    const std::uint32_t channels = (drawn.layer.channels + atom - 1) / atom * atom;
    model::SdpOperands operands[3] = {
        {*drawn.hw, dma, *kernels_}, {*drawn.hw, dma, *kernels_}, {*drawn.hw, dma, *kernels_}};
    for (unsigned i = 0; i < 3; ++i) operands[i].begin(drawn.layer, i, channels);
    model::SdpFinishing finishing;
    return finishing.begin(drawn.layer, operands, drawn.largest, channels);
  }
};

TEST_P(SdpFinishes, LikeOperatorByOperator) {
  unsigned passes = 0;
  constexpr unsigned kRounds = 2000;
  for (unsigned round = 0; round < kRounds; ++round) {
    const Drawn drawn = draw(random_);
    const std::uint64_t seed = random_();
    passes += one_pass(drawn);
    ASSERT_EQ(run(drawn, *kernels_, seed), run(drawn, model::kPortableKernels, seed))
        << "round " << round << ", one pass: " << one_pass(drawn);
  }
  EXPECT_GT(passes, kRounds / 4);
  EXPECT_LT(passes, kRounds * 3 / 4);
}

// Factors for which the cut of great sums shows, unless they are saturated anyway: one more bit of
// shift, and one pass will not do.
TEST_P(SdpFinishes, KnowsHowFarFloatsReach) {
  Drawn drawn{nvdla_hw_find("nv_full"), {}, std::uint64_t{1} << 30};
  SdpLayer& layer = drawn.layer;
  layer.flying = true;
  layer.width = layer.height = layer.channels = 1;
  layer.destination = {Ram::kPrimary, kOut, 32, 32};
  layer.scale = 129;
  layer.shift = 24;
  EXPECT_TRUE(one_pass(drawn));
  layer.scale = 128;
  EXPECT_FALSE(one_pass(drawn));
  drawn.largest = (std::uint64_t{1} << 24) - 1;
  EXPECT_TRUE(one_pass(drawn));
  drawn.largest = std::uint64_t{1} << 30;
  layer.scale = 1;
  layer.shift = 0;
  EXPECT_TRUE(one_pass(drawn));
  // A factor before it: 129 of the converter's steps are what it must reach.
  layer.x[0].active = layer.x[0].mul.active = true;
  layer.x[0].mul.value = 129;
  layer.x[0].mul_shift = 24;
  EXPECT_TRUE(one_pass(drawn));
  layer.x[0].mul.value = -128;
  EXPECT_FALSE(one_pass(drawn));
  layer.x[0].mul_shift = 23;
  EXPECT_TRUE(one_pass(drawn));
  layer.shift = 1;
  EXPECT_FALSE(one_pass(drawn));
  // What 32 bits do not hold saturates on the way.
  drawn.largest = std::uint64_t{1} << 31;
  layer.x[0] = {};
  layer.scale = 129;
  layer.shift = 24;
  EXPECT_FALSE(one_pass(drawn));
}

// The portable set goes operator by operator.
INSTANTIATE_TEST_SUITE_P(All, SdpFinishes, kFasterKernelSets, kernel_set_name);

}  // namespace
}  // namespace nvdla::test
