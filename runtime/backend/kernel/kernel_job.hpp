// SPDX-License-Identifier: MIT
//
// One submission to the kernel, which is its own fence. The kernel holds program and buffers until
// the job has ended; the outcome is read once, by whoever looks first.
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
  // What the kernel has runs to its end.
  bool cancel(const Error& why) override;

  // Fences of other devices, or of jobs that the kernel does not have yet: nothing that the kernel
  // could wait for. Such a job is submitted when none is left.
  bool waits_outside() const;
  // Called when it is canceled before the kernel has it: others may wait behind it.
  void when_withdrawn(std::function<void()> call);
  // Ends it, without the kernel, if it may not start: it is too late, or what it waits for failed.
  void check_terms();
  // Gives the job to the kernel, in `context`, unless it has ended. 0, or the errno with which it
  // is refused.
  int submit(std::shared_ptr<const KernelContext> context);
  // Ends a job that the kernel never had.
  void fail(Error error);
  // Copies, as the job lets go of them when it ends.
  std::vector<std::shared_ptr<FenceImpl>> waits() const;

 protected:
  std::shared_ptr<Descriptor> make_poll_fd() override;

 private:
  enum class State { kHeld, kSubmitted, kDone };

  // Waits on the kernel's object; reads the outcome.
  bool poll(std::optional<Clock::time_point> until) const;
  void settle() const;
  void fail_locked(Error error);
  // Has those told who asked while the job was held: who is watched must end by itself.
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
  // Until it is done.
  mutable std::shared_ptr<const KernelContext> context_;
  mutable std::vector<BoundBuffer> bindings_;
  mutable std::vector<std::shared_ptr<FenceImpl>> waits_;
  mutable std::shared_ptr<KernelBuffer> stats_buffer_;
  std::vector<std::function<void()>> then_;  // while it is held
  std::function<void()> withdrawn_;
  std::optional<Error> canceled_;  // while the kernel has it
  // Once done.
  mutable std::optional<Error> error_;
  mutable std::vector<nvdla_layer_stats> stats_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_KERNEL_KERNEL_JOB_HPP
