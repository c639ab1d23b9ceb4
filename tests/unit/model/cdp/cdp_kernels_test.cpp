// SPDX-License-Identifier: MIT
//
// What each instruction set makes of CDP's tables and of what is around them, beside the portable
// loops: numbers at the ends of tables and at their steps, beyond them with and without slopes, and
// where roundings are ties or nearly so.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/kernel_sets.hpp"
#include "model/lut/lut_tables.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {
namespace {

using test::one_in;
using test::pick;

class CdpKernels : public test::KernelSets {
 protected:
  unsigned any(int low, int high) { return static_cast<unsigned>(pick(random_, low, high)); }

  // Tables whose entries `entry` gives.
  template <typename Entry>
  void fill(Entry entry) {
    for (LutTable* table : {&config_.le, &config_.lo}) {
      std::vector<std::int16_t>& entries = table == &config_.le ? le_ : lo_;
      entries.resize(table == &config_.le ? 65 : 257);
      for (std::int16_t& one : entries) one = static_cast<std::int16_t>(entry());
      table->entries = entries.data();
      table->last = static_cast<unsigned>(entries.size() - 1);
      table->underflow_shift = table->overflow_shift = pick(random_, -4, 12);
    }
    config_.le.exponential = one_in(random_, 2);
    config_.underflow_lo = one_in(random_, 2);
    config_.overflow_lo = one_in(random_, 2);
    config_.hybrid_lo = one_in(random_, 2);
  }

  void same(const SideCounts& a, const SideCounts& b) {
    ASSERT_EQ(a.le_hit, b.le_hit);
    ASSERT_EQ(a.lo_hit, b.lo_hit);
    ASSERT_EQ(a.both_under, b.both_under);
    ASSERT_EQ(a.both_hit, b.both_hit);
    ASSERT_EQ(a.both_over, b.both_over);
  }

