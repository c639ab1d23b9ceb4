// SPDX-License-Identifier: MIT
//
// The backlog lists the jobs that the kernel has accepted for a device and that may not have ended,
// oldest first. The kernel limits the jobs of a user, so a thread that submits faster than the
// device works waits for one of these.
#ifndef NVDLA_BACKEND_KERNEL_BACKLOG_HPP
#define NVDLA_BACKEND_KERNEL_BACKLOG_HPP

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "backend/kernel/node.hpp"

namespace nvdla::detail {

// A `SyncObject` is the kernel's object that signals the end of a job. It outlives the job's fence,
// which nobody need keep.
class SyncObject {
 public:
  explicit SyncObject(std::shared_ptr<const Node> node);
  ~SyncObject();
  SyncObject(const SyncObject&) = delete;
  SyncObject& operator=(const SyncObject&) = delete;

  std::uint32_t handle() const noexcept { return handle_; }
  // Node::wait() describes the result.
  bool wait(std::optional<FenceImpl::Clock::time_point> until) const;
  bool ended() const noexcept;
  int status() const { return node_->status(handle_); }

 private:
  std::shared_ptr<const Node> node_;
  std::uint32_t handle_;
};

class Backlog {
 public:
  void add(std::shared_ptr<const SyncObject> job);
  // Waits until the oldest job has ended. Returns false if there is no job. Throws kGone.
  bool wait_for_oldest();

 private:
  std::mutex mutex_;
  std::deque<std::shared_ptr<const SyncObject>> jobs_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_KERNEL_BACKLOG_HPP
