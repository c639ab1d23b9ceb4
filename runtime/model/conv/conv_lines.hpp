// SPDX-License-Identifier: MIT
//
// Lines that the threads of a layer bring to where all of them find them, each when an output needs
// it first.
#ifndef NVDLA_MODEL_CONV_CONV_LINES_HPP
#define NVDLA_MODEL_CONV_CONV_LINES_HPP

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "model/core/thread_pool.hpp"

namespace nvdla::model {

class ConvLines {
 public:
  // None of so many is there.
  void begin(std::uint32_t count) {
    if (lines_.size() < count) lines_ = std::vector<Line>(count);
    for (std::uint32_t i = 0; i < count; ++i) lines_[i].state.store(State::kMissing, kRelaxed);
    count_ = count;
  }

  // Returns when the lines from `first` to `end` are there, as far as there are so many.
  // `bring(line)`, which one thread calls for each, returns whether anything in the line is
  // negative; need() returns whether anything is in any of them.
  template <typename Bring>
  bool need(std::uint32_t first, std::uint32_t end, Bring bring) {
    end = std::min(end, count_);
    bool waits = false, negative = false;
    for (std::uint32_t i = first; i < end; ++i) {
      std::atomic<State>& state = lines_[i].state;
      State found = state.load(std::memory_order_acquire);
      if (found == State::kMissing &&
          state.compare_exchange_strong(found, State::kTaken, std::memory_order_acquire)) {
        found = bring(i) ? State::kNegative : State::kNonnegative;
        state.store(found, std::memory_order_release);
      }
      waits |= found == State::kTaken;
      negative |= found == State::kNegative;
    }
    // Others bring theirs meanwhile.
    for (std::uint32_t i = first; waits && i < end; ++i)
      negative |= await(lines_[i].state) == State::kNegative;
    return negative;
  }

 private:
  enum class State : std::uint8_t { kMissing, kTaken, kNonnegative, kNegative };
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  // Whoever has taken a line brings it, and waits for nothing: to call the system at once would
  // take longer.
  static State await(const std::atomic<State>& state) noexcept {
    constexpr unsigned kLooks = 256;
    for (unsigned looks = 0;; ++looks) {
      const State found = state.load(std::memory_order_acquire);
      if (found > State::kTaken) return found;
      looks < kLooks ? relax() : std::this_thread::yield();
    }
  }

  // Threads that work on lines far apart write to different lines of the cache.
  struct alignas(16) Line {
    std::atomic<State> state{State::kMissing};
  };
  std::vector<Line> lines_;
  std::uint32_t count_ = 0;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_LINES_HPP
