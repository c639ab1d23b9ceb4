// SPDX-License-Identifier: MIT
//
// Reading the text forms of graphs and schedules: words, numbers and quoted names of lines, and
// errors that name the line and the column.
#ifndef NVDLA_COMPILER_TEXT_CURSOR_HPP
#define NVDLA_COMPILER_TEXT_CURSOR_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nvdla::detail::text {

// `Cursor` is a place in a text. Every function skips blanks and comments, which begin with '#' and
// end with the line; inside of brackets it skips line ends, too. A function that finds something
// other than what it reads throws kInvalidArgument: "line 3, column 14: expected a name, found
// '7'".
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  // Returns true if nothing but blanks, comments and empty lines is left.
  bool at_end();
  // Returns true if nothing but blanks and a comment is left of the line.
  bool at_line_end();
  // Goes to the next line. Throws unless this one is at its end.
  void end_line();

  bool at(char c);
  bool accept(char c);
  void expect(char c);
  // Returns true if a word follows: letters, digits, '_' and '.', which begin with a letter or '_';
  // also '-' and '+' before a letter.
  bool at_word();
  // Returns the word that follows, which it does not pass; empty if none follows.
  std::string_view peek_word();
  // Passes `word` if it follows.
  bool accept_word(std::string_view word);
  // Returns the word that follows; `expected` describes it in errors.
  std::string_view word(std::string_view expected);
  // Returns what stands between quotation marks, with \" and \\ and \xHH replaced.
  std::string quoted(std::string_view expected);

  // Whole numbers in min..max, decimal or after 0x. `expected` names them in errors.
  std::int64_t integer(std::string_view expected, std::int64_t min, std::int64_t max);
  std::uint64_t natural(std::string_view expected, std::uint64_t max);
  bool at_number();
  // A natural number in decimal digits only, which may stand before an 'x'.
  std::uint32_t digits(std::string_view expected, std::uint32_t min, std::uint32_t max);
  float single(std::string_view expected) { return scan_real<float>(expected); }
  double real(std::string_view expected) { return scan_real<double>(expected); }

  // Returns where the next token begins, for fail_at().
  std::size_t position();
  // Throws "expected `expected`, found ..." of the next token.
  [[noreturn]] void fail_expected(std::string_view expected);
  // Throws `message` with the line and the column of `position`.
  [[noreturn]] void fail_at(std::size_t position, std::string_view message) const;

 private:
  void skip_blanks();
  std::string found() const;
  std::string_view rest() const { return text_.substr(at_); }
  std::size_t word_length() const;
  template <typename Number>
  Number scan_real(std::string_view expected);
  // The magnitude and whether a '-' stands before it.
  struct Integer {
    bool negative = false;
    std::uint64_t magnitude = 0;
    std::size_t length = 0;
  };
  // Returns false for what is no number or has more than 64 bits.
  bool scan_integer(Integer& number) const;

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t brackets_ = 0;  // that are open
};

// `text` as quoted() reads it.
std::string quote(std::string_view text);

}  // namespace nvdla::detail::text

#endif  // NVDLA_COMPILER_TEXT_CURSOR_HPP
