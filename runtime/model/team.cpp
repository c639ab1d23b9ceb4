// SPDX-License-Identifier: MIT
#include "model/team.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>

namespace nvdla::model {
namespace {

// To wake up takes longer than most waits last: how long a thread keeps asking first, inside a
// round and for the next one. Whoever else wants the processor gets it.
constexpr std::chrono::microseconds kPatience{50};

// Whether `holds` soon.
template <typename Condition>
bool soon(Condition holds) noexcept {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Returns when `value` is no longer `seen`.
void await_change(const std::atomic<std::size_t>& value, std::size_t seen) noexcept {
  if (!soon([&] { return value.load() != seen; })) value.wait(seen);
}

}  // namespace

// One call of run(): a ring of slots between those who make and the one who takes.
class Team::Round {
 public:
  Round(Work& work, std::size_t lots, std::size_t slots)
      : work_(work), lots_(lots), made_(std::min(slots, lots)) {}

  // Makes lots until there are none left.
  void help(unsigned member) noexcept {
    while (true) {
      const std::size_t lot = next_.fetch_add(1);
      if (lot >= lots_) return;
      for (std::size_t taken = taken_.load(); lot >= taken + made_.size(); taken = taken_.load())
        await_change(taken_, taken);
      if (abandoned_) return;
      make(member, lot);
    }
  }

  // Takes all lots, and makes some as long as the next one to take is not there.
  void lead() {
    for (std::size_t lot = 0; lot < lots_; ++lot) {
      std::atomic<std::size_t>& made = made_[slot(lot)];
      for (std::size_t seen = made.load(); seen != lot + 1; seen = made.load()) {
        std::size_t next = next_.load();
        if (next < lots_ && next < lot + made_.size()) {
          if (next_.compare_exchange_strong(next, next + 1)) make(0, next);
        } else {
          await_change(made, seen);
        }
      }
      work_.take(lot, slot(lot));
      taken_.store(lot + 1);
      taken_.notify_all();
    }
  }

  // Nobody begins another lot, and nobody waits to.
  void abandon() noexcept {
    abandoned_ = true;
    next_.store(lots_);
    taken_.store(lots_);
    taken_.notify_all();
  }

 private:
  std::size_t slot(std::size_t lot) const noexcept { return lot % made_.size(); }
  void make(unsigned member, std::size_t lot) noexcept {
    work_.make(member, lot, slot(lot));
    made_[slot(lot)].store(lot + 1);
    made_[slot(lot)].notify_one();
  }

  Work& work_;
  const std::size_t lots_;
  std::atomic<std::size_t> next_{0};   // lot to make
  std::atomic<std::size_t> taken_{0};  // lots
  std::atomic<bool> abandoned_{false};
  // For each slot the lot that is in it, plus 1.
  std::vector<std::atomic<std::size_t>> made_;
};

Team::Team(unsigned threads, double worth_sharing)
    : size_(threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency())),
      worth_sharing_(worth_sharing) {}

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::start() {
  threads_.reserve(size_ - 1);
  try {
    while (threads_.size() + 1 < size_)
      threads_.emplace_back(&Team::help, this, static_cast<unsigned>(threads_.size()) + 1);
  } catch (const std::system_error&) {
    // Those that there are do it.
  }
}

void Team::help(unsigned member) {
  for (std::uint64_t seen = 0;;) {
    soon([&] { return rounds_ != seen || stop_; });
    std::unique_lock lock(mutex_);
    begun_.wait(lock, [&] { return stop_ || (round_ != nullptr && rounds_ != seen); });
    if (stop_) return;
    seen = rounds_;
    Round& round = *round_;
    ++inside_;
    lock.unlock();
    round.help(member);
    lock.lock();
    if (--inside_ == 0) left_.notify_one();
  }
}

void Team::run(Work& work, std::size_t lots, double nanoseconds) {
  if (!shares(nanoseconds)) {
    for (std::size_t lot = 0; lot < lots; ++lot) {
      work.make(0, lot, 0);
      work.take(lot, 0);
    }
    return;
  }
  if (threads_.empty()) start();
  Round round(work, lots, slots());
  {
    const std::lock_guard lock(mutex_);
    round_ = &round;
    ++rounds_;
  }
  begun_.notify_all();
  // Who comes late finds nothing; who is inside still looks at the round.
  const auto close = [&] {
    std::unique_lock lock(mutex_);
    round_ = nullptr;
    left_.wait(lock, [&] { return inside_ == 0; });
  };
  try {
    round.lead();
  } catch (...) {
    round.abandon();
    close();
    throw;
  }
  close();
}

}  // namespace nvdla::model
