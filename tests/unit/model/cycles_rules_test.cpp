// SPDX-License-Identifier: MIT
//
// Predicted cycles of layers made by hand: what a rule of the hardware adds is the difference
// between two of them.
#include <gtest/gtest.h>

#include <vector>

#include "cost/unit_cycles.hpp"
#include "model/cdp/cdp_layer.hpp"
#include "model/move/rubik.hpp"
#include "model/predict.hpp"

namespace nvdla::test {
namespace {

using model::CdpLayer;
using model::ConvLayer;
using model::PdpLayer;
using model::Precision;
using model::Ram;
using model::RubikLayer;
using model::RubikMode;
using model::SdpLayer;
using namespace cost;

const nvdla_hw& hw_of(const char* name) { return *nvdla_hw_find(name); }
Machine machine(const char* name) { return model::machine_of(hw_of(name)); }

// A convolution of whole atoms that fits the buffer, and what SDP gets of it.
struct Conv {
  ConvLayer layer;
  SdpLayer sdp;
  MemoryTiming memory;
  bool fetch_data = true, fetch_weights = true;

  Conv(unsigned side, unsigned channels, unsigned kernel, unsigned kernels) {
    layer.width = layer.height = layer.csc_width = layer.csc_height = side;
    layer.channels = layer.csc_channels = layer.weight_channels = channels;
    layer.kernel_width = layer.kernel_height = kernel;
    layer.out_width = layer.out_height = side - kernel + 1;
    layer.weight_banks = 16;
    set_kernels(kernels);
    sdp.flying = true;
  }

  void set_kernels(unsigned kernels) {
    layer.kernels = kernels;
    layer.kernel_bytes = layer.kernel_width * layer.kernel_height * layer.channels *
                         model::precision_bytes(layer.proc);
    layer.weight_bytes = std::uint64_t{kernels} * layer.kernel_bytes;
  }

