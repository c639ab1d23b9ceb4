// SPDX-License-Identifier: MIT
#include "backend/inprocess/job.hpp"

#include <utility>

#include "backend/inprocess/spin.hpp"
#include "backend/inprocess/worker.hpp"

namespace nvdla::detail {

Job::Job(std::shared_ptr<const CompiledProgram> program, std::pmr::vector<LocalBinding> bindings,
         const JobTerms& terms)
    : program_(std::move(program)),
      bindings_(std::move(bindings)),
      waits_(terms.waits.begin(), terms.waits.end(), bindings_.get_allocator()),
      stats_(program_->statistics() ? program_->layers() : 0, bindings_.get_allocator()),
      deadline_(terms.deadline),
      waited_for_(terms.waited_for) {}

bool Job::wait(std::optional<Clock::time_point> until) {
  if (done()) return true;
  // It may have ended since: a limit passes only with a look behind it.
  if (until && *until <= Clock::now()) return done();
  if (!until) {
    // Nobody is faster than the thread that is here already: waking another takes longer than a
    // small job, and far longer where processors are busy. A job may run past any time, so
    // whoever has a limit only waits.
    if (const auto worker = worker_.lock()) {
      while (!done() && worker->try_run_one()) continue;
      // Another thread runs something, or it waits for another device.
      if (waited_for_ && !done()) worker->wake();
    }
  }
  const auto ended = [this] { return done(); };
  if (spin_until(ended)) return true;
  std::unique_lock lock(mutex_);
  if (!until) {
    ended_.wait(lock, ended);
    return true;
  }
  return ended_.wait_until(lock, *until, ended);
}

void Job::on_done(std::function<void()> then) {
  {
    const std::lock_guard lock(mutex_);
    if (!done()) {
      then_.push_back(std::move(then));
      return;
    }
  }
  then();
}

bool Job::cancel(const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    if (done()) return false;
    if (!why_) why_ = why;
    canceled_.store(true, std::memory_order_relaxed);
  }
  if (const auto worker = worker_.lock()) worker->withdraw(*this);
  return true;
}

void Job::check_deadline() {
  if (deadline_ <= Clock::now()) cancel(late());
}

void Job::finish(std::optional<Error> error) {
  // Before anybody knows: who waited finds that nothing but itself holds its buffers.
  program_.reset();
  bindings_.clear();
  waits_.clear();
  std::vector<std::function<void()>> then;
  {
    const std::lock_guard lock(mutex_);
    error_ = error ? std::move(error) : why_;
    done_.store(true, std::memory_order_release);
    then.swap(then_);
  }
  ended_.notify_all();
  for (const auto& call : then) call();
}

}  // namespace nvdla::detail
