// SPDX-License-Identifier: MIT
//
// Buffers behind the second memory interface, where the device has memory there, and the refusal
// where it has none. Whoever runs this says which it is, by the name of the suite.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "node.hpp"

namespace nvdla::ioctl_test {
namespace {

int create(const Node& node, std::uint64_t size, std::uint32_t flags, std::uint32_t& handle) {
  drm_nvdla_bo_create create{size, NVDLA_MEMORY_SRAM, flags, 0, 0};
  const int error = node.call(DRM_IOCTL_NVDLA_BO_CREATE, &create);
  handle = create.handle;
  return error;
}

int create(const Node& node, std::uint64_t size, std::uint32_t flags = 0) {
  std::uint32_t handle = 0;
  return create(node, size, flags, handle);
}

// Takes page after page; `error` is what ends it.
std::uint32_t take_all(const Node& node, int& error) {
  std::uint32_t pages = 0;
  while ((error = create(node, kPage)) == 0) ++pages;
  return pages;
}

TEST(WithoutSram, IsToldAndRefused) {
  const Node node;
  ASSERT_GE(node.fd(), 0);
  EXPECT_EQ(node.info().flags & DRM_NVDLA_DEVICE_SRAM, 0u);
  EXPECT_EQ(create(node, kPage), EOPNOTSUPP);
}

class WithSram : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(node.fd(), 0) << "no node of the driver nvdla";
    ASSERT_NE(node.info().flags & DRM_NVDLA_DEVICE_SRAM, 0u) << "this run is for a device with it";
  }

  // Copies between two buffers of any memory; the error of SUBMIT.
  int copy(std::uint32_t from, std::uint32_t from_memory, std::uint32_t to,
           std::uint32_t to_memory) {
    CopyProgram program(node.info().atom_bytes);
    program.slots[0].memory = from_memory;
    program.slots[1].memory = to_memory;
    auto args = program.args();
    const int refused = node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args);
    if (refused != 0) return refused;
    const auto done = node.syncobj();
    const std::vector<drm_nvdla_binding> bindings = {{0, from, 0}, {0, to, 0}};
    const std::vector<drm_nvdla_sync> syncs = {{done, DRM_NVDLA_SYNC_SIGNAL, 0}};
    drm_nvdla_submit submit{};
    submit.bindings = array_of(bindings);
    submit.syncs = array_of(syncs);
    submit.error = reinterpret_cast<std::uintptr_t>(&error);
    submit.error_bytes = sizeof(error);
    submit.context = node.context();
    submit.program = args.program;
    const int result = node.call(DRM_IOCTL_NVDLA_SUBMIT, &submit);
    return result != 0 ? result : node.wait(done, kAfterDeadline);
  }
  std::uint32_t sram() {
    std::uint32_t handle = 0;
    EXPECT_EQ(create(node, kPage, 0, handle), 0);
    return handle;
  }

  Node node;
  nvdla_error error{};
};

TEST_F(WithSram, IsZeroedEachTime) {
  for (int i = 0; i < 3; ++i) {
    Node file;
    std::uint32_t handle = 0;
    ASSERT_EQ(create(file, 2 * kPage, 0, handle), 0);
    auto* bytes = file.map(handle, 2 * kPage);
    EXPECT_TRUE(std::all_of(bytes, bytes + 2 * kPage, [](auto b) { return b == 0; }));
    std::memset(bytes, 0x5a, 2 * kPage);
    EXPECT_EQ(bytes[2 * kPage - 1], 0x5a);
    munmap(bytes, 2 * kPage);
  }
}

TEST_F(WithSram, EndsAndComesBack) {
  int first_end = 0;
  int second_end = 0;
  std::uint32_t pages = 0;
  {
    const Node other;
    pages = take_all(other, first_end);
    EXPECT_EQ(create(node, kPage), ENOMEM);
    EXPECT_NE(node.buffer(kPage), 0u) << "the other memory is another";
  }
  EXPECT_EQ(first_end, ENOMEM);
  EXPECT_GE(pages, 2u);
  EXPECT_EQ(take_all(Node(), second_end), pages);
  EXPECT_EQ(create(node, (pages + std::uint64_t{1}) * kPage), ENOMEM);
  EXPECT_EQ(create(node, pages * kPage), 0) << "in one piece";
}

