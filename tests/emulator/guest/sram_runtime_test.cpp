// SPDX-License-Identifier: MIT
//
// The runtime and the second memory, on devices that have it (WithSram), that also have BDMA
// (WithBdma), and that have none (WithoutSram). Whoever runs this says which it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "unit_run.hpp"

namespace nvdla::emulator_test {
namespace {

Device open_with_sram() {
  const Device device = Device::open("auto");
  EXPECT_EQ(device.info().backend, "kernel");
  EXPECT_TRUE(device.info().has_sram) << "this run is for a device with it";
  return device;
}

TEST(WithoutSram, SaysSo) {
  const Device device = Device::open("auto");
  EXPECT_EQ(device.info().backend, "kernel");
  EXPECT_FALSE(device.info().has_sram);
  try {
    device.allocate(4096, Memory::kSram);
    FAIL() << "a buffer in a memory that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), make_error_code(ErrorCode::kNotAvailable));
  }
}

TEST(WithSram, IsUsedUpInItsOwnWords) {
  const Device device = open_with_sram();
  try {
    device.allocate(std::uint64_t{1} << 29, Memory::kSram);
    FAIL() << "an SRAM of 512 MiB";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), make_error_code(ErrorCode::kNoMemory));
    EXPECT_NE(std::string(error.what()).find("in SRAM"), std::string::npos) << error.what();
  }
}

// Every slot in turn, and all of them, in SRAM: the same bytes as with none.
void expect_the_same_from_sram(test::Base (*make)(const char*)) {
  const Device kernel = open_with_sram();
  const std::string configuration(kernel.info().configuration);
  const test::Base dram = make(configuration.c_str());
  const Outcome expected = run(Device::open("model:" + configuration), dram);
  for (std::size_t i = 0; i <= dram.slots.size(); ++i) {
    test::Base base = dram;
    for (std::size_t k = 0; k < base.slots.size(); ++k) {
      if (k == i || i == base.slots.size()) base.slots[k].memory = NVDLA_MEMORY_SRAM;
    }
    EXPECT_EQ(run(kernel, base).slots, expected.slots) << "slot " << i;
  }
}

TEST(WithSram, FeedsConvolutions) { expect_the_same_from_sram(test::base_conv); }
TEST(WithSram, FeedsSdp) { expect_the_same_from_sram(test::base_sdp); }
TEST(WithSram, FeedsPdp) { expect_the_same_from_sram(test::base_pdp); }
TEST(WithSram, FeedsCdp) { expect_the_same_from_sram(test::base_cdp); }
TEST(WithBdma, CopiesBetweenMemories) { expect_the_same_from_sram(test::base_bdma); }

// DRAM -> SRAM -> DRAM in one program; the second layer waits for the first.
TEST(WithBdma, TakesADetourThroughSram) {
  const Device device = open_with_sram();
  constexpr std::uint32_t kBytes = 8 * 1024;
  nvdla_transfer transfers[2]{};
  for (nvdla_transfer& transfer : transfers) {
    transfer.line_bytes = 1024;
    transfer.lines = 8;
    transfer.surfaces = 1;
    transfer.source.line_stride = transfer.destination.line_stride = 1024;
  }
  transfers[0].destination.slot = transfers[1].source.slot = 1;
  transfers[1].destination.slot = 2;
  nvdla_layer layers[2]{};
  for (std::uint32_t i = 0; i < 2; ++i) {
    layers[i].kind = NVDLA_LAYER_BDMA;
    layers[i].bdma = {i, 1};
  }
  layers[1].num_waits = 1;
  const nvdla_slot slots[] = {
      {kBytes, 64, NVDLA_MEMORY_DRAM, NVDLA_SLOT_READ, 0},
      {kBytes, 64, NVDLA_MEMORY_SRAM, NVDLA_SLOT_READ | NVDLA_SLOT_WRITE, 0},
      {kBytes, 64, NVDLA_MEMORY_DRAM, NVDLA_SLOT_WRITE, 0}};
  const Program program =
      device.create_program({.layers = layers, .slots = slots, .transfers = transfers});
  const Buffer from = device.allocate(kBytes), to = device.allocate(kBytes),
               between = device.allocate(kBytes, Memory::kSram);
  {
    const Map map = from.map(MapMode::kWrite);
    for (std::size_t i = 0; i < kBytes; ++i)
      map.bytes()[i] = static_cast<std::byte>(i * 5 + i / 256);
  }
  device.submit(program, std::vector<Binding>{{from, 0}, {between, 0}, {to, 0}}).wait();
  const Map expected = from.map(MapMode::kRead);
  for (const Buffer& buffer : {between, to}) {
    const Map found = buffer.map(MapMode::kRead);
    EXPECT_TRUE(std::ranges::equal(found.bytes(), expected.bytes()));
  }
  try {
    device.submit(program, std::vector<Binding>{{from, 0}, {from, 0}, {to, 0}});
    FAIL() << "a buffer in DRAM where the program has SRAM";
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), std::uint32_t{NVDLA_RULE_BINDING_MEMORY}) << error.what();
  }
}

}  // namespace
}  // namespace nvdla::emulator_test
