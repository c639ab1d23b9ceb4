// SPDX-License-Identifier: MIT
//
// The runtime's arithmetic of look-up tables against the device model: random tables of both
// units, every input, results and counters.
#include "lut/lut_eval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "common/runtime/lut_layer.hpp"

namespace nvdla::test {
namespace {

using detail::LutSide;
using detail::LutTable;

class Tables {
 public:
  Tables(std::uint32_t unit, bool real, int bits, unsigned seed)
      : unit_(unit), real_(real), bits_(bits), random_(seed) {}

  // Within what compiling accepts, and near enough to inputs that every side is met.
  nvdla_lut make() {
    nvdla_lut lut = {};
    lut.unit = unit_;
    lut.flags = static_cast<std::uint32_t>(any(0, 15));
    if ((lut.flags & NVDLA_LUT_LE_LINEAR) != 0) {
      lut.le_index_select = select(7);
    } else {
      lut.le_index_offset = real_ ? any(-20, 20) : any(-3, bits_ - 2);
    }
    lut.lo_index_select = select(9);
    range(lut.le_start, lut.le_end);
    range(lut.lo_start, lut.lo_end);
    for (nvdla_lut_slope* s :
         {&lut.le_underflow, &lut.le_overflow, &lut.lo_underflow, &lut.lo_overflow})
      *s = real_ ? nvdla_lut_slope{half(), 0} : nvdla_lut_slope{any(-32768, 32767), any(-16, 15)};
    for (std::uint16_t& entry : lut.le) entry = half_or_integer();
    for (std::uint16_t& entry : lut.lo) entry = half_or_integer();
    return lut;
  }
  int any(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }

 private:
  int select(int table_bits) {
    return real_ ? any(-20, 14) : any(2 - table_bits, bits_ - table_bits);
  }
  // Any but infinity and NaN.
  std::uint16_t half() { return static_cast<std::uint16_t>(any(0, 0x7bff) | any(0, 1) << 15); }
  std::uint16_t half_or_integer() {
    return real_ ? half() : static_cast<std::uint16_t>(any(0, 0xffff));
  }
  void range(__s64& start, __s64& end) {
    if (real_) {
      std::uint16_t low = half(), high = half();
      if (number_of(low) > number_of(high)) std::swap(low, high);
      start = fp::widen<fp::Fp32>(low);
      end = fp::widen<fp::Fp32>(high);
      return;
    }
    const auto reach = __s64{1} << any(3, bits_ - 1);
    std::uniform_int_distribution<__s64> place(-reach, reach - 1);
    start = place(random_);
    end = place(random_);
    if (start > end) std::swap(start, end);
  }

