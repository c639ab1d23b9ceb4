// SPDX-License-Identifier: MIT
#include "compiler/text/cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "nvdla/types/error.hpp"
#include "support/printable.hpp"

namespace nvdla::detail::text {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

int hexadecimal(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

void Cursor::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ' ' || c == '\t' || c == '\r' || (c == '\n' && brackets_ != 0)) {
      ++at_;
    } else {
      return;
    }
  }
}

bool Cursor::at_line_end() {
  skip_blanks();
  return at_ == text_.size() || text_[at_] == '\n';
}

bool Cursor::at_end() {
  while (at_line_end()) {
    if (at_ == text_.size()) return true;
    ++at_;
  }
  return false;
}

void Cursor::end_line() {
  if (!at_line_end()) fail_expected("the end of the line");
  at_end();
}

bool Cursor::at(char c) {
  skip_blanks();
  return at_ < text_.size() && text_[at_] == c;
}

bool Cursor::accept(char c) {
  if (!at(c)) return false;
  ++at_;
  if (c == '{' || c == '[' || c == '(') ++brackets_;
  if ((c == '}' || c == ']' || c == ')') && brackets_ != 0) --brackets_;
  return true;
}

void Cursor::expect(char c) {
  if (!accept(c)) fail_expected(fmt::format("'{}'", c));
}

std::size_t Cursor::word_length() const {
  const std::string_view text = rest();
  if (text.empty() || !is_letter(text[0])) return 0;
  std::size_t length = 1;
  for (; length < text.size(); ++length) {
    const char c = text[length];
    const bool joins =
        (c == '-' || c == '+') && length + 1 < text.size() && is_letter(text[length + 1]);
    if (!is_letter(c) && !is_digit(c) && c != '.' && !joins) break;
  }
  return length;
}

bool Cursor::at_word() { return !peek_word().empty(); }

std::string_view Cursor::peek_word() {
  skip_blanks();
  return text_.substr(at_, word_length());
}

bool Cursor::accept_word(std::string_view word) {
  if (peek_word() != word) return false;
  at_ += word.size();
  return true;
}

std::string_view Cursor::word(std::string_view expected) {
  const std::string_view word = peek_word();
  if (word.empty()) fail_expected(expected);
  at_ += word.size();
  return word;
}

std::string Cursor::quoted(std::string_view expected) {
  if (!at('"')) fail_expected(expected);
  const std::size_t begin = at_++;
  std::string out;
  for (;;) {
    if (at_ == text_.size() || text_[at_] == '\n')
      fail_at(begin, "the quotation mark is not closed");
    const char c = text_[at_++];
    if (c == '"') return out;
    if (c != '\\') {
      out += c;
      continue;
    }
    const std::string_view escape = rest().substr(0, 3);
    if (escape.starts_with('"') || escape.starts_with('\\')) {
      out += escape[0];
      ++at_;
    } else if (escape.size() == 3 && escape[0] == 'x' && hexadecimal(escape[1]) >= 0 &&
               hexadecimal(escape[2]) >= 0) {
      out += static_cast<char>(hexadecimal(escape[1]) * 16 + hexadecimal(escape[2]));
      at_ += 3;
    } else {
      fail_at(at_ - 1, R"(expected \", \\ or \xHH behind the backslash)");
    }
  }
}

bool Cursor::scan_integer(Integer& number) const {
  std::string_view text = rest();
  number.negative = text.starts_with('-');
  if (number.negative) text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number.magnitude, hex ? 16 : 10);
  number.length = static_cast<std::size_t>(end - rest().data());
  return error == std::errc();
}

bool Cursor::at_number() {
  skip_blanks();
  const std::string_view text = rest();
  return !text.empty() && (is_digit(text[0]) || (text.size() > 1 && text[0] == '-' &&
                                                 (is_digit(text[1]) || text[1] == '.')));
}

std::int64_t Cursor::integer(std::string_view expected, std::int64_t min, std::int64_t max) {
  skip_blanks();
  Integer number;
  constexpr auto kMax = static_cast<std::uint64_t>(INT64_MAX);
  if (scan_integer(number) && number.magnitude <= kMax + (number.negative ? 1 : 0)) {
    const auto value =
        static_cast<std::int64_t>(number.negative ? 0 - number.magnitude : number.magnitude);
    if (value >= min && value <= max) {
      at_ += number.length;
      return value;
    }
  }
  fail_expected(fmt::format("{} in {}..{}", expected, min, max));
}

std::uint64_t Cursor::natural(std::string_view expected, std::uint64_t max) {
  skip_blanks();
  Integer number;
  if (!scan_integer(number) || number.negative || number.magnitude > max)
    fail_expected(fmt::format("{} in 0..{}", expected, max));
  at_ += number.length;
  return number.magnitude;
}

std::uint32_t Cursor::digits(std::string_view expected, std::uint32_t min, std::uint32_t max) {
  skip_blanks();
  const std::string_view text = rest();
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < min || value > max)
    fail_expected(fmt::format("{} in {}..{}", expected, min, max));
  at_ += static_cast<std::size_t>(end - text.data());
  return value;
}

template <typename Number>
Number Cursor::scan_real(std::string_view expected) {
  skip_blanks();
  const std::string_view text = rest();
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) fail_expected(expected);
  at_ += static_cast<std::size_t>(end - text.data());
  return value;
}

template float Cursor::scan_real<float>(std::string_view expected);
template double Cursor::scan_real<double>(std::string_view expected);

std::size_t Cursor::position() {
  skip_blanks();
  return at_;
}

// The next token, as errors quote it.
std::string Cursor::found() const {
  constexpr std::size_t kMaxLength = 30;
  if (at_ == text_.size()) return "the end of the text";
  if (text_[at_] == '\n') return "the end of the line";
  std::size_t length = word_length();
  const std::string_view text = rest();
  while (length < text.size() && (is_digit(text[length]) || is_letter(text[length]) ||
                                  text[length] == '.' || (length == 0 && text[length] == '-')))
    ++length;
  if (length == 0) length = std::max<std::size_t>(first_character(text).bytes, 1);
  const bool cut = length > kMaxLength;
  return fmt::format("'{}{}'", printable(text.substr(0, cut ? kMaxLength : length)),
                     cut ? "..." : "");
}

void Cursor::fail_expected(std::string_view expected) {
  skip_blanks();
  fail_at(at_, fmt::format("expected {}, found {}", expected, found()));
}

void Cursor::fail_at(std::size_t position, std::string_view message) const {
  const std::string_view before = text_.substr(0, position);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  // Characters, which may have several bytes in UTF-8.
  const auto column = std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line),
                                    before.end(), [](char c) { return (c & 0xc0) != 0x80; });
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("line {}, column {}: {}", lines + 1, column + 1, message));
}

std::string quote(std::string_view text) {
  std::string marked;
  for (const char c : text) {
    if (c == '"' || c == '\\') marked += '\\';
    marked += c;
  }
  return '"' + printable(marked) + '"';
}

}  // namespace nvdla::detail::text
