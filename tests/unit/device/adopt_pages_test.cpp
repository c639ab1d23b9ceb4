// SPDX-License-Identifier: MIT
//
// Pages of the host as a buffer of a device.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "common/runtime/expect_error.hpp"
#include "device/buffers.hpp"
#include "nvdla/device.hpp"

namespace nvdla {
namespace {

using detail::HostPages;

std::shared_ptr<HostPages> some_pages() {
  auto pages = std::make_shared<HostPages>(8192);
  std::memset(pages->data() + 5, 7, 4096);
  return pages;
}

void expect_same_bytes(const Buffer& buffer, const HostPages& pages) {
  ASSERT_EQ(buffer.size(), pages.size());
  const Map map = buffer.map(MapMode::kRead);
  EXPECT_EQ(std::memcmp(map.data(), pages.data(), pages.size()), 0);
}

TEST(AdoptedPages, AreTheModelsAsTheyAre) {
  const auto pages = some_pages();
  {
    const Buffer buffer = detail::adopt_pages(Device::open("model:nv_small"), pages, Memory::kDram);
    expect_same_bytes(buffer, *pages);
    EXPECT_EQ(buffer.map(MapMode::kRead).data(), pages->data());
    EXPECT_EQ(pages.use_count(), 2);
  }
  EXPECT_EQ(pages.use_count(), 1);
  EXPECT_EQ(pages->data()[5], std::byte{7});
}

void expect_copy(const Device& device, Memory memory) {
  const auto pages = some_pages();
  const Buffer buffer = detail::adopt_pages(device, pages, memory);
  expect_same_bytes(buffer, *pages);
  EXPECT_NE(buffer.map(MapMode::kRead).data(), pages->data());
  EXPECT_EQ(pages.use_count(), 1);
}

// Records and secondary memory of a limited size need buffers of the device's own.
TEST(AdoptedPages, AreCopiedWhereADeviceWantsItsOwnMemory) {
  const std::string record = testing::TempDir() + "adopt_pages.record";
  expect_copy(Device::open("model:nv_small", {.record = record}), Memory::kDram);
  expect_copy(Device::open("model:nv_full,sram=8K"), Memory::kSram);
}

TEST(AdoptedPages, TakeTheRoomOfAMemoryThatIsLimited) {
  const Device device = Device::open("model:nv_full,sram=8K");
  const Buffer buffer = detail::adopt_pages(device, some_pages(), Memory::kSram);
  test::expect_error(ErrorCode::kNoMemory, "0 of 8192 are free",
                     [&] { detail::adopt_pages(device, some_pages(), Memory::kSram); });
}

TEST(AdoptedPages, AreRefusedInAMemoryThatIsNotThere) {
  test::expect_error(ErrorCode::kNotAvailable, "SRAM", [] {
    detail::adopt_pages(Device::open("model:nv_small"), some_pages(), Memory::kSram);
  });
}

}  // namespace
}  // namespace nvdla
