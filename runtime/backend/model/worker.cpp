// SPDX-License-Identifier: MIT
#include "backend/model/worker.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace nvdla::detail {

void Bell::ring() noexcept {
  rung_.fetch_add(1, std::memory_order_seq_cst);
  if (!asleep_.load(std::memory_order_seq_cst)) return;
  const std::lock_guard lock(mutex_);
  woken_.notify_all();
}

void Bell::wait(std::uint64_t seen) noexcept {
  const auto changed = [&] { return rung() != seen; };
  std::unique_lock lock(mutex_);
  // Order matters: a ring either sees that we sleep, or happened before the look at rung().
  asleep_.store(true, std::memory_order_seq_cst);
  woken_.wait(lock, changed);
  asleep_.store(false, std::memory_order_seq_cst);
}

Worker::Worker(const nvdla_hw& hw, const model::Options& options)
    : runner_(hw, options), thread_([this] { work(); }) {}

Worker::~Worker() { stop(); }

void Worker::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  bell_->ring();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<Worker::Line> Worker::add_line() {
  auto line = std::make_shared<Line>();
  const std::lock_guard lock(mutex_);
  // Lines that nobody can submit to any more and that are empty are forgotten here.
  std::erase_if(lines_, [](const auto& old) { return old.use_count() == 1 && old->empty(); });
  lines_.push_back(line);
  return line;
}

void Worker::submit(Line& line, std::shared_ptr<Job> job) {
  job->set_worker(weak_from_this());
  for (const auto& fence : job->waits()) {
    if (!fence->done()) fence->on_done([bell = bell_] { bell->ring(); });
  }
  {
    const std::lock_guard lock(mutex_);
    line.push_back(std::move(job));
  }
  bell_->ring();
}

std::shared_ptr<Job> Worker::take() {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    // Lines take turns, so that a busy one does not starve the others.
    turn_ = (turn_ + 1) % lines_.size();
    Line& line = *lines_[turn_];
    if (line.empty()) continue;
    const auto waits = line.front()->waits();
    if (!std::all_of(waits.begin(), waits.end(), [](const auto& f) { return f->done(); })) continue;
    std::shared_ptr<Job> job = std::move(line.front());
    line.pop_front();
    return job;
  }
  return nullptr;
}

bool Worker::all_ended() const {
  const std::lock_guard lock(mutex_);
  return stop_ &&
         std::all_of(lines_.begin(), lines_.end(), [](const auto& line) { return line->empty(); });
}

void Worker::run(Job& job) {
  for (const auto& fence : job.waits()) {
    if (const Error* error = fence->error()) {
      job.finish(Error(ErrorCode::kCanceled,
                       std::string("a job that this one waits for failed: ") + error->what()));
      return;
    }
  }
  std::optional<Error> error;
  try {
    error = runner_.run(job);
  } catch (const Error& failure) {
    error = failure;
  } catch (const std::bad_alloc&) {
    error = Error(ErrorCode::kNoMemory, "the model ran out of host memory");
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
    const std::uint64_t seen = bell_->rung();
    std::unique_lock running(running_);
    if (const auto job = take()) {
      run(*job);
    } else if (all_ended()) {
      return;
    } else {
      running.unlock();
      bell_->wait(seen);
    }
  }
}

}  // namespace nvdla::detail
