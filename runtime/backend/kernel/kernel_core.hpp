// SPDX-License-Identifier: MIT
//
// `KernelCore` is shared by all objects of one open kernel device: it has the file, the
// configuration, and a pool of buffers for statistics.
#ifndef NVDLA_BACKEND_KERNEL_KERNEL_CORE_HPP
#define NVDLA_BACKEND_KERNEL_KERNEL_CORE_HPP

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "backend/kernel/backlog.hpp"
#include "backend/kernel/kernel_buffer.hpp"
#include "backend/kernel/node.hpp"
#include "backend/kernel/watcher.hpp"
#include "firmware/nvdla_hw.h"

namespace nvdla::detail {

class KernelCore {
 public:
  // Throws kNoDevice.
  explicit KernelCore(std::string_view path);

  const std::shared_ptr<const Node>& node() const noexcept { return node_; }
  const nvdla_hw& hw() const noexcept { return *hw_; }
  DeviceId id() const noexcept { return id_; }
  const drm_nvdla_device_info& info() const noexcept { return info_; }
  Watcher& watcher() noexcept { return watcher_; }
  Backlog& backlog() noexcept { return backlog_; }

  std::shared_ptr<KernelBuffer> allocate(std::uint64_t bytes, Memory memory) const;
  // Takes a buffer of at least `bytes` for statistics; give_stats() returns it to the pool for the
  // next job.
  std::shared_ptr<KernelBuffer> take_stats(std::uint64_t bytes);
  void give_stats(std::shared_ptr<KernelBuffer> buffer) noexcept;

 private:
  std::shared_ptr<const Node> node_;
  drm_nvdla_device_info info_{};
  const nvdla_hw* hw_ = nullptr;
  DeviceId id_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<KernelBuffer>> stats_;
  Backlog backlog_;
  // Last, so that it ends first: the jobs that it watches use the other members.
  Watcher watcher_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_KERNEL_KERNEL_CORE_HPP
