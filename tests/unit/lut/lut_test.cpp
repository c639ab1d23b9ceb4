// SPDX-License-Identifier: MIT
//
// Fitted tables for SDP: what the device model gives for every input is as near to the function
// as the report says, to the last bit of it.
#include "nvdla/lowlevel/lut.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/lut_worst.hpp"
#include "lut/lut_eval.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla::test {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return x > 40 ? x : std::log1p(std::exp(x)); }
double swish(double x) { return x / (1 + std::exp(-x)); }

struct Ready {
  const char* name;
  Lut (*make)(const LutFormat&, const Range&);
  Function function;
};

const Ready kReady[] = {{"sigmoid", lut::sigmoid, sigmoid},
                        {"tanh", lut::tanh, [](double x) { return std::tanh(x); }},
                        {"exp", lut::exp, [](double x) { return std::exp(x); }},
                        {"softplus", lut::softplus, softplus},
                        {"swish", lut::swish, swish}};

// One step of an int8 output at most, for whatever scale numbers come in.
// Scores of thousands of places without an object are nearly 0, and are still to be in order.
TEST(LutFit, SmallResultsOfATailAreRightByTheirOwnSize) {
  const auto softer = [](double x) { return 1 / (1 + std::exp(2 - x)); };
  const auto falls = [](double x) { return -std::exp(-std::max(x, 0.0)); };
  const auto check = [](const auto& function, const char* name) {
    const Lut lut = Lut::fit(function, {}, Precision::kFp16);
    EXPECT_LE(lut.report().error, 0.0011) << name;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto x = static_cast<double>(from_half(static_cast<std::uint16_t>(bits)));
      if (!std::isfinite(x)) continue;
      const double wanted = function(x), size = std::abs(wanted);
      if (size > 0.02 || size < 2e-6) continue;
      ASSERT_NEAR(lut.result(x), wanted, 0.07 * size) << name << " at " << x;
    }
  };
  check(nvdla::sigmoid, "sigmoid");
  check(softer, "a sigmoid farther right");
  check(falls, "an exponential that falls");
}

TEST(LutFit, SigmoidAndTanhInInt8) {
  for (const double in : {1.0 / 16, 0.0007, 0.00003}) {
    for (const Ready& ready : {kReady[0], kReady[1]}) {
      SCOPED_TRACE(std::string(ready.name) + " of " + std::to_string(in));
      const double out = 1.0 / 128;
      const Lut wide = ready.make(integers(Precision::kInt8, in, out, 0, 16), {});
      expect_report(wide, integer_worst<std::int16_t, std::int8_t>(wide, ready.function));
      EXPECT_LE(wide.report().error, out);
      EXPECT_TRUE(wide.report().every_input);
      const Lut narrow = ready.make(integers(Precision::kInt8, 64 * in, out, 0, 8, 5), {});
      expect_report(narrow, integer_worst<std::int8_t, std::int8_t>(narrow, ready.function));
      EXPECT_LE(narrow.report().error, out);
    }
    const Lut fine = lut::sigmoid(integers(Precision::kInt8, in, 1.0 / 256, -128, 16));
    expect_report(fine, integer_worst<std::int16_t, std::int8_t>(fine, sigmoid));
    EXPECT_LE(fine.report().error, 1.0 / 256);
  }
}

TEST(LutFit, SigmoidAndTanhInFp16) {
  for (const Ready& ready : {kReady[0], kReady[1]}) {
    SCOPED_TRACE(ready.name);
    const Lut lut = ready.make(halves(), {});
    const Worst worst = fp16_worst(lut, ready.function);
    EXPECT_LE(worst.error, 1.0 / 512);
    expect_report(lut, worst);
    EXPECT_TRUE(lut.report().every_input);
  }
}

TEST(LutFit, OtherFunctionsAreAsGoodAsReported) {
  for (const Ready& ready : kReady) {
    SCOPED_TRACE(ready.name);
    const Lut bytes = ready.make(integers(Precision::kInt8, 0.002, 1.0 / 16, -20, 16), {});
    expect_report(bytes, integer_worst<std::int16_t, std::int8_t>(bytes, ready.function));
    EXPECT_LE(bytes.report().error, 1.0 / 16);
    const Lut words = ready.make(integers(Precision::kInt16, 0.0005, 1.0 / 2048, 0, 16), {});
    expect_report(words, integer_worst<std::int16_t, std::int16_t>(words, ready.function));
    EXPECT_LE(words.report().error, 8.0 / 2048);
    const Range range = ready.make == lut::exp ? Range{-20, 0} : Range{-30, 30};
    const Lut real = ready.make(halves(), range);
    expect_report(real, fp16_worst(real, ready.function, range));
    EXPECT_LE(real.report().error, 1.0 / 512);
  }
}

