// SPDX-License-Identifier: MIT
//
// Chooses the sample inputs of a fit, and finds the greatest error over all inputs.
#include <algorithm>
#include <bit>
#include <cmath>
#include <queue>

#include "lut/lut_eval.hpp"
#include "lut/lut_fit.hpp"
#include "lut/lut_shape.hpp"
#include "support/float.hpp"

namespace nvdla::detail {
namespace {

constexpr std::size_t kSamples = 640;
constexpr double kEveryInput = 1 << 20;

double to_input(const LutProblem& p, double at) {
  return p.real ? static_cast<double>(static_cast<float>(at)) : std::round(at);
}

// Two samples, and the error of a straight line between them at a place inside. That place is not
// the middle, because repeated halving would land on knots, where tables are more exact than
// elsewhere.
struct Gap {
  LutSample left, inside, right;
  double miss = 0;
  bool operator<(const Gap& other) const { return miss < other.miss; }
};

class Gaps {
 public:
  explicit Gaps(const LutProblem& problem) : problem_(problem) {}

  void add(const LutSample& left, const LutSample& right) {
    constexpr double kGolden = 0.381966;
    const double at = to_input(problem_, left.at + (right.at - left.at) * kGolden);
    if (!(at > left.at && at < right.at)) return;
    Gap gap{left, problem_.sample(at), right, 0};
    const double along = (at - left.at) / (right.at - left.at);
    gap.miss = std::abs(left.wanted + (right.wanted - left.wanted) * along - gap.inside.wanted) *
               gap.inside.weight;
    queue_.push(gap);
  }

  bool empty() const { return queue_.empty(); }

  LutSample split() {
    const Gap gap = queue_.top();
    queue_.pop();
    add(gap.left, gap.inside);
    add(gap.inside, gap.right);
    return gap.inside;
  }

 private:
  const LutProblem& problem_;
  std::priority_queue<Gap> queue_;
};

// Ends, an even grid, and powers of two around zero.
std::vector<double> first_places(const LutProblem& p) {
  std::vector<double> places = {p.first, p.last};
  const auto add = [&](double at) {
    at = to_input(p, at);
    if (at > p.first && at < p.last) places.push_back(at);
  };
  add(p.zero);
  constexpr int kGrid = 61;  // no power of two either
  for (int i = 1; i < kGrid; ++i) add(p.first + (p.last - p.first) * i / kGrid);
  for (int log = p.real ? -24 : 0; log <= 40; ++log) {
    const double magnitude = std::ldexp(1.37, log);
    add(p.zero + magnitude);
    add(p.zero - magnitude);
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

void look(const LutProblem& p, const nvdla_lut& lut, double at, LutWorst& worst) {
  const LutSample s = p.sample(at);
  const double error = p.error(s, lut_evaluate(lut, p.real, s.raw));
  if (error > worst.error) {
    worst.error = error;
    worst.at = at;
  }
}

// All fp16 numbers; infinities as the hardware reads them.
void look_at_reals(const LutProblem& p, const nvdla_lut& lut, LutWorst& worst) {
  using fp::Fp16;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    if (fp::is_nan<Fp16>(bits)) continue;
    auto at = static_cast<double>(std::bit_cast<float>(fp::widen<fp::Fp32>(bits)));
    if (p.squared) at *= at;
    if (at >= p.first && at <= p.last) look(p, lut, at, worst);
  }
}

// Inputs at which a table may change direction: its first hit, its knots, its end.
void add_breaks(const LutProblem& p, const nvdla_lut& lut, std::vector<double>& breaks) {
  const bool exponential = (lut.flags & NVDLA_LUT_LE_LINEAR) == 0;
  const LutShape shapes[] = {
      {LutTable::kLe, exponential, exponential ? lut.le_index_offset : lut.le_index_select,
       static_cast<double>(lut.le_start)},
      {LutTable::kLo, false, lut.lo_index_select, static_cast<double>(lut.lo_start)}};
  for (const LutShape& shape : shapes) {
    breaks.push_back(shape.start + 1);
    for (unsigned i = 0; i <= shape.last(); ++i) breaks.push_back(std::ceil(shape.knot(i)));
  }
  std::erase_if(breaks, [&](double at) { return at <= p.first || at > p.last; });
  breaks.push_back(p.first);
  breaks.push_back(p.last + 1);
  std::sort(breaks.begin(), breaks.end());
  breaks.erase(std::unique(breaks.begin(), breaks.end()), breaks.end());
}

// The last input of first..last that gives what `first` gives; results rise or fall throughout.
double end_of_run(const LutProblem& p, const nvdla_lut& lut, double first, double last) {
  const auto value = [&](double at) { return p.result(lut_evaluate(lut, p.real, p.raw(at))); };
  const double here = value(first);
  double step = 1;
  while (first + step <= last && value(first + step) == here) step *= 2;
  double same = first + std::floor(step / 2);
  double other = std::min(first + step, last + 1);
  while (other - same > 1) {
    const double middle = std::floor((same + other) / 2);
    if (value(middle) == here) {
      same = middle;
    } else {
      other = middle;
    }
  }
  return same;
}

void look_at_runs(const LutProblem& p, const nvdla_lut& lut, LutWorst& worst) {
  std::vector<double> breaks;
  add_breaks(p, lut, breaks);
  for (std::size_t i = 0; i + 1 < breaks.size(); ++i) {
    const double last = breaks[i + 1] - 1;
    for (double at = breaks[i]; at <= last;) {
      const double end = end_of_run(p, lut, at, last);
      look(p, lut, at, worst);
      look(p, lut, end, worst);
      at = end + 1;
    }
  }
}

}  // namespace

std::vector<LutSample> lut_samples(const LutProblem& problem) {
  std::vector<LutSample> samples;
  if (!problem.real && problem.last - problem.first < kSamples) {
    for (double at = problem.first; at <= problem.last; ++at) samples.push_back(problem.sample(at));
    return samples;
  }
  Gaps gaps(problem);
  for (const double at : first_places(problem)) {
    samples.push_back(problem.sample(at));
    if (samples.size() > 1) gaps.add(samples[samples.size() - 2], samples.back());
  }
  while (samples.size() < kSamples && !gaps.empty()) samples.push_back(gaps.split());
  std::sort(samples.begin(), samples.end(),
            [](const LutSample& a, const LutSample& b) { return a.at < b.at; });
  return samples;
}

LutWorst lut_worst(const LutProblem& problem, const nvdla_lut& lut) {
  LutWorst worst;
  if (problem.real) {
    look_at_reals(problem, lut, worst);
    return worst;
  }
  if (problem.last - problem.first < kEveryInput) {
    for (double at = problem.first; at <= problem.last; ++at) look(problem, lut, at, worst);
    return worst;
  }
  look_at_runs(problem, lut, worst);
  worst.every_input = false;
  return worst;
}

}  // namespace nvdla::detail
