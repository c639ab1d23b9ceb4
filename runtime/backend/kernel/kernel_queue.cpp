// SPDX-License-Identifier: MIT
#include "backend/kernel/kernel_queue.hpp"

#include <cerrno>
#include <utility>
#include <vector>

#include "support/check.hpp"

namespace nvdla::detail {

KernelQueue::KernelQueue(std::shared_ptr<KernelCore> core)
    : QueueImpl(core->id()),
      core_(std::move(core)),
      context_(std::make_shared<const KernelContext>(core_->node())) {}

std::shared_ptr<FenceImpl> KernelQueue::submit(std::shared_ptr<const ProgramImpl> program,
                                               std::span<const BoundBuffer> bindings,
                                               const JobTerms& terms) {
  auto job = std::make_shared<KernelJob>(
      core_, std::static_pointer_cast<const KernelProgram>(std::move(program)),
      std::vector(bindings.begin(), bindings.end()), terms);
  {
    const std::lock_guard lock(mutex_);
    if (held_.empty() && !job->waits_outside()) {
      give(*job);
      return job;
    }
    job->when_withdrawn([queue = weak_from_this()] {
      if (const auto self = queue.lock()) self->pump();
    });
    held_.push_back(job);
  }
  for (const auto& wait : job->waits()) {
    wait->on_done([self = shared_from_this()] { self->pump(); });
  }
  return job;
}

// A context whose job hung takes nothing more. The queue goes on in a new one: who submitted to
// the old one learns it from their fences.
void KernelQueue::give(KernelJob& job) {
  job.check_terms();
  int error = submit(job);
  if (error == ECANCELED) {
    context_ = std::make_shared<const KernelContext>(core_->node());
    error = submit(job);
  }
  if (error == EDQUOT) {
    throw_error(
        ErrorCode::kNoMemory,
        "{}: this user has as many jobs in flight as the driver allows, and none is of this "
        "device handle, which could wait for it",
        core_->node()->path());
  }
  if (error != 0) core_->node()->fail(error, "submitting a job");
}

// No job that the kernel has depends on a job that is held here, so the backlog always drains by
// itself.
int KernelQueue::submit(KernelJob& job) {
  int error = job.submit(context_);
  while (error == EDQUOT && core_->backlog().wait_for_oldest()) error = job.submit(context_);
  return error;
}

void KernelQueue::pump() {
  const std::lock_guard lock(mutex_);
  while (!held_.empty() && !held_.front()->waits_outside()) {
    const auto job = std::move(held_.front());
    held_.pop_front();
    try {
      give(*job);
    } catch (const Error& error) {
      job->fail(error);
    }
  }
}

}  // namespace nvdla::detail
