// SPDX-License-Identifier: MIT
//
// Every allocation of a call fails once: the first, then the second, until none is left to fail.
// Each time the call says that there is no memory, or does without, and nothing is left behind.
#include <fcntl.h>
#include <unistd.h>
#include <xf86drm.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "hostile.hpp"

namespace nvdla::hostile {
namespace {

using ioctl_test::CopyProgram;
using ioctl_test::kPage;
using ioctl_test::must;

constexpr const char* kFailNth = "/proc/thread-self/fail-nth";
constexpr unsigned kMost = 2000;

class FailNth : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    // Only kernels that are built for it have that: nothing to be seen on others.
    if (::access(kFailNth, F_OK) != 0) {
      std::printf("not this kernel: no fault injection\n");
      return;
    }
    // Also what may sleep fails.
    for (const char* attribute : {"failslab/ignore-gfp-wait", "fail_page_alloc/ignore-gfp-wait",
                                  "fail_page_alloc/ignore-gfp-highmem"}) {
      std::ofstream file(std::string("/sys/kernel/debug/") + attribute);
      file << "N" << std::flush;
      ASSERT_TRUE(file) << attribute;
    }
    std::ofstream("/sys/kernel/debug/fail_page_alloc/min-order") << "0";
    file_ = ::open(kFailNth, O_RDWR | O_CLOEXEC);
    ASSERT_GE(file_, 0);
  }
  void TearDown() override {
    if (file_ >= 0) ::close(file_);
    Hostile::TearDown();
  }

  // `call` gives an errno; `undo` what it made back when that is 0.
  void fail_each(const char* name, const std::function<int()>& call,
                 const std::function<void()>& undo) {
    if (file_ < 0) return;
    unsigned refused = 0, n = 1;
    for (; n < kMost; ++n) {
      const std::string nth = std::to_string(n);
      ASSERT_EQ(::write(file_, nth.c_str(), nth.size()), static_cast<ssize_t>(nth.size()));
      const int error = call();
      char left[16] = {};
      // Whatever the call left to fail may hit this instead.
      const bool untouched = ::pread(file_, left, sizeof(left) - 1, 0) <= 0 || std::atoi(left) != 0;
      while (::write(file_, "0", 1) != 1) {
      }
      if (error == 0) undo();
      if (untouched) {
        EXPECT_EQ(error, 0) << name << ": nothing failed";
        break;
      }
      EXPECT_TRUE(error == 0 || error == ENOMEM || error == EFAULT || error == ENODEV)
          << name << ' ' << n << ": " << std::strerror(error);
      refused += error != 0;
    }
    EXPECT_LT(n, kMost) << name << ": always one more to fail";
    EXPECT_GT(refused, 0u) << name << ": no memory is missed";
    std::printf("%s: %u that can fail, %u of them make it fail\n", name, n - 1, refused);
  }

 private:
  int file_ = -1;
};

TEST_F(FailNth, Open) {
  const std::string path = ioctl_test::find_nodes().at(0);
  int fd = -1;
  fail_each(
      "open", [&] { return (fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC)) < 0 ? errno : 0; },
      [&] { ::close(fd); });
}

TEST_F(FailNth, ContextCreate) {
  const Node node;
  drm_nvdla_context_create create{};
  fail_each(
      "CONTEXT_CREATE",
      [&] {
        create = {};
        return node.call(DRM_IOCTL_NVDLA_CONTEXT_CREATE, &create);
      },
      [&] {
        drm_nvdla_context_destroy destroy{create.context, 0};
        EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy), 0);
      });
}

TEST_F(FailNth, BoCreate) {
  const Node node;
  for (const std::uint32_t flags : {0u, DRM_NVDLA_BO_WRITE_COMBINED}) {
    drm_nvdla_bo_create create{};
    fail_each(
        "BO_CREATE",
        [&] {
          create = {};
          create.size = 3 * kPage;
          create.flags = flags;
          return node.call(DRM_IOCTL_NVDLA_BO_CREATE, &create);
        },
        [&] {
          drm_gem_close close{create.handle, 0};
          EXPECT_EQ(node.call(DRM_IOCTL_GEM_CLOSE, &close), 0);
        });
  }
}

TEST_F(FailNth, ProgramCreate) {
  const Node node;
  CopyProgram copy(node.info().atom_bytes);
  auto args = copy.args();
  fail_each(
      "PROGRAM_CREATE",
      [&] {
        args = copy.args();
        return node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args);
      },
      [&] {
        drm_nvdla_program_destroy destroy{args.program, 0};
        EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_DESTROY, &destroy), 0);
      });
}

TEST_F(FailNth, Submit) {
  Client client;
  const auto binary = client.node().syncobj();
  const auto timeline = client.node().syncobj();
  std::uint64_t point = 0;
  ASSERT_EQ(client.run(), 0);
  const auto waited = client.start();
  fail_each(
      "SUBMIT",
      [&] {
        return client.submit(
            std::vector<drm_nvdla_sync>{{waited, DRM_NVDLA_SYNC_WAIT, 0},
                                        {binary, DRM_NVDLA_SYNC_SIGNAL, 0},
                                        {timeline, DRM_NVDLA_SYNC_SIGNAL, ++point}},
            client.context());
      },
      [&] { EXPECT_EQ(client.end(binary), 0); });
  EXPECT_TRUE(client.copied());
}

}  // namespace
}  // namespace nvdla::hostile
