// SPDX-License-Identifier: MIT
//
// Sizes, times, rates and bandwidths with units, as users write them: "64MiB", "90s", "1.2GHz",
// "20GB/s". This is the one
// parser of them, for device names and options of programs.
#ifndef NVDLA_SUPPORT_QUANTITY_HPP
#define NVDLA_SUPPORT_QUANTITY_HPP

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace nvdla::detail {
namespace quantity {

struct Unit {
  std::string_view name;
  std::uint64_t factor = 1;
};

// Longer names come before their beginnings.
inline constexpr std::array kSizes = std::to_array<Unit>({{"KiB", std::uint64_t{1} << 10},
                                                          {"MiB", std::uint64_t{1} << 20},
                                                          {"GiB", std::uint64_t{1} << 30},
                                                          {"TiB", std::uint64_t{1} << 40},
                                                          {"K", std::uint64_t{1} << 10},
                                                          {"M", std::uint64_t{1} << 20},
                                                          {"G", std::uint64_t{1} << 30},
                                                          {"T", std::uint64_t{1} << 40},
                                                          {"B", 1}});
inline constexpr std::array kTimes = std::to_array<Unit>({{"ns", 1},
                                                          {"us", 1'000},
                                                          {"ms", 1'000'000},
                                                          {"min", 60'000'000'000},
                                                          {"s", 1'000'000'000},
                                                          {"h", 3'600'000'000'000}});
inline constexpr std::array kRates =
    std::to_array<Unit>({{"Hz", 1}, {"kHz", 1'000}, {"MHz", 1'000'000}, {"GHz", 1'000'000'000}});

// Longer names come before their beginnings.
inline constexpr std::array kBandwidths = std::to_array<Unit>({{"KiB/s", std::uint64_t{1} << 10},
                                                               {"MiB/s", std::uint64_t{1} << 20},
                                                               {"GiB/s", std::uint64_t{1} << 30},
                                                               {"kB/s", 1'000},
                                                               {"MB/s", 1'000'000},
                                                               {"GB/s", 1'000'000'000},
                                                               {"B/s", 1}});

inline std::uint64_t factor_of(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units)
    if (unit.name == name) return unit.factor;
  return 1;
}

// The factor of the unit that `text` begins with, which it removes; `plain` if there is none.
inline std::uint64_t take_unit(std::string_view& text, std::span<const Unit> units,
                               std::uint64_t plain) {
  for (const Unit& unit : units) {
    if (!text.starts_with(unit.name)) continue;
    text.remove_prefix(unit.name.size());
    return unit.factor;
  }
  return plain;
}

// Digits behind a point, and 10 to the power of their number.
struct Fraction {
  std::uint64_t digits = 0, scale = 1;
};

inline std::optional<Fraction> take_fraction(std::string_view& text) {
  Fraction fraction;
  if (!text.starts_with('.')) return fraction;
  text.remove_prefix(1);
  constexpr std::uint64_t kMaxScale = 1'000'000'000;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    if (fraction.scale == kMaxScale) return std::nullopt;
    fraction.digits = fraction.digits * 10 + static_cast<std::uint64_t>(text.front() - '0');
    fraction.scale *= 10;
    text.remove_prefix(1);
  }
  return fraction.scale == 1 ? std::nullopt : std::optional(fraction);
}

inline std::optional<std::uint64_t> take(std::string_view& text, std::span<const Unit> units,
                                         std::uint64_t plain, bool hexadecimal) {
  hexadecimal = hexadecimal && text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t whole = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), whole, hexadecimal ? 16 : 10);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  const auto fraction = hexadecimal ? std::optional(Fraction{}) : take_fraction(text);
  if (!fraction) return std::nullopt;
  const std::uint64_t factor = take_unit(text, units, plain);
  std::uint64_t value = 0, part = 0;
  if (__builtin_mul_overflow(whole, factor, &value) ||
      __builtin_mul_overflow(fraction->digits, factor, &part) || part % fraction->scale != 0 ||
      __builtin_add_overflow(value, part / fraction->scale, &value))
    return std::nullopt;
  return value;
}

}  // namespace quantity

// Each take_...() reads a number and a unit from the beginning of `text` and removes them; without
// a unit the number counts `plain`. It returns nullopt for anything that is no number, is no whole
// number of the smallest unit, or does not fit 64 bits; `text` may then be shorter. Each
// parse_...() does the same for a text that is nothing else.

// Bytes: B, K or KiB, M or MiB, G or GiB, T or TiB, which are powers of 1024; "0x" may begin it.
inline std::optional<std::uint64_t> take_size(std::string_view& text) {
  return quantity::take(text, quantity::kSizes, 1, true);
}

// Nanoseconds: ns, us, ms, s, min, h.
inline std::optional<std::uint64_t> take_time(std::string_view& text, std::string_view plain) {
  return quantity::take(text, quantity::kTimes, quantity::factor_of(quantity::kTimes, plain),
                        false);
}

// Hertz: Hz, kHz, MHz, GHz.
inline std::optional<std::uint64_t> take_rate(std::string_view& text, std::string_view plain) {
  return quantity::take(text, quantity::kRates, quantity::factor_of(quantity::kRates, plain),
                        false);
}

// Bytes a second: B/s, kB/s, MB/s and GB/s, which are powers of 1000, KiB/s, MiB/s and GiB/s, of
// 1024.
inline std::optional<std::uint64_t> take_bandwidth(std::string_view& text) {
  return quantity::take(text, quantity::kBandwidths, 1, false);
}

// Thousandths of a number without a unit.
inline std::optional<std::uint64_t> take_thousandths(std::string_view& text) {
  return quantity::take(text, {}, 1000, false);
}

inline std::optional<std::uint64_t> parse_size(std::string_view text) {
  const auto size = take_size(text);
  return text.empty() ? size : std::nullopt;
}

inline std::optional<std::uint64_t> parse_time(std::string_view text, std::string_view plain) {
  const auto time = take_time(text, plain);
  return text.empty() ? time : std::nullopt;
}

inline std::optional<std::uint64_t> parse_rate(std::string_view text, std::string_view plain) {
  const auto rate = take_rate(text, plain);
  return text.empty() ? rate : std::nullopt;
}

inline std::optional<std::uint64_t> parse_bandwidth(std::string_view text) {
  const auto bandwidth = take_bandwidth(text);
  return text.empty() ? bandwidth : std::nullopt;
}

inline std::optional<std::uint64_t> parse_thousandths(std::string_view text) {
  const auto number = take_thousandths(text);
  return text.empty() ? number : std::nullopt;
}

// Nanoseconds or hertz of one `unit`; 1 for what is none.
inline std::uint64_t time_unit(std::string_view unit) {
  return quantity::factor_of(quantity::kTimes, unit);
}
inline std::uint64_t rate_unit(std::string_view unit) {
  return quantity::factor_of(quantity::kRates, unit);
}

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_QUANTITY_HPP
