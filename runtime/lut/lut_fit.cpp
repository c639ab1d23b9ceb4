// SPDX-License-Identifier: MIT
#include "lut/lut_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <tuple>

#include "lut/lut_candidate.hpp"
#include "lut/lut_eval.hpp"
#include "lut/lut_shape.hpp"

namespace nvdla::detail {
namespace {

// The limits that the compiler puts on tables (firmware/compile/lut.c).
struct Limits {
  int le_log[2], lo_log[2], first_log[2];
};

Limits limits_of(const LutProblem& p) {
  // From the smallest fp16 number to steps that reach beyond all of them, or beyond their squares.
  if (p.real)
    return p.squared ? Limits{{-24, 36}, {-24, 36}, {-24, 36}}
                     : Limits{{-24, 16}, {-24, 16}, {-24, 16}};
  const int bits = static_cast<int>(p.bits);
  return {{-6, bits - 7}, {-8, bits - 9}, {0, bits - 2}};
}

// Returns the places to centre tables on: the given ones, zero, and the quartiles of the samples,
// which are densest where the function bends.
std::vector<double> centres_of(const LutProblem& p, const std::vector<LutSample>& samples,
                               std::vector<double> centres) {
  for (const std::size_t quarter : {1, 2, 3})
    centres.push_back(samples[samples.size() * quarter / 4].at);
  if (p.first <= p.zero && p.zero <= p.last) centres.push_back(p.zero);
  return centres;
}

// Moves the start of a table so that registers can hold both ends and the knots are exact; false if
// that is impossible.
bool fit_start(const LutProblem& p, LutShape& shape) {
  const double step = std::ldexp(1.0, shape.log);
  shape.start = p.real ? std::floor(shape.start / step) * step : std::floor(shape.start);
  if (p.real) return std::abs(shape.start) <= 16777216 * step && std::abs(shape.start) < 1e12;
  const double half = std::ldexp(1.0, static_cast<int>(p.bits) - 1);
  const double span = shape.exponential ? 0 : upper_edge(shape) - shape.start;
  if (span > 2 * half - 1) return false;
  shape.start = std::clamp(shape.start, -half, half - 1 - span);
  return true;
}

std::vector<LutShape> shapes_of(const LutProblem& p, const std::vector<double>& centres,
                                LutTable table) {
  const Limits limits = limits_of(p);
  std::vector<LutShape> shapes;
  const auto add = [&](LutShape shape) {
    if (!fit_start(p, shape)) return;
    const bool known = std::any_of(shapes.begin(), shapes.end(), [&](const LutShape& other) {
      return other.exponential == shape.exponential && other.log == shape.log &&
             other.start == shape.start;
    });
    if (!known) shapes.push_back(shape);
  };
  const int* logs = table == LutTable::kLo ? limits.lo_log : limits.le_log;
  for (int log = logs[0]; log <= logs[1]; ++log) {
    LutShape shape{table, false, log, 0};
    const double span = shape.knot(shape.last());
    for (const double centre : centres) {
      for (const double start : {centre, centre - span / 2, centre - span}) {
        shape.start = start;
        add(shape);
      }
    }
    for (const double start : {p.first, p.last - span, (p.first + p.last - span) / 2}) {
      shape.start = start;
      add(shape);
    }
  }
  if (table == LutTable::kLe) {
    for (int log = limits.first_log[0]; log <= limits.first_log[1]; ++log) {
      LutShape shape{table, true, log, p.first};
      add(shape);
      for (const double centre : centres) {
        shape.start = centre;
        add(shape);
      }
    }
  }
  return shapes;
}

// Returns the places where the function leaves the range of results. It bends sharply there, so a
// table should end at such a place rather than contain it.
std::vector<double> saturations_of(const LutProblem& p, const std::vector<LutSample>& samples) {
  const auto saturated = [&](const LutSample& s) {
    return s.wanted <= p.least || s.wanted >= p.greatest;
  };
  std::vector<double> places;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    if (saturated(samples[i - 1]) == saturated(samples[i])) continue;
    double inside = samples[saturated(samples[i]) ? i - 1 : i].at;
    double outside = samples[saturated(samples[i]) ? i : i - 1].at;
    for (int halves = 0; halves < 48; ++halves) {
      const double middle = (inside + outside) / 2;
      (saturated(p.sample(middle)) ? outside : inside) = middle;
    }
    places.push_back(outside);
  }
  return places;
}

// `Workspace` caches the tables that the rounds of a fit share.
class Workspace {
 public:
  // Returns a table without slopes. Most shapes occur in more than one round.
  const nvdla_lut& place(const LutProblem& p, const LutShape& shape) {
    const auto [found, added] = tables_.try_emplace(
        Key(shape.table, shape.exponential, shape.balanced, shape.log, shape.start));
    if (added) {
      found->second.unit = p.unit;
      lut_place(p, shape, found->second);
    }
    return found->second;
  }
  // Returns room for the errors of a number of candidates.
  double* errors(std::size_t candidates) {
    if (candidates > candidates_) {
      errors_ = std::make_unique_for_overwrite<double[]>(candidates * kMaxLutSamples);
      candidates_ = candidates;
    }
    return errors_.get();
  }

