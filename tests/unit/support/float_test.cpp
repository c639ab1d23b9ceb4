// SPDX-License-Identifier: MIT
//
// The model's floats against this processor's: the host adds, multiplies and converts in IEEE
// arithmetic, and what the hardware does otherwise (no infinity, no denormals but in fp16) is
// applied to the host's result here.
#include "support/float.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

namespace nvdla::fp {
namespace {

#ifdef __FLT16_MAX__
#ifdef __aarch64__
using Half = __fp16;  // g++ 12 has the other name only in C
#else
using Half = _Float16;
#endif

std::uint16_t half_bits(Half value) { return std::bit_cast<std::uint16_t>(value); }
Half half(std::uint32_t bits) { return std::bit_cast<Half>(static_cast<std::uint16_t>(bits)); }
#endif

std::uint32_t word(std::mt19937& random) { return static_cast<std::uint32_t>(random()); }

float single(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t single_bits(float value) { return std::bit_cast<std::uint32_t>(value); }

// A number of fp17 is sign * mantissa * 2^(exponent - 41).
double value17(std::uint32_t bits) {
  if ((bits & 0xffff) == 0) return (bits & 0x10000) != 0 ? -0.0 : 0.0;
  const double value = std::ldexp(1024 + (bits & 0x3ff), static_cast<int>(bits >> 10 & 0x3f) - 41);
  return (bits & 0x10000) != 0 ? -value : value;
}

// Nearest even on an integer grid of 2^`bits` steps in each power of two; `value` positive.
double round_to(double value, int bits) {
  int exponent;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits + 1)), exponent - bits - 1);
}

std::uint32_t encode17(std::uint32_t sign, double magnitude) {
  const double rounded = magnitude == 0 ? 0 : round_to(magnitude, 10);
  if (rounded < std::ldexp(1.0, -30)) return sign;
  if (rounded >= std::ldexp(1.0, 32)) return sign | 0xfbff;
  const int exponent = std::ilogb(rounded);
  return sign | static_cast<std::uint32_t>(exponent + 31) << 10 |
         (static_cast<std::uint32_t>(std::ldexp(rounded, 10 - exponent)) & 0x3ff);
}

TEST(Float, WidensEveryFp16) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const std::uint32_t sign = bits >> 15;
    const std::uint32_t mantissa = bits & 0x3ff;
    const std::uint32_t exponent = bits >> 10 & 0x1f;
    std::uint32_t want32, want17;
    if (exponent == 31) {
      want32 = sign << 31 | (mantissa != 0 ? 0x7f800000 | mantissa : 0x7f7fffff);
      want17 = sign << 16 | (mantissa != 0 ? 0xfc00 | mantissa : 0xfbff);
    } else {
      const double magnitude = exponent == 0
                                   ? std::ldexp(mantissa, -24)
                                   : std::ldexp(1024 + mantissa, static_cast<int>(exponent) - 25);
      want32 = sign << 31 | single_bits(static_cast<float>(magnitude));
      want17 = encode17(sign << 16, magnitude);
    }
    ASSERT_EQ(widen<Fp32>(bits), want32) << std::hex << bits;
    ASSERT_EQ(widen<Fp17>(bits), want17) << std::hex << bits;
    // And back, except that infinities have become numbers.
    if (exponent == 31 && mantissa == 0) continue;
    ASSERT_EQ(narrow<Fp32>(want32), bits);
    ASSERT_EQ(narrow<Fp17>(want17), bits);
    ASSERT_EQ(fp17_to_fp32(want17), want32) << std::hex << bits;
    ASSERT_EQ(fp32_to_fp17(want32), want17) << std::hex << bits;
  }
}

#ifdef __FLT16_MAX__
std::uint16_t narrowed(double value) {
  const std::uint16_t bits = half_bits(static_cast<Half>(value));
  return (bits & 0x7fff) == 0x7c00 ? static_cast<std::uint16_t>((bits & 0x8000) | 0x7bff) : bits;
}

TEST(Float, NarrowsEveryFp17) {
  for (std::uint32_t bits = 0; bits < 0x20000; ++bits) {
    const std::uint32_t exponent = bits >> 10 & 0x3f;
    if (exponent == 63 && (bits & 0x3ff) != 0) {
      ASSERT_EQ(narrow<Fp17>(bits), (bits >> 1 & 0x8000) | 0x7c00 | (bits & 0x3ff));
    } else {
      ASSERT_EQ(narrow<Fp17>(bits), narrowed(value17(bits))) << std::hex << bits;
    }
  }
}

