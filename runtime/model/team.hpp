// SPDX-License-Identifier: MIT
//
// The threads that share a heavy layer. Work is cut into lots that anybody makes and that the
// caller takes one by one, in order: results never depend on how many threads there are, and
// memory, statistics and whatever else has an order are the caller's alone.
#ifndef NVDLA_MODEL_TEAM_HPP
#define NVDLA_MODEL_TEAM_HPP

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace nvdla::model {

class Team {
 public:
  class Work {
   public:
    // Puts a lot into a slot. Members, numbered from 0, make several lots at once.
    virtual void make(unsigned member, std::size_t lot, std::size_t slot) noexcept = 0;
    // Takes a lot out of its slot, on the thread that called run(), in order of lots.
    virtual void take(std::size_t lot, std::size_t slot) = 0;

   protected:
    ~Work() = default;
  };

  // The caller is one of `threads`; 0 is one per processor. The others start when they are first
  // needed; where the system has no more threads to give, there are fewer. Work that takes less
  // than `worth_sharing` nanoseconds is over before they have woken up.
  Team(unsigned threads, double worth_sharing);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Members at most.
  unsigned size() const noexcept { return size_; }
  // Lots that are made and not yet taken at most: every member makes one while others wait.
  std::size_t slots() const noexcept { return std::size_t{2} * size_; }

  // Whether others help with work that takes one thread so many nanoseconds.
  bool shares(double nanoseconds) const noexcept {
    return size_ > 1 && nanoseconds >= worth_sharing_;
  }

  // Makes and takes lots 0 to `lots` - 1; `nanoseconds` is roughly what they take one thread. Where
  // it is not shared, slot 0 is all it needs. What take() throws ends it.
  void run(Work& work, std::size_t lots, double nanoseconds);

 private:
  class Round;

  void start();
  void help(unsigned member);

  const unsigned size_;
  const double worth_sharing_;
  std::mutex mutex_;
  std::condition_variable begun_, left_;
  // What is being worked on, how many members are at it, and how many rounds there were.
  Round* round_ = nullptr;
  unsigned inside_ = 0;
  std::atomic<std::uint64_t> rounds_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_TEAM_HPP
