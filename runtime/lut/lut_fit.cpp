// SPDX-License-Identifier: MIT
#include "lut/lut_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lut/lut_eval.hpp"
#include "lut/lut_shape.hpp"

namespace nvdla::detail {
namespace {

// What compiling a table accepts (firmware/compile/lut.c).
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

// Places that tables are tried around: those that are given, zero, and where there are many
// samples, as the function bends there.
std::vector<double> centres_of(const LutProblem& p, const std::vector<LutSample>& samples,
                               std::vector<double> centres) {
  for (const std::size_t quarter : {1, 2, 3})
    centres.push_back(samples[samples.size() * quarter / 4].at);
  if (p.first <= p.zero && p.zero <= p.last) centres.push_back(p.zero);
  return centres;
}

// Moves a start so that registers can hold both ends and knots are exact; false if none can be.
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

// Where the function leaves what results can be: it bends sharply there, and a table had better
// end than straddle that.
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

// One table with what it does on every sample.
struct Candidate {
  LutShape shape;
  nvdla_lut lut = {};
  std::vector<LutSide> side;
  std::vector<double> error;
};

std::vector<Candidate> candidates_of(const LutProblem& p, const std::vector<LutSample>& samples,
                                     const std::vector<double>& centres, LutTable table,
                                     bool balanced) {
  std::vector<Candidate> candidates;
  for (const LutShape& shape : shapes_of(p, centres, table)) {
    Candidate c;
    c.shape = shape;
    c.shape.balanced = balanced;
    c.lut.unit = p.unit;
    lut_place(p, samples, c.shape, c.lut);
    c.side.reserve(samples.size());
    c.error.reserve(samples.size());
    for (const LutSample& s : samples) {
      const LutAnswer answer = lut_answer(c.lut, table, p.real, s.raw);
      c.side.push_back(answer.side);
      c.error.push_back(p.error(s, answer.value));
    }
    candidates.push_back(std::move(c));
  }
  return candidates;
}

// The sample that spoilt the last pair often spoils the next one too: it is looked at first.
class Pairs {
 public:
  explicit Pairs(std::size_t samples) : samples_(samples) {}

  // True if the pair is better than all before.
  bool better(const Candidate& le, const Candidate& lo, std::uint32_t flags) {
    double worst = 0;
    const auto spoils = [&](std::size_t i) {
      const bool from_lo = lut_choice(flags, le.side[i], lo.side[i]) == LutTable::kLo;
      worst = std::max(worst, from_lo ? lo.error[i] : le.error[i]);
      if (worst < best_) return false;
      spoiler_ = i;
      return true;
    };
    if (spoils(spoiler_)) return false;
    for (std::size_t i = 0; i < samples_; ++i) {
      if (spoils(i)) return false;
    }
    best_ = worst;
    return true;
  }

 private:
  std::size_t samples_;
  std::size_t spoiler_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

nvdla_lut lut_fit(const LutProblem& problem, const std::vector<LutSample>& samples,
                  const std::vector<double>& places, bool balanced) {
  const std::vector<double> centres = centres_of(problem, samples, places);
  const std::vector<Candidate> les =
      candidates_of(problem, samples, centres, LutTable::kLe, balanced);
  const std::vector<Candidate> los =
      candidates_of(problem, samples, centres, LutTable::kLo, balanced);
  Pairs pairs(samples.size());
  nvdla_lut best = {};
  for (const Candidate& le : les) {
    for (const Candidate& lo : los) {
      // Beyond both tables the one answers that reaches farther: its slope was made for that.
      std::uint32_t flags = le.lut.flags & NVDLA_LUT_LE_LINEAR;
      if (lower_edge(lo.shape) < lower_edge(le.shape)) flags |= NVDLA_LUT_UNDERFLOW_LO;
      if (upper_edge(lo.shape) > upper_edge(le.shape)) flags |= NVDLA_LUT_OVERFLOW_LO;
      for (const std::uint32_t hybrid : std::array<std::uint32_t, 2>{NVDLA_LUT_HYBRID_LO, 0}) {
        if (!pairs.better(le, lo, flags | hybrid)) continue;
        best = le.lut;
        best.flags = flags | hybrid;
        best.lo_index_select = lo.lut.lo_index_select;
        best.lo_start = lo.lut.lo_start;
        best.lo_end = lo.lut.lo_end;
        best.lo_underflow = lo.lut.lo_underflow;
        best.lo_overflow = lo.lut.lo_overflow;
        std::copy(std::begin(lo.lut.lo), std::end(lo.lut.lo), std::begin(best.lo));
      }
    }
  }
  return best;
}

LutFitted lut_fit_all(const LutProblem& problem) {
  constexpr int kRounds = 4;
  std::vector<LutSample> samples = lut_samples(problem);
  std::vector<double> places = saturations_of(problem, samples);
  LutFitted best;
  for (int round = 0; round < kRounds; ++round) {
    const nvdla_lut lut = lut_fit(problem, samples, places, round % 2 != 0);
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
