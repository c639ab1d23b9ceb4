// SPDX-License-Identifier: MIT
//
// What one user may have: each resource until it is refused, and that others still get it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "node.hpp"

namespace nvdla::ioctl_test {
namespace {

class Limits : public testing::Test {
 protected:
  void SetUp() override { ASSERT_GE(node.fd(), 0) << "no node of the driver nvdla"; }

  Node node;
};

int create_context(const Node& node, std::uint32_t& id) {
  drm_nvdla_context_create create{};
  const int error = node.call(DRM_IOCTL_NVDLA_CONTEXT_CREATE, &create);
  id = create.context;
  return error;
}

int create_buffer(const Node& node, std::uint64_t size) {
  drm_nvdla_bo_create create{size, NVDLA_MEMORY_DRAM, 0, 0, 0};
  return node.call(DRM_IOCTL_NVDLA_BO_CREATE, &create);
}

// Status 0 when a process of another user gets a context and a page.
int as_another_user() {
  for (const auto& path : find_nodes()) chmod(path.c_str(), 0666);
  const pid_t child = fork();
  if (child == 0) {
    if (setuid(1000) != 0) _exit(2);
    const Node theirs;
    std::uint32_t id = 0;
    if (theirs.fd() < 0) _exit(3);
    if (create_context(theirs, id) != 0) _exit(4);
    _exit(create_buffer(theirs, kPage) == 0 ? 0 : 5);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// What else is held, by mappings of tests before or jobs just ended, is little.
bool is_close_to(std::uint64_t count, std::uint64_t limit) {
  return count <= limit && count + 64 > limit;
}

TEST_F(Limits, ContextsInAllFilesTogether) {
  std::uint32_t id = 0, first = 0;
  for (int i = 0; i < 3; ++i) {
    const Node one, other;
    std::uint32_t count = 0;
    int error = 0;
    while ((error = create_context(count % 2 ? one : other, id)) == 0) ++count;
    EXPECT_EQ(error, EDQUOT);
    EXPECT_TRUE(is_close_to(count, node.limits().user_contexts)) << count;
    EXPECT_EQ(as_another_user(), 0);
    drm_nvdla_context_destroy destroy{1, 0};
    EXPECT_EQ(one.call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy), 0);
    EXPECT_EQ(create_context(other, id), 0);
    EXPECT_EQ(create_context(other, id), EDQUOT);
    // All came back with their files, and perhaps those of earlier tests.
    if (i == 0) first = count;
    EXPECT_GE(count, first);
  }
}

// Where memory is the system's, which has more of it than one user may have.
using Pages = Limits;

TEST_F(Pages, BytesOfBuffers) {
  constexpr std::uint64_t kSize = 1 << 20;
  const auto limit = node.limits().user_bo_bytes;
  {
    const Node file;
    std::uint64_t bytes = 0;
    int error = 0;
    while ((error = create_buffer(file, kSize)) == 0) bytes += kSize;
    EXPECT_EQ(error, EDQUOT);
    EXPECT_TRUE(is_close_to(bytes / kSize, limit / kSize)) << bytes;
    EXPECT_EQ(as_another_user(), 0);
  }
  EXPECT_EQ(create_buffer(node, kSize), 0);
}

TEST_F(Pages, BytesOfPrograms) {
  const std::vector<std::uint8_t> control(1 << 20);
  CopyProgram program(node.info().atom_bytes);
  program.slots.push_back(
      {control.size(), node.info().atom_bytes, NVDLA_MEMORY_DRAM, NVDLA_SLOT_CONTROL, 0});
  auto args = program.args();
  args.control = array_of(control);
  const auto limit = node.limits().user_program_bytes;
  std::uint64_t bytes = 0;
  {
    const Node file;
    int error = 0;
    while ((error = file.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args)) == 0) {
      bytes += control.size();
      args.program = 0;
    }
    EXPECT_EQ(error, EDQUOT);
    EXPECT_TRUE(is_close_to(bytes / control.size(), limit / control.size())) << bytes;
  }
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), 0);
}

}  // namespace
}  // namespace nvdla::ioctl_test