// In steps of the results: what a fit reaches, and a little. A knot that is moved the wrong way
// misses by more.
TEST(LutFit, Int16IsNoWorseThanItCanBe) {
  const struct {
    const Ready& ready;
    int log;  // of the results' scale, the finest that holds all
    double steps;
  } kFits[] = {{kReady[0], -15, 1.65},
               {kReady[1], -14, 1.66},
               {kReady[2], -3, 1.31},
               {kReady[3], -11, 1.03},
               {kReady[4], -12, 1.08}};
  for (const auto& [ready, log, steps] : kFits) {
    const double step = std::ldexp(1, log);
    const Lut lut = ready.make(integers(Precision::kInt16, 1.0 / 4096, step, 0, 16), {-8, 8});
    EXPECT_LE(lut.report().error / step, steps) << ready.name;
    EXPECT_GT(lut.report().error / step, 0.45) << ready.name;
  }
}

// Accumulators have more values than can be tried on a device. Elements times a factor are such,
// and none of them is worse than the worst.
TEST(LutFit, AccumulatorsAreNoWorseThanReported) {
  const double in = 1e-7;
  const Lut lut = lut::swish(integers(Precision::kInt8, in, 1.0 / 16, 0, 32));
  EXPECT_FALSE(lut.report().every_input);
  EXPECT_LE(lut.report().error, 1.0 / 16);
  double greatest = 0;
  for (const int factor : {1, 31, 1009, 32749}) {
    LutRun run = sdp_run<std::int16_t, std::int8_t>(lut);
    run.layer.sdp.x1.flags = NVDLA_SDP_ENABLE;
    run.layer.sdp.x1.mul = NVDLA_MUL_MUL;
    run.layer.sdp.x1.mul_value = factor;
    const std::vector<std::int16_t> inputs = every<std::int16_t>();
    const auto outputs = look_up<std::int8_t>(run, inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const double x =
          std::int64_t{inputs[i]} * factor * static_cast<double>(lut.format().input.scale);
      const double wanted = std::clamp(swish(x), -8.0, 127.0 / 16);
      greatest = std::max(greatest, std::abs(outputs[i] / 16.0 - wanted));
    }
  }
  EXPECT_LE(greatest, lut.report().error + 1e-12);
  EXPECT_GT(greatest, 0.9 * lut.report().error);
}

// Where runs of equal results are looked at instead of every input, nothing is missed.
TEST(LutFit, RunsShowTheGreatestErrorOfEveryInput) {
  const double out = 1.0 / 128;
  const Lut lut = lut::tanh(integers(Precision::kInt8, 1e-5, out, 0, 32), {-5.3, 5.3});
  EXPECT_FALSE(lut.report().every_input);
  const auto scale = static_cast<double>(lut.format().input.scale);
  double greatest = 0;
  for (std::int64_t x = -529999; x <= 529999; ++x) {
    const std::int64_t y = detail::lut_evaluate(lut.table(), false, x);
    const auto q = static_cast<std::int64_t>(detail::round_shift(y, 7));
    const double real = static_cast<double>(std::clamp<std::int64_t>(q, -128, 127)) * out;
    const double wanted = std::min(std::tanh(static_cast<double>(x) * scale), 127 * out);
    greatest = std::max(greatest, std::abs(real - wanted));
  }
  EXPECT_NEAR(lut.report().error, greatest, 1e-12);
}

// A function of one's own, which bends in places, with a range.
TEST(LutFit, FitsAnyFunction) {
  const auto wave = [](double x) { return 2 * std::sin(3 * x) + std::abs(x - 1); };
  const Range range{-4, 5};
  const Lut bytes = Lut::fit(wave, range, integers(Precision::kInt8, 1e-3, 1.0 / 16, 0, 16));
  expect_report(bytes, integer_worst<std::int16_t, std::int8_t>(bytes, wave, range));
  EXPECT_LE(bytes.report().error, 1.0 / 16);
  const Lut real = Lut::fit(wave, range, Precision::kFp16);
  expect_report(real, fp16_worst(real, wave, range));
  EXPECT_LE(real.report().error, 1.0 / 64);
}

// A plain function, a pointer to one, a closure and a std::function are all alike.
TEST(LutFit, TakesAnythingThatIsCalled) {
  const LutFormat format = integers(Precision::kInt8, 0.1, 1.0 / 128, 0, 8);
  const double error = lut::sigmoid(format).report().error;
  EXPECT_EQ(Lut::fit(sigmoid, {}, format).report().error, error);
  EXPECT_EQ(Lut::fit(&sigmoid, {}, format).report().error, error);
  EXPECT_EQ(Lut::fit(Function(sigmoid), {}, format).report().error, error);
  EXPECT_EQ(Lut::fit([](double x) { return sigmoid(x); }, {}, format).report().error, error);
}