TEST(Float, NarrowsFp32AroundEveryFp16) {
  const auto check = [](std::uint32_t bits) {
    const float value = single(bits);
    const std::uint32_t want =
        std::isnan(value) ? (bits >> 16 & 0x8000) | 0x7c00 | (bits & 0x3ff) : narrowed(value);
    ASSERT_EQ(narrow<Fp32>(bits), want) << std::hex << bits;
  };
  // Every fp16, the middle to its neighbour, and what lies next to both.
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const float low = static_cast<float>(half(bits));
    const float high = bits == 0x7bff ? 65536.0f : static_cast<float>(half(bits + 1));
    for (const float at : {low, (low + high) / 2})
      for (const int step : {-1, 0, 1})
        for (const std::uint32_t sign : {0u, 0x80000000u}) {
          if (at == 0 && step < 0) continue;
          check((single_bits(at) + static_cast<std::uint32_t>(step)) | sign);
        }
  }
  for (std::uint64_t bits = 0; bits <= 0xffffffff; bits += 1009)
    if ((bits & 0x7f800000) != 0 || (bits & 0x7fffff) == 0) check(static_cast<std::uint32_t>(bits));
}

TEST(Float, ConvertsIntegers) {
  for (int value = -(1 << 17); value <= 1 << 17; ++value)
    ASSERT_EQ(int_to_fp16(value), narrowed(value)) << value;
  EXPECT_EQ(int_to_fp16(INT32_MIN), 0xfbff);
  EXPECT_EQ(int_to_fp16(INT32_MAX), 0x7bff);
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double value = static_cast<double>(half(bits));
    const double want =
        std::isnan(value) ? -32768 : std::fmin(std::fmax(std::round(value), -32768), 32767);
    ASSERT_EQ(fp16_to_int16(bits), want) << std::hex << bits;
  }
}
#endif

TEST(Float, NarrowsFp32ToFp17) {
  std::mt19937 random(1);
  for (std::uint32_t exponent = 1; exponent < 255; ++exponent)
    for (std::uint32_t top = 0; top < 1024; ++top)
      for (const std::uint32_t low :
           {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu, word(random) & 0x1fff}) {
        const std::uint32_t bits = exponent << 23 | top << 13 | low;
        const double value = single(bits);
        std::uint32_t want = encode17(0, value);
        // Rounds as a denormal of fp17 would, which is coarser just below the smallest normal.
        if (value < std::ldexp(1.0, -30))
          want = std::nearbyint(std::ldexp(value, 40)) >= 1024 ? 0x400 : 0;
        ASSERT_EQ(fp32_to_fp17(bits), want) << std::hex << bits;
        ASSERT_EQ(fp32_to_fp17(bits | 0x80000000), want | 0x10000) << std::hex << bits;
      }
  EXPECT_EQ(fp32_to_fp17(0x7f800155), 0xfd55u);
  EXPECT_EQ(fp32_to_fp17(0xff800155), 0x1fd55u);
}

std::uint32_t any32(std::mt19937& random) {
  // Near each other, so that sums align; now and then anything.
  const std::uint32_t bits = word(random);
  switch (random() % 8) {
    case 0:
      return bits;
    case 1:
      return bits & 0xff800000;
    case 2:
      return (bits & 0x80000000) | 0x7f000000 | (bits & 0xffffff);
    case 3:
      return bits & 0x81ffffff;
    default:
      return (bits & 0x803fffff) | (0x3f800000 + (word(random) % 60 << 22));
  }
}

bool unusual32(std::uint32_t bits) {
  // Infinities and denormal patterns exist in no result.
  const std::uint32_t magnitude = bits & 0x7fffffff;
  return magnitude == 0x7f800000 || (magnitude != 0 && magnitude < 0x800000);
}

std::uint32_t from_host(float value, std::uint32_t sign_of_zero) {
  if (value == 0 || std::fpclassify(value) == FP_SUBNORMAL) return sign_of_zero;
  if (std::isinf(value)) return value < 0 ? 0xff7fffff : 0x7f7fffff;
  return single_bits(value);
}

TEST(Float, AddsFp32AsTheHost) {
  std::mt19937 random(2);
  for (unsigned i = 0; i < 4'000'000; ++i) {
    std::uint32_t a = any32(random);
    std::uint32_t b = random() % 16 == 0 ? a ^ (word(random) & 0x80000003) : any32(random);
    if (unusual32(a) || unusual32(b)) continue;
    std::uint32_t want;
    if (std::isnan(single(a))) {
      want = a;
    } else if (std::isnan(single(b))) {
      want = b;
    } else {
      const bool b_larger = (b & 0x7fffffff) > (a & 0x7fffffff);
      want = from_host(single(a) + single(b), (b_larger ? b : a) & 0x80000000);
    }
    ASSERT_EQ(add<Fp32>(a, b), want) << std::hex << a << " " << b;
    const std::uint32_t minus_b = b ^ 0x80000000;
    ASSERT_EQ(sub<Fp32>(a, minus_b), want) << std::hex << a << " " << b;
  }
  // The one place where 24 extra bits are too few for the exact result: the bit that decides the
  // tie is shifted out.
  EXPECT_EQ(add<Fp32>(0x3f800000, 0xb3000001), 0x3f800000u);
  EXPECT_EQ(single_bits(1.0f - single(0x33000001)), 0x3f7fffffu);
}

