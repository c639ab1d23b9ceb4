// SPDX-License-Identifier: MIT
#include "support/quantity.hpp"

#include <gtest/gtest.h>

namespace nvdla::detail {
namespace {

constexpr std::uint64_t kMilli = 1'000'000, kSecond = 1'000'000'000;

TEST(Quantity, SizesHaveUnitsOf1024) {
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("17B"), 17U);
  EXPECT_EQ(parse_size("64K"), 65536U);
  EXPECT_EQ(parse_size("64KiB"), 65536U);
  EXPECT_EQ(parse_size("1.5M"), 1572864U);
  EXPECT_EQ(parse_size("0x10K"), 16384U);
  EXPECT_EQ(parse_size("2GiB"), std::uint64_t{2} << 30);
  EXPECT_EQ(parse_size("18446744073709551615"), ~std::uint64_t{0});
}

TEST(Quantity, TimesAndRatesCountThePlainUnitWithoutOne) {
  EXPECT_EQ(parse_time("60", "s"), 60 * kSecond);
  EXPECT_EQ(parse_time("60", "ms"), 60 * kMilli);
  EXPECT_EQ(parse_time("500ms", "s"), 500 * kMilli);
  EXPECT_EQ(parse_time("5min", "s"), 300 * kSecond);
  EXPECT_EQ(parse_time("1.25s", "s"), 1250 * kMilli);
  EXPECT_EQ(parse_rate("600MHz", "kHz"), 600'000'000U);
  EXPECT_EQ(parse_rate("1.2GHz", "kHz"), 1'200'000'000U);
  EXPECT_EQ(parse_rate("75000", "kHz"), 75'000'000U);
}

TEST(Quantity, BandwidthsHaveUnitsOf1000) {
  EXPECT_EQ(parse_bandwidth("20GB/s"), 20'000'000'000U);
  EXPECT_EQ(parse_bandwidth("1.5MB/s"), 1'500'000U);
  EXPECT_EQ(parse_bandwidth("800kB/s"), 800'000U);
  EXPECT_EQ(parse_bandwidth("2GiB/s"), std::uint64_t{2} << 30);
  EXPECT_EQ(parse_bandwidth("7B/s"), 7U);
  EXPECT_EQ(parse_thousandths("21.333"), 21'333U);
  EXPECT_EQ(parse_thousandths("8"), 8'000U);
}

// Nothing is cut, rounded or passed over.
TEST(Quantity, AllElseIsRefused) {
  for (const char* wrong : {"", "M", "-1", "+1", " 1", "1 ", "1MB", "1m", "1e3", "1..5", "1.", "0x",
                            "0x1.8K", "0.3B", "18446744073709551616", "16777216T", "1.0000000001K"})
    EXPECT_EQ(parse_size(wrong), std::nullopt) << wrong;
  for (const char* wrong : {"", "s", "1 s", "1sec", "1S", "0.1ns", "6000000h", "1m", "-1s"})
    EXPECT_EQ(parse_time(wrong, "s"), std::nullopt) << wrong;
  for (const char* wrong : {"", "Hz", "600mhz", "1THz", "0.5Hz", "99999999999GHz"})
    EXPECT_EQ(parse_rate(wrong, "kHz"), std::nullopt) << wrong;
  for (const char* wrong : {"", "GB/s", "1GB", "1Gb/s", "1 GB/s", "0.5B/s", "-1B/s"})
    EXPECT_EQ(parse_bandwidth(wrong), std::nullopt) << wrong;
  for (const char* wrong : {"", "1.0001", "8B", ".5", "1e1"})
    EXPECT_EQ(parse_thousandths(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace nvdla::detail
