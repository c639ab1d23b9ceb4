// SPDX-License-Identifier: MIT
//
// `Node` is a device file of the kernel driver: it finds and opens the file, calls its ioctls, and
// turns their errnos into errors.
#ifndef NVDLA_BACKEND_KERNEL_NODE_HPP
#define NVDLA_BACKEND_KERNEL_NODE_HPP

#include <drm/nvdla_accel.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace nvdla::detail {

// Returns the device files of the driver "nvdla", accel nodes first, without those that cannot be
// opened.
std::vector<std::string> find_kernel_devices();

class Node {
 public:
  // Throws kNoDevice for a file that is missing, may not be opened or is another driver's.
  explicit Node(std::string_view path);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const std::string& path() const noexcept { return path_; }
  int fd() const noexcept { return fd_; }
  // Returns the version of the driver: "1.0.0".
  std::string driver_version() const;

  // Returns 0 or an errno.
  int call(unsigned long request, void* argument) const noexcept;
  // Calls, and throws the error that the errno stands for: "/dev/accel/accel0: `what`: ...".
  void require(unsigned long request, void* argument, std::string_view what) const;
  [[noreturn]] void fail(int error, std::string_view what) const;

  // Sync objects: creation throws; waiting returns false once `until` has passed.
  std::uint32_t create_syncobj() const;
  void destroy_syncobj(std::uint32_t handle) const noexcept;
  bool wait(std::uint32_t syncobj, std::optional<FenceImpl::Clock::time_point> until) const;
  // Returns a new file, readable once the job that the sync object has now is done. Throws.
  int export_sync_file(std::uint32_t syncobj) const;
  // Returns the result of a signalled sync object: 0, or the errno with which its job failed.
  int status(std::uint32_t syncobj) const;

 private:
  std::string path_;
  int fd_ = -1;
};

// `KernelContext` is a context of the kernel. A job keeps its context until its result is read,
// because the kernel reports with the context which layer hung.
class KernelContext {
 public:
  // Throws kNoMemory, kGone.
  explicit KernelContext(std::shared_ptr<const Node> node);
  ~KernelContext();
  KernelContext(const KernelContext&) = delete;
  KernelContext& operator=(const KernelContext&) = delete;

  std::uint32_t id() const noexcept { return id_; }
  // Returns the layer at which the context's guilty job hung; nothing without such a job.
  std::optional<std::uint32_t> guilty_layer() const noexcept;

 private:
  std::shared_ptr<const Node> node_;
  std::uint32_t id_ = 0;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_KERNEL_NODE_HPP
