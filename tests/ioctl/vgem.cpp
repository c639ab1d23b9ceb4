// SPDX-License-Identifier: MIT
#include "vgem.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "node.hpp"

namespace nvdla::ioctl_test {

namespace {

// As in the kernel's vgem_drm.h, which libdrm does not install.
struct FenceAttach {
  std::uint32_t handle, flags, out_fence, pad;
};
struct FenceSignal {
  std::uint32_t fence, flags;
};
const unsigned long kFenceAttach = DRM_IOWR(DRM_COMMAND_BASE + 1, FenceAttach);
const unsigned long kFenceSignal = DRM_IOW(DRM_COMMAND_BASE + 2, FenceSignal);
constexpr std::uint32_t kFenceWrite = 1;

void must_succeed(int result, const char* what) {
  if (result != 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

Vgem::Vgem() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/dri", ignored)) {
    if (entry.path().string().find("card") == std::string::npos) continue;
    const int fd = open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
    drmVersion* version = fd < 0 ? nullptr : drmGetVersion(fd);
    const bool found = version != nullptr && std::strcmp(version->name, "vgem") == 0;
    drmFreeVersion(version);
    if (found) {
      fd_ = fd;
      return;
    }
    if (fd >= 0) close(fd);
  }
}

Vgem::~Vgem() {
  if (fd_ >= 0) close(fd_);
}

std::uint32_t Vgem::page() const {
  std::uint32_t handle = 0, pitch = 0;
  std::uint64_t size = 0;
  must_succeed(drmModeCreateDumbBuffer(fd_, kPage / 4, 1, 32, 0, &handle, &pitch, &size),
               "vgem's buffer");
  return handle;
}

int Vgem::export_fd(std::uint32_t handle) const {
  int fd = -1;
  must_succeed(drmPrimeHandleToFD(fd_, handle, DRM_CLOEXEC | DRM_RDWR, &fd), "vgem's export");
  return fd;
}

std::uint32_t Vgem::fence(std::uint32_t handle, bool write) const {
  FenceAttach args{handle, write ? kFenceWrite : 0, 0, 0};
  must_succeed(drmIoctl(fd_, kFenceAttach, &args), "vgem's fence");
  return args.out_fence;
}

void Vgem::signal(std::uint32_t fence) const {
  FenceSignal args{fence, 0};
  must_succeed(drmIoctl(fd_, kFenceSignal, &args), "vgem's signal");
}

}  // namespace nvdla::ioctl_test
