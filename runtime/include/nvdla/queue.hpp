// SPDX-License-Identifier: MIT
//
/// @file
/// Running programs: a queue takes submissions, a fence tells when one has ended and how.
#ifndef NVDLA_QUEUE_HPP
#define NVDLA_QUEUE_HPP

#include <drm/nvdla_layer.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "nvdla/buffer.hpp"
#include "nvdla/program.hpp"
#include "nvdla/types/export.hpp"

namespace nvdla {

namespace detail {
class FenceImpl;
class QueueImpl;
}  // namespace detail

/// The end of one submission. A handle: copies name the same end; thread safe.
class NVDLA_API Fence {
 public:
  /// An empty handle counts as done and well.
  Fence() noexcept;
  Fence(const Fence&) noexcept;             ///< Copies the handle.
  Fence(Fence&&) noexcept;                  ///< Moves; the source is empty afterwards.
  Fence& operator=(const Fence&) noexcept;  ///< Copies the handle.
  Fence& operator=(Fence&&) noexcept;       ///< Moves; the source is empty afterwards.
  ~Fence();                                 ///< Releases what it refers to.

  /// True unless the handle is empty.
  explicit operator bool() const noexcept { return impl_ != nullptr; }
  /// Returns true if the submission has ended, well or not.
  bool done() const noexcept;
  /// Waits for the end; a model device may use the time to run jobs on this thread. Throws Error if
  /// the job failed: kHang, kGone, kBusFault, kCanceled, kDeadline.
  void wait() const;
  /// The same for at most `timeout`; false if it has not ended by then. The job runs on.
  bool wait(std::chrono::nanoseconds timeout) const;
  /// Asks for the end. What the device has not begun ends at once, with kCanceled; what it has
  /// begun ends with that as soon as the device lets go of the buffers: the model, and devices that
  /// this process drives, after the layers that they are at, a kernel device when all is done. What
  /// waits for it fails, too. False if it had ended already.
  bool cancel() const;
  /// Returns a file descriptor for poll() and its like, beside whatever else a program waits for:
  /// one that is readable (POLLIN) once done, never before, and for good. It is the fence's own,
  /// open as long as there is a handle: not to be read or closed. Throws kInvalidArgument on an
  /// empty handle, kNoMemory where there are too many files.
  int poll_fd() const;
  /// Calls `call` at the end, well or not, or soon if that was before: once, on a thread of the
  /// library which all such calls of a process share, nearly in the order of the ends. Others wait
  /// for it, so it should be short; it may submit, but not wait for what has not ended, which
  /// throws kInvalidArgument there. What it throws ends the process. It is dropped afterwards, and
  /// with what it holds keeps alive until then. Throws kInvalidArgument if `call` is empty.
  void on_end(std::function<void()> call) const;
  /// One entry per layer once done, if the program counts; otherwise empty. Lives as long as a
  /// handle to this fence.
  std::span<const nvdla_layer_stats> statistics() const noexcept;

 private:
  friend struct detail::Handles;
  explicit Fence(std::shared_ptr<detail::FenceImpl> impl) noexcept;
  std::shared_ptr<detail::FenceImpl> impl_;
};

/// A buffer, or its part from `offset` on, for the slot of the same index. Empty for a slot with
/// NVDLA_SLOT_CONTROL, whose contents came with the program.
struct Binding {
  Binding() = default;  ///< Binds no buffer.
  /// Binds `bound` from byte `from` on.
  Binding(Buffer bound, std::uint64_t from = 0)
      : buffer(static_cast<Buffer&&>(bound)), offset(from) {}
  Buffer buffer;             ///< the buffer; empty for control data
  std::uint64_t offset = 0;  ///< first byte that the slot reaches, in whole atoms
};

/// Conditions and the deadline of a submission.
struct SubmitOptions {
  /// Fences that end before the program starts; if one failed it ends with kCanceled. They may
  /// belong to other devices.
  std::span<const Fence> wait_fences = {};
  /// Time at which a submission that has not ended is canceled (Fence::cancel()), and ends with
  /// kDeadline; from then on it does not start.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

/// Submissions to one queue run in the order in which they were made; queues of a device share it.
/// A handle, thread safe.
class NVDLA_API Queue {
 public:
  Queue() noexcept;                         ///< An empty handle.
  Queue(const Queue&) noexcept;             ///< Copies the handle.
  Queue(Queue&&) noexcept;                  ///< Moves; the source is empty afterwards.
  Queue& operator=(const Queue&) noexcept;  ///< Copies the handle.
  Queue& operator=(Queue&&) noexcept;       ///< Moves; the source is empty afterwards.
  ~Queue();                                 ///< Releases what it refers to.

  /// True unless the handle is empty.
  explicit operator bool() const noexcept { return impl_ != nullptr; }
  /// Runs `program` with one binding per slot. Returns at once, but where as many submissions have
  /// not ended as the driver allows a user: then when one of this device has. The submission holds
  /// program and buffers: their handles may be dropped.
  /// Throws kInvalidBinding if a buffer does not fit its slot, kInvalidArgument if something
  /// belongs to another device, kGone if the device is lost.
  Fence submit(const Program& program, std::span<const Binding> bindings,
               const SubmitOptions& options = {}) const;

 private:
  friend struct detail::Handles;
  explicit Queue(std::shared_ptr<detail::QueueImpl> impl) noexcept;
  std::shared_ptr<detail::QueueImpl> impl_;
};

}  // namespace nvdla

#endif  // NVDLA_QUEUE_HPP
