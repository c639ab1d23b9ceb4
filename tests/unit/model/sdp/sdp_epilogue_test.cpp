// SPDX-License-Identifier: MIT
//
// Layers with the numbers of trained networks in exact steps of 32 bits against SDP operator by
// operator.
#include "model/sdp/sdp_epilogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/kernel_sets.hpp"
#include "model/sdp/sdp_pass.hpp"

namespace nvdla::test {
namespace {

using model::Alu;
using model::EpilogueStep;
using model::kBlock;
using model::Precision;
using model::Ram;
using model::SdpLayer;

constexpr std::uint64_t kTrainedOut = 0x400000, kTrainedOutBytes = 0x4000;
constexpr std::uint64_t kOperandsOf[2] = {0x100000, 0x110000}, kTensor = 0x120000;

struct ScaledLayer {
  const nvdla_hw* hw;
  SdpLayer layer;
  std::uint64_t largest;
  // ALU and multiplier of each channel, as they lie in memory.
  std::vector<std::int16_t> operands[2];
};

bool chance(Random& random, int count) { return pick(random, 0, count - 1) == 0; }

std::int16_t random_word(Random& random, std::int64_t low, std::int64_t high) {
  return static_cast<std::int16_t>(pick(random, low, high));
}

// An operator as quantised layers have it, but for some that have anything.
void add_operator(Random& random, ScaledLayer& drawn, unsigned index, unsigned shift) {
  model::OperatorX& x = drawn.layer.x[index];
  model::OperandDma& dma = drawn.layer.rdma.operands[index];
  const bool memory = !chance(random, 4);
  x.active = true;
  x.relu = chance(random, index == 1 ? 3 : 12);
  x.alu = {!chance(random, 8), memory, random_word(random, -32768, 32767)};
  if (x.alu.active) x.algorithm = Alu::kSum;
  x.alu_shift = static_cast<unsigned>(pick(random, 0, 9));
  const std::int64_t sign = chance(random, 10) ? -1 : 1;
  x.mul = {!chance(random, 10), memory, random_word(random, 1 << 10, 32767)};
  x.mul_shift = chance(random, 6) ? static_cast<unsigned>(pick(random, 0, 40)) : shift;
  dma.disabled = !memory;
  dma.two_bytes = true;
  dma.use = x.alu.active && x.mul.active ? 2 : x.alu.active ? 1 : 0;
  dma.memory = {Ram::kPrimary, kOperandsOf[index], 0, 0};
  for (std::uint32_t k = 0; k < drawn.layer.channels; ++k) {
    if (x.alu.active) drawn.operands[index].push_back(random_word(random, -32768, 32767));
    if (!x.mul.active) continue;
    const std::int64_t factor = chance(random, 40) ? pick(random, 0, 2) : pick(random, 9000, 32767);
    drawn.operands[index].push_back(static_cast<std::int16_t>(sign * factor));
  }
}

// A tensor that the second operator or Y adds.
void add_other_tensor(Random& random, ScaledLayer& drawn) {
  SdpLayer& layer = drawn.layer;
  const bool by_y = chance(random, 3);
  model::OperandDma& dma = layer.rdma.operands[by_y ? 2 : 1];
  dma.disabled = false;
  dma.use = 1;
  dma.two_bytes = chance(random, 3);
  dma.per_element = true;
  const std::uint64_t line = std::uint64_t{layer.width} * drawn.hw->atom * (dma.two_bytes ? 2 : 1);
  dma.memory = {Ram::kPrimary, kTensor, line, line * layer.height};
  if (by_y) {
    layer.y.active = true;
    layer.y.algorithm = Alu::kSum;
    layer.y.alu = {true, true, 0};
    layer.y.alu_converter = {chance(random, 2), static_cast<std::int32_t>(pick(random, -9, 9)),
                             random_word(random, -32768, 32767),
                             static_cast<unsigned>(pick(random, 0, 12))};
  } else {
    layer.x[1] = {};
    layer.x[1].active = true;
    layer.x[1].algorithm = Alu::kSum;
    layer.x[1].alu = {true, true, 0};
    layer.x[1].alu_shift = static_cast<unsigned>(pick(random, 0, 14));
    layer.x[1].relu = chance(random, 3);
  }
}

// A multiplier of Y for each channel.
void add_gate(Random& random, ScaledLayer& drawn) {
  model::OperatorY& y = drawn.layer.y;
  y.active = true;
  y.mul = {true, true, 0};
  y.mul_converter = {chance(random, 2), static_cast<std::int32_t>(pick(random, -9, 200)), 3, 1};
  y.truncate = chance(random, 2) ? 0 : static_cast<unsigned>(pick(random, 0, 36));
  model::OperandDma& dma = drawn.layer.rdma.operands[2];
  dma.disabled = false;
  dma.two_bytes = true;
  dma.memory = {Ram::kPrimary, kOperandsOf[1], 0, 0};
  for (std::uint32_t k = 0; k < drawn.layer.channels; ++k)
    drawn.operands[1].push_back(random_word(random, -200, 200));
}

ScaledLayer draw_trained(Random& random) {
  ScaledLayer drawn{nvdla_hw_find(chance(random, 3) ? "nv_small_256_full" : "nv_full"), {}, 0, {}};
  SdpLayer& layer = drawn.layer;
  layer.flying = layer.has_rdma = true;
  layer.width = static_cast<std::uint32_t>(pick(random, 1, 20));
  layer.height = static_cast<std::uint32_t>(pick(random, 1, 3));
  layer.channels = static_cast<std::uint32_t>(pick(random, 1, 70));
  const std::uint64_t line = (layer.width + (chance(random, 3) ? 2 : 0)) * drawn.hw->atom;
  layer.destination = {Ram::kPrimary, kTrainedOut, line, line * layer.height};
  for (model::OperandDma& dma : layer.rdma.operands) dma.disabled = true;
  const bool first = !chance(random, 6), second = first ? !chance(random, 3) : !chance(random, 4);
  if (first) {
    const auto shift = static_cast<unsigned>(pick(random, 0, 3));
    add_operator(random, drawn, 0, second && chance(random, 2) ? 0 : shift);
  }
  const bool adds = first && !second && chance(random, 2);
  if (adds) add_other_tensor(random, drawn);
  const bool gates = first && !second && !adds && !chance(random, 3);
  if (gates) add_gate(random, drawn);
  if (second)
    add_operator(random, drawn, 1,
                 static_cast<unsigned>(pick(random, chance(random, 2) ? 20 : 28, 36)));
  layer.offset = static_cast<std::int32_t>(chance(random, 12) ? pick(random, INT32_MIN, INT32_MAX)
                                                              : pick(random, -128, 128));
  layer.scale = 1;
  if (gates || chance(random, 3)) {
    layer.scale = random_word(random, chance(random, 8) ? -99 : 1, 32767);
    layer.shift = static_cast<unsigned>(pick(random, 0, chance(random, 6) ? 63 : 24));
  }
  layer.count_saturation = chance(random, 2);
  const bool bytes = (adds || gates || !first) && chance(random, 2);
  drawn.largest = bytes ? 128 : std::uint64_t{1} << pick(random, 14, chance(random, 2) ? 31 : 26);
  return drawn;
}

// Sums that come out near halves and limits, as far as one kernel says where these are; and any.
std::vector<std::int32_t> sums_near_limits(Random& random, const ScaledLayer& drawn) {
  const SdpLayer& layer = drawn.layer;
  double scale = std::ldexp(1.0 / std::max<int>(layer.scale, 1), static_cast<int>(layer.shift));
  for (unsigned i = 0; i < 2; ++i) {
    const model::OperatorX& x = layer.x[i];
    if (!x.active) continue;
    const bool memory = x.mul.from_memory && !drawn.operands[i].empty();
    const int factor = memory ? drawn.operands[i].back() : x.mul.value;
    scale *=
        std::ldexp(x.mul.active && factor != 0 ? 1.0 / factor : 1.0, static_cast<int>(x.mul_shift));
  }
  const double limit = static_cast<double>(std::min<std::uint64_t>(drawn.largest, INT32_MAX));
  std::vector<std::int32_t> values(std::size_t{model::SdpPass::kPositions} * kBlock);
  const bool far = chance(random, 3);
  for (std::int32_t& value : values) {
    double wanted = 0;
    if (chance(random, 4)) {
      wanted = std::ldexp(static_cast<double>(pick(random, -65536, 65536)),
                          static_cast<int>(pick(random, 0, far ? 15 : 4)));
    } else if (far && chance(random, 6)) {
      wanted = chance(random, 2) ? limit : -limit;
    } else {
      const std::int64_t range = chance(random, 8) && far ? 70000 : 260;
      wanted = (static_cast<double>(pick(random, -range, range)) + 0.5) * scale +
               static_cast<double>(pick(random, -2, 2));
    }
    value = static_cast<std::int32_t>(std::clamp(wanted, -limit, limit));
  }
  return values;
}

struct Ended {
  std::uint32_t crc, saturated;
  bool operator==(const Ended&) const = default;
};

// `OperandBus` leads to a memory and counts how often operands of channels are looked at.
class OperandBus final : public model::Bus {
 public:
  explicit OperandBus(model::Memory& memory) noexcept : memory_(memory) {}

