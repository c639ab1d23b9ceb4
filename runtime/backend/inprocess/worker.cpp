// SPDX-License-Identifier: MIT
#include "backend/inprocess/worker.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "support/process.hpp"

namespace nvdla::detail {

void EventCount::notify() noexcept {
  count_.fetch_add(1, std::memory_order_seq_cst);
  if (!asleep_.load(std::memory_order_seq_cst)) return;
  const std::lock_guard lock(mutex_);
  woken_.notify_all();
}

void EventCount::wait(std::uint64_t seen) noexcept {
  const auto changed = [&] { return count() != seen; };
  std::unique_lock lock(mutex_);
  // Order matters: notify() either sees that we sleep, or came before the look at count().
  asleep_.store(true, std::memory_order_seq_cst);
  woken_.wait(lock, changed);
  asleep_.store(false, std::memory_order_seq_cst);
}

Worker::Worker(std::unique_ptr<Runner> runner)
    : runner_(std::move(runner)),
      thread_(start_thread("that runs the jobs of a device", [this] { work(); })) {}

Worker::~Worker() { stop(); }

void Worker::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  event_->notify();
  if (thread_.get_id() == std::this_thread::get_id()) {
    // The job that it runs released the device. It ends by itself, and has all this until then.
    thread_.detach();
    itself_ = shared_from_this();
  } else if (thread_.joinable()) {
    thread_.join();
  }
}

std::shared_ptr<Worker::JobQueue> Worker::add_queue() {
  auto queue = std::make_shared<JobQueue>(pool_.get());
  const std::lock_guard lock(mutex_);
  // Queues that nobody can submit to any more and that are empty are forgotten here.
  std::erase_if(queues_, [](const auto& old) { return old.use_count() == 1 && old->empty(); });
  queues_.push_back(queue);
  return queue;
}

void Worker::submit(JobQueue& queue, std::shared_ptr<Job> job) {
  job->set_worker(weak_from_this());
  for (const auto& fence : job->waits()) {
    if (!fence->done()) fence->on_done([event = event_] { event->notify(); });
  }
  const bool waited_for = job->waited_for();
  {
    const std::lock_guard lock(mutex_);
    queue.push_back(std::move(job));
  }
  if (!waited_for) wake();
}

void Worker::withdraw(Job& job) {
  std::shared_ptr<Job> found;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& queue : queues_) {
      const auto at = std::find_if(queue->begin(), queue->end(),
                                   [&](const auto& queued) { return queued.get() == &job; });
      if (at == queue->end()) continue;
      found = std::move(*at);
      queue->erase(at);
      break;
    }
  }
  if (found == nullptr) return;
  found->finish(std::nullopt);
  // Perhaps others waited behind it.
  event_->notify();
}

std::shared_ptr<Job> Worker::take() {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    // Queues take turns, so that a busy one does not starve the others.
    turn_ = (turn_ + 1) % queues_.size();
    JobQueue& queue = *queues_[turn_];
    if (queue.empty()) continue;
    const auto waits = queue.front()->waits();
    if (!std::all_of(waits.begin(), waits.end(), [](const auto& f) { return f->done(); })) continue;
    std::shared_ptr<Job> job = std::move(queue.front());
    queue.pop_front();
    return job;
  }
  return nullptr;
}

bool Worker::all_ended() const {
  const std::lock_guard lock(mutex_);
  return stop_ && std::all_of(queues_.begin(), queues_.end(),
                              [](const auto& queue) { return queue->empty(); });
}

void Worker::run(Job& job) {
  for (const auto& fence : job.waits()) {
    if (const Error* error = fence->error()) {
      job.finish(wait_failed(*error));
      return;
    }
  }
  job.check_deadline();
  if (job.canceled()) {
    job.finish(std::nullopt);
    return;
  }
  std::optional<Error> error;
  try {
    error = runner_->run(job);
  } catch (const Error& failure) {
    error = failure;
  } catch (const std::bad_alloc&) {
    error = out_of_memory();
  }
  job.finish(std::move(error));
}

bool Worker::try_run_one() {
  const std::unique_lock running(running_, std::try_to_lock);
  if (!running) return false;
  const auto job = take();
  if (job == nullptr) return false;
  run(*job);
  return true;
}

void Worker::work() {
  for (;;) {
    const std::uint64_t seen = event_->count();
    std::unique_lock running(running_);
    if (const auto job = take()) {
      run(*job);
    } else if (all_ended()) {
      return;
    } else {
      running.unlock();
      event_->wait(seen);
    }
  }
}

}  // namespace nvdla::detail
