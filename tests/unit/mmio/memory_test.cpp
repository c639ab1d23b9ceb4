// SPDX-License-Identifier: MIT
//
// Memory whose addresses are known: what is taken, given back, found out.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "backend/registers/mmio/dma_memory.hpp"
#include "backend/registers/mmio/mmio_memory.hpp"
#include "backend/registers/mmio/page_map.hpp"
#include "common/runtime/expect_error.hpp"
#include "fake_system.hpp"

namespace nvdla::mmio_test {
namespace {

using detail::DmaPool;
using detail::DmaRange;
using test::expect_error;

constexpr std::uint64_t kPage = 4096;

class Pools : public testing::Test {
 protected:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(8 * kPage);
  // A piece of five pages and one of two, which are not side by side for the device.
  DmaPool pool_{{{bytes_.data(), 0x100000, 5 * kPage}, {&bytes_[5 * kPage], 0x200000, 2 * kPage}}};
};

TEST_F(Pools, TakeTheSmallestPieceThatWillDo) {
  const auto two = pool_.take(kPage + 1);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->address, 0x200000u);
  EXPECT_EQ(two->data, &bytes_[5 * kPage]);
  EXPECT_EQ(two->bytes, 2 * kPage);
  EXPECT_EQ(pool_.largest(), 5 * kPage);
  EXPECT_FALSE(pool_.take(6 * kPage));
  EXPECT_FALSE(pool_.take(0));
  EXPECT_FALSE(pool_.take(~std::uint64_t{0}));
}

TEST_F(Pools, TakeAPlace) {
  const auto middle = pool_.take_at(0x102000, 1);
  ASSERT_TRUE(middle);
  EXPECT_EQ(middle->data, &bytes_[2 * kPage]);
  EXPECT_EQ(middle->bytes, kPage);
  EXPECT_FALSE(pool_.take_at(0x102000, 1));
  EXPECT_FALSE(pool_.take_at(0x101000, 2 * kPage));
  EXPECT_FALSE(pool_.take_at(0x101800, 1));
  EXPECT_FALSE(pool_.take_at(0xff000, kPage));
  EXPECT_FALSE(pool_.take_at(0x205000, kPage));
  EXPECT_FALSE(pool_.take_at(0x103000, 3 * kPage));
  EXPECT_TRUE(pool_.take_at(0x103000, 2 * kPage));
  EXPECT_TRUE(pool_.take_at(0x100000, 2 * kPage));
  pool_.give_back(*middle);
  EXPECT_TRUE(pool_.take_at(0x102000, kPage));
}

// In any order; what is not side by side stays apart.
TEST_F(Pools, ArePutTogetherAgain) {
  std::vector<DmaRange> all;
  while (const auto page = pool_.take(kPage)) all.push_back(*page);
  EXPECT_EQ(all.size(), 7u);
  for (const std::size_t i : {1u, 3u, 0u, 6u, 2u, 5u, 4u}) pool_.give_back(all[i]);
  EXPECT_EQ(pool_.largest(), 5 * kPage);
  EXPECT_TRUE(pool_.take_at(0x100000, 5 * kPage));
  EXPECT_TRUE(pool_.take_at(0x200000, 2 * kPage));
}

TEST_F(Pools, SkipWhatWasAbandoned) {
  std::memset(bytes_.data(), 0xff, bytes_.size());
  {
    detail::SharedPiece piece(pool_, *pool_.take(5 * kPage), 5 * kPage, Memory::kDram);
    EXPECT_EQ(piece.data(), bytes_.data());
    EXPECT_EQ(bytes_[5 * kPage - 1], std::byte{0});
    EXPECT_EQ(bytes_[5 * kPage], std::byte{0xff});
    piece.abandon();
  }
  EXPECT_EQ(pool_.largest(), 2 * kPage);
  { detail::SharedPiece(pool_, *pool_.take(2 * kPage), 2 * kPage, Memory::kDram); }
  EXPECT_EQ(pool_.largest(), 2 * kPage);
}

TEST_F(Pools, CopyWhereOnlyWordsCanBeWritten) {
  std::memset(bytes_.data(), 0xff, bytes_.size());
  detail::CopiedPiece piece(pool_, *pool_.take(2 * kPage), kPage + 7, Memory::kDram);
  std::byte* const there = &bytes_[5 * kPage];
  ASSERT_NE(piece.data(), there);
  EXPECT_EQ(there[0], std::byte{0});
  piece.data()[kPage + 6] = std::byte{1};
  EXPECT_EQ(there[kPage + 6], std::byte{0});
  piece.sync_for_device();
  EXPECT_EQ(there[kPage + 6], std::byte{1});
  there[3] = std::byte{2};
  EXPECT_EQ(piece.data()[3], std::byte{0});
  piece.sync_for_cpu();
  EXPECT_EQ(piece.data()[3], std::byte{2});
}

class PageMaps : public testing::Test {
 protected:
  // With this entry for `page_`.
  std::uint64_t address(std::uint64_t entry) {
    fake_.zeros("/proc/self/pagemap", 0);
    fake_.put("/proc/self/pagemap", reinterpret_cast<std::uintptr_t>(page_) / size_ * 8, entry);
    return detail::PageMap(fake_.system(), "mmio:x").address_of(page_);
  }

