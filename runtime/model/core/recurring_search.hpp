// SPDX-License-Identifier: MIT
//
// `RecurringSearch` finds what was kept of a layer. Layers come in the same order again and again,
// so it looks first at what followed the latest one the last time, then at the latest one itself,
// which parts of a layer share, then at those behind it.
#ifndef NVDLA_MODEL_CORE_RECURRING_SEARCH_HPP
#define NVDLA_MODEL_CORE_RECURRING_SEARCH_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvdla::model {

class RecurringSearch {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  // Returns a place that matches, which is the latest from then on, or kNone.
  template <typename Matches>
  std::size_t find(Matches matches) {
    const std::size_t count = followers_.size();
    if (count == 0) return kNone;
    const std::size_t expected = followers_[latest_];
    if (matches(expected)) return latest_ = expected;
    for (std::size_t at = latest_, i = 0; i < count; ++i, at = at + 1 == count ? 0 : at + 1)
      if (at != expected && matches(at)) return follow(at);
    return kNone;
  }

  // Adds a place behind all others and makes it the latest.
  void append() {
    followers_.push_back(0);
    follow(followers_.size() - 1);
  }
  void clear() noexcept {
    followers_.clear();
    latest_ = 0;
  }

  std::size_t latest() const noexcept { return latest_; }

 private:
  std::size_t follow(std::size_t place) noexcept {
    followers_[latest_] = static_cast<std::uint32_t>(place);
    return latest_ = place;
  }

  // For each place the one that followed it the last time.
  std::vector<std::uint32_t> followers_;
  std::size_t latest_ = 0;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_RECURRING_SEARCH_HPP