  std::uint32_t unit_;
  bool real_;
  int bits_;
  std::mt19937 random_;
};

struct Counts {
  std::uint32_t underflow = 0, overflow = 0, hybrid = 0, le_hit = 0, lo_hit = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

Counts counted(const nvdla_layer_stats& s, std::uint32_t first) {
  EXPECT_EQ(s.valid >> first & 0x1f, 0x1fU);
  return {s.counter[first], s.counter[first + 1], s.counter[first + 2], s.counter[first + 3],
          s.counter[first + 4]};
}

// SDP: where the answer came from, and on its own which tables had one.
void count_sdp(Counts& counts, const nvdla_lut& lut, bool real, std::int64_t x) {
  const LutSide le = detail::lut_answer(lut, LutTable::kLe, real, x).side;
  const LutSide lo = detail::lut_answer(lut, LutTable::kLo, real, x).side;
  const LutSide chosen = detail::lut_choice(lut.flags, le, lo) == LutTable::kLo ? lo : le;
  counts.underflow += chosen == LutSide::kUnderflow;
  counts.overflow += chosen == LutSide::kOverflow;
  counts.hybrid += chosen == LutSide::kHit;
  counts.le_hit += le == LutSide::kHit;
  counts.lo_hit += lo == LutSide::kHit;
}

// CDP: every input is counted once.
void count_cdp(Counts& counts, const nvdla_lut& lut, bool real, std::int64_t x) {
  const LutSide le = detail::lut_answer(lut, LutTable::kLe, real, x).side;
  const LutSide lo = detail::lut_answer(lut, LutTable::kLo, real, x).side;
  if (le == lo && le == LutSide::kUnderflow) {
    ++counts.underflow;
  } else if (le == lo && le == LutSide::kOverflow) {
    ++counts.overflow;
  } else if ((le == LutSide::kHit) == (lo == LutSide::kHit)) {
    ++counts.hybrid;
  } else {
    ++(le == LutSide::kHit ? counts.le_hit : counts.lo_hit);
  }
}

std::int64_t limit(std::int64_t value, int bits) {
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  return std::clamp(value, -half, half - 1);
}

TEST(LutEval, IsSdpInIntegers) {
  Tables tables(NVDLA_LUT_SDP, false, 32, 1);
  const std::vector<std::int16_t> inputs = every<std::int16_t>();
  for (int round = 0; round < 12; ++round) {
    LutRun run;
    run.lut = tables.make();
    run.layer = make_layer(make_sdp());
    run.layer.lut = 1;
    nvdla_sdp& sdp = run.layer.sdp;
    sdp.in_precision = sdp.proc_precision = sdp.out_precision = NVDLA_PRECISION_INT16;
    sdp.y.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT;
    // X1 makes numbers of 16 to 32 bits of the elements.
    const int factor = round == 0 ? 1 : tables.any(1, 1 << (round + 3));
    const int shift = tables.any(0, 12);
    sdp.x1.flags = NVDLA_SDP_ENABLE;
    sdp.x1.mul = NVDLA_MUL_MUL;
    sdp.x1.mul_value = factor;
    sdp.out_cvt.truncate = static_cast<std::uint32_t>(shift);
    const auto outputs = look_up<std::int16_t>(run, inputs);
    Counts counts;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::int64_t x = std::int64_t{inputs[i]} * factor;
      const std::int64_t y = detail::lut_evaluate(run.lut, false, x);
      ASSERT_EQ(outputs[i], limit(static_cast<std::int64_t>(detail::round_shift(y, shift)), 16))
          << "round " << round << ", input " << x;
      count_sdp(counts, run.lut, false, x);
    }
    EXPECT_EQ(counted(run.statistics, NVDLA_COUNTER_SDP_LUT_UNDERFLOW), counts);
  }
}

TEST(LutEval, IsSdpInFp16) {
  Tables tables(NVDLA_LUT_SDP, true, 0, 2);
  const std::vector<std::uint16_t> inputs = every<std::uint16_t>();
  for (int round = 0; round < 12; ++round) {
    LutRun run;
    run.lut = tables.make();
    run.layer = make_layer(make_sdp());
    run.layer.lut = 1;
    nvdla_sdp& sdp = run.layer.sdp;
    sdp.in_precision = sdp.proc_precision = sdp.out_precision = NVDLA_PRECISION_FP16;
    sdp.out_cvt = {};
    sdp.y.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT;
    const auto outputs = look_up<std::uint16_t>(run, inputs);
    Counts counts;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::uint32_t x = fp::widen<fp::Fp32>(inputs[i]);
      const auto y = static_cast<std::uint32_t>(detail::lut_evaluate(run.lut, true, x));
      ASSERT_EQ(outputs[i], fp::narrow<fp::Fp32>(y))
          << "round " << round << ", input " << inputs[i];
      count_sdp(counts, run.lut, true, x);
    }
    EXPECT_EQ(counted(run.statistics, NVDLA_COUNTER_SDP_LUT_UNDERFLOW), counts);
  }
}

// The table's result as it is. Without squares it sees elements, otherwise sums over a window.
LutRun bare_cdp(Precision precision, bool squares) {
  LutRun run;
  run.layer.kind = NVDLA_LAYER_CDP;
  run.layer.lut = 1;
  nvdla_cdp& cdp = run.layer.cdp;
  cdp.flags = NVDLA_CDP_BYPASS_MUL | (squares ? 0 : NVDLA_CDP_BYPASS_SQUARE_SUM);
  cdp.precision = static_cast<std::uint32_t>(precision);
  cdp.window = squares ? 3 : 0;
  if (precision == Precision::kFp16) {
    cdp.flags |= NVDLA_CDP_NAN_TO_ZERO;
  } else {
    cdp.in_cvt.scale = cdp.out_cvt.scale = 1;
  }
  return run;
}

constexpr std::uint32_t kChannels = 32;

template <typename Element>
void expect_integer_cdp(int bits, unsigned seed) {
  constexpr int kBits = 8 * sizeof(Element);
  Tables tables(NVDLA_LUT_CDP, false, bits, seed);
  std::vector<Element> inputs = every<Element>();
  // Neighbours of all kinds.
  std::shuffle(inputs.begin(), inputs.end(), std::mt19937(seed));
  const auto plane = inputs.size() / kChannels;
  for (int round = 0; round < 12; ++round) {
    const bool squares = round % 3 != 0;
    LutRun run = bare_cdp(precision_of<Element>(), squares);
    run.lut = tables.make();
    const int shift = tables.any(0, 8);
    run.layer.cdp.out_cvt.truncate = static_cast<std::uint32_t>(shift);
    const auto outputs = look_up<Element>(
        run, inputs,
        {.channels = kChannels, .height = 8, .width = static_cast<std::uint32_t>(plane / 8)});
    Counts counts;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::int64_t x = inputs[i];
      if (squares) {
        x *= x;
        if (i >= plane) x += std::int64_t{inputs[i - plane]} * inputs[i - plane];
        if (i + plane < inputs.size()) x += std::int64_t{inputs[i + plane]} * inputs[i + plane];
      }
      const std::int64_t y = detail::lut_evaluate(run.lut, false, x);
      ASSERT_EQ(outputs[i], limit(static_cast<std::int64_t>(detail::round_shift(y, shift)), kBits))
          << "round " << round << ", input " << x;
      count_cdp(counts, run.lut, false, x);
    }
    EXPECT_EQ(counted(run.statistics, NVDLA_COUNTER_CDP_LUT_UNDERFLOW), counts);
  }
}