  model::Mapping map(Ram ram, std::uint64_t address, std::uint64_t size,
                     bool write) noexcept override {
    reads_ += !write && address >= kOperandsOf[0] && address < kTensor ? 1 : 0;
    return memory_.map(ram, address, size, write);
  }
  std::uint64_t generation(Ram ram, std::uint64_t address,
                           std::uint64_t size) const noexcept override {
    return memory_.generation(ram, address, size);
  }
  void written(Ram ram, std::uint64_t address, std::uint64_t size) noexcept override {
    memory_.written(ram, address, size);
  }
  unsigned reads() const noexcept { return reads_; }

 private:
  model::Memory& memory_;
  unsigned reads_ = 0;
};

class SdpEpilogues : public KernelSets {
 protected:
  // A device that runs layers one after the other.
  struct Device {
    explicit Device(const nvdla_hw& hw, const model::Kernels& kernels)
        : bus(memory), dma(hw, bus), pass(hw, dma, kernels) {}

    Ended run(const ScaledLayer& drawn, std::uint64_t seed) {
      write_operands(memory, drawn);
      return run_again(drawn, seed);
    }
    // With the operands that are in memory.
    Ended run_again(const ScaledLayer& drawn, std::uint64_t seed) {
      Random random(seed);
      memory.load(Ram::kPrimary, kTrainedOut, std::vector<std::byte>(kTrainedOutBytes));
      pass.begin(drawn.layer, drawn.largest);
      const std::uint32_t positions = drawn.layer.width * drawn.layer.height;
      for (unsigned block = 0; block < pass.blocks(); ++block)
        for (std::uint32_t first = 0; first < positions; first += model::SdpPass::kPositions) {
          std::vector<std::int32_t> values = sums_near_limits(random, drawn);
          pass.tile(values.data(), block, first,
                    std::min<std::uint32_t>(model::SdpPass::kPositions, positions - first));
        }
      const std::uint32_t saturated = pass.end().saturated;
      return {memory.crc(Ram::kPrimary, kTrainedOut, kTrainedOutBytes), saturated};
    }

