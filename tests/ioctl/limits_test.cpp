// SPDX-License-Identifier: MIT
//
// What one user may have: each resource until it is refused, and that others still get it.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
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

// Writes to a file of the kernel, and returns whether that worked.
bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

TEST_F(Limits, ContextsInAllFilesTogether) {
  std::uint32_t id = 0, first = 0;
  for (int i = 0; i < 3; ++i) {
    const Node one, other;
    std::uint32_t count = 0;
    int error = 0;
    while ((error = create_context(count % 2 ? one : other, id)) == 0) ++count;
    EXPECT_EQ(error, EDQUOT);
    EXPECT_TRUE(is_close_to(count, module_parameter("user_contexts"))) << count;
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

// The kernel may have no thread to give, where each context is one. libdrm repeats a call that
// fails with EAGAIN, for ever.
TEST_F(Limits, AContextWithoutAThreadIsRefused) {
  const std::string path = "/proc/sys/kernel/threads-max";
  std::string usual;
  std::ifstream(path) >> usual;
  // All that there are now, and some.
  struct sysinfo system {};
  ASSERT_EQ(sysinfo(&system), 0);
  ASSERT_TRUE(write_file(path, std::to_string(std::max(system.procs + 50, 100))));
  int error = 0;
  {
    const Node node;
    std::uint32_t id = 0;
    while ((error = create_context(node, id)) == 0) {
    }
  }
  ASSERT_TRUE(write_file(path, usual));
  EXPECT_TRUE(error == ENOMEM || error == EDQUOT) << error;
  std::uint32_t id = 0;
  EXPECT_EQ(create_context(Node(), id), 0);
}

// A control group with so much memory, in a hierarchy that is mounted for it.
class MemoryGroup {
 public:
  explicit MemoryGroup(std::uint64_t bytes) {
    mkdir(kRoot, 0755);
    mounted_ = mount("none", kRoot, "cgroup2", 0, nullptr) == 0;
    ready_ = mounted_ && write_file(std::string(kRoot) + "/cgroup.subtree_control", "+memory") &&
             mkdir(kGroup, 0755) == 0 &&
             write_file(std::string(kGroup) + "/memory.max", std::to_string(bytes));
  }
  ~MemoryGroup() {
    rmdir(kGroup);
    if (mounted_) umount(kRoot);
    rmdir(kRoot);
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  bool ready() const { return ready_; }
  // Moves the calling process.
  bool enter() const {
    return write_file(std::string(kGroup) + "/cgroup.procs", std::to_string(getpid()));
  }

 private:
  static constexpr const char* kRoot = "/tmp/nvdla-cgroup";
  static constexpr const char* kGroup = "/tmp/nvdla-cgroup/test";
  bool mounted_ = false, ready_ = false;
};

// Tests of memory that is the system's.
using Pages = Limits;

// Pages are charged to the control group of the process, and to nothing else.
TEST_F(Pages, OfBuffersAreChargedToTheControlGroup) {
  constexpr std::uint64_t kSize = 1 << 20, kLimit = 16 * kSize;
  const MemoryGroup group(kLimit);
  ASSERT_TRUE(group.ready()) << "no control groups of version 2 with the controller memory";
  const pid_t child = fork();
  if (child == 0) {
    if (!group.enter()) _exit(100);
    const Node file;
    int error = 0, count = 0;
    while (count < 64 && (error = create_buffer(file, kSize)) == 0) ++count;
    _exit(error == ENOMEM ? count : 101);
  }
  int status = -1;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  // The process itself needs some, and is charged in batches.
  EXPECT_GE(WEXITSTATUS(status), 8);
  EXPECT_LE(WEXITSTATUS(status), 16);
  EXPECT_EQ(create_buffer(node, kSize), 0);
}

TEST_F(Pages, BytesOfPrograms) {
  const std::vector<std::uint8_t> control(1 << 20);
  CopyProgram program(node.info().atom_bytes);
  program.slots.push_back(
      {control.size(), node.info().atom_bytes, NVDLA_MEMORY_DRAM, NVDLA_SLOT_CONTROL, 0});
  auto args = program.args();
  args.control = array_of(control);
  const auto limit = module_parameter("user_program_mib") << 20;
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
