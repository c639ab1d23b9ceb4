// SPDX-License-Identifier: MIT
//
// Another device, which has memory to share and fences that a test signals.
#ifndef NVDLA_TESTS_IOCTL_VGEM_HPP
#define NVDLA_TESTS_IOCTL_VGEM_HPP

#include <cstdint>

namespace nvdla::ioctl_test {

// The device of the module vgem. All calls but fd() throw std::runtime_error on failure.
class Vgem {
 public:
  Vgem();  // fd() is -1 if the module is not loaded
  ~Vgem();
  Vgem(const Vgem&) = delete;
  Vgem& operator=(const Vgem&) = delete;

  int fd() const { return fd_; }
  // A handle of a buffer of one page, and a dma-buf of a buffer.
  std::uint32_t page() const;
  int export_fd(std::uint32_t handle) const;
  // A fence in the buffer's reservation. It signals itself after ten seconds.
  std::uint32_t fence(std::uint32_t handle, bool write) const;
  void signal(std::uint32_t fence) const;

 private:
  int fd_ = -1;
};

}  // namespace nvdla::ioctl_test

#endif  // NVDLA_TESTS_IOCTL_VGEM_HPP
