// SPDX-License-Identifier: MIT
//
// Text that somebody else wrote, on the way to a terminal, into JSON and into pictures.
#include "tools/common/print.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "tools/common/json_output.hpp"
#include "tools/common/svg.hpp"
#include "tools/common/text.hpp"

namespace nvdla::program {
namespace {

using namespace std::string_view_literals;
using detail::printable;

// Returns what a call prints.
template <typename Print>
std::string output_of(const Print& print) {
  testing::internal::CaptureStdout();
  print();
  std::fflush(stdout);
  return testing::internal::GetCapturedStdout();
}

// Returns every pair of bytes, and sequences that only look like UTF-8.
std::string hostile_text() {
  std::string text =
      "\x1b]0;owned\x07\r\b\n\x9b"
      "31m\xc2\x9b"
      "31m\xe2\x80\xae\xe2\x80\xa8"
      "\xc0\x8a\xe0\x80\x8a\xf0\x80\x80\x8a"
      "\xed\xa0\x80\xed\xbf\xbf\xf4\x90\x80\x80\xf5\xff\xef\xbf\xbe\xef\xbf\xbf";
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second)
      text += {static_cast<char>(first), static_cast<char>(second)};
  return text;
}

// No byte of `text` is a control character, and all of it is UTF-8.
void expect_harmless(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const detail::Character c = detail::first_character(text.substr(at));
    ASSERT_NE(c.bytes, 0U) << "at " << at;
    ASSERT_FALSE(detail::is_control(c.code))
        << "at " << at << ": " << static_cast<unsigned>(c.code);
    at += c.bytes;
  }
}

TEST(Printable, EscapesWhatMovesTheCursor) {
  EXPECT_EQ(printable("conv1 \xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82"),
            "conv1 \xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82");
  EXPECT_EQ(printable("a\x1b[2Jb\r\b\x07\n\tc\0d\x7f"sv),
            "a\\x1b[2Jb\\x0d\\x08\\x07\\x0a\\x09c\\x00d\\x7f");
  EXPECT_EQ(printable("\xc2\x9b|\x9b|\xe2\x80\xae|\xe2\x80\xa8"),
            "\\xc2\\x9b|\\x9b|\\xe2\\x80\\xae|\\xe2\\x80\\xa8");
  // Overlong, halves of surrogate pairs, beyond the last, cut off.
  EXPECT_EQ(printable("\xc0\x9b|\xe0\x80\x9b|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82"),
            "\\xc0\\x9b|\\xe0\\x80\\x9b|\\xed\\xa0\\x80|\\xf4\\x90\\x80\\x80|\\xe2\\x82");
  EXPECT_EQ(printable("a\nb\r", true), "a\nb\\x0d");
  expect_harmless(printable(hostile_text()));
}

TEST(Print, EscapesArgumentsAndKeepsFormats) {
  const std::string name = "a\n\x1b[31mb";
  EXPECT_EQ(output_of([&] { print("{}\n{:<12}|{:.2f} {}\n", name, "x\r", 1.5, 7); }),
            "a\\x0a\\x1b[31mb\nx\\x0d       |1.50 7\n");
  EXPECT_EQ(output_of([&] { print("{}", Lines{name}); }), "a\n\\x1b[31mb");
  expect_harmless(output_of([] { print("{}", hostile_text()); }));
}

TEST(Elide, IsPrintable) {
  EXPECT_EQ(elide("a\x1b", 5), "a\\x1b");
  expect_harmless(elide("\x1b\x9b\x9b\x9b\x9b\x9b", 10));
}

TEST(Json, HasNoControlCharacters) {
  const nlohmann::ordered_json document = {{hostile_text(), hostile_text()}};
  std::string text = output_of([&] { print_json(document, "compact"); });
  ASSERT_TRUE(text.ends_with('\n'));
  text.pop_back();
  expect_harmless(text);
  // It reads back, but for what was no UTF-8.
  const auto back = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(back.size(), 1U);
  const nlohmann::ordered_json names = {"\xc2\x9b", "\x7f", "a\"\\"};
  EXPECT_EQ(nlohmann::ordered_json::parse(output_of([&] { print_json(names, "pretty"); })), names);
}

TEST(SvgText, HasNoControlCharacters) {
  std::string text = svg_text(hostile_text());
  std::erase(text, '\n');
  expect_harmless(text);
  EXPECT_EQ(text.find("\xef\xbf\xbe"), std::string::npos);
  EXPECT_EQ(svg_text("\xed\xa0\x80|\xc0\xbc"),
            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace
}  // namespace nvdla::program
