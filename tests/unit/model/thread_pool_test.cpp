// SPDX-License-Identifier: MIT
//
// The threads that share a layer: each task is executed once and retired once, in order, whoever
// executes it; and convolutions of all modes come out the same on any number of threads. Run under
// TSan.
#include "model/core/thread_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/layers/conv_case.hpp"
#include "common/layers/random_conv.hpp"
#include "common/property.hpp"
#include "common/share.hpp"
#include "model/device.hpp"

namespace nvdla::test {
namespace {

using model::ThreadPool;

// Each task is a number that is only right if its slot is its own.
class Numbers final : public ThreadPool::Work {
 public:
  Numbers(const ThreadPool& pool, std::size_t tasks)
      : slots_(pool.in_flight()), executed_(tasks), busy_(pool.size()) {}

  void enter() noexcept override {
    wrong_ = wrong_ || inside_;
    inside_ = true;
    ++present_;
  }
  void leave() noexcept override {
    wrong_ = wrong_ || !inside_;
    inside_ = false;
    --present_;
  }
  void execute(unsigned thread, std::size_t task, std::size_t slot) noexcept override {
    wrong_ = wrong_ || !inside_ || thread >= busy_.size() || busy_[thread].exchange(true);
    if (task % 7 == 0) std::this_thread::yield();
    slots_.at(slot) = task * task + 1;
    executed_.at(task).fetch_add(1);
    busy_[thread] = false;
  }
  void retire(std::size_t task, std::size_t slot) override {
    if (task == bad_) throw std::runtime_error("enough");
    retirers_.insert(std::this_thread::get_id());
    retired_.push_back(task);
    wrong_ = wrong_ || slots_.at(slot) != task * task + 1;
  }

  // Empty if all is as it should be.
  std::string verdict() const {
    if (wrong_) return "a task was lost, or executed by a thread that had not entered";
    if (present_ != 0) return "a thread did not leave";
    for (std::size_t task = 0; task < executed_.size(); ++task) {
      if (executed_[task] != 1) return "task " + std::to_string(task) + " was not executed once";
      if (retired_.at(task) != task)
        return "task " + std::to_string(task) + " was not retired in order";
    }
    if (retired_.size() != executed_.size()) return "tasks were retired twice";
    if (executed_.empty()) return {};
    return retirers_ == std::set{std::this_thread::get_id()} ? "" : "another thread retired a task";
  }
  void throw_at(std::size_t task) { bad_ = task; }
  unsigned present() const { return present_; }
  const std::vector<std::size_t>& retired() const { return retired_; }

 private:
  std::vector<std::size_t> slots_;
  std::vector<std::atomic<unsigned>> executed_;
  std::vector<std::atomic<bool>> busy_;
  std::atomic<bool> wrong_{false};
  static inline thread_local bool inside_ = false;
  std::atomic<unsigned> present_{0};
  std::size_t bad_ = SIZE_MAX;
  std::vector<std::size_t> retired_;
  std::set<std::thread::id> retirers_;
};

TEST(ThreadPool, ExecutesAndRetiresEachTaskOnce) {
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    ThreadPool pool(threads, 0);
    EXPECT_EQ(pool.size(), threads);
    for (const std::size_t tasks : {0u, 1u, 2u, 5u, 16u, 17u, 400u}) {
      Numbers numbers(pool, tasks);
      pool.run(numbers, tasks, 1);
      EXPECT_EQ(numbers.verdict(), "") << threads << " threads, " << tasks << " tasks";
    }
  }
}

// Tasks that leave nothing to retire: a slot belongs to a thread.
TEST(ThreadPool, ExecutesTasksWithoutResultsOnce) {
  class Marks final : public ThreadPool::Work {
   public:
    Marks(const ThreadPool& pool, std::size_t tasks) : executed_(tasks), busy_(pool.size()) {}
    void execute(unsigned thread, std::size_t task, std::size_t slot) noexcept override {
      wrong_ = wrong_ || slot != thread || busy_.at(slot).exchange(true);
      if (task % 5 == 0) std::this_thread::yield();
      executed_.at(task).fetch_add(1);
      busy_[slot] = false;
    }
    bool retires() const noexcept override { return false; }
    void retire(std::size_t, std::size_t) override {}
    bool right() const {
      return !wrong_ && std::all_of(executed_.begin(), executed_.end(),
                                    [](const auto& times) { return times == 1; });
    }

   private:
    std::vector<std::atomic<unsigned>> executed_;
    std::vector<std::atomic<bool>> busy_;
    std::atomic<bool> wrong_{false};
  };
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    ThreadPool pool(threads, 0);
    for (unsigned round = 0; round < 50; ++round)
      for (const std::size_t tasks : {0u, 1u, 2u, 5u, 17u, 100u}) {
        Marks marks(pool, tasks);
        pool.run(marks, tasks, 1);
        EXPECT_TRUE(marks.right()) << threads << " threads, " << tasks << " tasks";
      }
  }
}

