// SPDX-License-Identifier: MIT
#include "model/sdp/sdp_lut.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "model/lut/lut_tables.hpp"
#include "model/simd/kernels.hpp"
#include "support/float.hpp"
#include "support/integers.hpp"

namespace nvdla::model {
namespace {

using fp::Fp17;
using fp::Fp32;

// Interpolation uses only these bits of a fraction.
constexpr unsigned kFractionBits = 35;
constexpr std::int64_t kOne = std::int64_t{1} << kFractionBits;
// Documented OFFSETs of integer tables end at 31. From this value on every slope but 0 saturates,
// while the distance that the slope multiplies still fits the arithmetic.
constexpr int kMostBias = 62;

std::int64_t short_fraction(std::uint64_t fraction) noexcept {
  return static_cast<std::int64_t>(fraction >> (64 - kFractionBits));
}

std::int32_t interpolate(const LutTable& table, const LutPlace& place, std::int32_t x) noexcept {
  if (place.side == LutSide::kHit) {
    const std::int64_t fraction = short_fraction(place.fraction);
    return arith::saturate32(
        arith::round_shift(arith::Wide{table.entries[place.index]} * (kOne - fraction) +
                               arith::Wide{table.entries[place.index + 1]} * fraction,
                           kFractionBits));
  }
  const bool under = place.side == LutSide::kUnderflow;
  arith::Wide distance = arith::Wide{x} - (under ? table.start : table.end);
  // Unlike in CDP an OFFSET of 0 moves nothing.
  if (under && table.exponential && table.offset > 0)
    distance -= arith::Wide{1} << std::min(table.offset, kMostBias);
  const arith::Wide slope = under ? table.underflow_scale : table.overflow_scale;
  const int shift = under ? table.underflow_shift : table.overflow_shift;
  const std::int32_t step = arith::saturate32(arith::round_shift(distance * slope, shift));
  return arith::saturate32(arith::Wide{table.entries[under ? 0 : table.last]} + step);
}

std::uint32_t entry17(std::int16_t entry) noexcept {
  return fp::widen<Fp17>(static_cast<std::uint16_t>(entry));
}

// The two weights of an interpolation are rounded each for itself.
std::uint32_t weight17(std::int64_t fraction) noexcept {
  return fp::from_integer<Fp17>(static_cast<std::uint64_t>(fraction),
                                -static_cast<int>(kFractionBits));
}

std::uint32_t interpolate_float(const LutTable& table, const LutPlace& place,
                                std::uint32_t x) noexcept {
  if (place.side == LutSide::kHit) {
    const std::int64_t fraction = short_fraction(place.fraction);
    return fp::fp17_to_fp32(
        fp::add<Fp17>(fp::mul<Fp17>(weight17(kOne - fraction), entry17(table.entries[place.index])),
                      fp::mul<Fp17>(weight17(fraction), entry17(table.entries[place.index + 1]))));
  }
  const bool under = place.side == LutSide::kUnderflow;
  auto anchor = static_cast<std::uint32_t>(under ? table.start : table.end);
  if (under && table.exponential)
    anchor = fp::add<Fp32>(anchor, fp::from_integer<Fp32>(1, table.offset));
  const std::uint32_t distance = fp::fp32_to_fp17(fp::sub<Fp32>(x, anchor));
  const std::uint32_t slope = entry17(under ? table.underflow_scale : table.overflow_scale);
  // The entry is the first operand.
  return fp::fp17_to_fp32(fp::add<Fp17>(entry17(table.entries[under ? 0 : table.last]),
                                        fp::mul<Fp17>(distance, slope)));
}

void count_place(LutSide le, LutSide lo, LutSide chosen, SdpLutCounters& counters) noexcept {
  counters.underflow += chosen == LutSide::kUnderflow ? 1 : 0;
  counters.overflow += chosen == LutSide::kOverflow ? 1 : 0;
  counters.hit += chosen == LutSide::kHit ? 1 : 0;
  counters.le_hit += le == LutSide::kHit ? 1 : 0;
  counters.lo_hit += lo == LutSide::kHit ? 1 : 0;
}

template <typename Find, typename Interpolate>
void look_up_each(std::int32_t* values, unsigned count_of, unsigned lanes, const LutConfig& config,
                  SdpLutCounters& counters, Find find, Interpolate answer) noexcept {
  for (unsigned position = 0; position < count_of; ++position) {
    std::int32_t* row = values + std::size_t{position} * kBlock;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const LutPlace le = find(config.le, row[lane]);
      const LutPlace lo = find(config.lo, row[lane]);
      const bool choose_lo = lut_choose_lo(config, le.side, lo.side);
      count_place(le.side, lo.side, choose_lo ? lo.side : le.side, counters);
      row[lane] = choose_lo ? answer(config.lo, lo, row[lane]) : answer(config.le, le, row[lane]);
    }
  }
}

}  // namespace

