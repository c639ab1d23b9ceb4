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
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "hostile.hpp"

namespace nvdla::hostile {
namespace {

using ioctl_test::CopyProgram;
using ioctl_test::kPage;
using ioctl_test::must;

constexpr const char* kFailNth = "/proc/thread-self/fail-nth";
constexpr unsigned kMost = 2000;

// Code of the kernel, from its first address on.
struct Code {
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;
};

// By the kernel's table of symbols, which is in no order.
class Symbols {
 public:
  Symbols() {
    std::ifstream file("/proc/kallsyms");
    for (std::string line; std::getline(file, line);) {
      std::istringstream parts(line);
      std::string address, type, name, module;
      parts >> address >> type >> name >> module;
      if (type != "t" && type != "T") continue;
      symbols_.push_back({std::stoull(address, nullptr, 16), name, module});
    }
    std::sort(symbols_.begin(), symbols_.end(),
              [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
  }
  // All of a module; its last function ends with a page.
  Code module(const std::string& name) const {
    Code code;
    for (const Symbol& symbol : symbols_) {
      if (symbol.module != '[' + name + ']') continue;
      code.begin = std::min(code.begin, symbol.address);
      code.end = std::max(code.end, (symbol.address | (kPage - 1)) + 1);
    }
    return code;
  }
  Code function(const std::string& name) const {
    Code code;
    for (const Symbol& symbol : symbols_) {
      if (symbol.name == name) {
        code.begin = symbol.address;
      } else if (symbol.address > code.begin) {
        code.end = symbol.address;
        break;
      }
    }
    return code;
  }

 private:
  struct Symbol {
    std::uint64_t address;
    std::string name, module;
  };
  std::vector<Symbol> symbols_;
};

class FailNth : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    // suite.sh knows which kernels are built for it.
    if (::access(kFailNth, F_OK) != 0) GTEST_SKIP() << "a kernel without CONFIG_FAULT_INJECTION";
    // Also what may sleep fails.
    set("failslab/ignore-gfp-wait", "N");
    set("fail_page_alloc/ignore-gfp-wait", "N");
    set("fail_page_alloc/ignore-gfp-highmem", "N");
    set("fail_page_alloc/min-order", "0");
    file_ = ::open(kFailNth, O_RDWR | O_CLOEXEC);
    ASSERT_GE(file_, 0);
  }
  void TearDown() override {
    if (file_ >= 0) {
      ::close(file_);
      fail_only({0, ~std::uint64_t{0}}, {0, 0});
    }
    Hostile::TearDown();
  }

  static void set(const std::string& attribute, const std::string& value) {
    emulator_test::FaultControl::put("/sys/kernel/debug/" + attribute, value);
  }
  // Only what is allocated on behalf of some code, and not on behalf of other.
  static void fail_only(const Code& by, const Code& not_by) {
    for (const std::string kind : {"failslab", "fail_page_alloc", "fail_usercopy"}) {
      set(kind + "/stacktrace-depth", "32");
      set(kind + "/require-start", std::to_string(by.begin));
      set(kind + "/require-end", std::to_string(by.end));
      set(kind + "/reject-start", std::to_string(not_by.begin));
      set(kind + "/reject-end", std::to_string(not_by.end));
    }
  }

  // `call` gives an errno, of those `allowed` when something fails; `undo` what it made back when
  // that is 0.
  void fail_each(const char* name, const std::function<int()>& call,
                 const std::function<void()>& undo,
                 const std::set<int>& allowed = {ENOMEM, EFAULT, ENODEV}) {
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
      EXPECT_TRUE(error == 0 || allowed.count(error) == 1)
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

// What the driver core allocates around a probe is not the driver's. Nor is what the DRM core does
// with the node it makes in sysfs: without memory for it, it puts an error pointer as a device.
// A region of the bus without memory for it is one that somebody else has.
TEST_F(FailNth, Probe) {
  const auto bind = [this] {
    try {
      faults().bind();
      return 0;
    } catch (const std::system_error& error) {
      return error.code().value();
    }
  };
  const auto unbind = [this] { faults().unbind(); };
  const Symbols symbols;
  unbind();
  fail_only(symbols.module("nvdla"), symbols.function("drm_sysfs_minor_alloc"));
  fail_each("probe", bind, unbind, {ENOMEM, EBUSY});
  ASSERT_EQ(bind(), 0);
}

}  // namespace
}  // namespace nvdla::hostile