// One entry for every int8 element leaves nothing but rounding.
TEST(LutFit, JumpsAreExactWhereEveryInputHasAnEntry) {
  const auto parity = [](double x) { return std::fmod(std::abs(x), 2.0) * 100; };
  const Lut lut = Lut::fit(parity, {}, integers(Precision::kInt8, 1, 1, 0, 8));
  EXPECT_EQ((integer_worst<std::int8_t, std::int8_t>(lut, parity).error), 0);
  EXPECT_EQ(lut.report().error, 0);
}

TEST(LutFit, FunctionIsCalledInTheRangeOnly) {
  double low = 1e9, high = -1e9;
  const auto root = [&](double x) {
    low = std::min(low, x);
    high = std::max(high, x);
    return std::sqrt(x);
  };
  const Lut lut = Lut::fit(root, {0, 3}, Precision::kFp16);
  EXPECT_GE(low, 0);
  EXPECT_LE(high, 3);
  EXPECT_LE(lut.report().error, 1.0 / 64);
  (void)Lut::fit(root, {0, 3}, integers(Precision::kInt16, 0.01, 0.01, 0, 32));
  EXPECT_GE(low, 0);
  EXPECT_LE(high, 3);
}

TEST(LutFit, InfiniteResultsAreTheGreatestNumber) {
  const auto pole = [](double x) { return x == 0 ? INFINITY : 1 / std::abs(x); };
  const Lut lut = Lut::fit(pole, {-2, 2}, integers(Precision::kInt8, 1.0 / 64, 1.0 / 8, 0, 8));
  EXPECT_EQ((integer_worst<std::int8_t, std::int8_t>(lut, pole).error), lut.report().error);
  LutRun run = sdp_run<std::int8_t, std::int8_t>(lut);
  EXPECT_EQ(look_up<std::int8_t>(run, every<std::int8_t>())[0], 127);
}

TEST(LutFit, RefusesWhatCannotBe) {
  const auto same = [](double x) { return x; };
  const LutFormat bytes = integers(Precision::kInt8, 0.5, 0.5, 0, 8);
  const auto refused = [](const std::string& text, const auto& call) {
    expect_error(ErrorCode::kInvalidArgument, text, call);
  };
  refused("range 3..3 of a look-up table is empty: its start must be less than its end", [&] {
    Lut::fit(same, {3, 3}, bytes);
  });
  refused("range nan..1 of a look-up table is empty", [&] { Lut::fit(same, {NAN, 1}, bytes); });
  refused("has no input in it: those of 8 bits are -64..63.5 in steps of 0.5", [&] {
    Lut::fit(same, {64, 70}, bytes);
  });
  refused("has no input in it", [&] { Lut::fit(same, {0.1, 0.4}, bytes); });
  refused("range 1000000..10000000 of a look-up table has no fp16 number in it", [&] {
    Lut::fit(same, {1e6, 1e7}, Precision::kFp16);
  });
  refused("input scale 0 of a look-up table is no positive number",
          [&] { Lut::fit(same, {}, integers(Precision::kInt8, 0, 1, 0, 8)); });
  refused("output scale -1 of a look-up table",
          [&] { Lut::fit(same, {}, integers(Precision::kInt8, 1, -1, 0, 8)); });
  refused("output zero point of a look-up table 200 is not in -128..127",
          [&] { Lut::fit(same, {}, integers(Precision::kInt8, 1, 1, 200, 8)); });
  refused("input_bits of a look-up table 33 is not in 2..32",
          [&] { Lut::fit(same, {}, integers(Precision::kInt8, 1, 1, 0, 33)); });
  refused("precision 7 of a look-up table", [&] { Lut::fit(same, {}, static_cast<Precision>(7)); });
  refused("the function of a look-up table gives NaN at -64",
          [&] { Lut::fit([](double x) { return std::sqrt(x); }, {}, bytes); });
  refused("an empty Lut has no table", [&] { (void)Lut().table(); });

  const Lut lut = Lut::fit(same, {}, bytes);
  nvdla_layer layer = {};
  layer.kind = NVDLA_LAYER_PDP;
  refused("a layer of kind 'pdp' has no SDP", [&] { lut.apply(layer, 0); });
  layer.kind = NVDLA_LAYER_SDP;
  refused("index of a look-up table 64 is not in 0..63", [&] { lut.apply(layer, 64); });
}

TEST(LutFit, ExceptionsOfTheFunctionAreNested) {
  const auto broken = [](double x) -> double {
    if (x > 2) throw std::out_of_range("too much");
    return x;
  };
  try {
    Lut::fit(broken, {0, 4}, Precision::kFp16);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), make_error_code(ErrorCode::kInvalidArgument));
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("the function of a look-up table failed at ")) << text;
    EXPECT_TRUE(text.ends_with(": too much")) << text;
    EXPECT_THROW(std::rethrow_if_nested(error), std::out_of_range);
  }
}

}  // namespace
}  // namespace nvdla::test
