// SPDX-License-Identifier: MIT
//
// Predicted cycles of layers made by hand: what a rule of the hardware adds is the difference
// between two of them.
#include <gtest/gtest.h>

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

// Lines of an image are stripes of their own, and rows of its kernel channels.
TEST(ConvCycles, ImagesCountTheirLines) {
  Conv conv(20, 4, 1, 32);
  ConvLayer& layer = conv.layer;
  layer.pixel = true;
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

TEST(MoveCycles, RubikTakesAnAtomACycle) {
  RubikLayer layer;
  layer.width = 16;
  layer.height = 4;
  layer.channels_in = layer.channels_out = 20;
  layer.input.ram = Ram::kPrimary;
  layer.mode = RubikMode::kSplit;
  const LayerCycles split = rubik_cycles(machine("nv_full"), {}, geometry(layer));
  EXPECT_EQ(split.read, 4U * 16 * 32);
  EXPECT_EQ(split.written, 20U * 4 * 32);
  layer.mode = RubikMode::kMerge;
  const LayerCycles merge = rubik_cycles(machine("nv_full"), {}, geometry(layer));
  EXPECT_EQ(merge.read, split.written);
  EXPECT_EQ(merge.written, split.read);
  EXPECT_EQ(merge.total, split.total);
  layer.mode = RubikMode::kContract;
  layer.stride_width = layer.stride_height = 2;
  const LayerCycles contract = rubik_cycles(machine("nv_full"), {}, geometry(layer));
  EXPECT_EQ(contract.read, 4U * 4 * 16 * 32);
  EXPECT_EQ(contract.read, contract.written);
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
          MemoryTiming{.latency = 400, .outstanding = 1}}) {
      conv.memory = memory;
      const std::uint64_t total = conv.run(hw).total;
      EXPECT_GE(total, last) << hw << " latency " << memory.latency << ", " << memory.outstanding;
      last = total;
    }
  }
}

}  // namespace
}  // namespace nvdla::test