TEST(LutEval, IsCdpInInt8) { expect_integer_cdp<std::int8_t>(22, 3); }
TEST(LutEval, IsCdpInInt16) { expect_integer_cdp<std::int16_t>(38, 4); }

TEST(LutEval, IsCdpInFp16) {
  Tables tables(NVDLA_LUT_CDP, true, 0, 5);
  std::vector<std::uint16_t> inputs = every<std::uint16_t>();
  std::shuffle(inputs.begin(), inputs.end(), std::mt19937(5));
  const auto plane = inputs.size() / kChannels;
  const auto value = [&](std::size_t i) {
    return fp::fp17_to_fp32(fp::widen<fp::Fp17>(fp::flush_nan<fp::Fp16>(inputs[i])));
  };
  const auto square = [&](std::size_t i) { return fp::mul<fp::Fp32>(value(i), value(i)); };
  for (int round = 0; round < 12; ++round) {
    const bool squares = round % 3 != 0;
    LutRun run = bare_cdp(Precision::kFp16, squares);
    run.lut = tables.make();
    const auto outputs = look_up<std::uint16_t>(
        run, inputs,
        {.channels = kChannels, .height = 8, .width = static_cast<std::uint32_t>(plane / 8)});
    Counts counts;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::uint32_t x = value(i);
      if (squares) {
        const std::uint32_t before = i >= plane ? square(i - plane) : 0;
        const std::uint32_t after = i + plane < inputs.size() ? square(i + plane) : 0;
        x = fp::add<fp::Fp32>(fp::add<fp::Fp32>(before, after), square(i));
      }
      const auto y = static_cast<std::uint32_t>(detail::lut_evaluate(run.lut, true, x));
      ASSERT_EQ(outputs[i], fp::narrow<fp::Fp17>(y)) << "round " << round << ", input " << x;
      count_cdp(counts, run.lut, true, x);
    }
    EXPECT_EQ(counted(run.statistics, NVDLA_COUNTER_CDP_LUT_UNDERFLOW), counts);
  }
}

}  // namespace
}  // namespace nvdla::test