TEST_F(WithSram, IsNotLeftToAKilledProcess) {
  int end = 0;
  const std::uint32_t pages = take_all(Node(), end);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t victim = fork();
  if (victim == 0) {
    const Node file;
    int ignored = 0;
    const std::uint32_t taken = take_all(file, ignored);
    const auto told = write(ready[1], &taken, sizeof(taken));
    for (;;) pause();
    _exit(static_cast<int>(told));
  }
  std::uint32_t taken = 0;
  ASSERT_EQ(read(ready[0], &taken, sizeof(taken)), static_cast<ssize_t>(sizeof(taken)));
  EXPECT_EQ(taken, pages);
  ASSERT_EQ(kill(victim, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(waitpid(victim, &status, 0), victim);
  EXPECT_EQ(take_all(Node(), end), pages);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(WithSram, IsNotExported) {
  int fd = -1;
  EXPECT_NE(drmPrimeHandleToFD(node.fd(), sram(), DRM_CLOEXEC, &fd), 0);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(WithSram, IsMappedInItsOwnWay) {
  EXPECT_EQ(create(node, kPage, DRM_NVDLA_BO_WRITE_COMBINED), EINVAL);
}

TEST_F(WithSram, IsCopiedToAndFrom) {
  const std::uint32_t bytes = 8 * node.info().atom_bytes;
  const auto source = node.buffer(kPage), target = node.buffer(kPage);
  const auto first = sram(), second = sram();
  auto* from = node.map(source, kPage);
  for (std::uint64_t i = 0; i < kPage; ++i) from[i] = static_cast<std::uint8_t>(i * 7 + 1);
  EXPECT_EQ(copy(source, NVDLA_MEMORY_DRAM, first, NVDLA_MEMORY_SRAM), 0);
  EXPECT_EQ(std::memcmp(node.map(first, kPage), from, bytes), 0);
  EXPECT_EQ(copy(first, NVDLA_MEMORY_SRAM, second, NVDLA_MEMORY_SRAM), 0);
  EXPECT_EQ(copy(second, NVDLA_MEMORY_SRAM, target, NVDLA_MEMORY_DRAM), 0);
  const auto* to = node.map(target, kPage);
  EXPECT_EQ(std::memcmp(to, from, bytes), 0);
  EXPECT_TRUE(std::all_of(to + bytes, to + kPage, [](auto b) { return b == 0; }));
}

TEST_F(WithSram, IsBoundOnlyWhereTheProgramSays) {
  const auto dram = node.buffer(kPage), other = node.buffer(kPage);
  EXPECT_EQ(copy(sram(), NVDLA_MEMORY_DRAM, dram, NVDLA_MEMORY_DRAM), EINVAL);
  EXPECT_EQ(error.rule, static_cast<std::uint32_t>(NVDLA_RULE_BINDING_MEMORY));
  EXPECT_EQ(error.index, 0u);
  error = {};
  EXPECT_EQ(copy(other, NVDLA_MEMORY_DRAM, dram, NVDLA_MEMORY_SRAM), EINVAL);
  EXPECT_EQ(error.rule, static_cast<std::uint32_t>(NVDLA_RULE_BINDING_MEMORY));
  EXPECT_EQ(error.index, 1u);
}

TEST_F(WithSram, TakesNoStatistics) {
  CopyProgram program(node.info().atom_bytes);
  auto args = program.args();
  args.flags = DRM_NVDLA_PROGRAM_STATS;
  ASSERT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), 0);
  const std::vector<drm_nvdla_binding> bindings = {{0, node.buffer(kPage), 0},
                                                   {0, node.buffer(kPage), 0}};
  drm_nvdla_submit submit{};
  submit.bindings = array_of(bindings);
  submit.stats_handle = sram();
  submit.stats_stride = sizeof(nvdla_layer_stats);
  submit.context = node.context();
  submit.program = args.program;
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_SUBMIT, &submit), EINVAL);
}

}  // namespace
}  // namespace nvdla::ioctl_test
