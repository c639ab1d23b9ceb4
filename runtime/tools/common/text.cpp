// SPDX-License-Identifier: MIT
#include "tools/common/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/printable.hpp"

namespace nvdla::program {
namespace {

// Three digits of what is below 999.5, all of the rest.
std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

// Insertions, deletions, replacements and exchanges of neighbours that lead from `a` to `b`.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last, now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) now[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::move(last);
    last = now;
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before_last[j - 2] + 1);
      }
    }
  }
  return now.back();
}

}  // namespace

std::string duration_text(std::uint64_t nanoseconds) {
  if (nanoseconds < 1000) return fmt::format("{} ns", nanoseconds);
  double value = static_cast<double>(nanoseconds);
  const char* unit = "ns";
  for (const char* larger : {"us", "ms", "s"}) {
    if (value < 999.5) break;
    value /= 1000;
    unit = larger;
  }
  return fmt::format("{} {}", three_digits(value), unit);
}

std::string count_text(std::uint64_t count) {
  if (count < 10'000'000) return fmt::format("{}", count);
  double value = static_cast<double>(count) / 1000;
  const char* unit = "k";
  for (const char* larger : {"M", "G", "T", "P", "E"}) {
    if (value < 999.5) break;
    value /= 1000;
    unit = larger;
  }
  return three_digits(value) + unit;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  const char* unit = "KiB";
  if (value >= 1024) {
    value /= 1024;
    unit = "MiB";
  }
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
}

std::string elide(std::string_view name, std::size_t width) {
  constexpr std::string_view kGap = "..";
  const std::string text = detail::printable(name);
  if (text.size() <= width) return text;
  if (width <= kGap.size()) return std::string(text.substr(0, width));
  const std::size_t kept = width - kGap.size();
  const std::size_t end = kept / 2;
  return fmt::format("{}{}{}", text.substr(0, kept - end), kGap, text.substr(text.size() - end));
}

std::string wrap(std::string_view text, std::size_t indent) {
  std::string lines;
  std::size_t column = indent;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (column > indent && column + 1 + word.size() > kColumns) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (at != 0) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
    at = end + 1;
  }
  return lines;
}

std::string_view closest(std::string_view text, const std::vector<std::string>& names) {
  constexpr std::size_t kNear = 2;
  std::string_view best;
  std::size_t least = std::min(kNear + 1, text.size());
  for (const std::string& name : names) {
    const std::size_t found = distance(text, name);
    if (found < least) {
      least = found;
      best = name;
    }
  }
  return best;
}

}  // namespace nvdla::program
