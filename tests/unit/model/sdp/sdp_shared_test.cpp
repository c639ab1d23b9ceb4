// SPDX-License-Identifier: MIT
//
// SDP on the threads that computed what it takes: the bytes and counters of one thread whose every
// access the bus sees, and only where no tile writes what another one touches. Run under TSan.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "common/property.hpp"
#include "common/random.hpp"
#include "common/recorder.hpp"
#include "common/share.hpp"
#include "model/sdp/sdp_pass.hpp"

namespace nvdla::test {
namespace {

using model::Alu;
using model::Precision;
using model::Ram;
using model::SdpLayer;
using model::SdpPass;

constexpr std::uint64_t kOut = 0x8001'0000, kOperands = 0x8010'0000;
constexpr std::uint64_t kOperandBytes = 0x2'0000, kRegion = 0x8'0000;

const nvdla_hw& nv_full() { return *nvdla_hw_find("nv_full"); }

// A cube of `bytes` a position, with gaps or without.
model::Surface surface(Random& random, const SdpLayer& layer, std::uint64_t base, unsigned bytes) {
  const std::uint64_t line = layer.width * bytes + (one_in(random, 2) ? 0 : 32);
  return {Ram::kPrimary, base, line, layer.height * line + (one_in(random, 2) ? 0 : 64)};
}

void add_operand(Random& random, SdpLayer& layer, unsigned index) {
  model::OperandDma& dma = layer.rdma.operands[index];
  model::OperandPart& alu = index < 2 ? layer.x[index].alu : layer.y.alu;
  model::OperandPart& mul = index < 2 ? layer.x[index].mul : layer.y.mul;
  alu.active = alu.from_memory = one_in(random, 2);
  mul.active = mul.from_memory = !alu.active || one_in(random, 2);
  dma.disabled = false;
  dma.use = alu.active && mul.active ? 2 : alu.active ? 1 : 0;
  dma.two_bytes = layer.proc != Precision::kInt8 || one_in(random, 2);
  dma.per_element = one_in(random, 2);
  const unsigned column = nv_full().atom / precision_bytes(layer.proc);
  dma.memory = surface(random, layer, kOperands + index * kOperandBytes,
                       column * (dma.use == 2 ? 2 : 1) * (dma.two_bytes ? 2 : 1));
  (index < 2 ? layer.x[index].algorithm : layer.y.algorithm) = alu.active ? Alu::kSum : Alu::kNone;
}

SdpLayer draw(Random& random) {
  SdpLayer layer;
  layer.flying = true;
  layer.proc = layer.out = static_cast<Precision>(pick(random, 0, 2));
  layer.width = static_cast<std::uint32_t>(pick(random, 1, 30));
  layer.height = static_cast<std::uint32_t>(pick(random, 1, 9));
  layer.channels = static_cast<std::uint32_t>(pick(random, 1, 70));
  layer.destination = surface(random, layer, kOut, nv_full().atom);
  layer.has_rdma = true;
  for (unsigned i = 0; i < 2; ++i) {
    layer.x[i].active = true;
    add_operand(random, layer, i);
    layer.x[i].alu_shift = static_cast<unsigned>(pick(random, 0, 18));
    layer.x[i].mul_shift = static_cast<unsigned>(pick(random, 0, 20));
  }
  layer.y.active = true;
  add_operand(random, layer, 2);
  layer.y.alu_converter = {false, 3, 77, 4};
  layer.y.mul_converter = {one_in(random, 2), -9, 5, 2};
  layer.y.truncate = 6;
  layer.scale = static_cast<std::int16_t>(pick(random, 1, 9));
  layer.shift = static_cast<unsigned>(pick(random, 0, 12));
  layer.count_saturation = one_in(random, 2);
  return layer;
}

using Outcome = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

// All tiles, taken by `threads` as they come.
Outcome run(const SdpLayer& layer, std::uint64_t seed, bool open, unsigned threads) {
  Random random(seed);
  model::Memory memory;
  std::vector<std::byte> bytes(3 * kOperandBytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  memory.load(Ram::kPrimary, kOperands, bytes);
  Recorder recorder(memory);
  model::Bus& bus = open ? static_cast<model::Bus&>(memory) : recorder;
  model::Dma dma(nv_full(), bus);
  SdpPass pass(nv_full(), dma, model::chosen_kernels(), threads);
  pass.begin(layer);
  EXPECT_EQ(pass.shareable(), open);
  const std::uint32_t positions = layer.width * layer.height;
  const std::uint32_t steps = (positions + SdpPass::kPositions - 1) / SdpPass::kPositions;
  std::vector<std::int32_t> values(std::size_t{pass.blocks()} * steps * SdpPass::kPositions *
                                   model::kBlock);
  for (std::int32_t& value : values)
    value = layer.proc == Precision::kFp16
                ? static_cast<std::int32_t>(0x3f800000 + (random() & 0x81ffffff))
                : static_cast<std::int32_t>(random()) >> 8;
  std::atomic<unsigned> next{0};
  const auto work = [&](unsigned thread) {
    for (unsigned i = next++; i < pass.blocks() * steps; i = next++) {
      const std::uint32_t first = i % steps * SdpPass::kPositions;
      pass.tile(values.data() + std::size_t{i} * SdpPass::kPositions * model::kBlock, i / steps,
                first, std::min<std::uint32_t>(SdpPass::kPositions, positions - first), thread);
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& other : others) other.join();
  const model::SdpCounters counters = pass.end();
  return {memory.crc(Ram::kPrimary, kOut, kRegion), counters.saturated, counters.nan_out};
}

TEST(SharedSdp, IsAsOnOneThread) {
  for_all(share(300), [](Random& random) -> std::string {
    const SdpLayer layer = draw(random);
    const std::uint64_t seed = random();
    const Outcome want = run(layer, seed, false, 1);
    for (const unsigned threads : {1u, 3u})
      if (run(layer, seed, true, threads) != want)
        return "differs on " + std::to_string(threads) + " threads with windows";
    return {};
  });
}

class SharedSdpRules : public testing::Test {
 protected:
  SharedSdpRules() {
    layer_.flying = layer_.has_rdma = true;
    layer_.width = 4;
    layer_.height = 3;
    layer_.channels = 64;
    layer_.destination = {Ram::kPrimary, kOut, 4 * 32, 3 * 4 * 32};
    layer_.scale = 1;
    layer_.x[0].active = layer_.x[0].alu.active = layer_.x[0].alu.from_memory = true;
    layer_.x[0].algorithm = Alu::kSum;
    model::OperandDma& operand = layer_.rdma.operands[0];
    operand.disabled = false;
    operand.use = 1;
    operand.per_element = true;
    operand.memory = {Ram::kPrimary, kOperands, 4 * 32, 3 * 4 * 32};
  }

  bool shareable(model::AtomSink* sink = nullptr) {
    model::Dma dma(nv_full(), memory_);
    SdpPass pass(nv_full(), dma, model::chosen_kernels(), 2);
    pass.begin(layer_, SdpPass::kAnyInteger, sink);
    return pass.shareable();
  }

  model::Memory memory_;
  SdpLayer layer_;
};

TEST_F(SharedSdpRules, CubesApart) { EXPECT_TRUE(shareable()); }

TEST_F(SharedSdpRules, NotWhereLinesOverlap) {
  layer_.destination.line -= 32;
  EXPECT_FALSE(shareable());
}

TEST_F(SharedSdpRules, NotWhereSurfacesOverlap) {
  layer_.destination.surface -= 32;
  EXPECT_FALSE(shareable());
}

TEST_F(SharedSdpRules, NotWhereCubesOfABatchOverlap) {
  layer_.batches = 2;
  layer_.batch_stride = 2 * layer_.destination.surface;
  EXPECT_TRUE(shareable());
  layer_.batch_stride -= 32;
  EXPECT_FALSE(shareable());
}

TEST_F(SharedSdpRules, NotWhereOperandsAreWritten) {
  const std::uint64_t size = 2 * layer_.destination.surface;
  for (const std::uint64_t base : {kOut, kOut + size - 1, kOut - size + 1}) {
    layer_.rdma.operands[0].memory.base = base;
    EXPECT_FALSE(shareable());
  }
  for (const std::uint64_t base : {kOut + size, kOut - size}) {
    layer_.rdma.operands[0].memory.base = base;
    EXPECT_TRUE(shareable()) << base;
  }
}

TEST_F(SharedSdpRules, NotOnTheWayToPdp) {
  class Nothing final : public model::AtomSink {
    void take(std::uint64_t, std::uint32_t, std::uint32_t, const void*, unsigned) override {}
  } nothing;
  EXPECT_FALSE(shareable(&nothing));
}

}  // namespace
}  // namespace nvdla::test