 private:
  using Key = std::tuple<LutTable, bool, bool, int, double>;
  std::map<Key, nvdla_lut> tables_;
  std::unique_ptr<double[]> errors_;
  std::size_t candidates_ = 0;
};

// `PairSearch` finds the best pair of tables for some samples.
class PairSearch {
 public:
  PairSearch(const LutProblem& problem, const std::vector<LutSample>& samples,
             const std::vector<double>& centres, bool balanced, Workspace& workspace)
      : samples_(samples.size()) {
    const std::vector<LutShape> le = shapes_of(problem, centres, LutTable::kLe);
    const std::vector<LutShape> lo = shapes_of(problem, centres, LutTable::kLo);
    double* errors = workspace.errors(le.size() + lo.size());
    const auto add = [&](const std::vector<LutShape>& shapes, std::vector<LutCandidate>& to) {
      to.reserve(shapes.size());
      for (LutShape shape : shapes) {
        shape.balanced = balanced;
        to.emplace_back(problem, samples, shape, workspace.place(problem, shape), errors);
        errors += kMaxLutSamples;
      }
    };
    add(le, les_);
    add(lo, los_);
  }

  nvdla_lut find() {
    // A few of the pairs show what can be had; what does worse is dropped early.
    constexpr std::size_t kFew = 8;
    try_pairs(kFew);
    limit_ = std::nextafter(limit_, std::numeric_limits<double>::infinity());
    for (LutCandidate& le : les_) le.reset_limit();
    for (LutCandidate& lo : los_) lo.reset_limit();
    try_pairs(1);
    return best_;
  }

 private:
  // Hits of a candidate, and those of them whose errors reach the limit.
  struct Hits {
    SampleRange all, bad;
  };

  // Tries every `step`-th table of both kinds. Of equal pairs the first one wins.
  void try_pairs(std::size_t step) {
    for (std::size_t i = 0; i < les_.size(); i += step) {
      for (std::size_t k = 0; k < los_.size();) {
        if (known_limit_ != limit_) look_at_hits(step);
        const Hits le = {les_[i].hits(), les_[i].bad_hits(limit_)};
        // Up to a better pair, which changes the limit and may be better in another way still.
        for (; k < los_.size(); k += step) {
          const Hits& lo = lo_hits_[k];
          // One table answers where both hit; the other one answers its other hits.
          const bool with_lo = lo.bad.empty() && le.bad.is_inside(lo.all);
          const bool with_le = le.bad.empty() && lo.bad.is_inside(le.all);
          if ((!with_lo && !with_le) || ends_fail(les_[i], los_[k])) continue;
          if (with_lo && try_pair(les_[i], los_[k], NVDLA_LUT_HYBRID_LO)) break;
          if (with_le && try_pair(les_[i], los_[k], 0)) break;
        }
      }
    }
  }

