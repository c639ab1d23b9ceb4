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

namespace nvdla::model {

class ConvLines {
 public:
  // None of so many is there.
  void begin(std::uint32_t count) {
    if (lines_.size() < count) lines_ = std::vector<std::atomic<Line>>(count);
    for (std::uint32_t i = 0; i < count; ++i) lines_[i].store(Line::kMissing, kRelaxed);
    count_ = count;
    next_.store(0, kRelaxed);
  }

  // Returns when the lines from `first` to `end` are there, as far as there are so many; those
  // before them come first. `bring(line)`, which one thread calls for each, says whether there is
  // anything negative in the line; and so is said here whether there is anything in any of them.
  template <typename Bring>
  bool need(std::uint32_t first, std::uint32_t end, Bring bring) {
    end = std::min(end, count_);
    while (next_.load(kRelaxed) < end) {
      const std::uint32_t line = next_.fetch_add(1, kRelaxed);
      if (line >= count_) break;
      const Line found = bring(line) ? Line::kNegative : Line::kNonnegative;
      lines_[line].store(found, std::memory_order_release);
    }
    bool negative = false;
    for (std::uint32_t i = first; i < end; ++i) negative |= await(lines_[i]) == Line::kNegative;
    return negative;
  }

 private:
  enum class Line : std::uint8_t { kMissing, kNonnegative, kNegative };
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  // Whoever has taken a line is about to bring it, and waits for nothing.
  static Line await(const std::atomic<Line>& line) noexcept {
    for (;;) {
      const Line found = line.load(std::memory_order_acquire);
      if (found != Line::kMissing) return found;
      std::this_thread::yield();
    }
  }

  std::vector<std::atomic<Line>> lines_;
  std::uint32_t count_ = 0;
  std::atomic<std::uint32_t> next_{0};  // that nobody has taken
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_LINES_HPP