TEST(Float, MultipliesFp32AsTheHost) {
  std::mt19937 random(3);
  for (unsigned i = 0; i < 4'000'000; ++i) {
    const std::uint32_t a = any32(random), b = any32(random);
    if (unusual32(a) || unusual32(b)) continue;
    std::uint32_t want;
    if (std::isnan(single(a))) {
      want = a;
    } else if (std::isnan(single(b))) {
      want = b;
    } else {
      // Exact in double; rounded before it is looked at whether it fits.
      const double product = std::fabs(static_cast<double>(single(a)) * single(b));
      const std::uint32_t sign = (a ^ b) & 0x80000000;
      const double rounded = product == 0 ? 0 : round_to(product, 23);
      want = rounded < std::ldexp(1.0, -126)   ? sign
             : rounded >= std::ldexp(1.0, 128) ? sign | 0x7f7fffff
                                               : sign | single_bits(static_cast<float>(rounded));
    }
    ASSERT_EQ(mul<Fp32>(a, b), want) << std::hex << a << " " << b;
  }
}

TEST(Float, CalculatesInFp17) {
  std::mt19937 random(4);
  for (unsigned i = 0; i < 4'000'000; ++i) {
    std::uint32_t a = word(random) & 0x1ffff;
    std::uint32_t b = word(random) & 0x1ffff;
    if (word(random) % 4 != 0)
      b = (b & 0x103ff) | (((a >> 10) + word(random) % 16 - 8) << 10 & 0xfc00);
    const auto unusual = [](std::uint32_t bits) {
      const std::uint32_t magnitude = bits & 0xffff;
      return magnitude == 0xfc00 || (magnitude != 0 && magnitude < 0x400);
    };
    if (unusual(a) || unusual(b)) continue;
    const bool nan_a = (a & 0xffff) > 0xfc00, nan_b = (b & 0xffff) > 0xfc00;
    if (nan_a || nan_b) {
      ASSERT_EQ(add<Fp17>(a, b), nan_a ? a : b);
      ASSERT_EQ(mul<Fp17>(a, b), nan_a ? a : b);
      ASSERT_EQ(max<Fp17>(a, b), nan_a ? a : b);
      ASSERT_EQ(min<Fp17>(a, b), nan_a ? a : b);
      continue;
    }
    const double x = value17(a), y = value17(b);
    ASSERT_EQ(mul<Fp17>(a, b), encode17((a ^ b) & 0x10000, std::fabs(x * y)));
    // Exact in double unless so far apart that the smaller one cannot matter.
    const std::uint32_t larger = (b & 0xffff) > (a & 0xffff) ? b : a;
    const std::uint32_t smaller = larger == a ? b : a;
    const bool drops = (larger & 0x3ff) == 0 && (smaller & 0x3ff) == 1 &&
                       ((a ^ b) & 0x10000) != 0 && (larger >> 10 & 63) == (smaller >> 10 & 63) + 12;
    if (!drops) {
      ASSERT_EQ(add<Fp17>(a, b), encode17(larger & 0x10000, std::fabs(x + y)))
          << std::hex << a << " " << b;
    }
    if (x != y) {
      ASSERT_EQ(max<Fp17>(a, b), x > y ? a : b);
      ASSERT_EQ(min<Fp17>(a, b), x < y ? a : b);
    }
  }
}

TEST(Float, ComparesBySignAndMagnitude) {
  EXPECT_EQ(max<Fp16>(0x8000, 0x0000), 0x0000u);
  EXPECT_EQ(max<Fp16>(0x0000, 0x8000), 0x0000u);
  EXPECT_EQ(min<Fp16>(0x8000, 0x0000), 0x8000u);
  EXPECT_EQ(min<Fp16>(0x0000, 0x8000), 0x8000u);
  EXPECT_EQ(max<Fp16>(0x7c00, 0x7bff), 0x7c00u);  // an infinity passes unchanged
  EXPECT_EQ(max<Fp16>(0x7e01, 0xfe02), 0x7e01u);
  EXPECT_EQ(max<Fp16>(0x3c00, 0xfe02), 0xfe02u);
}

TEST(Float, ZerosTakeTheSignOfTheLarger) {
  EXPECT_EQ(add<Fp32>(0x3f800000, 0xbf800000), 0x00000000u);
  EXPECT_EQ(add<Fp32>(0xbf800000, 0x3f800000), 0x80000000u);
  EXPECT_EQ(add<Fp32>(0x80000000, 0x00000000), 0x80000000u);
  EXPECT_EQ(add<Fp32>(0x80000000, 0x3f800000), 0x3f800000u);
  EXPECT_EQ(sub<Fp32>(0x00000000, 0x7f800001), 0xff800001u);
}

TEST(Float, CountsSpecials) {
  const std::uint16_t values[] = {0x7c00, 0xfc00, 0x7c01, 0xffff, 0x7bff, 0x8000, 0x7e00};
  const Specials specials = count_specials(values);
  EXPECT_EQ(specials.nan, 3u);
  EXPECT_EQ(specials.infinite, 2u);
}

}  // namespace
}  // namespace nvdla::fp
