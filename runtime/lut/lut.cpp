// SPDX-License-Identifier: MIT
#include "nvdla/lowlevel/lut.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <utility>

#include "lut/lut_eval.hpp"
#include "lut/lut_fit.hpp"
#include "lut/lut_state.hpp"
#include "nvdla/operators/functions.hpp"
#include "nvdla/types/half.hpp"
#include "nvdla/types/precision.hpp"
#include "support/check.hpp"
#include "support/float.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

using detail::LutProblem;
using detail::throw_invalid_argument;

// int8 results leave SDP through a right shift: entries have 7 bits below the unit of a result, and
// as many bits above the greatest result, for values just beyond it.
constexpr std::uint32_t kInt8Shift = 7;
// The hardware treats an infinity as this number.
constexpr double kGreatest = std::numeric_limits<float>::max();

double call(detail::FunctionRef function, double x) {
  double y = 0;
  try {
    y = function(x);
  } catch (const std::exception& error) {
    std::throw_with_nested(
        Error(ErrorCode::kInvalidArgument,
              fmt::format("the function of a look-up table failed at {}: {}", x, error.what())));
  }
  if (std::isnan(y)) {
    throw_invalid_argument(
        "the function of a look-up table gives NaN at {}: a range without that place, or a number "
        "there would do",
        x);
  }
  // The limits exceed every result, and doubles compute safely with them.
  return std::clamp(y, -1e30, 1e30);
}

bool holds_half(double first, double last) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    if (fp::is_nan<fp::Fp16>(bits)) continue;
    const double at = std::bit_cast<float>(fp::widen<fp::Fp32>(bits));
    if (at >= first && at <= last) return true;
  }
  return false;
}

// Numbers of the unit that range and inputs have in common.
void set_inputs(LutProblem& p, const Range& range, const LutFormat& format) {
  if (!(range.lo < range.hi)) {
    throw_invalid_argument(
        "range {}..{} of a look-up table is empty: its start must be less than its end", range.lo,
        range.hi);
  }
  if (p.real) {
    p.first = std::max(range.lo, -kGreatest);
    p.last = std::min(range.hi, kGreatest);
    if (!holds_half(p.first, p.last)) {
      throw_invalid_argument("range {}..{} of a look-up table has no fp16 number in it", range.lo,
                             range.hi);
    }
    return;
  }
  const double half = std::ldexp(1.0, static_cast<int>(format.input_bits) - 1);
  p.first = std::max(-half, std::ceil(range.lo / p.scale + p.zero));
  p.last = std::min(half - 1, std::floor(range.hi / p.scale + p.zero));
  if (p.first > p.last) {
    throw_invalid_argument(
        "range {}..{} of a look-up table has no input in it: those of {} bits are {}..{} in steps "
        "of {}",
        range.lo, range.hi, format.input_bits, (-half - p.zero) * p.scale,
        (half - 1 - p.zero) * p.scale, p.scale);
  }
}

LutProblem sdp_problem(detail::FunctionRef function, const Range& range, const LutFormat& format) {
  LutProblem p;
  p.unit = NVDLA_LUT_SDP;
  p.real = format.precision == Precision::kFp16;
  p.bits = 32;
  p.function = [function](double x) { return call(function, x); };
  p.weight = [](double) { return 1.0; };
  if (p.real) {
    p.least = -65504;
    p.greatest = 65504;
    p.enough = std::ldexp(1.1, -10);
    p.result = [](std::int64_t value) {
      using namespace fp;
      const std::uint32_t half = narrow<Fp32>(static_cast<std::uint32_t>(value));
      return static_cast<double>(std::bit_cast<float>(widen<Fp32>(half)));
    };
  } else {
    const int shift = format.precision == Precision::kInt8 ? kInt8Shift : 0;
    const std::int32_t least = detail::least_of(format.precision);
    const std::int32_t greatest = detail::greatest_of(format.precision);
    const double zero = format.output.zero_point;
    const double scale = format.output.scale;
    p.scale = format.input.scale;
    p.zero = format.input.zero_point;
    p.entry_scale = std::ldexp(1 / scale, shift);
    p.entry_zero = std::ldexp(zero, shift);
    p.least = (least - zero) * scale;
    p.greatest = (greatest - zero) * scale;
    p.enough = 0.55 * scale;
    p.result = [=](std::int64_t value) {
      const auto rounded = static_cast<std::int64_t>(detail::round_shift(value, shift));
      return (static_cast<double>(std::clamp<std::int64_t>(rounded, least, greatest)) - zero) *
             scale;
    };
  }
  set_inputs(p, range, format);
  return p;
}

// Numbers this small are left to the absolute error: fp16 has few of them.
constexpr double kLeastOfTail = 1e-6;

// Returns true for a function of one sign that comes to 0 towards an end, as a sigmoid does.
bool has_tail(const LutProblem& p) {
  constexpr double kFarEnd = 1000;
  const auto is_small = [&](double at) { return std::abs(p.function(at)) < kLeastOfTail; };
  const bool below = p.first < -kFarEnd && is_small(p.first) && is_small(p.first / 2);
  const bool above = p.last > kFarEnd && is_small(p.last) && is_small(p.last / 2);
  if (!p.real || (!below && !above)) return false;
  double least = 0, greatest = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto at = static_cast<double>(std::bit_cast<float>(fp::widen<fp::Fp32>(bits)));
    if (fp::is_nan<fp::Fp16>(bits) || at < p.first || at > p.last) continue;
    least = std::min(least, p.function(at));
    greatest = std::max(greatest, p.function(at));
  }
  return least == 0 || greatest == 0;
}

