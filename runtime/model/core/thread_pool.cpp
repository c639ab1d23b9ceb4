// SPDX-License-Identifier: MIT
#include "model/core/thread_pool.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <system_error>

namespace nvdla::model {
namespace {

// To wake up takes longer than most waits last: how long a thread spins first, inside a region and
// for the next one. Whoever else wants the processor gets it.
constexpr std::chrono::microseconds kSpinTime{50};

// Whether `holds` within that time.
template <typename Condition>
bool spin_until(Condition holds) noexcept {
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Returns when `value` is no longer `seen`.
void await_change(const std::atomic<std::size_t>& value, std::size_t seen) noexcept {
  if (!spin_until([&] { return value.load() != seen; })) value.wait(seen);
}

// Of a thread in a run.
class Presence {
 public:
  explicit Presence(ThreadPool::Work& work) noexcept : work_(work) { work_.enter(); }
  ~Presence() { work_.leave(); }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

 private:
  ThreadPool::Work& work_;
};

}  // namespace

// A parallel region, one call of run(): a ring of slots between the threads and the caller.
class ThreadPool::Region {
 public:
  // `executed` has the slots.
  Region(Work& work, std::size_t tasks, std::span<std::atomic<std::size_t>> executed)
      : work_(work), tasks_(tasks), executed_(executed.first(std::min(executed.size(), tasks))) {
    for (std::atomic<std::size_t>& task : executed_) task = 0;
  }

  // Executes tasks until there are none left.
  void help(unsigned thread) noexcept {
    const Presence presence(work_);
    while (true) {
      const std::size_t task = next_.fetch_add(1);
      if (task >= tasks_) return;
      for (std::size_t retired = retired_.load(); task >= retired + executed_.size();
           retired = retired_.load())
        await_change(retired_, retired);
      if (abandoned_) return;
      execute(thread, task);
    }
  }

  // Retires all tasks, and executes some as long as the next one to retire is not there.
  void lead() {
    const Presence presence(work_);
    for (std::size_t task = 0; task < tasks_; ++task) {
      std::atomic<std::size_t>& executed = executed_[slot(task)];
      for (std::size_t seen = executed.load(); seen != task + 1; seen = executed.load()) {
        std::size_t next = next_.load();
        if (next < tasks_ && next < task + executed_.size()) {
          if (next_.compare_exchange_strong(next, next + 1)) execute(0, next);
        } else {
          await_change(executed, seen);
        }
      }
      work_.retire(task, slot(task));
      retired_.store(task + 1);
      retired_.notify_all();
    }
  }

  // Nobody begins another task, and nobody waits to.
  void abandon() noexcept {
    abandoned_ = true;
    next_.store(tasks_);
    retired_.store(tasks_);
    retired_.notify_all();
  }

 private:
  std::size_t slot(std::size_t task) const noexcept { return task % executed_.size(); }
  void execute(unsigned thread, std::size_t task) noexcept {
    work_.execute(thread, task, slot(task));
    executed_[slot(task)].store(task + 1);
    executed_[slot(task)].notify_one();
  }

  Work& work_;
  const std::size_t tasks_;
  std::atomic<std::size_t> next_{0};  // to execute
  std::atomic<std::size_t> retired_{0};
  std::atomic<bool> abandoned_{false};
  // For each slot the task that is in it, plus 1.
  const std::span<std::atomic<std::size_t>> executed_;
};

ThreadPool::ThreadPool(unsigned threads, double worth_sharing)
    : size_(threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency())),
      worth_sharing_(worth_sharing),
      executed_(in_flight()) {}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::start() {
  threads_.reserve(size_ - 1);
  try {
    while (threads_.size() + 1 < size_)
      threads_.emplace_back(&ThreadPool::help, this, static_cast<unsigned>(threads_.size()) + 1);
  } catch (const std::system_error&) {
    // Those that there are do it.
  }
}

void ThreadPool::help(unsigned thread) {
  for (std::uint64_t seen = 0;;) {
    spin_until([&] { return regions_ != seen || stop_; });
    std::unique_lock lock(mutex_);
    begun_.wait(lock, [&] { return stop_ || (region_ != nullptr && regions_ != seen); });
    if (stop_) return;
    seen = regions_;
    Region& region = *region_;
    ++inside_;
    lock.unlock();
    region.help(thread);
    lock.lock();
    if (--inside_ == 0) left_.notify_one();
  }
}

void ThreadPool::run(Work& work, std::size_t tasks, double nanoseconds) {
  if (!shares(nanoseconds)) {
    const Presence presence(work);
    for (std::size_t task = 0; task < tasks; ++task) {
      work.execute(0, task, 0);
      work.retire(task, 0);
    }
    return;
  }
  if (threads_.empty()) start();
  Region region(work, tasks, executed_);
  {
    const std::lock_guard lock(mutex_);
    region_ = &region;
    ++regions_;
  }
  begun_.notify_all();
  // Who comes late finds nothing; who is inside still looks at the region.
  const auto close = [&] {
    std::unique_lock lock(mutex_);
    region_ = nullptr;
    left_.wait(lock, [&] { return inside_ == 0; });
  };
  try {
    region.lead();
  } catch (...) {
    region.abandon();
    close();
    throw;
  }
  close();
}

}  // namespace nvdla::model
