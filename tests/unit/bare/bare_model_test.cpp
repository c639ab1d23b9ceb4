// SPDX-License-Identifier: MIT
//
// The interface of bare devices, on the model.
#include <gtest/gtest.h>

#include "backend/open/open_registers.hpp"
#include "backend/registers/block_table.hpp"
#include "common/runtime/expect_error.hpp"
#include "firmware/registers/nvdla_regs.h"
#include "nvdla/types/error.hpp"

namespace nvdla::detail {
namespace {

using Time = BareDevice::Time;

constexpr std::uint32_t kMask = NVDLA_NV_SMALL_GLB_BASE + NVDLA_GLB_S_INTR_MASK;
constexpr std::uint32_t kSet = NVDLA_NV_SMALL_GLB_BASE + NVDLA_GLB_S_INTR_SET;
constexpr std::uint32_t kStatus = NVDLA_NV_SMALL_GLB_BASE + NVDLA_GLB_S_INTR_STATUS;

TEST(BareModel, HasRegisters) {
  const auto device = open_bare("model:nv_small");
  EXPECT_EQ(device->describe(), "model:nv_small");
  ASSERT_NE(device->configuration(), nullptr);
  EXPECT_STREQ(device->configuration()->name, "nv_small");
  EXPECT_EQ(device->read(NVDLA_NV_SMALL_GLB_BASE + NVDLA_GLB_S_NVDLA_HW_VERSION), 0x303031u);
  device->write(kMask, 0x3f);
  EXPECT_EQ(device->read(kMask), 0x3fu);
  EXPECT_TRUE(device->reset());
  EXPECT_EQ(device->read(kMask), 0u);
}

TEST(BareModel, KernelsThatThereAreNotAreNamed) {
  ASSERT_EQ(setenv("NVDLA_KERNELS", "sse9", 1), 0);
  test::expect_error(ErrorCode::kInvalidArgument,
                     "device 'model:nv_small': NVDLA_KERNELS: no set of kernels is called 'sse9'",
                     [] { open_bare("model:nv_small"); });
  unsetenv("NVDLA_KERNELS");
}

TEST(BareModel, WaitsForTheLineOnItsOwnClock) {
  const auto device = open_bare("model:nv_small");
  const Time until = device->now() + std::chrono::hours(1);
  EXPECT_FALSE(device->wait_interrupt(until));
  EXPECT_EQ(device->now(), until);
  device->write(kSet, 1);
  EXPECT_TRUE(device->wait_interrupt(until + std::chrono::hours(1)));
  EXPECT_LT(device->now(), until + std::chrono::minutes(1));
  EXPECT_TRUE(device->wait_interrupt(Time(0)));
  device->write(kStatus, 1);
  EXPECT_TRUE(device->wait_interrupt(Time(0))) << "the write is posted";
  device->relax();
  EXPECT_FALSE(device->wait_interrupt(Time(0)));
}

TEST(BareModel, GivesMemoryThatIsZero) {
  const auto device = open_bare("model:nv_small");
  const auto first = device->allocate(5000, Memory::kDram);
  const auto second = device->allocate(1, Memory::kDram);
  EXPECT_EQ(first->size(), 5000u);
  EXPECT_EQ(first->address() % 4096, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first->data()) % 4096, 0u);
  EXPECT_GE(second->address(), first->address() + 5000);
  for (std::uint64_t i = 0; i < first->size(); ++i) ASSERT_EQ(first->data()[i], std::byte{0});
}

TEST(BareModel, GivesMemoryWhereItIsWanted) {
  const auto device = open_bare("model:nv_small");
  const auto page = device->allocate_at(0x1000, 4096, Memory::kDram);
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->address(), 0x1000u);
  const auto next = device->allocate_at(0x2000, 100, std::nullopt);
  EXPECT_NE(next, nullptr);
  EXPECT_EQ(device->allocate_at(0x2000, 1, Memory::kDram), nullptr);
  EXPECT_EQ(device->allocate_at(0x0, 0x1001, Memory::kDram), nullptr);
  EXPECT_EQ(device->allocate_at(0x3001, 1, Memory::kDram), nullptr);
  EXPECT_EQ(device->allocate_at(0x3000, 0, Memory::kDram), nullptr);
  // 32 bits of address.
  EXPECT_NE(device->allocate_at(0xfffff000, 4096, Memory::kDram), nullptr);
  EXPECT_EQ(device->allocate_at(0xfffff000, 4097, Memory::kDram), nullptr);
  EXPECT_EQ(device->allocate_at(0x100000000, 1, Memory::kDram), nullptr);
  EXPECT_NE(device->allocate(1 << 20, Memory::kDram), nullptr);
}

TEST(BareModel, GivesTheLastPageOfAll) {
  const auto device = open_bare("model:nv_full");
  const auto last = device->allocate_at(0xfffffffffffff000, 4096, Memory::kDram);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(device->allocate_at(0xfffffffffffff000, 1, Memory::kDram), nullptr);
  // Others find room below.
  const auto other = device->allocate(4096, Memory::kDram);
  EXPECT_LT(other->address(), last->address());
}

TEST(BlockTable, FindsBytesOfTheRightMemory) {
  BlockTable blocks(32);
  std::byte bytes[32];
  ASSERT_TRUE(blocks.take(0x1000, 16));
  ASSERT_TRUE(blocks.take(0x2000, 16));
  blocks.set(0x1000, bytes, 16, Memory::kSram);
  blocks.set(0x2000, bytes + 16, 16, std::nullopt);
  EXPECT_EQ(blocks.find(Memory::kSram, 0x1004).data, bytes + 4);
  EXPECT_EQ(blocks.find(Memory::kSram, 0x1004).size, 12u);
  EXPECT_EQ(blocks.find(Memory::kSram, 0x1010).size, 0u);
  EXPECT_EQ(blocks.find(Memory::kDram, 0x1004).size, 0u);
  EXPECT_EQ(blocks.find(Memory::kDram, 0x2000).size, 16u);
  EXPECT_EQ(blocks.find(Memory::kDram, 0xfff).size, 0u);
  blocks.give_back(0x2000);
  EXPECT_EQ(blocks.find(Memory::kDram, 0x2000).size, 0u);
  EXPECT_TRUE(blocks.take(0x2000, 16));
}

TEST(OpenBare, RefusesWhatHidesItsRegisters) {
  try {
    open_bare("kernel");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), make_error_code(ErrorCode::kNoDevice));
    EXPECT_NE(std::string(error.what()).find("device 'kernel': its registers cannot be reached"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace nvdla::detail