LutConfig read_sdp_lut(const RegisterFile& registers, Precision proc) {
  LutConfig config = read_lut(registers, NVDLA_UNIT_SDP, NVDLA_SDP_S_LUT_LE_SLOPE_SCALE,
                              NVDLA_SDP_S_LUT_LO_SLOPE_SCALE);
  const auto bound = [&](std::uint32_t offset) -> std::int64_t {
    const std::uint32_t word = registers.single(NVDLA_UNIT_SDP, offset);
    if (proc == Precision::kFp16) return word;
    return static_cast<std::int32_t>(word);
  };
  config.le.start = bound(NVDLA_SDP_S_LUT_LE_START);
  config.le.end = bound(NVDLA_SDP_S_LUT_LE_END);
  config.lo.start = bound(NVDLA_SDP_S_LUT_LO_START);
  config.lo.end = bound(NVDLA_SDP_S_LUT_LO_END);
  return config;
}

void SdpLut::begin(const LutConfig& config, const UnitKernels& kernels,
                   std::uint64_t largest) noexcept {
  config_ = &config;
  kernels_ = &kernels;
  real_ = few_ = false;
  ready_ = make_tables(config, LutUnit::kSdp, false, ints_);
  if (!ready_ || largest > kFew) return;
  TableRun run;
  for (std::int32_t at = 0; at <= 2 * kFew; at += static_cast<std::int32_t>(run.count)) {
    run.count = std::min(kTableRun, static_cast<unsigned>(2 * kFew + 1 - at));
    std::iota(answers_ + at, answers_ + at + run.count, at - kFew);
    look_up_run(answers_ + at, run);
    std::copy_n(run.sides, run.count, sides_ + at);
  }
  few_ = true;
}

void SdpLut::begin_float(const LutConfig& config, const UnitKernels& kernels,
                         bool regular) noexcept {
  config_ = &config;
  kernels_ = &kernels;
  real_ = true;
  few_ = false;
  ready_ = regular && make_tables(config, LutUnit::kSdp, floats_);
}

void SdpLut::look_up_run(std::int32_t* values, TableRun& run) const noexcept {
  if (few_) {
    for (unsigned i = 0; i < run.count; ++i) {
      const std::int32_t x = values[i] + kFew;
      run.sides[i] = sides_[x];
      values[i] = answers_[x];
    }
  } else if (real_) {
    kernels_->table_find_float(floats_, values, run);
    kernels_->sdp_table_float(floats_, run, values);
  } else {
    kernels_->table_find(ints_, values, run);
    kernels_->sdp_table(ints_, run, values);
  }
}

void SdpLut::look_up(std::int32_t* values, unsigned count_of, unsigned lanes, bool counted,
                     SdpLutCounters& counters) const noexcept {
  if (ready_) {
    // Whole blocks lie together.
    const bool whole = lanes == kBlock;
    const unsigned total = count_of * kBlock, step = whole ? kTableRun : kBlock;
    TableRun run;
    for (unsigned at = 0; at < total; at += step) {
      run.count = whole ? std::min(step, total - at) : lanes;
      look_up_run(values + at, run);
      if (!counted) continue;
      const TableCounts counts = kernels_->table_count(run);
      counters +=
          {counts.answer_under, counts.answer_over,
           run.count - counts.answer_under - counts.answer_over, counts.le_hit, counts.lo_hit};
    }
    return;
  }
  if (real_) {
    look_up_each(
        values, count_of, lanes, *config_, counters,
        [](const LutTable& table, std::int32_t x) {
          return lut_find_fp(table, static_cast<std::uint32_t>(x));
        },
        [](const LutTable& table, const LutPlace& place, std::int32_t x) {
          return static_cast<std::int32_t>(
              interpolate_float(table, place, static_cast<std::uint32_t>(x)));
        });
    return;
  }
  look_up_each(
      values, count_of, lanes, *config_, counters,
      [](const LutTable& table, std::int32_t x) { return lut_find(table, x); }, interpolate);
}

}  // namespace nvdla::model