  // Returns true if one end of the table that answers beyond both has an error of the limit or
  // more.
  bool ends_fail(LutCandidate& le, LutCandidate& lo) {
    const bool lo_below = lower_edge(lo.shape()) < lower_edge(le.shape());
    const bool lo_above = upper_edge(lo.shape()) > upper_edge(le.shape());
    // The nearest edges may change places as inputs are rounded: the other one then cuts the end.
    if ((lo_below ? lo : le).hits().first <= (lo_below ? le : lo).hits().first &&
        (lo_below ? lo : le).slope_fails(limit_, LutSide::kUnderflow))
      return true;
    return (lo_above ? lo : le).hits().end >= (lo_above ? le : lo).hits().end &&
           (lo_above ? lo : le).slope_fails(limit_, LutSide::kOverflow);
  }

  void look_at_hits(std::size_t step) {
    known_limit_ = limit_;
    lo_hits_.resize(los_.size());
    for (std::size_t k = 0; k < los_.size(); k += step)
      lo_hits_[k] = {los_[k].hits(), los_[k].bad_hits(limit_)};
  }

  // Returns true if the pair, whose hits are below the limit, is below it everywhere.
  bool try_pair(LutCandidate& le, LutCandidate& lo, std::uint32_t hybrid) {
    // Beyond both tables the one answers that reaches farther: its slope was made for that.
    std::uint32_t flags = hybrid;
    if (!le.shape().exponential) flags |= NVDLA_LUT_LE_LINEAR;
    if (lower_edge(lo.shape()) < lower_edge(le.shape())) flags |= NVDLA_LUT_UNDERFLOW_LO;
    if (upper_edge(lo.shape()) > upper_edge(le.shape())) flags |= NVDLA_LUT_OVERFLOW_LO;
    const auto table_of = [&](std::size_t sample) -> LutCandidate& {
      const LutTable table = lut_choice(flags, le.side(sample), lo.side(sample));
      return table == LutTable::kLo ? lo : le;
    };
    std::array<std::size_t, 6> cuts = {
        0, le.hits().first, lo.hits().first, le.hits().end, lo.hits().end, samples_};
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const SampleRange range = {cuts[i], cuts[i + 1]};
      if (range.empty()) continue;
      LutCandidate& table = table_of(range.first);
      if (table.side(range.first) == LutSide::kHit) continue;
      if (!table.slope_stays_below(limit_, range)) return false;
    }
    limit_ = 0;
    for (std::size_t i = 0; i < samples_; ++i) limit_ = std::max(limit_, table_of(i).error(i));
    best_ = le.finished();
    best_.flags = flags;
    const nvdla_lut other = lo.finished();
    best_.lo_index_select = other.lo_index_select;
    best_.lo_start = other.lo_start;
    best_.lo_end = other.lo_end;
    best_.lo_underflow = other.lo_underflow;
    best_.lo_overflow = other.lo_overflow;
    std::copy(std::begin(other.lo), std::end(other.lo), std::begin(best_.lo));
    return true;
  }

  std::size_t samples_;
  std::vector<LutCandidate> les_, los_;
  double limit_ = std::numeric_limits<double>::infinity();  // the error of the best pair
  double known_limit_ = -1;                                 // of `lo_hits_`
  std::vector<Hits> lo_hits_;
  nvdla_lut best_ = {};
};

}  // namespace

LutFitted lut_fit_all(const LutProblem& problem) {
  constexpr int kRounds = 4;
  std::vector<LutSample> samples = lut_samples(problem);
  std::vector<double> places = saturations_of(problem, samples);
  Workspace workspace;
  LutFitted best;
  for (int round = 0; round < kRounds; ++round) {
    const nvdla_lut lut = PairSearch(problem, samples, centres_of(problem, samples, places),
                                     round % 2 != 0, workspace)
                              .find();
    const LutWorst worst = lut_worst(problem, lut);
    if (round == 0 || worst.error < best.worst.error) best = {lut, worst};
    if (best.worst.error <= problem.enough) break;
    places.push_back(worst.at);
    const auto place = std::lower_bound(samples.begin(), samples.end(), worst.at,
                                        [](const LutSample& s, double at) { return s.at < at; });
    samples.insert(place, problem.sample(worst.at));
  }
  return best;
}

}  // namespace nvdla::detail