// Neighbouring tasks are one thread's, as long as it comes for them.
TEST(ThreadPool, ThreadsBeginWithTheirShares) {
  constexpr std::size_t kTasks = 60;
  constexpr unsigned kThreads = 3;
  ThreadPool pool(kThreads, 0);
  for (unsigned round = 0; round < 50; ++round) {
    std::vector<std::vector<std::size_t>> executed(kThreads);
    auto execute = [&](unsigned thread, std::size_t task) { executed[thread].push_back(task); };
    model::run_tasks(pool, kTasks, 1e9, execute);
    // Others may have taken some of a thread that is late, or all, but never those of the caller
    // before it came.
    for (unsigned thread = 1; thread < kThreads; ++thread) {
      const std::size_t begin = thread * kTasks / kThreads;
      const auto own = std::count_if(
          executed[thread].begin(), executed[thread].end(),
          [&](auto task) { return task >= begin && task < begin + kTasks / kThreads; });
      // Its own come first, in their order.
      EXPECT_TRUE(std::is_sorted(executed[thread].begin(), executed[thread].begin() + own));
      EXPECT_TRUE(std::all_of(executed[thread].begin(), executed[thread].begin() + own,
                              [&](auto task) { return task >= begin; }));
    }
    EXPECT_EQ(executed[0].front(), 0U);
  }
}

// Work that is shared has several slots.
class Slots final : public ThreadPool::Work {
 public:
  bool shared(ThreadPool& pool, double nanoseconds) {
    greatest_ = 0;
    pool.run(*this, 2, nanoseconds);
    return greatest_ != 0;
  }
  void execute(unsigned, std::size_t, std::size_t) noexcept override {}
  void retire(std::size_t, std::size_t slot) override { greatest_ = std::max(greatest_, slot); }

 private:
  std::size_t greatest_ = 0;
};

TEST(ThreadPool, WakesNobodyForALittleWork) {
  ThreadPool pool(2, 1000);
  Slots slots;
  EXPECT_FALSE(slots.shared(pool, 999));
  EXPECT_FALSE(slots.shared(pool, 1000));
  EXPECT_TRUE(slots.shared(pool, 10000));
}

TEST(ThreadPool, WakesOthersForALittleWorkThatComesAgainAndAgain) {
  ThreadPool pool(2, 1e6);
  Slots slots;
  bool shared = false;
  for (unsigned i = 0; i < 1'000'000 && !shared; ++i) shared = slots.shared(pool, 1e6);
  EXPECT_TRUE(shared);
}

TEST(ThreadPool, OneForEachProcessor) {
  EXPECT_EQ(ThreadPool(0, 0).size(), std::max(1u, std::thread::hardware_concurrency()));
}

TEST(ThreadPool, SharesWhatIsWorthIt) {
  EXPECT_FALSE(ThreadPool(1, 0).shares(1e9));
  EXPECT_FALSE(ThreadPool(2, 1000).shares(999));
  EXPECT_TRUE(ThreadPool(2, 1000).shares(1000));
}

// Alone the caller executes all, one after the other, in one slot.
TEST(ThreadPool, LittleWorkStaysOnTheCaller) {
  class Little final : public ThreadPool::Work {
   public:
    void execute(unsigned thread, std::size_t task, std::size_t slot) noexcept override {
      calls.push_back({thread, task, slot});
      caller = caller && std::this_thread::get_id() == id;
    }
    void retire(std::size_t task, std::size_t slot) override { calls.push_back({9, task, slot}); }
    const std::thread::id id = std::this_thread::get_id();
    bool caller = true;
    std::vector<std::array<std::size_t, 3>> calls;
  } little;
  ThreadPool(4, 1000).run(little, 2, 999);
  EXPECT_TRUE(little.caller);
  const std::vector<std::array<std::size_t, 3>> expected = {
      {0, 0, 0}, {9, 0, 0}, {0, 1, 0}, {9, 1, 0}};
  EXPECT_EQ(little.calls, expected);
}

TEST(ThreadPool, GoesOnAfterAnExceptionOfRetire) {
  ThreadPool pool(4, 0);
  for (const std::size_t bad : {0u, 1u, 50u, 99u}) {
    Numbers numbers(pool, 100);
    numbers.throw_at(bad);
    EXPECT_THROW(pool.run(numbers, 100, 1), std::runtime_error);
    EXPECT_EQ(numbers.retired().size(), bad);
  }
  Numbers numbers(pool, 100);
  pool.run(numbers, 100, 1);
  EXPECT_EQ(numbers.verdict(), "");
}

// What a layer leaves in memory and in its counters.
std::vector<std::uint32_t> outcome(ConvCase own, std::uint64_t seed, unsigned threads) {
  model::Memory memory;
  Random random(seed);
  finish(own, random, memory);
  model::Device device(*own.hw, memory, {.threads = threads, .worth_sharing = 0});
  Registers regs(device);
  program(own, regs);
  regs.set("SDP.D_PERF_ENABLE", {{"PERF_SAT_EN", 1}});
  enable(regs);
  while (device.step()) {
  }
  EXPECT_TRUE(device.idle());
  return {regs.read("CACC.D_OUT_SATURATION"), regs.read("SDP.D_PERF_OUT_SATURATION"),
          memory.crc(model::Ram::kPrimary, own.output.base, own.batches * own.out_batch_stride)};
}

TEST(SharedLayers, AreTheSameOnAnyNumberOfThreads) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  for_all(share(300), [&](Random& random) -> std::string {
    const auto number = static_cast<Number>(pick(random, 0, 2));
    const ConvCase layer = one_in(random, 3)   ? random_winograd(hw, random, number)
                           : one_in(random, 4) ? random_image(hw, random, 13, Number::kInt8)
                                               : random_direct(hw, random, number, number);
    const std::uint64_t seed = random();
    const auto one = outcome(layer, seed, 1);
    for (const unsigned threads : {2u, 5u})
      if (outcome(layer, seed, threads) != one)
        return describe(layer) + ": differs on " + std::to_string(threads) + " threads";
    return {};
  });
}

}  // namespace
}  // namespace nvdla::test
