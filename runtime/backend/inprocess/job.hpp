// SPDX-License-Identifier: MIT
//
// A job is one submission to a device in this process, and is its own fence. It keeps the program
// and the buffers alive until it ends; the result stays for whoever has a handle.
#ifndef NVDLA_BACKEND_INPROCESS_JOB_HPP
#define NVDLA_BACKEND_INPROCESS_JOB_HPP

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/compiled_program.hpp"
#include "backend/inprocess/local_buffer.hpp"

namespace nvdla::detail {

class Worker;

struct LocalBinding {
  std::shared_ptr<LocalBuffer> buffer;
  std::uint64_t offset = 0;
};

class Job final : public FenceImpl {
 public:
  // Allocates from the memory resource of `bindings`.
  Job(std::shared_ptr<const CompiledProgram> program, std::pmr::vector<LocalBinding> bindings,
      const JobTerms& terms);

  bool done() const noexcept override { return done_.load(std::memory_order_acquire); }
  bool wait(std::optional<Clock::time_point> until) override;
  const Error* error() const noexcept override { return error_ ? &*error_ : nullptr; }
  std::span<const nvdla_layer_stats> statistics() const noexcept override { return stats_; }
  void on_done(std::function<void()> then) override;
  bool cancel(const Error& why) override;

  // Sets the worker that runs the job. A thread that waits without limit helps this worker.
  void set_worker(std::weak_ptr<Worker> worker) noexcept { worker_ = std::move(worker); }

  // Returns true if the submitting thread runs the job or wakes the worker.
  bool waited_for() const noexcept { return waited_for_; }

  // For the thread that runs the job, until finish().
  const CompiledProgram& program() const noexcept { return *program_; }
  std::span<const LocalBinding> bindings() const noexcept { return bindings_; }
  std::span<const std::shared_ptr<FenceImpl>> waits() const noexcept { return waits_; }
  std::span<nvdla_layer_stats> stats() noexcept { return stats_; }
  // Returns true if the job is to end as soon as it can.
  bool canceled() const noexcept { return canceled_.load(std::memory_order_relaxed); }
  // Cancels the job if its deadline for starting has passed.
  void check_deadline();
  // Ends the job: with `error`, with the reason of its cancellation, or successfully. Releases the
  // program and the buffers, then notifies every waiter.
  void finish(std::optional<Error> error);

 private:
  std::shared_ptr<const CompiledProgram> program_;
  std::pmr::vector<LocalBinding> bindings_;
  std::pmr::vector<std::shared_ptr<FenceImpl>> waits_;
  std::pmr::vector<nvdla_layer_stats> stats_;
  std::optional<Error> error_;
  std::weak_ptr<Worker> worker_;

  const Clock::time_point deadline_;
  const bool waited_for_;
  std::atomic<bool> done_{false};
  std::atomic<bool> canceled_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<std::function<void()>> then_;
  std::optional<Error> why_;  // the reason of a cancellation
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_INPROCESS_JOB_HPP
