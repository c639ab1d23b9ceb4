// SPDX-License-Identifier: MIT
//
// A worker runs the jobs of a device, one at a time: on its own thread, or on a thread that waits
// for a job and has nothing else to do.
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

// `EventCount` wakes a sleeping thread when something may have changed. Callbacks of other devices'
// fences keep it alive longer than the worker.
class EventCount {
 public:
  void notify() noexcept;
  // Returns the number of calls of notify().
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

  // Returns the pool that jobs of this worker are allocated from.
  const std::shared_ptr<JobPool>& pool() const noexcept { return pool_; }

  // The worker must outlive the queue.
  std::shared_ptr<JobQueue> add_queue();
  void submit(JobQueue& queue, std::shared_ptr<Job> job);

  // Wakes the worker's own thread to look for jobs.
  void wake() noexcept { event_->notify(); }

  // Ends a canceled job if it still waits to run.
  void withdraw(Job& job);

  // Runs the next job that can run on this thread; false if there is none, or if another thread
  // runs one.
  bool try_run_one();

 private:
  void work();
  // Removes the next job that can run from its queue and returns it.
  std::shared_ptr<Job> take();
  bool all_ended() const;
  void run(Job& job);

  const std::shared_ptr<JobPool> pool_ = std::make_shared<JobPool>();
  // The thread that runs a job holds this. It locks the mutex before it takes the job, which keeps
  // the order of jobs.
  std::mutex running_;
  std::shared_ptr<EventCount> event_ = std::make_shared<EventCount>();
  mutable std::mutex mutex_;  // guards queues_, the jobs in them, and stop_
  std::vector<std::shared_ptr<JobQueue>> queues_;
  std::size_t turn_ = 0;
  bool stop_ = false;
  std::shared_ptr<Worker> itself_;  // set where no other owner can remain
  std::unique_ptr<Runner> runner_;  // guarded by running_
  std::thread thread_;              // last, so that all members exist when it starts
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_INPROCESS_WORKER_HPP
