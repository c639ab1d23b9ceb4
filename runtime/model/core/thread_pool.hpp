// SPDX-License-Identifier: MIT
//
// The threads that share a heavy layer. Work is cut into tasks that any thread executes and that
// the caller retires one by one, in order: results never depend on how many threads there are, and
// memory, statistics and whatever else has an order are the caller's alone.
#ifndef NVDLA_MODEL_CORE_THREAD_POOL_HPP
#define NVDLA_MODEL_CORE_THREAD_POOL_HPP

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace nvdla::model {

// Lets the other thread of a processor's core go first, as whoever waits in a loop should.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

class ThreadPool {
 public:
  class Work {
   public:
    // Around all that a thread executes of a run.
    virtual void enter() noexcept {}
    virtual void leave() noexcept {}
    // Leaves its results in a slot. Threads, numbered from 0, execute several tasks at once.
    virtual void execute(unsigned thread, std::size_t task, std::size_t slot) noexcept = 0;
    // Returns whether tasks are retired. Where they are not, threads never wait for each other, and
    // each has a slot of its own.
    virtual bool retires() const noexcept { return true; }
    // Takes the results out of the slot, on the thread that called run(), in order of tasks.
    virtual void retire(std::size_t task, std::size_t slot) = 0;

   protected:
    ~Work() = default;
  };

  // The caller is one of `threads`; 0 is one per processor. The others start when they are first
  // needed; where the system has no more threads to give, there are fewer. Threads that are awake,
  // as they are for a while behind shared work, share work of `worth_sharing` nanoseconds. Those
  // that sleep are woken for several times as much, in one piece or in pieces that follow each
  // other closely: shorter work would be over before they have woken up.
  ThreadPool(unsigned threads, double worth_sharing);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Threads at most.
  unsigned size() const noexcept { return size_; }
  // Tasks in flight at most, each with a slot: every thread executes one while others wait to be
  // retired.
  std::size_t in_flight() const noexcept { return std::size_t{2} * size_; }

  // Returns whether others may help with work that takes one thread so many nanoseconds.
  bool shares(double nanoseconds) const noexcept {
    return size_ > 1 && nanoseconds >= worth_sharing_;
  }

  // Executes and retires tasks 0 to `tasks` - 1; `nanoseconds` is roughly what they take one
  // thread. Where work is not shared, slot 0 is all it needs. What retire() throws ends it.
  void run(Work& work, std::size_t tasks, double nanoseconds);

 private:
  class Region;

  void start();
  void help(unsigned thread);
  void sleep(std::uint64_t seen);
  // Returns whether somebody is there to share work, and whether that takes waking up.
  bool finds_help(double nanoseconds, bool& wakes);
  void open(Region& region, bool wakes);
  void close() noexcept;

  const unsigned size_;
  const double worth_sharing_;
  // Work that nobody was awake to share, one piece soon behind the other.
  double missed_ = 0;
  std::chrono::steady_clock::time_point missed_last_;
  std::mutex mutex_;
  std::condition_variable begun_;
  std::atomic<unsigned> asleep_{0};
  // Threads work on the region, if there is one; `inside_` counts those that look at it, `regions_`
  // those that there were. A thread counts itself before it looks for the region, and the caller
  // takes the region away before it looks for threads: one of them sees the other.
  std::atomic<Region*> region_{nullptr};
  std::atomic<unsigned> inside_{0};
  std::atomic<std::uint64_t> regions_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::atomic<std::size_t>> executed_;  // slots of the region
  // `Share` has the tasks with which a thread begins, where none are retired. Neighbours are one
  // thread's: so are, mostly, the results of the layer before that they take.
  struct alignas(64) Share {
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
  };
  std::vector<Share> shares_;
  std::vector<std::thread> threads_;
};

// Runs tasks that leave nothing to retire: execute(thread, task).
template <typename Execute>
void run_tasks(ThreadPool& pool, std::size_t tasks, double nanoseconds, Execute& execute) {
  class Tasks final : public ThreadPool::Work {
   public:
    explicit Tasks(Execute& execute) noexcept : execute_(execute) {}
    void execute(unsigned thread, std::size_t task, std::size_t /*slot*/) noexcept override {
      execute_(thread, task);
    }
    bool retires() const noexcept override { return false; }
    void retire(std::size_t /*task*/, std::size_t /*slot*/) override {}

   private:
    Execute& execute_;
  } work(execute);
  pool.run(work, tasks, nanoseconds);
}

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_THREAD_POOL_HPP
