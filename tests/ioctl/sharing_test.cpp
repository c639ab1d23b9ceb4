// SPDX-License-Identifier: MIT
//
// Buffers shared with other devices: vgem, which also makes fences that a test signals, and, where
// the kernel has it, udmabuf. Whoever runs this loads vgem.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include <xf86drm.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "node.hpp"
#include "vgem.hpp"

namespace nvdla::ioctl_test {
namespace {

// A file descriptor that is closed in the end.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

std::uint8_t* map_fd(int fd, std::uint64_t size, std::uint64_t offset) {
  void* address =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  return address == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(address);
}

class Sharing : public testing::Test {
 protected:
  void SetUp() override { ASSERT_GE(node.fd(), 0) << "no node of the driver nvdla"; }

  int export_fd(std::uint32_t handle) {
    int fd = -1;
    EXPECT_EQ(drmPrimeHandleToFD(node.fd(), handle, DRM_CLOEXEC | DRM_RDWR, &fd), 0) << errno;
    return fd;
  }
  int wait_for(std::uint32_t handle, std::int64_t timeout_ns, std::uint32_t flags = 0) {
    drm_nvdla_bo_wait wait{handle, flags, timeout_ns};
    return node.call(DRM_IOCTL_NVDLA_BO_WAIT, &wait);
  }
  // Copies `from` to `to`; the error of SUBMIT.
  int copy(std::uint32_t from, std::uint32_t to, std::uint32_t done,
           std::uint32_t stats_handle = 0) {
    CopyProgram program(node.info().atom_bytes);
    auto create = program.args();
    create.flags = stats_handle != 0 ? DRM_NVDLA_PROGRAM_STATS : 0;
    EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &create), 0);
    bytes = program.bytes;
    const std::vector<drm_nvdla_binding> bindings = {{0, from, 0}, {0, to, 0}};
    const std::vector<drm_nvdla_sync> syncs = {{done, DRM_NVDLA_SYNC_SIGNAL, 0}};
    drm_nvdla_submit submit{};
    submit.bindings = array_of(bindings);
    submit.syncs = array_of(syncs);
    submit.context = node.context();
    submit.program = create.program;
    submit.stats_handle = stats_handle;
    submit.stats_stride = stats_handle != 0 ? sizeof(nvdla_layer_stats) : 0;
    return node.call(DRM_IOCTL_NVDLA_SUBMIT, &submit);
  }

  Node node;
  std::uint64_t bytes = 0;
};

// --------------------------------------------------------------- export ---

// Where buffers are pages of the system.
using Export = Sharing;

// Where they are out of memory of the device's own.
using WithoutExport = Sharing;

