// SPDX-License-Identifier: MIT
//
// Local response normalisation: the table that CDP multiplies elements by, the converters around
// it, and how far from the formula elements come out.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "lut/lut_eval.hpp"
#include "lut/lut_fit.hpp"
#include "lut/lut_state.hpp"
#include "nvdla/operators/requantization.hpp"
#include "nvdla/types/conversion.hpp"
#include "support/check.hpp"
#include "support/float.hpp"
#include "support/handles.hpp"

namespace nvdla::lut {
namespace {

using detail::LutProblem;
using detail::throw_invalid_argument;

constexpr double kMostHalf = 65504;
constexpr double kMostEntry = 32767;

struct Formula {
  double alpha, beta, k;
  std::uint32_t size;
  double factor(double sum_of_squares) const {
    return std::pow(k + alpha / size * sum_of_squares, -beta);
  }
};

void check_formula(const Formula& f) {
  if (!(f.alpha >= 0) || !std::isfinite(f.alpha))
    throw_invalid_argument("alpha {} of a normalisation must be at least 0", f.alpha);
  if (!std::isfinite(f.beta))
    throw_invalid_argument("beta {} of a normalisation is no number", f.beta);
  if (!(f.k > 0) || !std::isfinite(f.k))
    throw_invalid_argument("k {} of a normalisation must be greater than 0", f.k);
  if (f.size % 2 == 0 || f.size < 3 || f.size > 9)
    throw_invalid_argument("size {} of a normalisation is none of 3, 5, 7 and 9", f.size);
}

void check_greatest(double greatest, double least) {
  if (!(greatest >= least))
    throw_invalid_argument(
        "greatest element {} of a normalisation is less than the smallest one, {}", greatest,
        least);
}

// CDP in integers, from an element less its zero point to an element.
struct Integers {
  const nvdla_lut& lut;
  nvdla_convert convert;
  const LutFormat& format;

  double output(std::int64_t element, std::int64_t factor) const {
    const detail::LutWide product =
        (detail::LutWide{factor} * element - convert.offset) * convert.scale;
    const auto rounded = std::clamp<detail::LutWide>(
        detail::round_shift(product, static_cast<int>(convert.truncate)),
        detail::least_of(format.precision), detail::greatest_of(format.precision));
    return (static_cast<double>(rounded) - format.output.zero_point) * format.output.scale;
  }
  double wanted(double y) const {
    const double zero = format.output.zero_point;
    return std::clamp(y, (detail::least_of(format.precision) - zero) * format.output.scale,
                      (detail::greatest_of(format.precision) - zero) * format.output.scale);
  }
};

class Report {
 public:
  void see(double result, double wanted, double element, double sum) {
    const double error = std::abs(result - wanted);
    if (error > report_.error) report_ = {error, element, sum, report_.every_input};
  }
  LutReport take(bool every_input) {
    report_.every_input = every_input;
    if (!every_input) report_.sum_of_squares = 0;
    return report_;
  }

