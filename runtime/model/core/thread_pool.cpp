// SPDX-License-Identifier: MIT
#include "model/core/thread_pool.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <system_error>

namespace nvdla::model {
namespace {

// To wake up takes longer than most waits last: how long a thread spins first, inside a region and
// for the next one. Whoever else wants the processor gets it, but in the beginning: from one layer
// to the next it takes less than that, and a call of the system would come between.
constexpr std::chrono::microseconds kSpinTime{50}, kAloneTime{10};
// Looks from one look at the clock to the next.
constexpr unsigned kLooks = 16;
// Threads that sleep are woken for so many times the work that others share.
constexpr double kWorthWaking = 10;

// Returns whether `holds` within that time.
template <typename Condition>
bool spin_until(Condition holds) noexcept {
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    for (unsigned i = 0; i < kLooks; ++i) {
      if (holds()) return true;
      relax();
    }
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > kSpinTime) return false;
    if (waited > kAloneTime) std::this_thread::yield();
  }
}

// Returns when `value` is no longer `seen`.
template <typename Value>
void await_change(const std::atomic<Value>& value, Value seen) noexcept {
  if (!spin_until([&] { return value.load() != seen; })) value.wait(seen);
}

// Marks a thread as taking part in a run, as long as this object exists.
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
  // `executed` has the slots, `shares` one for each thread.
  Region(Work& work, std::size_t tasks, std::span<std::atomic<std::size_t>> executed,
         std::span<Share> shares)
      : work_(work),
        tasks_(tasks),
        executed_(executed.first(std::min(executed.size(), tasks))),
        shares_(shares) {
    for (std::atomic<std::size_t>& task : executed_) task = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      shares_[i].next = begin;
      begin = shares_[i].end = tasks * (i + 1) / shares_.size();
    }
  }

  // Executes tasks until there are none left.
  void help(unsigned thread) noexcept {
    const Presence presence(work_);
    if (!work_.retires()) return share(thread);
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
    if (!work_.retires()) return share(0);
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
  // Executes tasks that leave nothing to retire: the thread's own, then those that others have not
  // come to.
  void share(unsigned thread) noexcept {
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      Share& share = shares_[(thread + i) % shares_.size()];
      for (std::size_t task = share.next.fetch_add(1); task < share.end;
           task = share.next.fetch_add(1))
        work_.execute(thread, task, thread);
    }
  }
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
  const std::span<Share> shares_;
};

ThreadPool::ThreadPool(unsigned threads, double worth_sharing)
    : size_(threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency())),
      worth_sharing_(worth_sharing),
      executed_(in_flight()),
      shares_(size_) {}

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
    // The threads that were started suffice.
  }
}

void ThreadPool::help(unsigned thread) {
  for (std::uint64_t seen = 0;;) {
    if (!spin_until([&] { return regions_ != seen || stop_; })) sleep(seen);
    if (stop_) return;
    seen = regions_;
    ++inside_;
    if (Region* const region = region_; region != nullptr) region->help(thread);
    if (--inside_ == 0) inside_.notify_one();
  }
}

void ThreadPool::sleep(std::uint64_t seen) {
  std::unique_lock lock(mutex_);
  ++asleep_;
  begun_.wait(lock, [&] { return regions_ != seen || stop_; });
  --asleep_;
}

bool ThreadPool::finds_help(double nanoseconds, bool& wakes) {
  const double worth_waking = worth_sharing_ * kWorthWaking;
  wakes = nanoseconds >= worth_waking;
  if (wakes || asleep_ < threads_.size()) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now - missed_last_ > kSpinTime) missed_ = 0;
  missed_last_ = now;
  missed_ += nanoseconds;
  wakes = missed_ >= worth_waking;
  if (wakes) missed_ = 0;
  return wakes;
}

void ThreadPool::open(Region& region, bool wakes) {
  if (threads_.empty()) start();
  region_ = &region;
  ++regions_;
  if (!wakes || asleep_ == 0) return;
  // A thread that is about to sleep has seen the region, or sleeps when the lock is free.
  { const std::lock_guard lock(mutex_); }
  begun_.notify_all();
}

// A thread that comes late finds nothing; one that is inside still looks at the region.
void ThreadPool::close() noexcept {
  region_ = nullptr;
  for (unsigned inside = inside_; inside != 0; inside = inside_) await_change(inside_, inside);
}

void ThreadPool::run(Work& work, std::size_t tasks, double nanoseconds) {
  bool wakes = false;
  if (!shares(nanoseconds) || !finds_help(nanoseconds, wakes)) {
    const Presence presence(work);
    for (std::size_t task = 0; task < tasks; ++task) {
      work.execute(0, task, 0);
      work.retire(task, 0);
    }
    return;
  }
  Region region(work, tasks, executed_, shares_);
  open(region, wakes);
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
