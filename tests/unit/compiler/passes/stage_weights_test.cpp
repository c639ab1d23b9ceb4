// SPDX-License-Identifier: MIT
//
// Weights wait in secondary memory for layers of few positions, where that is predicted to be
// faster; results stay what they are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/reference.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla {
namespace {

constexpr std::uint64_t kSram = 1 << 20;
constexpr char kSlow[] = "model:nv_full,bandwidth=8";

// `Chain` adds convolutions, one behind the other.
struct Chain {
  Network network;
  Tensor end;
  std::uint32_t channels;
  std::uint32_t seed;

  Chain(const Shape& shape, std::uint32_t from_seed)
      : end(network.input("in", shape)), channels(shape.channels), seed(from_seed) {}

  void add(const std::string& name, std::uint32_t kernels, std::uint32_t size,
           std::uint32_t stride = 1) {
    const auto weights = test::random_values<std::int8_t>(
        std::size_t{channels} * kernels * size * size, ++seed, -8, 7);
    Convolution conv{.name = name, .kernels = kernels};
    conv.kernel_height = conv.kernel_width = size;
    conv.stride_height = conv.stride_width = stride;
    conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = size / 2;
    conv.weights = weights;
    conv.output = {.scale = 1, .shift = 6};
    end = network.convolution(end, conv);
    channels = kernels;
  }
};

// Two layers of many positions, and behind them two of few with many kernels.
Network funnel(Memory first = Memory::kDram) {
  Chain chain({.channels = 32, .height = 56, .width = 56}, 1);
  chain.add("wide", 64, 3);
  chain.network.place(chain.end, first);
  chain.add("wide too", 64, 3, 2);
  chain.end = chain.network.pooling(chain.end, {.name = "pool",
                                                .kernel_height = 14,
                                                .kernel_width = 14,
                                                .stride_height = 14,
                                                .stride_width = 14});
  chain.add("deep", 128, 3);
  chain.add("deeper", 256, 1);
  chain.network.output(chain.end, "out");
  return std::move(chain.network);
}

const PassReport& report(const CompiledNetwork& compiled) {
  const auto& passes = compiled.passes();
  return *std::ranges::find(passes, "stage-weights", &PassReport::name);
}

std::vector<std::int8_t> results(Request&& request, std::uint32_t seed) {
  const std::size_t count = request.network().desc("in").shape.elements();
  request.write("in", Layout::kNchw, test::random_values<std::int8_t>(count, seed, -128, 127));
  request.run();
  std::vector<std::int8_t> values(request.network().desc("out").shape.elements());
  request.read("out", Layout::kNchw, values);
  return values;
}

std::uint64_t sram_of(const CompiledNetwork& compiled) {
  std::uint64_t bytes = 0;
  for (const BufferUse& buffer : compiled.memory().buffers)
    if (buffer.memory == Memory::kSram) bytes += buffer.bytes;
  return bytes;
}

TEST(StageWeights, LayersOfFewPositionsFindThemInSram) {
  const Network network = funnel();
  Request staged =
      network.build(Device::open(kSlow), {.sram_bytes = kSram, .disabled_passes = {"interleave"}});
  const PassReport& pass = report(staged.network());
  EXPECT_GT(pass.applied, 0U);
  EXPECT_LE(sram_of(staged.network()), kSram);
  std::vector<std::string> staged_names;
  for (const BufferUse& buffer : staged.network().memory().buffers)
    for (const BufferUse::Tenant& tenant : buffer.tenants)
      if (tenant.name.starts_with("weights of")) {
        EXPECT_EQ(buffer.memory, Memory::kSram) << tenant.name;
        staged_names.push_back(tenant.name);
      }
  for (const char* const name : {"weights of 'deep'", "weights of 'deeper'"})
    EXPECT_EQ(std::ranges::count(staged_names, name), 1) << name;
  const auto plain =
      results(network.build(Device::open(kSlow),
                            {.sram_bytes = kSram, .disabled_passes = {"stage-weights"}}),
              3);
  EXPECT_EQ(results(std::move(staged), 3), plain);
}

TEST(StageWeights, TheChosenFormIsTheFastest) {
  const CompiledNetwork compiled = funnel().compile(Device::open(kSlow), {.sram_bytes = kSram});
  const PassReport& pass = report(compiled);
  ASSERT_GT(pass.candidates.size(), 1U);
  std::uint64_t least = ~std::uint64_t{0}, chosen = 0;
  for (const Candidate& candidate : pass.candidates) {
    least = std::min(least, candidate.cycles);
    if (candidate.chosen) chosen = candidate.cycles;
  }
  EXPECT_EQ(chosen, least);
  EXPECT_EQ(pass.candidates[0].form, "weights where they are");
  EXPECT_LT(least, pass.candidates[0].cycles);
}

TEST(StageWeights, NothingIsStagedWhereNothingWaits) {
  const Network network = funnel();
  const auto applied = [&](const char* device, const BuildOptions& options) {
    return report(network.compile(Device::open(device), options)).applied;
  };
  EXPECT_EQ(applied(kSlow, {}), 0U) << "without secondary memory";
  EXPECT_EQ(applied("model:nv_full", {.sram_bytes = kSram}), 0U) << "memory as fast as its bus";
  EXPECT_EQ(applied(kSlow, {.sram_bytes = 4096}), 0U) << "no room";
}

// A network that fits a limit without copies is not refused for their sake.
TEST(StageWeights, LeavesMemoryToALimit) {
  const Network network = funnel();
  const Device device = Device::open(kSlow);
  const CompiledNetwork least = network.compile(
      device,
      {.sram_bytes = kSram, .disabled_passes = {"stage-weights"}, .optimise = Optimise::kMemory});
  std::uint64_t limit = 0;
  for (const BufferUse& buffer : least.memory().buffers)
    limit += (buffer.bytes + 4095) / 4096 * 4096;
  const CompiledNetwork within =
      network.compile(device, {.sram_bytes = kSram, .memory_limit = limit});
  EXPECT_EQ(report(within).applied, 0U);
}

TEST(StageWeights, LeavesWhatTensorsWerePutInto) {
  constexpr std::uint64_t kTensor = 64 * 56 * 56, kRoom = 60'000;
  const CompiledNetwork compiled =
      funnel(Memory::kSram)
          .compile(Device::open(kSlow),
                   {.sram_bytes = kTensor + kRoom, .disabled_passes = {"interleave"}});
  EXPECT_GT(report(compiled).applied, 0U);
  EXPECT_LE(sram_of(compiled), kTensor + kRoom);
}

// Secondary memory never holds more than there is of it.
TEST(StageWeights, ChangesNoResult) {
  std::uint32_t staged = 0;
  test::for_all(30, [&](test::Random& random) -> std::string {
    const auto any = [&](int low, int high) {
      return static_cast<std::uint32_t>(random.pick(low, high));
    };
    const std::uint32_t size = any(8, 40);
    Chain chain({.channels = any(1, 4) * 16, .height = size, .width = size, .batch = any(1, 2)},
                any(1, 1000));
    for (std::uint32_t i = 0; i < 6; ++i)
      chain.add(fmt::format("conv{}", i), any(1, 24) * 16, any(0, 1) * 2 + 1, any(1, 2));
    chain.network.output(chain.end, "out");
    const std::uint64_t bytes = any(0, 1 << 20);
    const Device device = Device::open(fmt::format("model:nv_full,bandwidth={}", any(1, 16)));
    Request request = chain.network.build(device, {.sram_bytes = bytes});
    staged += report(request.network()).applied != 0;
    if (sram_of(request.network()) > bytes) return "more secondary memory than there is";
    Request plain =
        chain.network.build(device, {.disabled_passes = {"stage-weights", "interleave"}});
    const bool same = results(std::move(request), 7) == results(std::move(plain), 7);
    return same ? "" : "the results differ";
  });
  EXPECT_GT(staged, 5U);
}

}  // namespace
}  // namespace nvdla
