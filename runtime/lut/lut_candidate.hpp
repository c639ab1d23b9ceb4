// SPDX-License-Identifier: MIT
//
// One of the two tables while a fit looks for the best pair, with its errors. Most candidates are
// dropped after a look at a few samples, so that errors and slopes are computed when asked for.
#ifndef NVDLA_LUT_LUT_CANDIDATE_HPP
#define NVDLA_LUT_LUT_CANDIDATE_HPP

#include <array>
#include <bitset>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "lut/lut_eval.hpp"
#include "lut/lut_fit.hpp"
#include "lut/lut_shape.hpp"

namespace nvdla::detail {

// Samples first..end - 1.
struct SampleRange {
  std::size_t first = 0;
  std::size_t end = 0;
  bool empty() const noexcept { return first >= end; }
  // Returns true if `other` has all samples of this range.
  bool is_inside(const SampleRange& other) const noexcept {
    return empty() || (first >= other.first && end <= other.end);
  }
};

class LutCandidate {
 public:
  // `lut` was placed as `shape`. It must outlive the candidate, as must problem, samples and
  // `errors`, which has room for a number for each sample.
  LutCandidate(const LutProblem& problem, const std::vector<LutSample>& samples,
               const LutShape& shape, const nvdla_lut& lut, double* errors);

  const LutShape& shape() const noexcept { return shape_; }
  // Samples before the hits are below the table, those behind them above.
  const SampleRange& hits() const noexcept { return hits_; }
  LutSide side(std::size_t sample) const noexcept {
    return sample < hits_.first ? LutSide::kUnderflow
           : sample < hits_.end ? LutSide::kHit
                                : LutSide::kOverflow;
  }

  double error(std::size_t sample);
  // Returns a range of hits in which all are that have an error of `limit` or more; the first and
  // the last one have. Limits may not increase from call to call, but after reset_limit().
  const SampleRange& bad_hits(double limit);
  // Returns true if some sample beyond one end has an error of `limit` or more, with the same rule.
  bool slope_fails(double limit, LutSide end) {
    const End& e = this->end(end);
    if (e.fails || e.all.empty()) return e.fails;
    return e.worst ? *e.worst >= limit : !slope_stays_below(limit, e.all);
  }
  // Returns true if no error of a range, all of it beyond one end, reaches `limit`.
  bool slope_stays_below(double limit, const SampleRange& range);
  void reset_limit();

  // Returns the table with both slopes.
  nvdla_lut finished();

 private:
  struct End {
    SampleRange all;                       // beyond it
    bool fails = false;                    // one of them has an error of the limit or more
    std::size_t spoiler = kMaxLutSamples;  // one with a great error
    std::optional<double> worst;           // the greatest error, once all are known
    std::optional<nvdla_lut_slope> slope;  // once it was needed
  };
  End& end(LutSide side) { return ends_[side == LutSide::kUnderflow ? 0 : 1]; }
  void set_slope(LutSide end);

  const LutProblem* problem_;
  const std::vector<LutSample>* samples_;
  const nvdla_lut* lut_;
  LutShape shape_;
  LutReader reader_;
  SampleRange hits_;
  SampleRange bad_hits_;
  double limit_ = std::numeric_limits<double>::infinity();  // of bad_hits_
  std::array<End, 2> ends_;
  double* errors_;
  std::bitset<kMaxLutSamples> known_;  // which errors were computed
};

}  // namespace nvdla::detail

#endif  // NVDLA_LUT_LUT_CANDIDATE_HPP