    model::Memory memory;
    OperandBus bus;
    model::Dma dma;
    model::SdpPass pass;
  };

  static void write_operands(model::Memory& memory, const ScaledLayer& drawn) {
    std::vector<std::byte> tensor(0x4000);
    Random random(7);
    for (std::byte& byte : tensor) byte = static_cast<std::byte>(random());
    memory.load(Ram::kPrimary, kTensor, tensor);
    for (unsigned i = 0; i < 2; ++i) {
      std::vector<std::byte> bytes(0x1000);
      std::memcpy(bytes.data(), drawn.operands[i].data(), drawn.operands[i].size() * 2);
      memory.load(Ram::kPrimary, kOperandsOf[i], bytes);
    }
  }

  // The steps of the first block, or none.
  std::optional<model::EpilogueBlock> steps(const ScaledLayer& drawn) {
    model::Memory memory;
    write_operands(memory, drawn);
    model::Dma dma(*drawn.hw, memory);
    const unsigned atom = drawn.hw->atom;
    const std::uint32_t channels = (drawn.layer.channels + atom - 1) / atom * atom;
    model::SdpOperands operands[3] = {
        {*drawn.hw, dma, *kernels_}, {*drawn.hw, dma, *kernels_}, {*drawn.hw, dma, *kernels_}};
    for (unsigned i = 0; i < 3; ++i) operands[i].begin(drawn.layer, i, channels);
    if (!epilogue_.begin(drawn.layer, operands, drawn.largest, channels)) return std::nullopt;
    return epilogue_.block(0, {nullptr, 0});
  }

