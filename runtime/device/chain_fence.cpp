// SPDX-License-Identifier: MIT
#include "device/chain_fence.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "backend/background.hpp"
#include "support/handles.hpp"

namespace nvdla::detail {
namespace {

// An error of a program, which counts layers from 0.
Error numbered(const Error& error, std::uint32_t first_layer) {
  nvdla_error detail = error.detail();
  detail.index += first_layer;
  try {
    return {static_cast<ErrorCode>(error.code().value()),
            fmt::format("in the program from layer {} on: {}", first_layer, error.what()), detail};
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

}  // namespace

Fence ChainFence::start(std::vector<ChainStep> steps, const SubmitOptions& options) {
  start_callbacks();
  start_deadlines(options.deadline);
  const auto chain = std::make_shared<ChainFence>(std::move(steps), options);
  // The end of the chain needs this, and must not fail for want of memory.
  chain->end_ = prepare_call([held = chain->held_] { held->clear(); });
  if (!chain->steps_.empty() && chain->steps_.front().submit) {
    chain->next_ = 1;
    const ChainStep& first = chain->steps_.front();
    chain->follow(first.submit(options), first);
  } else {
    chain->waiting_ = chain->waits_.size() + 1;
    for (const Fence& wait : chain->waits_) {
      if (wait) Handles::impl(wait)->on_done([chain] { chain->wait_ended(); });
      if (!wait) chain->wait_ended();
    }
    chain->wait_ended();
  }
  arm_deadline(chain, options.deadline);
  return Handles::make<Fence>(std::shared_ptr<FenceImpl>(chain));
}

ChainFence::ChainFence(std::vector<ChainStep> steps, const SubmitOptions& options)
    : steps_(std::move(steps)),
      waits_(options.wait_fences.begin(), options.wait_fences.end()),
      deadline_(options.deadline) {}

bool ChainFence::done() const noexcept {
  const std::lock_guard lock(mutex_);
  return done_;
}

bool ChainFence::wait(std::optional<Clock::time_point> until) {
  std::unique_lock lock(mutex_);
  while (!done_) {
    const auto step = Handles::impl(current_);
    if (step != nullptr && !step->done()) {
      // A thread that waits for a job of the model may run the job itself.
      lock.unlock();
      if (!step->wait(until)) return done();
      lock.lock();
      continue;
    }
    const auto moved = [&] { return done_ || Handles::impl(current_) != step; };
    if (!until) {
      changed_.wait(lock, moved);
    } else if (!changed_.wait_until(lock, *until, moved)) {
      return false;
    }
  }
  return true;
}

void ChainFence::on_done(std::function<void()> then) {
  {
    const std::lock_guard lock(mutex_);
    if (!done_) {
      then_.push_back(std::move(then));
      return;
    }
  }
  then();
}

bool ChainFence::cancel(const Error& why) {
  std::shared_ptr<FenceImpl> step;
  bool waits = false;
  {
    const std::lock_guard lock(mutex_);
    if (done_) return false;
    if (!canceled_) canceled_ = why;
    step = Handles::impl(current_);
    waits = std::exchange(waiting_, 0) != 0;
  }
  if (step != nullptr) step->cancel(why);
  if (waits) finish(std::nullopt);
  return true;
}

void ChainFence::follow(Fence fence, const ChainStep& step) {
  std::optional<Error> canceled;
  {
    const std::lock_guard lock(mutex_);
    current_ = fence;
    canceled = canceled_;
  }
  changed_.notify_all();
  // Asked for before there was something to cancel.
  if (canceled) Handles::impl(fence)->cancel(*canceled);
  Handles::impl(fence)->on_done([self = shared_from_this(), fence, first = step.first_layer] {
    self->step_ended(fence, first);
  });
}

void ChainFence::step_ended(const Fence& step, std::uint32_t first_layer) {
  std::optional<Error> failed;
  try {
    step.wait();
  } catch (const Error& error) {
    failed = error.layer() < 0 || first_layer == 0 ? error : numbered(error, first_layer);
  }
  try {
    const std::lock_guard lock(mutex_);
    current_ = Fence();
    const auto counted = step.statistics();
    statistics_.insert(statistics_.end(), counted.begin(), counted.end());
  } catch (const std::bad_alloc&) {
    failed = out_of_memory();
  }
  changed_.notify_all();
  if (failed) {
    finish(std::move(failed));
  } else {
    advance();
  }
}

void ChainFence::wait_ended() {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_ == 0 || --waiting_ != 0) return;
  }
  for (const Fence& wait : waits_) {
    if (!wait) continue;
    if (const Error* const error = Handles::impl(wait)->error()) {
      finish(wait_failed(*error));
      return;
    }
  }
  advance();
}

void ChainFence::advance() {
  const ChainStep* step = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!canceled_ && next_ < steps_.size()) step = &steps_[next_++];
  }
  if (step == nullptr) {
    finish(std::nullopt);
  } else if (step->compute) {
    try {
      call_later([self = shared_from_this(), step] { self->compute(*step); });
    } catch (const std::bad_alloc&) {
      finish(out_of_memory());
    }
  } else {
    std::optional<Error> failed;
    try {
      follow(step->submit({.deadline = deadline_}), *step);
    } catch (const Error& error) {
      failed = error;
    } catch (const std::bad_alloc&) {
      failed = out_of_memory();
    }
    if (failed) finish(std::move(failed));
  }
}

void ChainFence::compute(const ChainStep& step) noexcept {
  if (deadline_ <= Clock::now()) {
    finish(late());
    return;
  }
  std::optional<Error> failed;
  try {
    step.compute();
    if (step.counted) {
      const std::lock_guard lock(mutex_);
      statistics_.emplace_back();
    }
  } catch (const Error& error) {
    failed = error;
  } catch (const std::bad_alloc&) {
    failed = out_of_memory();
  }
  if (failed) {
    finish(std::move(failed));
  } else {
    advance();
  }
}

void ChainFence::finish(std::optional<Error> error) {
  std::vector<std::function<void()>> then;
  {
    const std::lock_guard lock(mutex_);
    if (done_) return;
    error_ = error ? std::move(error) : canceled_;
    done_ = true;
    then.swap(then_);
  }
  // They hold the device, which must not close on the thread that runs its jobs; what is waited for
  // no more may hold this.
  held_->steps = std::move(steps_);
  held_->waits = std::move(waits_);
  call_later(std::move(end_));
  changed_.notify_all();
  for (const auto& call : then) call();
}

}  // namespace nvdla::detail