  FakeSystem fake_;
  std::uint64_t size_ = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  void* page_ = reinterpret_cast<void*>(3 * size_);
};

TEST_F(PageMaps, TellWhereAPageIs) {
  EXPECT_EQ(address(0x8000000000012345), 0x12345 * size_);
  // Other bits say what it is.
  EXPECT_EQ(address(0xa180000000012345), 0x12345 * size_);
}

TEST_F(PageMaps, SayWhyTheyDoNot) {
  expect_error(ErrorCode::kNoDevice,
               "mmio:x: /proc/self/pagemap hides where memory is: that takes CAP_SYS_ADMIN, which "
               "root has",
               [&] { address(0x8000000000000000); });
  expect_error(ErrorCode::kNoDevice, "mmio:x: /proc/self/pagemap says that a page is not there",
               [&] { address(0x0000000000012345); });
  fake_.write("/proc/self/pagemap", "");
  expect_error(ErrorCode::kNoDevice, "mmio:x: /proc/self/pagemap cannot be read",
               [&] { detail::PageMap(fake_.system(), "mmio:x").address_of(page_); });
  fs::remove(fake_.path("/proc/self/pagemap"));
  expect_error(ErrorCode::kNoDevice, "mmio:x: /proc/self/pagemap cannot be opened: No such file",
               [&] { detail::PageMap(fake_.system(), "mmio:x"); });
}

TEST(HugePages, ThatThereAreNotAreAskedFor) {
  const FakeSystem fake;
  const auto make = [&](std::uint64_t bytes) {
    return [&fake, bytes] { detail::make_huge_pages(fake.system(), "mmio:x", bytes, 32); };
  };
  fake.write("/proc/meminfo", "MemTotal: 1000 kB\n");
  expect_error(ErrorCode::kNoMemory, "mmio:x: this kernel has no huge pages", make(0));
  fake.write("/proc/meminfo", "HugePages_Free:        0\nHugepagesize:       2048 kB\n");
  expect_error(ErrorCode::kNoMemory,
               "mmio:x: 0 huge pages of 2048 KiB are free, 1 needed: reserve some, as 'sysctl "
               "vm.nr_hugepages=32' does",
               make(0));
  fake.write("/proc/meminfo", "HugePages_Free:        3\nHugepagesize:       2048 kB\n");
  expect_error(ErrorCode::kNoMemory,
               "mmio:x: 3 huge pages of 2048 KiB are free, 4 needed: reserve some, as 'sysctl "
               "vm.nr_hugepages=4' does",
               make((6 << 20) + 1));
}

TEST(ReservedMemories, AreForOneUserOnly) {
  const FakeSystem fake;
  const detail::MemoryWindow window{0x10000000, 0x100000};
  const auto memory = detail::make_reserved_memory(fake.system(), "mmio:x", window);
  ASSERT_EQ(memory->ranges().size(), 1u);
  EXPECT_EQ(memory->ranges()[0].address, window.address);
  EXPECT_EQ(memory->ranges()[0].bytes, window.size);
  memory->ranges()[0].data[5] = std::byte{7};
  EXPECT_EQ(fake.get<char>("/dev/mem", 0x10000005), 7);
  expect_error(ErrorCode::kBusy, "mmio:y: somebody else uses it now", [&] {
    detail::make_reserved_memory(fake.system(), "mmio:y", {0x100ff000, 0x2000});
  });
  detail::make_reserved_memory(fake.system(), "mmio:y", {0x10100000, 0x1000});
  expect_error(ErrorCode::kNoDevice, "is in use, it is the kernel's System RAM", [&] {
    detail::make_reserved_memory(fake.system(), "mmio:y", {0x14000000, 0x1000});
  });
}

}  // namespace
}  // namespace nvdla::mmio_test
