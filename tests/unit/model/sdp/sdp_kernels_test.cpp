// SPDX-License-Identifier: MIT
//
// What each instruction set makes of SDP's operands, one number at a time, and that the narrow
// forms of the operators give what the wide ones do wherever they are said to fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "common/kernel_sets.hpp"
#include "model/simd/unit_kernels.hpp"
#include "support/float.hpp"

namespace nvdla::model {
namespace {

using test::pick;

class SdpKernels : public test::KernelSets {};

constexpr std::int32_t kUntouched = 0x5a5a5a5a;

TEST_P(SdpKernels, WidenElements) {
  for (unsigned round = 0; round < 1000; ++round) {
    SdpElements from{};
    from.count = static_cast<unsigned>(pick(random_, 1, 60));
    from.lanes = 8u << pick(random_, 0, 2);
    from.parts = static_cast<unsigned>(pick(random_, 1, 2));
    from.part = static_cast<unsigned>(pick(random_, 0, from.parts - 1));
    from.two_bytes = pick(random_, 0, 1) != 0;
    const std::size_t bytes = from.two_bytes ? 2 : 1;
    // Neither the bytes nor the results have room for one more.
    const auto raw = numbers<std::int8_t>(std::size_t{from.count} * from.lanes * from.parts * bytes,
                                          INT8_MIN, INT8_MAX);
    from.data = raw.data();
    std::vector<std::int32_t> got((from.count - 1) * kBlock + from.lanes, kUntouched);
    kernels_->sdp_widen(from, got.data());
    for (unsigned i = 0; i < got.size(); ++i) {
      std::int32_t want = kUntouched;
      if (const unsigned lane = i % kBlock; lane < from.lanes) {
        const std::size_t at =
            ((std::size_t{i / kBlock} * from.lanes + lane) * from.parts + from.part) * bytes;
        std::int16_t value = raw[at];
        if (from.two_bytes) std::memcpy(&value, &raw[at], 2);
        want = value;
      }
      ASSERT_EQ(got[i], want) << "position " << i / kBlock << ", lane " << i % kBlock;
    }
  }
}

// Bytes and the flags of their patterns, in place at times, with nothing behind the last.
TEST_P(SdpKernels, LookBytesUp) {
  for (unsigned round = 0; round < 400; ++round) {
    const auto results = numbers<std::uint8_t>(256, 0, 255);
    const auto flags = numbers<std::uint8_t>(256, 0, (1 << kPatternFlags) - 1);
    const auto count = static_cast<std::size_t>(pick(random_, 0, round % 50 == 0 ? 9000 : 300));
    const auto in = numbers<std::uint8_t>(count, 0, 255);
    std::vector<std::uint8_t> out = in, expected;
    std::uint64_t counts[kPatternFlags] = {3, 4, 5, 6, 7}, wanted[kPatternFlags] = {3, 4, 5, 6, 7};
    for (const std::uint8_t byte : in) {
      expected.push_back(results[byte]);
      for (unsigned i = 0; i < kPatternFlags; ++i) wanted[i] += flags[byte] >> i & 1;
    }
    kernels_->units->sdp_count_flags(flags.data(), in.data(), count, counts);
    EXPECT_TRUE(std::equal(counts, counts + kPatternFlags, wanted)) << "round " << round;
    kernels_->units->sdp_map_bytes(results.data(), round % 2 != 0 ? out.data() : in.data(), count,
                                   out.data());
    ASSERT_EQ(out, expected) << "round " << round;
  }
}

TEST_P(SdpKernels, ShiftOperandsToTheLeft) {
  for (unsigned shift = 0; shift < 64; ++shift) {
    auto values = numbers<std::int32_t>(kBlock * 4, INT16_MIN, INT16_MAX);
    const std::int32_t small[] = {-128, -2, -1, 0, 1, 2, 127};
    std::copy(std::begin(small), std::end(small), values.begin());
    auto got = values;
    kernels_->sdp_shift(got.data(), static_cast<unsigned>(got.size()), shift);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto want =
          std::clamp<__int128>(static_cast<__int128>(values[i]) << shift, INT32_MIN, INT32_MAX);
      ASSERT_EQ(got[i], static_cast<std::int32_t>(want)) << values[i] << " << " << shift;
    }
  }
}

TEST_P(SdpKernels, ConvertOperands) {
  for (unsigned round = 0; round < 5000; ++round) {
    SdpOperandConverter c{};
    c.largest = pick(random_, 0, 1) != 0 ? 128 : 32768;
    const auto bits = pick(random_, 1, 32);
    const std::int64_t limit = std::int64_t{1} << (bits - 1);
    c.offset = static_cast<std::int32_t>(pick(random_, -limit, limit - 1));
    c.scale =
        static_cast<std::int16_t>(pick(random_, INT16_MIN, INT16_MAX) >> pick(random_, 0, 15));
    c.truncate = static_cast<std::uint8_t>(pick(random_, 0, pick(random_, 0, 1) != 0 ? 63 : 20));
    const auto values = numbers<std::int32_t>(kBlock * 2, -c.largest, c.largest - 1);
    auto got = values;
    kernels_->sdp_operand(got.data(), static_cast<unsigned>(got.size()), c);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const __int128 product = (static_cast<__int128>(values[i]) - c.offset) * c.scale;
      const __int128 magnitude = product < 0 ? -product : product;
      const __int128 half = c.truncate == 0 ? 0 : static_cast<__int128>(1) << (c.truncate - 1);
      const __int128 rounded = (magnitude + half) >> c.truncate;
      const auto want =
          std::clamp<__int128>(product < 0 ? -rounded : rounded, INT32_MIN, INT32_MAX);
      ASSERT_EQ(got[i], static_cast<std::int32_t>(want))
          << "(" << values[i] << " - " << c.offset << ") * " << c.scale << " >> "
          << static_cast<unsigned>(c.truncate);
    }
  }
}