TEST_F(WithoutExport, IsTold) {
  int fd = -1;
  errno = 0;
  EXPECT_NE(drmPrimeHandleToFD(node.fd(), node.buffer(kPage), DRM_CLOEXEC, &fd), 0);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(Export, AnyPartOfAnExportedBufferIsMappedWhereItIs) {
  const auto handle = node.buffer(4 * kPage);
  auto* whole = node.map(handle, 4 * kPage);
  for (std::uint8_t page = 0; page < 4; ++page) whole[page * kPage] = 10 + page;
  const File file(export_fd(handle));
  for (std::uint8_t page = 0; page < 4; ++page) {
    auto* part = map_fd(file.fd(), kPage, page * kPage);
    ASSERT_NE(part, nullptr);
    EXPECT_EQ(part[0], 10 + page);
    part[1] = 20 + page;
    EXPECT_EQ(whole[page * kPage + 1], 20 + page);
    munmap(part, kPage);
  }
  EXPECT_EQ(map_fd(file.fd(), 2 * kPage, 3 * kPage), nullptr);
  EXPECT_EQ(map_fd(file.fd(), kPage, 4 * kPage), nullptr);
}

TEST_F(Export, AnotherFileSeesTheSameMemory) {
  const auto handle = node.buffer(kPage);
  node.map(handle, kPage)[5] = 77;
  const File file(export_fd(handle));
  std::uint32_t again = 0;
  ASSERT_EQ(drmPrimeFDToHandle(node.fd(), file.fd(), &again), 0);
  EXPECT_EQ(again, handle);
  const Node other;
  std::uint32_t theirs = 0;
  ASSERT_EQ(drmPrimeFDToHandle(other.fd(), file.fd(), &theirs), 0);
  drm_gem_close close{handle, 0};
  EXPECT_EQ(node.call(DRM_IOCTL_GEM_CLOSE, &close), 0);
  EXPECT_EQ(other.map(theirs, kPage)[5], 77);
}

// ---------------------------------------------------------------- import ---

class WithVgem : public Sharing {
 protected:
  void SetUp() override {
    Sharing::SetUp();
    ASSERT_GE(vgem.fd(), 0) << "vgem is not loaded";
    theirs = vgem.page();
    const int fd = vgem.export_fd(theirs);
    ASSERT_EQ(drmPrimeFDToHandle(node.fd(), fd, &imported), 0) << errno;
    memory = map_fd(fd, kPage, 0);
    close(fd);
    ASSERT_NE(memory, nullptr);
    target = node.buffer(kPage);
    done = node.syncobj();
  }
  void TearDown() override {
    if (memory != nullptr) munmap(memory, kPage);
  }
  // A fence of the other device in the buffer's reservation.
  std::uint32_t fence(bool write = true) { return vgem.fence(theirs, write); }
  void signal(std::uint32_t fence) { vgem.signal(fence); }

  Vgem vgem;
  std::uint32_t theirs = 0, imported = 0, target = 0, done = 0;
  std::uint8_t* memory = nullptr;
};

TEST_F(WithVgem, ADeviceReadsWhatIsImported) {
  std::memset(memory, 0x42, kPage);
  ASSERT_EQ(copy(imported, target, done), 0);
  ASSERT_EQ(node.wait(done, kAfterDeadline), 0);
  const auto* out = node.map(target, kPage);
  EXPECT_TRUE(std::all_of(out, out + bytes, [](auto b) { return b == 0x42; }));
}

TEST_F(WithVgem, ADeviceWritesToWhatIsImported) {
  std::memset(node.map(target, kPage), 0x24, kPage);
  ASSERT_EQ(copy(target, imported, done), 0);
  ASSERT_EQ(node.wait(done, kAfterDeadline), 0);
  EXPECT_TRUE(std::all_of(memory, memory + bytes, [](auto b) { return b == 0x24; }));
  EXPECT_EQ(memory[bytes], 0);
}

TEST_F(WithVgem, TheExporterMapsWhatIsImported) {
  auto* ours = node.map(imported, kPage);
  memory[9] = 3;
  EXPECT_EQ(ours[9], 3);
  munmap(ours, kPage);
}

TEST_F(WithVgem, CachesOfAnImportedBufferAreItsExporters) {
  drm_nvdla_bo_sync sync{imported, DRM_NVDLA_BO_SYNC_TO_DEVICE, 0, kPage};
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_BO_SYNC, &sync), EOPNOTSUPP);
}

TEST_F(WithVgem, StatisticsAreNotWrittenToWhatIsImported) {
  EXPECT_EQ(copy(target, node.buffer(kPage), done, imported), EINVAL);
}

// The job is seen waiting before the other device is done.
TEST_F(WithVgem, JobsWaitForTheFencesOfOthers) {
  const auto gate = fence();
  ASSERT_EQ(copy(imported, target, done), 0);
  EXPECT_EQ(node.wait(done, 0.1), ETIME);
  std::memset(memory, 0x66, kPage);
  signal(gate);
  ASSERT_EQ(node.wait(done, kAfterDeadline), 0);
  EXPECT_EQ(node.map(target, kPage)[0], 0x66);
}

TEST_F(WithVgem, OthersWaitForOurJobs) {
  // Their write goes first, then our job, whose fence the file of the buffer must tell.
  const auto gate = fence();
  const File file([&] {
    int fd = -1;
    EXPECT_EQ(drmPrimeHandleToFD(node.fd(), imported, DRM_CLOEXEC, &fd), 0);
    return fd;
  }());
  ASSERT_EQ(copy(imported, target, done), 0);
  pollfd writable{file.fd(), POLLOUT, 0};
  EXPECT_EQ(poll(&writable, 1, 0), 0);
  signal(gate);
  ASSERT_EQ(node.wait(done, kAfterDeadline), 0);
  EXPECT_EQ(poll(&writable, 1, -1), 1);
}

// ----------------------------------------------------------------- BO_WAIT ---

TEST_F(WithVgem, WaitsForATimeLongAgoJustLook) {
  const auto gate = fence();
  for (const std::int64_t past :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, INT64_MIN, INT64_MIN + 1})
    EXPECT_EQ(wait_for(imported, past), ETIMEDOUT) << past;
  signal(gate);
  for (const std::int64_t any : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN, INT64_MAX})
    EXPECT_EQ(wait_for(imported, any), 0) << any;
}

TEST_F(WithVgem, ReadersDoNotWaitForReaders) {
  const auto gate = fence(false);
  EXPECT_EQ(wait_for(imported, 0, DRM_NVDLA_BO_WAIT_READ), 0);
  EXPECT_EQ(wait_for(imported, 0), ETIMEDOUT);
  signal(gate);
}

TEST_F(WithVgem, WaitsEndWithASignal) {
  const auto gate = fence();
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGALRM, &action, nullptr), 0);
  // Again and again: the first may come too early.
  const itimerval often{{0, 20000}, {0, 20000}};
  const itimerval never{};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  drm_nvdla_bo_wait wait{imported, 0, INT64_MAX};
  const int result = ioctl(node.fd(), DRM_IOCTL_NVDLA_BO_WAIT, &wait);
  const int error = errno;
  setitimer(ITIMER_REAL, &never, nullptr);
  EXPECT_EQ(result, -1);
  EXPECT_EQ(error, EINTR);
  signal(gate);
}

