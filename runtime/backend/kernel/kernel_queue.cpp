// SPDX-License-Identifier: MIT
#include "backend/kernel/kernel_queue.hpp"

#include <cerrno>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace nvdla::detail {

KernelQueue::KernelQueue(std::shared_ptr<KernelCore> core)
    : QueueImpl(core->id()),
      core_(std::move(core)),
      context_(std::make_shared<const KernelContext>(core_->node())) {}

std::shared_ptr<FenceImpl> KernelQueue::submit(std::shared_ptr<const ProgramImpl> program,
                                               std::span<const BoundBuffer> bindings,
                                               std::span<const std::shared_ptr<FenceImpl>> waits) {
  auto job = std::make_shared<KernelJob>(
      core_, std::static_pointer_cast<const KernelProgram>(std::move(program)),
      std::vector(bindings.begin(), bindings.end()), std::vector(waits.begin(), waits.end()));
  {
    const std::lock_guard lock(mutex_);
    if (held_.empty() && !job->waits_outside()) {
      give(*job);
      return job;
    }
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
  for (const auto& wait : job.waits()) {
    if (wait->done() && wait->error() != nullptr) {
      job.refuse({ErrorCode::kCanceled,
                  fmt::format("a job that this one waits for failed: {}", wait->error()->what())});
      return;
    }
  }
  int error = job.submit(context_);
  if (error == ECANCELED) {
    context_ = std::make_shared<const KernelContext>(core_->node());
    error = job.submit(context_);
  }
  if (error != 0) core_->node()->fail(error, "submitting a job");
}

void KernelQueue::pump() {
  const std::lock_guard lock(mutex_);
  while (!held_.empty() && !held_.front()->waits_outside()) {
    const auto job = std::move(held_.front());
    held_.pop_front();
    try {
      give(*job);
    } catch (const Error& error) {
      job->refuse(error);
    }
  }
}

}  // namespace nvdla::detail