// In lines of each length, alone and as one of two parts.
TEST_P(SdpKernels, TakeEveryHalf) {
  std::vector<std::uint16_t> raw(0x10000);
  std::iota(raw.begin(), raw.end(), std::uint16_t{0});
  for (const unsigned lanes : {8u, 16u, 32u})
    for (const unsigned parts : {1u, 2u})
      for (const bool flush : {false, true}) {
        const unsigned count = 0x10000 / lanes / parts;
        std::vector<std::int32_t> got(std::size_t{count} * kBlock);
        kernels_->units->sdp_load_half({raw.data(), count, lanes, parts, parts - 1, true},
                                       got.data(), flush);
        for (unsigned i = 0; i < count * lanes; ++i) {
          const unsigned bits = i * parts + parts - 1;
          ASSERT_EQ(static_cast<std::uint32_t>(got[i / lanes * kBlock + i % lanes]),
                    fp::widen<fp::Fp32>(flush ? fp::flush_nan<fp::Fp16>(bits) : bits))
              << std::hex << bits;
        }
      }
}

// Numbers around everything that the processor does otherwise: zeros of both signs, the smallest
// and the largest, NaNs, powers of two with what makes a tie of their difference, products around
// the smallest number.
std::uint32_t draw_float(test::Random& random) {
  const auto sign = static_cast<std::uint32_t>(pick(random, 0, 1)) << 31;
  const auto exponent = static_cast<std::uint32_t>(pick(random, 0, 3) == 0 ? pick(random, 1, 254)
                                                                           : pick(random, 50, 80));
  constexpr std::uint32_t kMantissas[] = {0, 1, 2, 3, 0x400000, 0x7ffffe, 0x7fffff};
  const auto drawn = static_cast<std::uint32_t>(pick(random, 0, 0x7fffff));
  const std::uint32_t mantissa =
      pick(random, 0, 1) != 0 ? drawn : kMantissas[static_cast<unsigned>(pick(random, 0, 6))];
  switch (pick(random, 0, 15)) {
    case 0:
      return sign;
    case 1:
      return sign | fp::Fp32::kExponent | (1 + drawn % 1023);
    case 2:
      return sign | fp::Fp32::kMaxFinite;
    default:
      return sign | exponent << 23 | mantissa;
  }
}

TEST_P(SdpKernels, FloatsAreThoseOfTheDefinition) {
  constexpr unsigned kCount = 8;
  std::vector<std::int32_t> values(kCount * kBlock), operands(kCount * kBlock);
  for (unsigned round = 0; round < 4000; ++round) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint32_t a = draw_float(random_);
      std::uint32_t b = draw_float(random_);
      // Little more than half of the last place of a power of two, and its neighbours.
      if (pick(random_, 0, 3) == 0 && (a >> 23 & 0xff) > 30 && (a >> 23 & 0xff) < 255)
        b = (a ^ 1u << 31) + static_cast<std::uint32_t>(pick(random_, 0, 3)) -
            (static_cast<std::uint32_t>(pick(random_, 24, 26)) << 23);
      values[i] = static_cast<std::int32_t>(a);
      operands[i] = static_cast<std::int32_t>(b);
    }
    const SdpOperand operand{operands.data(), kBlock};
    const auto alu = static_cast<Alu>(round % 4);
    const SdpX unit{true, alu,     alu == Alu::kNone, round % 8 == 7, false,
                    0,    operand, operand,           false};
    auto got = values;
    kernels_->units->sdp_float_x(got.data(), kCount, unit);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto a = static_cast<std::uint32_t>(values[i]);
      const auto b = static_cast<std::uint32_t>(operands[i]);
      const bool passes = unit.prelu && a >> 31 == 0;
      const std::uint32_t want = alu == Alu::kMax   ? fp::max<fp::Fp32>(a, b)
                                 : alu == Alu::kMin ? fp::min<fp::Fp32>(a, b)
                                 : alu == Alu::kSum ? fp::add<fp::Fp32>(a, b)
                                 : passes           ? a
                                                    : fp::mul<fp::Fp32>(a, b);
      ASSERT_EQ(static_cast<std::uint32_t>(got[i]), want)
          << std::hex << a << ", " << b << " ALU " << static_cast<unsigned>(alu);
    }
  }
}