 private:
  LutReport report_;
};

// Marks the sums up to `most` that are sums of `count` squares of numbers up to `greatest`.
std::vector<bool> sums_of_squares(std::uint32_t count, std::size_t greatest, std::size_t most) {
  constexpr std::size_t kWord = 64;
  const std::size_t words = most / kWord + 1;
  std::vector<std::uint64_t> sums(words, 0);
  sums[0] = 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::vector<std::uint64_t> more(words, 0);
    for (std::size_t v = 0; v <= greatest; ++v) {
      const std::size_t skip = v * v / kWord;
      const auto shift = static_cast<unsigned>(v * v % kWord);
      for (std::size_t w = skip; w < words; ++w) {
        more[w] |= sums[w - skip] << shift;
        if (shift != 0 && w > skip) more[w] |= sums[w - skip - 1] >> (kWord - shift);
      }
    }
    sums = std::move(more);
  }
  std::vector<bool> reached(most + 1);
  for (std::size_t i = 0; i <= most; ++i) reached[i] = (sums[i / kWord] >> i % kWord & 1) != 0;
  return reached;
}

// Reports on every int8 element with every sum. The formula is monotonic in the sum, so of the sums
// with one factor only the first and the last matter.
LutReport report_int8(const Formula& f, const Integers& unit, std::uint32_t greatest) {
  const std::size_t others = std::size_t{f.size - 1} * greatest * greatest;
  const std::size_t most = others + std::size_t{greatest} * greatest;
  const std::vector<bool> reached = sums_of_squares(f.size - 1, greatest, others);
  // The nearest sum of the others that there is, not below and not above.
  std::vector<std::size_t> next(others + 2, others + 1), previous(others + 1, 0);
  for (std::size_t i = others + 1; i-- > 0;) next[i] = reached[i] ? i : next[i + 1];
  for (std::size_t i = 0; i <= others; ++i)
    previous[i] = reached[i] || i == 0 ? i : previous[i - 1];

  struct Run {
    std::size_t first, last;
    std::int64_t factor;
  };
  std::vector<Run> runs;
  for (std::size_t s = 0; s <= most; ++s) {
    const std::int64_t factor = detail::lut_evaluate(unit.lut, false, static_cast<std::int64_t>(s));
    if (runs.empty() || runs.back().factor != factor) runs.push_back({s, s, factor});
    runs.back().last = s;
  }

  const double scale = unit.format.input.scale;
  std::vector<double> wanted(most + 1);
  for (std::size_t s = 0; s <= most; ++s)
    wanted[s] = f.factor(static_cast<double>(s) * scale * scale);
  Report report;
  const std::int32_t zero = unit.format.input.zero_point;
  for (std::int32_t q = -128; q <= 127; ++q) {
    const std::int64_t element = q - zero;
    if (std::abs(element) > greatest) continue;
    const auto square = static_cast<std::size_t>(element * element);
    const double x = static_cast<double>(element) * scale;
    for (const Run& run : runs) {
      if (run.last < square || run.first > square + others) continue;
      const std::size_t first = next[std::max(run.first, square) - square];
      const std::size_t last = previous[std::min(run.last - square, others)];
      if (first > last) continue;
      const double y = unit.output(element, run.factor);
      for (const std::size_t other : {first, last}) {
        const std::size_t sum = square + other;
        report.see(y, unit.wanted(x * wanted[sum]), x, static_cast<double>(sum) * scale * scale);
      }
    }
  }
  return report.take(true);
}

LutReport report_int16(const Formula& f, const Integers& unit, std::uint32_t greatest) {
  const double scale = unit.format.input.scale;
  const std::int32_t zero = unit.format.input.zero_point;
  Report report;
  for (std::int32_t q = -32768; q <= 32767; ++q) {
    const std::int64_t element = q - zero;
    if (std::abs(element) > greatest) continue;
    const double x = static_cast<double>(element) * scale;
    for (const std::int64_t window : {std::int64_t{1}, std::int64_t{f.size}}) {
      const std::int64_t sum = window * element * element;
      const std::int64_t factor = detail::lut_evaluate(unit.lut, false, sum);
      const double real = static_cast<double>(sum) * scale * scale;
      report.see(unit.output(element, factor), unit.wanted(x * f.factor(real)), x, real);
    }
  }
  return report.take(false);
}

LutReport report_fp16(const Formula& f, const nvdla_lut& lut, double greatest) {
  const auto number = [](std::uint32_t half) {
    return static_cast<double>(std::bit_cast<float>(fp::widen<fp::Fp32>(half)));
  };
  Report report;
  for (std::uint32_t bits = 0; bits <= fp::Fp16::kMaxFinite; ++bits) {
    const std::uint32_t square =
        fp::mul<fp::Fp32>(fp::widen<fp::Fp32>(bits), fp::widen<fp::Fp32>(bits));
    const std::uint32_t pair = fp::add<fp::Fp32>(square, square);
    std::uint32_t all = fp::add<fp::Fp32>(pair, square);
    for (std::uint32_t i = 3; i < f.size; i += 2) all = fp::add<fp::Fp32>(all, pair);
    const double x = number(bits);
    if (x > greatest) break;
    for (const auto& [sum, window] :
         {std::pair{square, 1.0}, std::pair{all, static_cast<double>(f.size)}}) {
      const auto factor = static_cast<std::uint32_t>(detail::lut_evaluate(lut, true, sum));
      const std::uint32_t y =
          fp::narrow<fp::Fp17>(fp::mul<fp::Fp17>(factor, fp::widen<fp::Fp17>(bits)));
      const double wanted = std::min(x * f.factor(window * x * x), kMostHalf);
      const double unit = std::max(1.0, wanted);
      report.see(number(y) / unit, wanted / unit, x, 0);
    }
  }
  return report.take(false);
}

// The factor as a function of the sum of squares. An error of it is as bad as the greatest element
// that can have the sum makes it.
LutProblem factor_problem(const Formula& f, const LutFormat& format, double greatest) {
  LutProblem p;
  p.unit = NVDLA_LUT_CDP;
  p.real = p.squared = format.precision == Precision::kFp16;
  p.bits = format.precision == Precision::kInt8 ? 22 : 38;
  p.last = f.size * greatest * greatest;
  const double scale = p.real ? 1 : double{format.input.scale};
  p.scale = scale * scale;
  // The greatest factor is at either end.
  const double most = std::max(f.factor(0), f.factor(p.last * p.scale));
  if (!std::isfinite(most) || (p.real && most > kMostHalf)) {
    throw_invalid_argument("k {} to the power of {} is beyond what a normalisation can multiply by",
                           f.k, -f.beta);
  }
  p.greatest = most;
  p.function = [f](double sum) { return f.factor(sum); };
  p.weight = [=](double at) { return std::min(std::sqrt(at), greatest) * scale; };
  if (p.real) {
    p.enough = std::ldexp(1.1, -10);
    p.result = [](std::int64_t value) {
      const std::uint32_t wide = fp::fp17_to_fp32(static_cast<std::uint32_t>(value));
      return static_cast<double>(std::bit_cast<float>(wide));
    };
  } else {
    p.entry_scale = kMostEntry / most;
    p.enough = 0.05 * format.output.scale;
    p.result = [unit = most / kMostEntry](std::int64_t value) {
      return static_cast<double>(value) * unit;
    };
  }
  return p;
}

nvdla_convert converter(double factor, const LutFormat& format) {
  const Converter c = requantize(factor, format.output.zero_point);
  // The register holds 25 bits of it in int8.
  constexpr std::int32_t kLimit = 1 << 24;
  if (format.precision == Precision::kInt8 && (c.offset < -kLimit || c.offset >= kLimit)) {
    throw_invalid_argument(
        "output zero point {} needs an offset of {} in the output converter, beyond 25 bits: with "
        "scale {} it must be nearer to 0",
        format.output.zero_point, c.offset, format.output.scale);
  }
  return {c.offset, c.scale, c.shift, 0};
}

}  // namespace