TEST_F(WithVgem, WaitsOutliveTheirHandle) {
  const auto gate = fence();
  int result = -1;
  std::thread waiter([&] { result = wait_for(imported, INT64_MAX); });
  usleep(20000);
  drm_gem_close close{imported, 0};
  EXPECT_EQ(node.call(DRM_IOCTL_GEM_CLOSE, &close), 0);
  EXPECT_EQ(wait_for(imported, 0), ENOENT);
  signal(gate);
  waiter.join();
  EXPECT_TRUE(result == 0 || result == ENOENT) << result;
}

// What we export, another device maps; it keeps the memory when our handle is gone.
TEST_F(Export, AnotherDeviceKeepsWhatItTook) {
  const Vgem vgem;
  ASSERT_GE(vgem.fd(), 0) << "vgem is not loaded";
  const auto handle = node.buffer(4 * kPage);
  node.map(handle, 4 * kPage)[3 * kPage] = 99;
  std::uint32_t taken = 0;
  {
    const File file(export_fd(handle));
    ASSERT_EQ(drmPrimeFDToHandle(vgem.fd(), file.fd(), &taken), 0) << errno;
  }
  drm_gem_close close{handle, 0};
  EXPECT_EQ(node.call(DRM_IOCTL_GEM_CLOSE, &close), 0);
  int fd = -1;
  ASSERT_EQ(drmPrimeHandleToFD(vgem.fd(), taken, DRM_CLOEXEC | DRM_RDWR, &fd), 0);
  const File again(fd);
  auto* seen = map_fd(again.fd(), kPage, 3 * kPage);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen[0], 99);
  munmap(seen, kPage);
}

// ----------------------------------------------------------------- udmabuf ---

class WithUdmabuf : public Sharing {
 protected:
  void SetUp() override {
    Sharing::SetUp();
    ASSERT_GE(device.fd(), 0) << "the kernel has no udmabuf";
    ASSERT_GE(memory.fd(), 0);
    ASSERT_EQ(ftruncate(memory.fd(), 2 * kPage), 0);
    ASSERT_EQ(fcntl(memory.fd(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  }
  // Pages of the memory file, as a dma-buf imported by the driver.
  int import(const std::vector<std::uint64_t>& pages, std::uint32_t& handle) {
    std::vector<std::uint8_t> list(sizeof(udmabuf_create_list) +
                                   pages.size() * sizeof(udmabuf_create_item));
    auto* head = reinterpret_cast<udmabuf_create_list*>(list.data());
    head->flags = UDMABUF_FLAGS_CLOEXEC;
    head->count = static_cast<std::uint32_t>(pages.size());
    for (std::size_t i = 0; i < pages.size(); ++i)
      head->list[i] = {static_cast<std::uint32_t>(memory.fd()), 0, pages[i] * kPage, kPage};
    const File buffer(ioctl(device.fd(), UDMABUF_CREATE_LIST, head));
    EXPECT_GE(buffer.fd(), 0) << errno;
    return drmPrimeFDToHandle(node.fd(), buffer.fd(), &handle) == 0 ? 0 : errno;
  }

  File device{open("/dev/udmabuf", O_RDWR | O_CLOEXEC)};
  File memory{memfd_create("pages", MFD_ALLOW_SEALING | MFD_CLOEXEC)};
};

TEST_F(WithUdmabuf, OnePageIsCopied) {
  auto* bytes_of_file = map_fd(memory.fd(), 2 * kPage, 0);
  ASSERT_NE(bytes_of_file, nullptr);
  std::memset(bytes_of_file, 0x11, kPage);
  std::memset(bytes_of_file + kPage, 0x22, kPage);
  std::uint32_t handle = 0;
  ASSERT_EQ(import({1}, handle), 0);
  const auto target = node.buffer(kPage), done = node.syncobj();
  ASSERT_EQ(copy(handle, target, done), 0);
  ASSERT_EQ(node.wait(done, kAfterDeadline), 0);
  EXPECT_EQ(node.map(target, kPage)[0], 0x22);
  EXPECT_EQ(node.map(handle, kPage)[0], 0x22);
  munmap(bytes_of_file, 2 * kPage);
}

// The same page twice is in no memory one after the other.
TEST_F(WithUdmabuf, ScatteredPagesAreRefused) {
  std::uint32_t handle = 0;
  EXPECT_EQ(import({0, 0}, handle), EINVAL);
  EXPECT_EQ(import({0}, handle), 0);
}

}  // namespace
}  // namespace nvdla::ioctl_test