TEST_P(SdpKernels, NarrowFloats) {
  for (unsigned round = 0; round < 1000; ++round) {
    const auto count = static_cast<unsigned>(pick(random_, 1, 5));
    const auto lanes = static_cast<unsigned>(4 * pick(random_, 1, 8));
    std::vector<std::int32_t> values(std::size_t{count} * kBlock);
    for (std::int32_t& value : values) {
      const std::uint32_t any = draw_float(random_);
      // Mostly of the range of fp16 and around it.
      const std::uint32_t near =
          (any & 0x807fffff) | static_cast<std::uint32_t>(pick(random_, 98, 146)) << 23;
      value = static_cast<std::int32_t>(pick(random_, 0, 3) == 0 ? any : near);
    }
    std::vector<std::int16_t> got(values.size()), integers(values.size());
    const HalfCounts counts =
        kernels_->units->sdp_float_to_half(values.data(), count, lanes, got.data());
    kernels_->units->sdp_float_to_int16(values.data(), count, integers.data());
    std::uint32_t nan = 0, largest = 0;
    for (unsigned i = 0; i < values.size(); ++i) {
      if (i % kBlock >= lanes) continue;
      const std::uint16_t want = fp::narrow<fp::Fp32>(static_cast<std::uint32_t>(values[i]));
      nan += fp::is_nan<fp::Fp16>(want) ? 1 : 0;
      largest += (want & fp::Fp16::kMagnitude) == fp::Fp16::kMaxFinite ? 1 : 0;
      ASSERT_EQ(static_cast<std::uint16_t>(got[i]), want) << std::hex << values[i];
      ASSERT_EQ(integers[i], fp::fp16_to_int16(want)) << std::hex << values[i];
    }
    ASSERT_EQ(counts.nan, nan);
    ASSERT_EQ(counts.largest, largest);
  }
}

// Bounds of the stream and of both operands for which 32 bits are enough, as SdpX::fits says.
struct Bounds {
  std::int64_t value, addend, factor;
  unsigned shift;
};

Bounds draw_bounds(test::Random& random) {
  while (true) {
    const Bounds b{std::int64_t{1} << pick(random, 0, 31), std::int64_t{1} << pick(random, 0, 31),
                   std::int64_t{1} << pick(random, 0, 15),
                   static_cast<unsigned>(pick(random, 0, 32))};
    const std::int64_t sum = b.value + b.addend, half = (std::int64_t{1} << b.shift) >> 1;
    if (sum <= INT32_MAX && (sum * b.factor + half) >> b.shift <= INT32_MAX) return b;
  }
}

TEST_P(SdpKernels, NarrowOperatorsEqualWideOnes) {
  for (unsigned round = 0; round < 3000; ++round) {
    const Bounds bounds = draw_bounds(random_);
    const auto count = static_cast<unsigned>(pick(random_, 1, 6));
    const auto lanes = static_cast<unsigned>(8 * pick(random_, 1, 4));
    const auto within = [&](std::int64_t limit) {
      return numbers<std::int32_t>(std::size_t{count} * kBlock, -limit,
                                   std::min<std::int64_t>(limit, INT32_MAX));
    };
    const auto in = within(bounds.value), alu = within(bounds.addend), mul = within(bounds.factor);
    const unsigned stride = pick(random_, 0, 1) != 0 ? kBlock : 0;
    SdpX x{true,
           static_cast<Alu>(pick(random_, 0, 3)),
           true,
           pick(random_, 0, 1) != 0,
           pick(random_, 0, 1) != 0,
           static_cast<std::uint8_t>(bounds.shift),
           {alu.data(), stride},
           {mul.data(), stride},
           false};
    SdpY y{true, true, x.prelu, x.shift, x.alu, {alu.data(), stride}, {mul.data(), stride}, false};
    auto want = in, got = in, want_y = in, got_y = in;
    kPortableKernels.sdp_x(want.data(), count, lanes, x);
    kPortableKernels.sdp_y(want_y.data(), count, lanes, y);
    x.fits = y.fits = true;
    kernels_->sdp_x(got.data(), count, lanes, x);
    kernels_->sdp_y(got_y.data(), count, lanes, y);
    for (unsigned i = 0; i < count * kBlock; ++i) {
      if (i % kBlock >= lanes) continue;
      ASSERT_EQ(got[i], want[i]) << "round " << round << ", value " << i;
      ASSERT_EQ(got_y[i], want_y[i]) << "round " << round << ", value " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SdpKernels, test::kAllKernelSets, test::kernel_set_name);

}  // namespace
}  // namespace nvdla::model