Lut lrn(double alpha, double beta, double k, std::uint32_t size, const LutFormat& format,
        double greatest) {
  const Formula formula{alpha, beta, k, size};
  check_formula(formula);
  detail::check_format(format);
  auto state = std::make_shared<Lut::State>();
  state->format = format;
  state->window = size;
  if (format.precision == Precision::kFp16) {
    greatest = std::min(greatest, kMostHalf);
    check_greatest(greatest, std::ldexp(1.0, -24));
    const LutProblem problem = factor_problem(formula, format, greatest);
    state->table = detail::lut_fit_all(problem).lut;
    state->report = report_fp16(formula, state->table, greatest);
    return detail::Handles::make<Lut>(std::move(state));
  }
  const std::int32_t least = detail::least_of(format.precision);
  const std::int32_t most = detail::greatest_of(format.precision);
  const std::int32_t zero = format.input.zero_point;
  const double scale = format.input.scale;
  detail::check_range("input zero point of a normalisation", zero, least, most);
  check_greatest(greatest, scale);
  const auto limit = static_cast<std::uint32_t>(
      std::min<double>(std::max(zero - least, most - zero), std::floor(greatest / scale)));
  const LutProblem problem = factor_problem(formula, format, limit);
  state->table = detail::lut_fit_all(problem).lut;
  state->input = {zero, 1, 0, 0};
  state->output = converter(scale / (problem.entry_scale * format.output.scale), format);
  const Integers unit{state->table, state->output, state->format};
  state->report = format.precision == Precision::kInt8 ? report_int8(formula, unit, limit)
                                                       : report_int16(formula, unit, limit);
  return detail::Handles::make<Lut>(std::move(state));
}

}  // namespace nvdla::lut