  LayerCycles run(const char* hw, const PdpLayer* pdp = nullptr) {
    sdp.width = layer.out_width;
    sdp.height = layer.out_height;
    sdp.channels = layer.kernels;
    sdp.proc = sdp.out = layer.proc;
    sdp.to_pdp = pdp != nullptr;
    return model::predict_conv(machine(hw), memory, layer, fetch_data, fetch_weights, sdp, pdp);
  }
};

SdpLayer sdp(unsigned width, unsigned height, unsigned channels, Precision precision) {
  SdpLayer layer;
  layer.width = width;
  layer.height = height;
  layer.channels = channels;
  layer.proc = layer.out = layer.rdma.in = layer.rdma.proc = precision;
  layer.rdma.source.ram = Ram::kPrimary;
  layer.has_rdma = true;
  return layer;
}

std::uint64_t cycles(const char* hw, const SdpLayer& layer, const MemoryTiming& memory = {}) {
  return model::predict_sdp(machine(hw), memory, layer, nullptr).total;
}

PdpLayer pooling(unsigned side, unsigned channels, unsigned kernel, unsigned stride) {
  PdpLayer layer;
  layer.width = layer.height = layer.rdma.width = layer.rdma.height = side;
  layer.channels = layer.out_channels = layer.rdma.channels = channels;
  layer.kernel_width = layer.kernel_height = kernel;
  layer.stride_width = layer.stride_height = stride;
  layer.out_width = layer.out_height = (side - kernel) / stride + 1;
  layer.from_memory = layer.has_rdma = true;
  layer.rdma.source.ram = Ram::kPrimary;
  return layer;
}

// A group more is a cycle more for each output, block of channels and position of the kernel.
TEST(ConvCycles, GroupsTakeACycleForEachOutputAndStep) {
  struct Case {
    const char* hw;
    Precision precision;
    unsigned group;
  };
  for (const Case& c :
       {Case{"nv_small", Precision::kInt8, 8}, Case{"nv_full", Precision::kInt8, 32},
        Case{"nv_full", Precision::kInt16, 16}}) {
    Conv conv(10, 64, 3, c.group);
    conv.layer.proc = conv.layer.in = c.precision;
    conv.set_kernels(c.group);
    conv.fetch_weights = false;
    const std::uint64_t one = conv.run(c.hw).total;
    conv.set_kernels(3 * c.group);
    const std::uint64_t blocks = 64 / hw_of(c.hw).atomic_c;
    EXPECT_EQ(conv.run(c.hw).total - one, 2 * 64 * blocks * 9) << c.hw;
    conv.set_kernels(2 * c.group + 1);
    EXPECT_EQ(conv.run(c.hw).total - one, 2 * 64 * blocks * 9) << "a group of one kernel";
  }
}

// A step is no shorter than it takes to load the next kernels.
TEST(ConvCycles, FewOutputsTakeAsLongAsTheirKernels) {
  Conv conv(1, 64, 1, 8);
  conv.fetch_weights = false;
  const LayerCycles one = conv.run("nv_small");
  EXPECT_EQ(one.mac.end - one.mac.begin, 8U * 8);
  conv.layer.width = conv.layer.csc_width = conv.layer.out_width = 8;
  const LayerCycles eight = conv.run("nv_small");
  EXPECT_EQ(eight.mac.end - eight.mac.begin, 8U * 8);
  conv.layer.width = conv.layer.csc_width = conv.layer.out_width = 9;
  const LayerCycles nine = conv.run("nv_small");
  EXPECT_EQ(nine.mac.end - nine.mac.begin, 9U * 8);
}

// Nothing is computed before all input is there; it shares the interface with the kernels.
TEST(ConvCycles, BeginWhenAllInputIsThere) {
  Conv conv(16, 64, 3, 8);
  conv.fetch_weights = false;
  const LayerCycles alone = conv.run("nv_small");
  EXPECT_EQ(alone.mac.begin, alone.data.end);
  EXPECT_GE(alone.data.end, 16U * 16 * 8);
  EXPECT_TRUE(alone.weights.empty());
  EXPECT_EQ(alone.read, 16U * 16 * 64);
  conv.fetch_weights = true;
  const LayerCycles both = conv.run("nv_small");
  EXPECT_GE(both.data.end, alone.data.end + 400);
  EXPECT_EQ(both.mac.begin, both.data.end);
  EXPECT_EQ(both.read, alone.read + 9 * 64 * 8);
  // From another memory they are in nobody's way.
  conv.layer.weight_ram = Ram::kSecondary;
  Conv other = conv;
  EXPECT_EQ(other.run("nv_full").data.end, [&] {
    other.fetch_weights = false;
    return other.run("nv_full").data.end;
  }());
  conv.fetch_data = false;
  EXPECT_EQ(conv.run("nv_small").mac.begin, conv.run("nv_small").weights.end);
}

// Once a layer, and once each time kernels had to wait for room.
TEST(ConvCycles, LatencyAddsOnceAndForEachRefill) {
  Conv conv(8, 64, 3, 32);
  const std::uint64_t near = conv.run("nv_small").total;
  conv.memory.latency = 201;
  EXPECT_EQ(conv.run("nv_small").total, near + 200);
  // A group takes 4608 bytes, two banks hold 8192: not two groups.
  conv.layer.weight_banks = 2;
  conv.memory.latency = 1;
  const std::uint64_t refilled = conv.run("nv_small").total;
  EXPECT_GT(refilled, near);
  conv.memory.latency = 201;
  EXPECT_EQ(conv.run("nv_small").total, refilled + 4 * 200);
}

// So many requests in a latency, and nothing beside.
TEST(ConvCycles, FewRequestsOnTheirWaySetThePace) {
  Conv conv(16, 512, 1, 1);
  conv.fetch_weights = false;
  conv.memory = {.latency = 99, .outstanding = 10};
  const LayerCycles cycles = conv.run("nv_small");
  const std::uint64_t beats = 16 * 16 * 64;
  EXPECT_NEAR(static_cast<double>(cycles.data.end), static_cast<double>(beats * 10), 100);
  EXPECT_EQ(cycles.bound, Bound::kInput);
  EXPECT_NEAR(static_cast<double>(cycles.stalls.data), static_cast<double>(beats * 9), beats / 4.);
  EXPECT_EQ(cycles.stalls.data_latency, beats * 99);
  conv.memory.outstanding = 20;
  EXPECT_LT(conv.run("nv_small").total, cycles.total * 6 / 10);
}

// SDP holds up an array that makes an output of few channels a cycle.
TEST(ConvCycles, SdpHoldsUpAFasterArray) {
  Conv conv(32, 8, 1, 8);
  const LayerCycles cycles = conv.run("nv_small");
  EXPECT_GE(cycles.mac.end - cycles.mac.begin, 32U * 32 * 8);
  EXPECT_EQ(cycles.bound, Bound::kSdp);
  EXPECT_EQ(cycles.macs, 32U * 32 * 64);
  EXPECT_EQ(cycles.peak, cycles.total * 64);
}

// CACC of the second generation has room for one stripe: its last step waits until the stripe
// before has left, 16 atoms of nine cycles each. With steps enough nobody waits.
TEST(ConvCycles, StripesWaitForTheSumsBefore) {
  const auto per_stripe = [](unsigned channels, unsigned lines) {
    Conv conv(16, channels, 1, 8);
    conv.fetch_weights = false;
    conv.layer.height = conv.layer.csc_height = conv.layer.out_height = lines;
    const LayerCycles cycles = conv.run("nv_small");
    return cycles.mac.end - cycles.mac.begin;
  };
  for (const unsigned channels : {8U, 16U, 64U})
    EXPECT_EQ(per_stripe(channels, 9) - per_stripe(channels, 5), 4U * (16 * 9 + 22 + 16))
        << channels;
  EXPECT_EQ(per_stripe(128, 9) - per_stripe(128, 5), 4U * 16 * 16);
}

// Lines of an image are stripes of their own, and rows of its kernel channels.
TEST(ConvCycles, ImagesCountTheirLines) {
  Conv conv(20, 4, 1, 32);
  ConvLayer& layer = conv.layer;
  layer.image = true;
  layer.pixel_code = 15;  // four bytes
  layer.kernel_height = 3;
  layer.weight_channels = 3 * 4;
  layer.out_width = 18;
  layer.out_height = 18;
  conv.fetch_weights = false;
  const LayerCycles wide = conv.run("nv_full");
  EXPECT_EQ(wide.mac.end - wide.mac.begin, 3U * 18 * 18);
  EXPECT_EQ(wide.read, 20U * 96);  // 80 bytes are three atoms
  layer.post_lines = 2;
  const LayerCycles paired = conv.run("nv_full");
  EXPECT_EQ(paired.mac.end - paired.mac.begin, 2U * 18 * 18);
  // Two of 32 kernels are loaded in a cycle.
  layer.out_width = 10;
  const LayerCycles narrow = conv.run("nv_full");
  EXPECT_EQ(narrow.mac.end - narrow.mac.begin, 2U * 18 * 16);
}

// 2.25 times fewer than directly: 16 products for four results of nine.
TEST(ConvCycles, WinogradTakesFourResultsAtOnce) {
  Conv conv(36, 64, 1, 16);
  ConvLayer& layer = conv.layer;
  layer.proc = layer.in = Precision::kInt16;
  conv.set_kernels(16);
  layer.winograd = true;
  layer.out_width = layer.out_height = 32;
  conv.fetch_weights = false;
  const LayerCycles cycles = conv.run("nv_full");
  EXPECT_EQ(cycles.mac.end - cycles.mac.begin, 32U * 32 / 4 * 16);
  EXPECT_EQ(cycles.macs, 32U * 32 * 16 * 9 * 64);
}

TEST(SdpCycles, TheSlowestOperatorSetsThePace) {
  const auto per_atom = [](const char* hw, SdpLayer layer) {
    const std::uint64_t few = cycles(hw, layer);
    layer.height *= 2;
    const unsigned lanes = hw_of(hw).atom / model::precision_bytes(layer.proc);
    return static_cast<double>(cycles(hw, layer) - few) /
           (layer.width * (layer.height / 2.) * (layer.channels / lanes));
  };
  EXPECT_EQ(per_atom("nv_small", sdp(16, 16, 32, Precision::kInt8)), 8);
  EXPECT_EQ(per_atom("nv_full", sdp(16, 16, 32, Precision::kInt8)), 2);
  EXPECT_EQ(per_atom("nv_full", sdp(16, 16, 32, Precision::kInt16)), 1);
  SdpLayer y = sdp(16, 16, 32, Precision::kInt8);
  y.y.active = true;
  EXPECT_EQ(per_atom("nv_full", y), 8);
  EXPECT_EQ(per_atom("nv_medium_1024_full", y), 16);
  EXPECT_EQ(per_atom("nv_small_256_full", y), 8);
}

// An operand for each element comes beside the cube, as long as the interface has beats to spare.
TEST(SdpCycles, OperandsCostWhatTheInterfaceDoesNotBring) {
  SdpLayer layer = sdp(32, 32, 64, Precision::kInt8);
  const std::uint64_t alone = cycles("nv_small", layer);
  layer.x[0].active = true;
  layer.rdma.operands[0] = {
      .disabled = false, .use = 1, .per_element = true, .memory = {.ram = Ram::kPrimary}};
  EXPECT_LT(cycles("nv_small", layer), alone + 20);
  const MemoryTiming slow = {.latency = 99, .outstanding = 10};
  EXPECT_NEAR(static_cast<double>(cycles("nv_small", layer, slow)), 2. * 32 * 32 * 8 * 10, 200);
  const LayerCycles waits = model::predict_sdp(machine("nv_small"), slow, layer, nullptr);
  EXPECT_EQ(waits.bound, Bound::kMemory);
  EXPECT_EQ(waits.read, 2U * 32 * 32 * 64);
  EXPECT_NEAR(static_cast<double>(waits.stalls.sdp[0]), 2. * 32 * 32 * 8 * 10 - 32. * 32 * 64, 200);
  EXPECT_EQ(waits.stalls.sdp[0], waits.stalls.sdp[1]);
  EXPECT_EQ(waits.stalls.sdp[2], 0U);
}

// Where int8 meets 16 bits in memory, surfaces come in pairs.
TEST(SdpCycles, CubesOfTwiceTheBytes) {
  SdpLayer layer = sdp(8, 8, 20, Precision::kInt8);
  layer.out = Precision::kInt16;
  LayerCycles cycles = model::predict_sdp(machine("nv_full"), {}, layer, nullptr);
  EXPECT_EQ(cycles.read, 8U * 8 * 32);
  EXPECT_EQ(cycles.written, 2U * 8 * 8 * 32);
  layer.out = Precision::kInt8;
  layer.rdma.in = Precision::kInt16;
  cycles = model::predict_sdp(machine("nv_full"), {}, layer, nullptr);
  EXPECT_EQ(cycles.read, 2U * 8 * 8 * 32);
  EXPECT_EQ(cycles.written, 8U * 8 * 32);
  layer.y.equal = true;
  EXPECT_EQ(model::predict_sdp(machine("nv_full"), {}, layer, nullptr).written, 0U);
}

TEST(PdpCycles, TakeAnAtomAtATime) {
  for (const auto& [name, rate] : {std::pair{"nv_small", 8U}, {"nv_full", 4U}, {"nv_large", 4U}}) {
    const std::uint64_t one = pdp_cycles(machine(name), {}, geometry(pooling(8, 32, 2, 2))).total;
    const std::uint64_t two = pdp_cycles(machine(name), {}, geometry(pooling(8, 64, 2, 2))).total;
    EXPECT_EQ(two - one, 64U * (32 / hw_of(name).atom) * rate) << name;
  }
}

// What needs lines that never come is written when the last one has.
TEST(PdpCycles, WindowsBehindTheInputComeAtTheEnd) {
  PdpLayer layer = pooling(8, 8, 3, 1);
  const std::uint64_t inside = pdp_cycles(machine("nv_small"), {}, geometry(layer)).total;
  layer.bottom = 2;
  layer.out_height += 2;
  EXPECT_EQ(pdp_cycles(machine("nv_small"), {}, geometry(layer)).total, inside + 2 * 6 * 8);
  // Between surfaces that is hidden by lines of the next that have no window yet, two of them.
  PdpLayer two = layer;
  two.channels = two.rdma.channels = two.out_channels = 16;
  EXPECT_EQ(pdp_cycles(machine("nv_small"), {}, geometry(two)).total, inside + 64 * 8 + 2 * 6 * 8);
}

// Bands read the columns that their windows share again.
TEST(PdpCycles, BandsReadWhatTheyShare) {
  PdpLayer layer = pooling(34, 8, 3, 1);
  layer.bands = layer.rdma.bands = 2;
  layer.in = layer.rdma.in = {.first = 18, .middle = 1, .last = 16};
  layer.out = {.first = 16, .middle = 1, .last = 16};
  layer.rdma.kernel_width = 3;
  const LayerCycles cycles = pdp_cycles(machine("nv_small"), {}, geometry(layer));
  EXPECT_EQ(cycles.read, 36U * 34 * 8);
  EXPECT_EQ(cycles.written, 32U * 32 * 8);
}

TEST(PdpCycles, OnTheFlyCostOnlyTheirOwnWay) {
  const SdpLayer layer = sdp(32, 16, 32, Precision::kInt8);
  PdpLayer pdp;
  pdp.width = pdp.out_width = 32;
  pdp.height = pdp.out_height = 16;
  pdp.channels = pdp.out_channels = 32;
  SdpLayer to_pdp = layer;
  to_pdp.to_pdp = true;
  const LayerCycles both = model::predict_sdp(machine("nv_small"), {}, to_pdp, &pdp);
  EXPECT_LT(both.total, cycles("nv_small", layer) + 30);
  EXPECT_EQ(both.written, 32U * 16 * 32);
  EXPECT_LT(both.sdp.end, both.pdp.end);

  Conv conv(32, 8, 1, 8);
  PdpLayer behind = pooling(32, 8, 2, 2);
  behind.from_memory = behind.has_rdma = false;
  const std::uint64_t written = conv.run("nv_small").written;
  EXPECT_EQ(conv.run("nv_small", &behind).written, written / 4);
}

TEST(MoveCycles, CdpTakesAnAtomAtATime) {
  CdpLayer layer;
  layer.has_rdma = true;
  layer.rdma.width = layer.rdma.height = 8;
  layer.rdma.channels = 32;
  layer.rdma.source.ram = Ram::kPrimary;
  const auto total = [&](const char* hw) {
    return cdp_cycles(machine(hw), {}, geometry(layer)).total;
  };
  const std::uint64_t small = total("nv_small"), full = total("nv_full");
  layer.rdma.channels = 64;
  EXPECT_EQ(total("nv_small") - small, 4U * 64 * 8);
  EXPECT_EQ(total("nv_full") - full, 64U * 4);
}

// 2 KiB in 93 cycles.
TEST(MoveCycles, BdmaMovesABeatACycle) {
  const Machine full = machine("nv_full");
  EXPECT_EQ(bdma_cycles({}, read_lines(full, Interface::kPrimary, 1, 64)).total, 93U);
  EXPECT_EQ(bdma_cycles({}, read_lines(full, Interface::kPrimary, 1, 1024)).total, 61U + 512);
  // A line of half a beat takes one.
  EXPECT_EQ(bdma_cycles({}, read_lines(full, Interface::kPrimary, 100, 1)).total, 61U + 100);
}

// A beat of two atoms takes a cycle and a third to read, one of a single atom a cycle; split writes
// a beat every third cycle.
TEST(MoveCycles, RubikReadsAndWritesBeats) {
  RubikLayer layer;
  layer.width = 32;
  layer.height = 6;
  layer.channels_in = layer.channels_out = 20;
  layer.input.ram = Ram::kPrimary;
  layer.mode = RubikMode::kSplit;
  const auto cycles = [&] { return rubik_cycles(machine("nv_full"), {}, geometry(layer)); };
  const LayerCycles split = cycles();
  EXPECT_EQ(split.read, 6U * 32 * 32);
  EXPECT_EQ(split.written, 20U * 6 * 32);
  EXPECT_EQ(split.total, 61U + 20 * 6 * 3);
  layer.mode = RubikMode::kMerge;
  const LayerCycles merge = cycles();
  EXPECT_EQ(merge.read, split.written);
  EXPECT_EQ(merge.written, split.read);
  // Lines of one atom; of two they are as many beats.
  EXPECT_EQ(merge.total, 61U + 20 * 6);
  layer.width = 64;
  EXPECT_EQ(cycles().total, 61U + 20 * 6 * 4 / 3);
  layer.mode = RubikMode::kContract;
  layer.stride_width = layer.stride_height = 2;
  const LayerCycles contract = cycles();
  EXPECT_EQ(contract.read, 4U * 6 * 64 * 32);
  EXPECT_EQ(contract.read, contract.written);
  EXPECT_EQ(contract.total, 61U + 4 * 6 * 32 * 4 / 3);
}

// The last write has to be answered, in layers of each unit.
TEST(LayerCycles, EndWhenTheLastWriteIsAnswered) {
  Conv conv(8, 64, 3, 32);
  CdpLayer cdp;
  cdp.has_rdma = true;
  cdp.rdma.width = cdp.rdma.height = 8;
  cdp.rdma.channels = 32;
  cdp.rdma.source.ram = Ram::kPrimary;
  RubikLayer rubik;
  rubik.width = rubik.height = 8;
  rubik.channels_in = rubik.channels_out = 32;
  rubik.input.ram = Ram::kPrimary;
  const auto totals = [&](const MemoryTiming& memory) {
    const Machine full = machine("nv_full");
    conv.memory = memory;
    return std::vector{conv.run("nv_full").total,
                       cycles("nv_full", sdp(8, 8, 32, Precision::kInt8), memory),
                       pdp_cycles(full, memory, geometry(pooling(8, 32, 2, 2))).total,
                       cdp_cycles(full, memory, geometry(cdp)).total,
                       rubik_cycles(full, memory, geometry(rubik)).total,
                       bdma_cycles(memory, read_lines(full, Interface::kPrimary, 8, 8)).total};
  };
  const auto near = totals({}), far = totals({.write_latency = 78});
  for (std::size_t i = 0; i < near.size(); ++i) EXPECT_EQ(far[i], near[i] + 77) << i;
}

// What is read and written shares the bandwidth of its memory, and nothing else does.
TEST(LayerCycles, ShareTheBandwidthOfTheirMemories) {
  SdpLayer layer = sdp(32, 32, 64, Precision::kInt8);
  constexpr std::uint64_t kBytes = 32 * 32 * 64;
  const auto run = [&](const MemoryTiming& memory) {
    return model::predict_sdp(machine("nv_full"), memory, layer, nullptr);
  };
  const std::uint64_t unhindered = run({}).total;
  EXPECT_EQ(run({.bandwidth = 64}).total, unhindered);
  EXPECT_NEAR(static_cast<double>(run({.bandwidth = 4}).total), 2. * kBytes / 4, 100);
  EXPECT_EQ(run({.bandwidth = 4}).bound, Bound::kMemory);
  EXPECT_EQ(run({.sram_bandwidth = 1}).total, unhindered);
  // Results to the other memory leave the input all of the bandwidth.
  layer.destination.ram = Ram::kSecondary;
  EXPECT_NEAR(static_cast<double>(run({.bandwidth = 4}).total), kBytes / 4., 100);
  EXPECT_NEAR(static_cast<double>(run({.bandwidth = 4, .sram_bandwidth = 1}).total), kBytes, 100);
  EXPECT_EQ(run({.write_latency = 100, .sram_latency = 11}).total, unhindered + 10);
  // A convolution's input, kernels and results.
  Conv conv(16, 128, 1, 64);
  conv.memory = {.bandwidth = 2};
  EXPECT_NEAR(static_cast<double>(conv.run("nv_full").total),
              (16. * 16 * 128 + 128 * 64 + 16 * 16 * 64) / 2, 300);
}

// Beats that the queue behind a read client has room for are on their way, no more.
TEST(SdpCycles, QueuesLimitHowFarReadsGoAhead) {
  const SdpLayer layer = sdp(16, 16, 32, Precision::kInt8);
  nvdla_hw late = hw_of("nv_small");
  late.revision = 2019;
  const auto total = [&](const nvdla_hw& hw, unsigned latency) {
    return model::predict_sdp(model::machine_of(hw), {.latency = latency}, layer, nullptr).total;
  };
  EXPECT_EQ(total(late, 40), total(hw_of("nv_small"), 40));
  EXPECT_EQ(total(hw_of("nv_small"), 128), total(hw_of("nv_small"), 1) + 127);
  // Eight atoms each 128 + 16 cycles, instead of one each 8.
  EXPECT_NEAR(static_cast<double>(total(late, 128)), 16. * 16 * 4 * 144 / 8, 150);
}

// Slower memory never makes a layer faster.
TEST(LayerCycles, GrowWithLatencyAndFewerRequests) {
  Conv conv(12, 96, 3, 40);
  conv.layer.weight_banks = 3;
  for (const char* hw : {"nv_small", "nv_full", "nv_medium_512"}) {
    std::uint64_t last = 0;
    for (const MemoryTiming memory :
         {MemoryTiming{}, MemoryTiming{.latency = 20}, MemoryTiming{.latency = 100},
          MemoryTiming{.latency = 100, .outstanding = 64},
          MemoryTiming{.latency = 100, .outstanding = 16},
          MemoryTiming{.latency = 400, .outstanding = 16},
          MemoryTiming{.latency = 400, .outstanding = 1},
          MemoryTiming{.latency = 400, .outstanding = 1, .bandwidth = 0.01}}) {
      conv.memory = memory;
      const std::uint64_t total = conv.run(hw).total;
      EXPECT_GE(total, last) << hw << " latency " << memory.latency << ", " << memory.outstanding;
      last = total;
    }
  }
}

}  // namespace
}  // namespace nvdla::test