  LutConfig config_;
  std::vector<std::int16_t> le_, lo_;
};

TEST_P(CdpKernels, LookUpIntegersAsThePortableOnesDo) {
  constexpr std::int32_t kMost = 9 << 16;
  for (unsigned round = 0; round < 2000; ++round) {
    fill([&] { return pick(random_, -32768, 32767); });
    for (LutTable* table : {&config_.le, &config_.lo}) {
      table->start = one_in(random_, 3) ? 0 : pick(random_, -(1 << 21), (1 << 21) - 1);
      table->end = pick(random_, -(1 << 21), (1 << 21) - 1);
      table->offset = pick(random_, -8, 20);
      table->select = pick(random_, -10, one_in(random_, 8) ? 31 : 14);
      table->underflow_scale = static_cast<std::int16_t>(one_in(random_, 2) ? 0 : any(0, 9));
      table->overflow_scale = static_cast<std::int16_t>(one_in(random_, 2) ? 0 : any(0, 9));
    }
    IntTables tables;
    ASSERT_TRUE(make_tables(config_, LutUnit::kCdp, false, tables));
    std::vector<std::int32_t> x(any(1, 100));
    for (std::int32_t& one : x) {
      one = pick(random_, -256, one_in(random_, 2) ? kMost : 4096);
      // Near a step.
      const LutTable& table = one_in(random_, 2) ? config_.le : config_.lo;
      if (one_in(random_, 3))
        one = static_cast<std::int32_t>(std::clamp<std::int64_t>(
            table.start + (1 << any(0, 19)) + pick(random_, -1, 1), -256, kMost));
    }
    std::vector<std::int32_t> found(x.size()), expected(x.size());
    const auto count = static_cast<unsigned>(x.size());
    const SideCounts counts = kernels_->units->cdp_look_up(tables, x.data(), count, found.data());
    same(counts, kPortableUnits.cdp_look_up(tables, x.data(), count, expected.data()));
    ASSERT_EQ(found, expected) << "round " << round;
  }
}

// All of int8 from atoms to atoms, beside the portable steps; what lies between atoms stays.
TEST_P(CdpKernels, NormaliseBytesAsThePortableStepsDo) {
  if (kernels_->units->cdp_bytes == nullptr) GTEST_SKIP() << "goes by steps";
  constexpr std::int32_t kMostSum = 9 * 255 * 255;
  std::vector<std::int16_t> answers(kMostSum + 1);
  unsigned saturated = 0;
  for (unsigned round = 0; round < 600; ++round) {
    const int most = one_in(random_, 3) ? 32767 : pick(random_, 1, 32767);
    for (std::int16_t& one : answers) one = static_cast<std::int16_t>(pick(random_, -most, most));
    const unsigned columns = any(1, 20), surfaces = any(1, 3), lanes = surfaces * kCdpAtom;
    const unsigned gap = one_in(random_, 2) ? 0 : any(1, 40), count = columns * lanes;
    // Atoms of a column side by side, or those of a surface.
    const bool side_by_side = one_in(random_, 2);
    const std::size_t near = kCdpAtom + gap;
    const std::size_t column = side_by_side ? surfaces * near : near;
    const std::size_t surface = side_by_side ? near : columns * near;
    CdpBytes layer{};
    layer.offset = pick(random_, -128, 127);
    layer.out = {one_in(random_, 2) ? 0 : pick(random_, -(1 << 24), (1 << 24) - 1),
                 one_in(random_, 4) ? pick(random_, 0, 3) : pick(random_, 0, 32767),
                 any(kCdpLeastShift, kCdpMostShift)};
    layer.reach = any(1, kCdpReach);
    layer.lanes = lanes;
    layer.channels = lanes - (one_in(random_, 2) ? 0 : any(1, kCdpAtom - 1));
    layer.answers = answers.data();

    const auto in = numbers<std::int8_t>(columns * surfaces * near, -128, 127);
    std::vector<std::int8_t> found = in, expected = in, elements(count);
    const auto at = [&](unsigned i) {
      return i / lanes * column + i % lanes / kCdpAtom * surface + i % kCdpAtom;
    };
    for (unsigned i = 0; i < count; ++i) elements[i] = in[at(i)];
    std::vector<std::int32_t> values(count), sums(count), results(count);
    std::vector<std::int32_t> squares(columns * (lanes + 2 * kCdpReach));
    kPortableUnits.cdp_in(elements.data(), true, count, {layer.offset, 1, 0}, values.data());
    for (unsigned i = 0; i < count; ++i)
      if (i % lanes >= layer.channels) values[i] = 0;
    kPortableUnits.cdp_sums(values.data(), columns, lanes, layer.reach, squares.data(),
                            sums.data());
    kPortableUnits.cdp_map(answers.data(), sums.data(), count, results.data());
    const std::uint32_t wanted = kPortableUnits.cdp_out(results.data(), values.data(), count,
                                                        layer.out, true, elements.data());
    for (unsigned i = 0; i < count; ++i) expected[at(i)] = elements[i];
    saturated += wanted != 0 ? 1 : 0;

    std::vector<std::int16_t> words(columns * (lanes + 2 * kCdpReach)), room(count);
    ASSERT_EQ(kernels_->units->cdp_bytes(layer, {in.data(), column, surface}, columns,
                                         {found.data(), column, surface},
                                         {words.data(), sums.data(), room.data()}),
              wanted)
        << "round " << round;
    ASSERT_EQ(found, expected) << "round " << round;
  }
  EXPECT_GT(saturated, 50u);
  EXPECT_LT(saturated, 550u);
}

TEST_P(CdpKernels, LookUpPlainNumbersAsThePortableOnesDo) {
  unsigned plain = 0;
  for (unsigned round = 0; round < 3000; ++round) {
    // Of one sign, 0 or normal; neighbours far apart and next to each other.
    const unsigned sign = any(0, 1) << 15, exponent = any(1, 24);
    fill([&] {
      if (one_in(random_, 8)) return 0u;
      return sign | (exponent + any(0, 4)) << 10 | (one_in(random_, 3) ? 0 : any(0, 1023));
    });
    for (LutTable* table : {&config_.le, &config_.lo}) {
      const float start =
          one_in(random_, 2) ? 0 : std::ldexp(1.0F + any(0, 255) / 256.0F, pick(random_, -20, 20));
      table->start = std::bit_cast<std::uint32_t>(start);
      table->end = std::bit_cast<std::uint32_t>(start * 2);
      table->offset = pick(random_, -20, 15);
      table->select = pick(random_, -20, 16);
      table->underflow_scale = static_cast<std::int16_t>(one_in(random_, 2) ? 0 : 0x3800);
      table->overflow_scale = static_cast<std::int16_t>(one_in(random_, 2) ? 0 : 0xb000);
    }
    FloatTables tables;
    ASSERT_TRUE(make_tables(config_, LutUnit::kCdp, tables));
    if (!tables.plain) continue;
    ++plain;
    std::vector<std::int32_t> x(any(1, 100));
    for (std::int32_t& one : x) {
      float number = std::ldexp(1.0F + any(0, 1 << 20) * 0x1p-20F, pick(random_, -30, 34));
      const LutTable& table = one_in(random_, 2) ? config_.le : config_.lo;
      const auto start = std::bit_cast<float>(static_cast<std::uint32_t>(table.start));
      // At a step, or at a simple part of the way to the next one.
      if (one_in(random_, 2))
        number = start + std::ldexp(static_cast<float>(any(0, 300 * 16)), table.select - 4);
      if (start != 0 && one_in(random_, 8))
        number = std::nextafter(start, any(0, 1) != 0 ? 1e30F : 0.0F);
      if (one_in(random_, 16)) number = 0;
      one = std::bit_cast<std::int32_t>(number);
    }
    std::vector<std::int32_t> found(x.size()), expected(x.size());
    const auto count = static_cast<unsigned>(x.size());
    const SideCounts counts =
        kernels_->units->cdp_look_up_plain(tables, x.data(), count, true, found.data());
    same(counts, kPortableUnits.cdp_look_up_plain(tables, x.data(), count, true, expected.data()));
    ASSERT_EQ(found, expected) << "round " << round;
    std::fill(found.begin(), found.end(), 0);
    kernels_->units->cdp_look_up_plain(tables, x.data(), count, false, found.data());
    ASSERT_EQ(found, expected) << "uncounted, round " << round;
  }
  EXPECT_GT(plain, 1000u);
}

// Tables that are not plain say so.
TEST_P(CdpKernels, KnowPlainTables) {
  fill([] { return 0x3c00; });
  config_.le.exponential = false;
  FloatTables tables;
  const auto plain = [&] { return make_tables(config_, LutUnit::kCdp, tables) && tables.plain; };
  EXPECT_TRUE(plain());
  for (const int entry : {0xbc00, 0x0001, 0x8000, 0x7c00, 0x7e00}) {
    le_[7] = static_cast<std::int16_t>(entry);
    EXPECT_FALSE(plain()) << entry;
  }
  le_[7] = 0;
  EXPECT_TRUE(plain());
  config_.lo.start = std::bit_cast<std::uint32_t>(0x1p-100F);
  EXPECT_FALSE(plain());
}

// Columns of whole vectors and others, of numbers and with a NaN or an infinity somewhere.
TEST_P(CdpKernels, SumSquaresOfHalvesAsThePortableOnesDo) {
  for (unsigned round = 0; round < 500; ++round) {
    const unsigned columns = any(1, 6), lanes = one_in(random_, 4) ? any(1, 70) : 16 * any(1, 5);
    const unsigned count = columns * lanes, reach = any(1, kCdpReach);
    auto halves = numbers<std::uint16_t>(count, 0, 0xffff);
    const bool special = one_in(random_, 4);
    for (std::uint16_t& half : halves)
      if (half % 0x8000 >= 0x7c00) half = static_cast<std::uint16_t>(half % 0x400);
    if (special)
      halves[any(0, static_cast<int>(count) - 1)] = static_cast<std::uint16_t>(any(0x7c00, 0x7fff));
    const bool flush = one_in(random_, 2);
    std::vector<std::int32_t> found(count), expected(count);
    ASSERT_EQ(kernels_->units->cdp_in_half(halves.data(), count, flush, found.data()), !special);
    ASSERT_EQ(kPortableUnits.cdp_in_half(halves.data(), count, flush, expected.data()), !special);
    ASSERT_EQ(found, expected) << "round " << round;
    std::vector<std::int32_t> squares(columns * (lanes + 2 * kCdpReach)), sums(count);
    kPortableUnits.cdp_sums_float(expected.data(), columns, lanes, reach, !special, squares.data(),
                                  sums.data());
    kernels_->units->cdp_sums_float(expected.data(), columns, lanes, reach, !special,
                                    squares.data(), found.data());
    ASSERT_EQ(found, sums) << "round " << round;
  }
}

TEST_P(CdpKernels, MultiplyFiniteNumbersAsThePortableOnesDo) {
  for (unsigned round = 0; round < 2000; ++round) {
    const unsigned count = any(1, 70);
    std::vector<std::int32_t> results(count), values(count);
    for (std::vector<std::int32_t>* numbers : {&results, &values})
      for (std::int32_t& one : *numbers)
        one = one_in(random_, 8)
                  ? 0
                  : static_cast<std::int32_t>(any(0, 1) << 31 | any(127 - 24, 127 + 15) << 23 |
                                              any(0, 1023) << 13);
    std::vector<std::uint16_t> found(count), expected(count);
    const bool multiply = one_in(random_, 2);
    EXPECT_EQ(kernels_->units->cdp_out_half(results.data(), values.data(), count, multiply, true,
                                            found.data()),
              0u);
    kPortableUnits.cdp_out_half(results.data(), values.data(), count, multiply, true,
                                expected.data());
    ASSERT_EQ(found, expected) << "round " << round;
  }
}

// All of fp16 from atoms to atoms, beside the portable steps; what lies between atoms stays, and
// all of it where a number is not finite.
TEST_P(CdpKernels, NormaliseHalvesAsThePortableStepsDo) {
  if (kernels_->units->cdp_halves == nullptr) GTEST_SKIP() << "goes by steps";
  constexpr unsigned kAtom = kCdpAtom / 2;
  unsigned plain = 0;
  for (unsigned round = 0; round < 800; ++round) {
    fill([&] { return any(0x3000, 0x4400); });
    for (LutTable* table : {&config_.le, &config_.lo}) {
      table->start = 0;
      table->select = pick(random_, -6, 2);
    }
    FloatTables tables;
    ASSERT_TRUE(make_tables(config_, LutUnit::kCdp, tables));
    if (!tables.plain) continue;
    ++plain;
    const unsigned columns = any(1, 12), surfaces = any(1, 3), lanes = surfaces * kAtom;
    const unsigned gap = one_in(random_, 2) ? 0 : any(1, 20), count = columns * lanes;
    // Atoms of a column side by side, or those of a surface.
    const bool side_by_side = one_in(random_, 2);
    const std::size_t near = kAtom + gap;
    const std::size_t column = side_by_side ? surfaces * near : near;
    const std::size_t surface = side_by_side ? near : columns * near;
    const CdpHalves layer{&tables, any(1, kCdpReach),
                          lanes - (one_in(random_, 2) ? 0 : any(1, kAtom - 1)), lanes};

    auto in = numbers<std::uint16_t>(columns * surfaces * near, 0, 0xffff);
    for (std::uint16_t& half : in)
      half = static_cast<std::uint16_t>((half & 0x8000) | (one_in(random_, 8) ? 0 : half % 0x4c00));
    const auto at = [&](unsigned i) {
      return i / lanes * column + i % lanes / kAtom * surface + i % kAtom;
    };
    const bool special = one_in(random_, 8);
    if (special)
      in[at(any(0, static_cast<int>(count) - 1))] = static_cast<std::uint16_t>(any(0x7c00, 0x7fff));
    std::vector<std::uint16_t> found = in, expected = in, elements(count);
    for (unsigned i = 0; i < count; ++i) elements[i] = in[at(i)];
    std::vector<std::int32_t> values(count), sums(count), results(count);
    std::vector<std::int32_t> squares(columns * (lanes + 2 * kCdpReach));
    kPortableUnits.cdp_in_half(elements.data(), count, false, values.data());
    for (unsigned i = 0; i < count; ++i)
      if (i % lanes >= layer.channels) values[i] = 0;
    kPortableUnits.cdp_sums_float(values.data(), columns, lanes, layer.reach, true, squares.data(),
                                  sums.data());
    kPortableUnits.cdp_look_up_plain(tables, sums.data(), count, true, results.data());
    kPortableUnits.cdp_out_half(results.data(), values.data(), count, true, true, elements.data());
    for (unsigned i = 0; i < count && !special; ++i) expected[at(i)] = elements[i];

    ASSERT_EQ(kernels_->units->cdp_halves(layer, {in.data(), 2 * column, 2 * surface}, columns,
                                          {found.data(), 2 * column, 2 * surface},
                                          {values.data(), sums.data(), results.data()}),
              !special)
        << "round " << round;
    ASSERT_EQ(found, expected) << "round " << round;
  }
  EXPECT_GT(plain, 300u);
}

INSTANTIATE_TEST_SUITE_P(Sets, CdpKernels, test::kAllKernelSets, test::kernel_set_name);

}  // namespace
}  // namespace nvdla::model
