// SPDX-License-Identifier: MIT
#include "tools/common/numbers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "support/quantity.hpp"

namespace nvdla::program {
namespace {

// "from 1 to 64", "from 0 on".
std::string range_text(std::uint64_t min, std::uint64_t max) {
  constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint32_t>::max();
  return max >= kNoEnd ? fmt::format("from {} to {:#x}", min, max)
                       : fmt::format("from {} to {}", min, max);
}

// A validator without a text of its own in --help. `check` may replace what it is given, and
// returns what would be right, or nothing.
template <typename Check>
CLI::Validator validator(const Check& check) {
  return CLI::Validator(
      [check](std::string& text) {
        const std::string expected = check(text);
        return expected.empty() ? expected : fmt::format("'{}'; expected {}", text, expected);
      },
      "");
}

// Replaces `text` by how many times `unit` it is.
std::string replace(std::string& text, std::optional<std::uint64_t> value, std::uint64_t unit,
                    std::uint64_t min, std::uint64_t max, std::string expected, const char* name) {
  if (value && *value % unit != 0) return fmt::format("{}, in whole {}", expected, name);
  if (!value || *value / unit < min || *value / unit > max) return expected;
  text = fmt::format("{}", *value / unit);
  return {};
}

}  // namespace

CLI::Validator whole_number(std::uint64_t min, std::uint64_t max) {
  return validator([min, max](std::string& text) -> std::string {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && value >= min && value <= max) return {};
    return "a whole number " + range_text(min, max);
  });
}

CLI::Validator positive_number() {
  return validator([](std::string& text) -> std::string {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && std::isfinite(value) && value > 0) return {};
    return "a number above 0";
  });
}

CLI::Validator time_in(const char* unit, std::uint64_t min, std::uint64_t max) {
  return validator([=](std::string& text) {
    return replace(text, detail::parse_time(text, unit), detail::time_unit(unit), min, max,
                   fmt::format("a time from {}{} to {}{}", min, unit, max, unit), unit);
  });
}

CLI::Validator rate_in(const char* unit, std::uint64_t min, std::uint64_t max) {
  return validator([=](std::string& text) {
    return replace(text, detail::parse_rate(text, unit), detail::rate_unit(unit), min, max,
                   fmt::format("a rate from {}{} to {}{}", min, unit, max, unit), unit);
  });
}

CLI::Validator size_from(std::uint64_t min) {
  return validator([=](std::string& text) {
    return replace(text, detail::parse_size(text), 1, min,
                   std::numeric_limits<std::uint64_t>::max(),
                   fmt::format("a size such as 24MiB, of {} bytes or more", min), "bytes");
  });
}

}  // namespace nvdla::program