  model::SdpEpilogue epilogue_;
};

TEST_P(SdpEpilogues, LikeOperatorByOperator) {
  constexpr int kRounds = 1500;
  // How often there are steps, and of which kinds.
  std::map<std::string, int> seen;
  for (int round = 0; round < kRounds; ++round) {
    const ScaledLayer drawn = draw_trained(random_);
    const std::uint64_t seed = random_();
    if (const auto block = steps(drawn)) {
      ++seen["any"];
      ++seen[block->first == EpilogueStep::kPlain     ? "plain"
             : block->first == EpilogueStep::kMerged  ? "merged"
             : block->first == EpilogueStep::kShifted ? "shifted"
                                                      : "wide"];
      seen["ReLU"] += block->relu ? 1 : 0;
      seen["signed"] += block->relu ? 0 : 1;
      seen["guards"] += block->guards ? 1 : 0;
      seen["converter"] += block->converter_factor != 0 ? 1 : 0;
      seen["elements"] += epilogue_.adder() != model::SdpEpilogue::kNone ? 1 : 0;
      seen["gates"] += drawn.layer.y.mul.active ? 1 : 0;
      seen["one step"] += block->second_factors == nullptr ? 1 : 0;
      seen["limits"] += block->low[0] > -static_cast<std::int64_t>(drawn.largest) ? 1 : 0;
    }
    ASSERT_EQ(Device(*drawn.hw, *kernels_).run(drawn, seed),
              Device(*drawn.hw, model::kPortableKernels).run(drawn, seed))
        << "round " << round << ", steps: " << steps(drawn).has_value();
  }
  EXPECT_GT(seen["any"], kRounds / 3);
  EXPECT_LT(seen["any"], kRounds * 9 / 10);
  for (const char* kind : {"plain", "merged", "shifted", "wide", "ReLU", "signed", "guards",
                           "converter", "limits", "elements", "gates", "one step"})
    EXPECT_GT(seen[kind], kRounds / 100) << kind;
}

// Layers take turns, and one changes its operands meanwhile: what was found before is used again
// where it fits, and nowhere else.
TEST_P(SdpEpilogues, KeepWhatFits) {
  ScaledLayer layers[3] = {draw_trained(random_), draw_trained(random_), draw_trained(random_)};
  for (ScaledLayer& drawn : layers) {
    do drawn = draw_trained(random_);
    while (drawn.hw != nvdla_hw_find("nv_full") || drawn.operands[1].empty() || !steps(drawn));
  }
  Device device(*layers[0].hw, *kernels_);
  for (int round = 0; round < 12; ++round) {
    ScaledLayer& drawn = layers[round % 3];
    if (round % 4 == 0) drawn.operands[1].back() ^= 0x55;
    const std::uint64_t seed = random_();
    ASSERT_EQ(device.run(drawn, seed).crc,
              Device(*drawn.hw, model::kPortableKernels).run(drawn, seed).crc)
        << "round " << round;
  }
}

// Operands that memory still has are not read again, wherever the layer's tensors lie meanwhile;
// those that have changed are.
TEST_P(SdpEpilogues, ReadOperandsOnce) {
  constexpr std::uint64_t kMoved = 0x100;
  for (int round = 0; round < 60; ++round) {
    ScaledLayer drawn = draw_trained(random_);
    if (model::SdpOperands::channel_range(drawn.layer, 0, 1).size == 0) continue;
    Device device(*drawn.hw, *kernels_);
    const auto expected = [&](std::uint64_t seed) {
      return Device(*drawn.hw, model::kPortableKernels).run(drawn, seed);
    };
    ASSERT_EQ(device.run(drawn, 1), expected(1)) << "round " << round;
    const unsigned reads = device.bus.reads();
    EXPECT_GT(reads, 0U);
    drawn.layer.destination.base += kMoved;
    if (drawn.layer.rdma.operands[1].per_element)
      drawn.layer.rdma.operands[1].memory.base += kMoved;
    if (drawn.layer.rdma.operands[2].per_element)
      drawn.layer.rdma.operands[2].memory.base += kMoved;
    ASSERT_EQ(device.run_again(drawn, 2), expected(2)) << "round " << round;
    EXPECT_EQ(device.bus.reads(), reads) << "round " << round;
    for (std::int16_t& operand : drawn.operands[0])
      operand = static_cast<std::int16_t>(operand ^ 0x2a);
    ASSERT_EQ(device.run(drawn, 3), expected(3)) << "round " << round;
    EXPECT_GT(device.bus.reads(), reads) << "round " << round;
    // The same operands with another step.
    ++drawn.layer.x[0].mul_shift;
    ASSERT_EQ(device.run_again(drawn, 4), expected(4)) << "round " << round;
  }
}

// The converter's count is that of operators where sums are beyond what the steps guard.
TEST_P(SdpEpilogues, CountSaturation) {
  ScaledLayer drawn{nvdla_hw_find("nv_full"), {}, std::uint64_t{1} << 30, {}};
  SdpLayer& layer = drawn.layer;
  layer.flying = true;
  layer.width = layer.height = layer.channels = 1;
  layer.destination = {Ram::kPrimary, kTrainedOut, 32, 32};
  layer.x[0].active = layer.x[0].mul.active = true;
  layer.x[0].mul.value = 16384;
  layer.x[0].mul_shift = 20;
  layer.offset = 128;
  layer.scale = 1;
  layer.count_saturation = true;
  ASSERT_TRUE(steps(drawn));
  EXPECT_TRUE(steps(drawn)->guards);
  drawn.largest = std::uint64_t{1} << 21;
  EXPECT_FALSE(steps(drawn)->guards);
  drawn.largest = std::uint64_t{1} << 30;
  for (const auto& [sum, count] : std::map<std::int32_t, std::uint32_t>{
           {0, 0}, {64 * 65535, 0}, {64 * 70000, 1}, {-64 * 70000, 1}, {1 << 30, 1}}) {
    Device device(*drawn.hw, *kernels_);
    std::vector<std::int32_t> values(kBlock);
    values[0] = sum;
    device.pass.begin(layer, drawn.largest);
    device.pass.tile(values.data(), 0, 0, 1);
    EXPECT_EQ(device.pass.end().saturated, count) << sum;
  }
}

// A product of both steps rounds halves up: steps are merged unless a sum comes to a negative half,
// which goes down, and is not below all results.
TEST_P(SdpEpilogues, MergeWhereNoHalfIsNegative) {
  struct Case {
    std::int32_t addend;  // shifted by 8
    unsigned shift;
    std::int32_t offset;
    std::uint64_t largest;
    bool merged;
  };
  for (const Case& c :
       {Case{-32768, 24, 0, 1000, false},                                     // -1.5 of a sum of 0
        Case{-32768, 24, 128, 1000, true}, Case{-32767, 24, 0, 1000, false},  // of -256
        Case{-32767, 24, 0, 255, true}, Case{32767, 24, 0, 1000, true}, Case{0, 10, 0, 100, true},
        Case{0, 10, 0, 512, false}, Case{0, 10, 0, 1 << 20, false},
        Case{0, 10, 128, 1 << 20, true}}) {
    ScaledLayer drawn{nvdla_hw_find("nv_full"), {}, c.largest, {}};
    SdpLayer& layer = drawn.layer;
    layer.flying = true;
    layer.width = 2001;
    layer.height = layer.channels = 1;
    layer.destination = {Ram::kPrimary, kTrainedOut, 2001 * 32, 2001 * 32};
    model::OperatorX& x = layer.x[0];
    x.active = x.alu.active = x.mul.active = true;
    x.algorithm = Alu::kSum;
    x.alu.value = c.addend;
    x.alu_shift = 8;
    x.mul.value = 3;
    x.mul_shift = c.shift;
    layer.offset = c.offset;
    layer.scale = 1;
    ASSERT_TRUE(steps(drawn));
    EXPECT_EQ(steps(drawn)->first == EpilogueStep::kMerged, c.merged)
        << c.addend << " " << c.shift << " " << c.offset << " " << c.largest;
    Device fast(*drawn.hw, *kernels_), slow(*drawn.hw, model::kPortableKernels);
    for (Device* device : {&fast, &slow}) {
      device->pass.begin(layer, c.largest);
      const auto reach = static_cast<std::int32_t>(std::min<std::uint64_t>(c.largest, 1000));
      for (std::int32_t sum = -reach; sum <= reach; ++sum) {
        std::vector<std::int32_t> values(kBlock, sum);
        device->pass.tile(values.data(), 0, static_cast<std::uint32_t>(sum + 1000), 1);
      }
      device->pass.end();
    }
    EXPECT_EQ(fast.memory.crc(Ram::kPrimary, kTrainedOut, 2001 * 32),
              slow.memory.crc(Ram::kPrimary, kTrainedOut, 2001 * 32));
  }
}

// The portable set goes operator by operator.
INSTANTIATE_TEST_SUITE_P(All, SdpEpilogues, kFasterKernelSets, kernel_set_name);

}  // namespace
}  // namespace nvdla::test
