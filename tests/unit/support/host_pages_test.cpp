// SPDX-License-Identifier: MIT
#include "support/host_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <new>
#include <utility>

namespace nvdla::detail {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

bool all_are(const HostPages& pages, std::size_t begin, std::size_t end, std::byte value) {
  return std::all_of(pages.data() + begin, pages.data() + end,
                     [value](std::byte byte) { return byte == value; });
}

TEST(HostPages, AreZeroedAndAligned) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{4097}, 3 * kMiB}) {
    const HostPages pages(size);
    EXPECT_EQ(pages.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages.data()) % 4096, 0U);
    EXPECT_TRUE(all_are(pages, 0, size, std::byte{0})) << size;
  }
  EXPECT_EQ(HostPages(0).data(), nullptr);
  EXPECT_EQ(HostPages().size(), 0U);
  EXPECT_THROW(HostPages(SIZE_MAX / 2), std::bad_alloc);
  EXPECT_THROW(HostPages(SIZE_MAX - 5), std::bad_alloc);
}

// Bytes of address space of this process.
std::uint64_t mapped_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  return pages * 4096;
}

TEST(HostPages, GiveAllBack) {
  const std::uint64_t before = mapped_bytes();
  for (unsigned i = 0; i < 50; ++i)
    for (const std::size_t size : {std::size_t{1}, 3 * kMiB + 1, 4 * kMiB})
      const HostPages pages(size);
  EXPECT_LT(mapped_bytes(), before + kMiB);
}

TEST(HostPages, MoveWithTheirBytes) {
  HostPages pages(5);
  std::byte* const data = pages.data();
  data[4] = std::byte{7};
  HostPages moved(std::move(pages));
  EXPECT_EQ(moved.data(), data);
  HostPages assigned;
  assigned = std::move(moved);
  EXPECT_EQ(assigned.data(), data);
  EXPECT_EQ(assigned.size(), 5U);
  EXPECT_EQ(assigned.data()[4], std::byte{7});
}

TEST(HostPages, KeepWhatIsNotReleased) {
  HostPages pages(8 * kMiB);
  std::fill_n(pages.data(), pages.size(), std::byte{1});
  pages.release_before(0);
  EXPECT_TRUE(all_are(pages, 0, pages.size(), std::byte{1}));
  pages.release_before(5 * kMiB + 1);
  // Two huge pages at least lie before that, wherever the first one begins.
  EXPECT_TRUE(all_are(pages, 0, 3 * kMiB, std::byte{0}));
  EXPECT_TRUE(all_are(pages, 5 * kMiB + 1, pages.size(), std::byte{1}));
  // They may be used again.
  pages.data()[0] = std::byte{2};
  EXPECT_EQ(pages.data()[0], std::byte{2});
}

}  // namespace
}  // namespace nvdla::detail