// Fits tables to a function. Where it has a tail, small results count by their own size, too: a
// score of a detector is one of thousands that are nearly 0, and these are still to be in order.
detail::LutFitted fit_tables(const LutProblem& problem) {
  constexpr double kShare = 50;  // a tail's error of 1 in so many counts as 1 beside results of 1
  if (has_tail(problem)) {
    LutProblem with_tail = problem;
    with_tail.weight = [&](double at) {
      const double size = std::abs(problem.function((at - problem.zero) * problem.scale));
      return std::max(1.0, 1 / (kShare * std::max(size, kLeastOfTail)));
    };
    detail::LutFitted fitted = detail::lut_fit_all(with_tail);
    fitted.worst = detail::lut_worst(problem, fitted.lut);
    if (fitted.worst.error <= problem.enough) return fitted;
  }
  return detail::lut_fit_all(problem);
}

}  // namespace

namespace detail {

void check_format(const LutFormat& format) {
  const auto check_scale = [](const char* what, float scale) {
    if (!std::isfinite(scale) || !(scale > 0)) {
      throw_invalid_argument("{} scale {} of a look-up table is no positive number", what, scale);
    }
  };
  switch (format.precision) {
    case Precision::kFp16:
      return;
    case Precision::kInt8:
    case Precision::kInt16:
      break;
    default:
      throw_invalid_argument("precision {} of a look-up table is none of int8, int16 and fp16",
                             static_cast<std::uint32_t>(format.precision));
  }
  check_scale("input", format.input.scale);
  check_scale("output", format.output.scale);
  check_range("output zero point of a look-up table", format.output.zero_point,
              least_of(format.precision), greatest_of(format.precision));
  check_range("input_bits of a look-up table", format.input_bits, 2U, 32U);
}

}  // namespace detail

Lut::Lut() noexcept = default;
Lut::Lut(const Lut&) noexcept = default;
Lut::Lut(Lut&&) noexcept = default;
Lut& Lut::operator=(const Lut&) noexcept = default;
Lut& Lut::operator=(Lut&&) noexcept = default;
Lut::~Lut() = default;
Lut::Lut(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}

Lut Lut::fit_function(detail::FunctionRef function, const Range& range, const LutFormat& format) {
  detail::check_format(format);
  const LutProblem problem = sdp_problem(function, range, format);
  const detail::LutFitted fitted = fit_tables(problem);
  auto state = std::make_shared<State>();
  state->table = fitted.lut;
  state->format = format;
  state->report = {fitted.worst.error, (fitted.worst.at - problem.zero) * problem.scale, 0,
                   fitted.worst.every_input};
  if (!problem.real)
    state->output = {0, 1, format.precision == Precision::kInt8 ? kInt8Shift : 0, 0};
  return Lut(std::move(state));
}

namespace {

const Lut::State& some(const Lut::State* state) {
  if (state == nullptr) throw_invalid_argument("an empty Lut has no table: Lut::fit() makes one");
  return *state;
}

}  // namespace

const nvdla_lut& Lut::table() const { return some(state_.get()).table; }
const LutReport& Lut::report() const { return some(state_.get()).report; }
const LutFormat& Lut::format() const { return some(state_.get()).format; }

double Lut::result(double x) const {
  const State& s = some(state_.get());
  if (s.table.unit != NVDLA_LUT_SDP) {
    throw_invalid_argument(
        "a table of CDP gives factors, not results: the elements around decide, too");
  }
  const auto nothing = [](double) { return 0.0; };
  const LutProblem p = sdp_problem(detail::FunctionRef(nothing), {}, s.format);
  const double at = p.real ? double{from_half(to_half(x))} : std::round(x / p.scale + p.zero);
  const std::int64_t raw = p.raw(std::clamp(at, p.first, p.last));
  return p.result(detail::lut_evaluate(s.table, p.real, raw));
}

void Lut::apply(nvdla_layer& layer, std::uint32_t index) const {
  const State& s = some(state_.get());
  detail::check_range("index of a look-up table", index, 0U, NVDLA_MAX_LUTS - 1U);
  const auto precision = static_cast<std::uint32_t>(s.format.precision);
  if (s.table.unit == NVDLA_LUT_CDP) {
    if (layer.kind != NVDLA_LAYER_CDP) {
      throw_invalid_argument("a layer of kind '{}' has no CDP, which the table is for",
                             layer_kind_name(layer.kind));
    }
    layer.cdp.precision = precision;
    layer.cdp.window = s.window;
    layer.cdp.in_cvt = s.input;
    layer.cdp.out_cvt = s.output;
  } else {
    if (layer.kind < NVDLA_LAYER_CONV_SDP || layer.kind > NVDLA_LAYER_SDP_PDP) {
      throw_invalid_argument("a layer of kind '{}' has no SDP, which the table is for",
                             layer_kind_name(layer.kind));
    }
    layer.sdp.y.flags |= NVDLA_SDP_ENABLE | NVDLA_SDP_LUT;
    layer.sdp.out_precision = precision;
    layer.sdp.out_cvt = s.output;
  }
  layer.lut = index + 1;
}

namespace lut {

Lut sigmoid(const LutFormat& format, const Range& range) {
  return Lut::fit(nvdla::sigmoid, range, format);
}

Lut tanh(const LutFormat& format, const Range& range) {
  return Lut::fit([](double x) { return std::tanh(x); }, range, format);
}

Lut exp(const LutFormat& format, const Range& range) {
  return Lut::fit([](double x) { return std::exp(x); }, range, format);
}

Lut softplus(const LutFormat& format, const Range& range) {
  return Lut::fit(nvdla::softplus, range, format);
}

Lut swish(const LutFormat& format, const Range& range) {
  return Lut::fit(nvdla::swish, range, format);
}

}  // namespace lut
}  // namespace nvdla
