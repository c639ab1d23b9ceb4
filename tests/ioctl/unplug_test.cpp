// SPDX-License-Identifier: MIT
//
// Buffers of a device that goes while files and mappings of it are open.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "node.hpp"
#include "vgem.hpp"

namespace nvdla::ioctl_test {
namespace {

// Takes the driver from its first device and, in the end, gives it back.
class Unbound {
 public:
  Unbound() {
    for (const char* bus : {"pci", "platform"}) {
      driver_ = std::string("/sys/bus/") + bus + "/drivers/nvdla/";
      std::error_code ignored;
      for (const auto& entry : std::filesystem::directory_iterator(driver_, ignored)) {
        if (!std::filesystem::exists(entry.path() / "driver")) continue;
        device_ = entry.path().filename();
        std::ofstream(driver_ + "unbind") << device_;
        return;
      }
    }
  }
  ~Unbound() { std::ofstream(driver_ + "bind") << device_; }
  Unbound(const Unbound&) = delete;
  Unbound& operator=(const Unbound&) = delete;

  bool found() const { return !device_.empty(); }

 private:
  std::string driver_, device_;
};

std::uint64_t free_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  std::uint64_t kib = 0;
  while (meminfo >> key) {
    if (key == "MemFree:" && meminfo >> kib) return kib << 10;
  }
  return 0;
}

void touch(const volatile std::uint8_t* bytes) { static_cast<void>(*bytes); }

TEST(Unplug, MappingsAndCallsEnd) {
  const Node node;
  ASSERT_GE(node.fd(), 0);
  const auto handle = node.buffer(2 * kPage);
  auto* bytes = node.map(handle, 2 * kPage);
  bytes[0] = 1;
  {
    const Unbound unbound;
    ASSERT_TRUE(unbound.found());
    // The page that was there and the one that was not.
    EXPECT_EXIT(touch(bytes), testing::KilledBySignal(SIGBUS), "");
    EXPECT_EXIT(touch(bytes + kPage), testing::KilledBySignal(SIGBUS), "");
    drm_nvdla_bo_create create{kPage, NVDLA_MEMORY_DRAM, 0, 0, 0};
    EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_BO_CREATE, &create), ENODEV);
    drm_nvdla_bo_wait wait{handle, 0, 0};
    EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_BO_WAIT, &wait), ENODEV);
  }
  const Node again;
  ASSERT_GE(again.fd(), 0);
  again.map(again.buffer(kPage), kPage)[0] = 1;
  munmap(bytes, 2 * kPage);
}

// Where memory is the system's.
TEST(PagesUnplug, AreGivenBackWithTheDevice) {
  const Node node;
  ASSERT_GE(node.fd(), 0);
  constexpr std::uint64_t kSize = 1 << 20, kCount = 100;
  for (std::uint64_t i = 0; i < kCount; ++i) node.buffer(kSize);
  const auto before = free_bytes();
  const Unbound unbound;
  EXPECT_GT(free_bytes(), before + kCount * kSize * 3 / 4) << "with the file still open";
}

// What another device gave is let go; what it took stays until it lets go.
TEST(ExportUnplug, EndsWithTheDevice) {
  const Vgem vgem;
  ASSERT_GE(vgem.fd(), 0) << "vgem is not loaded";
  const Node node;
  ASSERT_GE(node.fd(), 0);
  const auto theirs = vgem.page();
  const int page = vgem.export_fd(theirs);
  std::uint32_t imported = 0, taken = 0;
  ASSERT_EQ(drmPrimeFDToHandle(node.fd(), page, &imported), 0);
  int fd = -1;
  ASSERT_EQ(drmPrimeHandleToFD(node.fd(), node.buffer(kPage), DRM_CLOEXEC | DRM_RDWR, &fd), 0);
  void* mapped = mmap(nullptr, kPage, PROT_READ, MAP_SHARED, fd, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const auto* bytes = static_cast<const std::uint8_t*>(mapped);
  touch(bytes);
  ASSERT_EQ(drmPrimeFDToHandle(vgem.fd(), fd, &taken), 0);
  {
    const Unbound unbound;
    EXPECT_EXIT(touch(bytes), testing::KilledBySignal(SIGBUS), "");
    EXPECT_EQ(mmap(nullptr, kPage, PROT_READ, MAP_SHARED, fd, 0), MAP_FAILED);
    munmap(mapped, kPage);
    close(fd);
    drm_gem_close close_taken{taken, 0};
    EXPECT_EQ(drmIoctl(vgem.fd(), DRM_IOCTL_GEM_CLOSE, &close_taken), 0);
    void* kept = mmap(nullptr, kPage, PROT_READ, MAP_SHARED, page, 0);
    ASSERT_NE(kept, MAP_FAILED) << "theirs stays theirs";
    touch(static_cast<const std::uint8_t*>(kept));
    munmap(kept, kPage);
  }
  close(page);
  EXPECT_GE(Node().fd(), 0);
}

}  // namespace
}  // namespace nvdla::ioctl_test
