// SPDX-License-Identifier: MIT
#include "lut/lut_candidate.hpp"

#include <algorithm>

namespace nvdla::detail {

LutCandidate::LutCandidate(const LutProblem& problem, const std::vector<LutSample>& samples,
                           const LutShape& shape, const nvdla_lut& lut, double* errors)
    : problem_(&problem),
      samples_(&samples),
      lut_(&lut),
      shape_(shape),
      reader_(lut, shape.table, problem.real),
      errors_(errors) {
  const auto begin = samples.begin();
  const auto hit = std::partition_point(begin, samples.end(), [&](const LutSample& s) {
    return reader_.side(s.raw) == LutSide::kUnderflow;
  });
  const auto over = std::partition_point(
      hit, samples.end(), [&](const LutSample& s) { return reader_.side(s.raw) == LutSide::kHit; });
  hits_ = {static_cast<std::size_t>(hit - begin), static_cast<std::size_t>(over - begin)};
  ends_[0].all = {0, hits_.first};
  ends_[1].all = {hits_.end, samples.size()};
  reset_limit();
}

void LutCandidate::reset_limit() {
  limit_ = std::numeric_limits<double>::infinity();
  bad_hits_ = {hits_.end, hits_.first};
  for (End& end : ends_) end.fails = false;
}

void LutCandidate::set_slope(LutSide side) {
  auto& slope = end(side).slope;
  if (slope) return;
  slope = lut_slope(*problem_, shape_, *lut_, side, *samples_);
  reader_.set_slope(side, *slope);
}

nvdla_lut LutCandidate::finished() {
  set_slope(LutSide::kUnderflow);
  set_slope(LutSide::kOverflow);
  nvdla_lut lut = *lut_;
  const bool lo = shape_.table == LutTable::kLo;
  (lo ? lut.lo_underflow : lut.le_underflow) = *ends_[0].slope;
  (lo ? lut.lo_overflow : lut.le_overflow) = *ends_[1].slope;
  return lut;
}

double LutCandidate::error(std::size_t sample) {
  if (!known_[sample]) {
    if (const LutSide s = side(sample); s != LutSide::kHit) set_slope(s);
    const LutSample& at = (*samples_)[sample];
    errors_[sample] = problem_->error(at, reader_.answer(at.raw).value);
    known_[sample] = true;
  }
  return errors_[sample];
}

const SampleRange& LutCandidate::bad_hits(double limit) {
  if (limit == limit_) return bad_hits_;
  limit_ = limit;
  // More hits are bad as the limit falls, and those before stay bad.
  const SampleRange before = bad_hits_;
  std::size_t first = hits_.first, end = hits_.end;
  while (first < before.first && error(first) < limit) ++first;
  if (first == hits_.end) return bad_hits_;
  while (end > before.end && error(end - 1) < limit) --end;
  bad_hits_ = {first, end};
  return bad_hits_;
}

bool LutCandidate::slope_stays_below(double limit, const SampleRange& range) {
  End& end = ends_[range.first < hits_.first ? 0 : 1];
  const bool whole = end.all.is_inside(range);
  if (end.worst && (whole || *end.worst < limit)) return *end.worst < limit;
  std::size_t first = range.first;
  if (first <= end.spoiler && end.spoiler < range.end && error(end.spoiler) >= limit)
    first = end.spoiler;
  double worst = 0;
  for (std::size_t i = first; i < range.end; ++i) {
    worst = std::max(worst, error(i));
    if (worst < limit) continue;
    end.spoiler = i;
    end.fails = end.fails || whole;
    return false;
  }
  if (whole) end.worst = worst;
  return true;
}

}  // namespace nvdla::detail
