// SPDX-License-Identifier: MIT
//
// How buffers are mapped into processes.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

#include "node.hpp"

namespace nvdla::ioctl_test {
namespace {

class Memory : public testing::Test {
 protected:
  void SetUp() override { ASSERT_GE(node.fd(), 0) << "no node of the driver nvdla"; }

  Node node;
};

// A copy on write would be memory that the device does not see.
TEST_F(Memory, PrivateMappingsAreRefused) {
  drm_nvdla_bo_mmap_offset offset{node.buffer(kPage), 0, 0};
  ASSERT_EQ(node.call(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &offset), 0);
  errno = 0;
  EXPECT_EQ(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, node.fd(),
                 static_cast<off_t>(offset.offset)),
            MAP_FAILED);
  EXPECT_EQ(errno, EINVAL);
}

// Pages come with their first use, in any order, and each is the right one in every mapping.
TEST_F(Memory, EveryPageIsTheRightOneInEveryMapping) {
  constexpr std::uint64_t kPages = 200;
  const auto handle = node.buffer(kPages * kPage);
  auto* first = node.map(handle, kPages * kPage);
  const auto* second = node.map(handle, kPages * kPage);
  for (std::uint64_t i = 0, page = 150; i < kPages; ++i, page = (page + 73) % kPages)
    first[page * kPage + page] = static_cast<std::uint8_t>(page + 1);
  for (std::uint64_t page = kPages; page-- > 0;)
    ASSERT_EQ(second[page * kPage + page], page + 1) << page;
}

}  // namespace
}  // namespace nvdla::ioctl_test
