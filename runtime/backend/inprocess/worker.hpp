// SPDX-License-Identifier: MIT
//
// Who runs the jobs of a device, one at a time: a thread of its own, and threads that wait
// for a job and have nothing else to do.
#ifndef NVDLA_BACKEND_INPROCESS_WORKER_HPP
#define NVDLA_BACKEND_INPROCESS_WORKER_HPP

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/inprocess/job.hpp"
#include "backend/inprocess/job_pool.hpp"
#include "backend/inprocess/runner.hpp"

namespace nvdla::detail {

// Tells a sleeping thread that something may have changed. Outlives the worker in the callbacks
// of fences of other devices.
class EventCount {
 public:
  void notify() noexcept;
  // How often notify() was called.
  std::uint64_t count() const noexcept { return count_.load(std::memory_order_seq_cst); }
  // Sleeps until notify() was called after `seen` was read.
  void wait(std::uint64_t seen) noexcept;

 private:
  std::atomic<std::uint64_t> count_{0};
  std::atomic<bool> asleep_{false};
  std::mutex mutex_;
  std::condition_variable woken_;
};

class Worker : public std::enable_shared_from_this<Worker> {
 public:
  // Jobs of one queue run in order.
  using JobQueue = std::pmr::deque<std::shared_ptr<Job>>;

  explicit Worker(std::unique_ptr<Runner> runner);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Waits until all jobs have ended and ends the thread. Nothing may be submitted any more.
  void stop();

  // Of its jobs.
  const std::shared_ptr<JobPool>& pool() const noexcept { return pool_; }

  // Not to outlive the worker.
  std::shared_ptr<JobQueue> add_queue();
  void submit(JobQueue& queue, std::shared_ptr<Job> job);

  // Has the worker's own thread look for jobs.
  void wake() noexcept { event_->notify(); }

  // Ends a job that was canceled if it still waits to be run.
  void withdraw(Job& job);

  // Runs the next job that can run on this thread; false if there is none, or if another thread
  // runs one.
  bool try_run_one();

 private:
  void work();
  // The next job that can run, taken from its queue.
  std::shared_ptr<Job> take();
  bool all_ended() const;
  void run(Job& job);

  const std::shared_ptr<JobPool> pool_ = std::make_shared<JobPool>();
  // Whoever runs a job; taken before a job is, so that order is kept.
  std::mutex running_;
  std::shared_ptr<EventCount> event_ = std::make_shared<EventCount>();
  mutable std::mutex mutex_;  // queues_ and what is in them, stop_
  std::vector<std::shared_ptr<JobQueue>> queues_;
  std::size_t turn_ = 0;
  bool stop_ = false;
  std::shared_ptr<Worker> itself_;  // where nobody else can own it any more
  std::unique_ptr<Runner> runner_;  // under running_
  std::thread thread_;              // last: everything is there when it starts
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_INPROCESS_WORKER_HPP
