// SPDX-License-Identifier: MIT
//
// `KernelJob` is one submission to the kernel, and is its own fence. The kernel keeps the program
// and the buffers until the job has ended; the first caller who needs the result reads it from the
// kernel.
#ifndef NVDLA_BACKEND_KERNEL_KERNEL_JOB_HPP
#define NVDLA_BACKEND_KERNEL_KERNEL_JOB_HPP

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backend/kernel/kernel_core.hpp"
#include "backend/kernel/kernel_program.hpp"
#include "backend/kernel/node.hpp"

namespace nvdla::detail {

class KernelJob final : public FenceImpl, public std::enable_shared_from_this<KernelJob> {
 public:
  KernelJob(std::shared_ptr<KernelCore> core, std::shared_ptr<const KernelProgram> program,
            std::vector<BoundBuffer> bindings, const JobTerms& terms);

  bool done() const noexcept override;
  bool wait(std::optional<Clock::time_point> until) override;
  const Error* error() const noexcept override { return error_ ? &*error_ : nullptr; }
  std::span<const nvdla_layer_stats> statistics() const noexcept override { return stats_; }
  void on_done(std::function<void()> then) override;
  // A job that the kernel has accepted still runs to its end.
  bool cancel(const Error& why) override;

  // Returns true if the job waits for fences that the kernel cannot wait for: those of other
  // devices, or of jobs that the kernel does not have yet. The queue submits the job when none is
  // left.
  bool waits_outside() const;
  // Sets a function that is called if the job is canceled before the kernel has it, since other
  // jobs may wait behind it.
  void when_withdrawn(std::function<void()> call);
  // Ends the job without the kernel if it may not start: its deadline has passed, or a job that it
  // waits for failed.
  void check_terms();
  // Submits the job to the kernel in `context`, unless the job has ended. Returns 0, or the errno
  // with which the kernel refuses it.
  int submit(std::shared_ptr<const KernelContext> context);
  // Ends a job that the kernel never had.
  void fail(Error error);
  // Returns a copy, since the job drops its fences when it ends.
  std::vector<std::shared_ptr<FenceImpl>> waits() const;

 protected:
  std::shared_ptr<Descriptor> make_poll_fd() override;

 private:
  enum class State { kHeld, kSubmitted, kDone };

  // Waits on the sync object, then reads the result.
  bool poll(std::optional<Clock::time_point> until) const;
  void settle() const;
  void fail_locked(Error error);
  // Hands the callbacks that were set while the job was held to the watcher, which needs a job that
  // ends by itself.
  void watch_locked();
  const Error* failed_wait() const;
  Error hang() const;

  std::shared_ptr<KernelCore> core_;
  std::shared_ptr<const KernelProgram> program_;
  std::shared_ptr<const SyncObject> syncobj_;
  const Clock::time_point deadline_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::atomic<State> state_{State::kHeld};
  // The members below are kept until the job is done.
  mutable std::shared_ptr<const KernelContext> context_;
  mutable std::vector<BoundBuffer> bindings_;
  mutable std::vector<std::shared_ptr<FenceImpl>> waits_;
  mutable std::shared_ptr<KernelBuffer> stats_buffer_;
  std::vector<std::function<void()>> then_;  // callbacks set while the job is held
  std::function<void()> withdrawn_;
  std::optional<Error> canceled_;  // set while the kernel has the job
  // The members below are set when the job is done.
  mutable std::optional<Error> error_;
  mutable std::vector<nvdla_layer_stats> stats_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_KERNEL_KERNEL_JOB_HPP
