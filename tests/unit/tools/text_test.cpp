// SPDX-License-Identifier: MIT
#include "tools/replay/text.hpp"

#include "expect_error.hpp"

namespace nvdla::replay {
namespace {

constexpr Place kPlace{"f", 3};

std::string number_error(std::string_view text, std::uint64_t max = ~std::uint64_t{0}) {
  return error_of([&] { parse_number(kPlace, text, "value", max); });
}

std::string name_error(std::string_view name) {
  return error_of([&] { check_file_name(kPlace, name); });
}

TEST(Text, Numbers) {
  EXPECT_EQ(parse_number(kPlace, "0", "value", 10), 0u);
  EXPECT_EQ(parse_number(kPlace, "12", "value", 12), 12u);
  EXPECT_EQ(parse_number(kPlace, "0xfF", "value", 255), 255u);
  EXPECT_EQ(parse_number(kPlace, "0XFF", "value", 255), 255u);
  EXPECT_EQ(parse_number(kPlace, "0xffffffffffffffff", "value", ~std::uint64_t{0}),
            ~std::uint64_t{0});
}

TEST(Text, NumberErrors) {
  const std::string no_number = "is not a number; expected a decimal or 0x hexadecimal number";
  EXPECT_EQ(number_error(""), "f:3: value '' " + no_number);
  EXPECT_EQ(number_error("0x"), "f:3: value '0x' " + no_number);
  EXPECT_EQ(number_error("-1"), "f:3: value '-1' " + no_number);
  EXPECT_EQ(number_error("0x-1"), "f:3: value '0x-1' " + no_number);
  EXPECT_EQ(number_error("12k"), "f:3: value '12k' " + no_number);
  EXPECT_EQ(number_error("ff"), "f:3: value 'ff' " + no_number);
  EXPECT_EQ(number_error("256", 255), "f:3: value '256' is too large; expected at most 0xff");
  EXPECT_EQ(number_error("0x10000000000000000", 255),
            "f:3: value '0x10000000000000000' is too large; expected at most 0xff");
}

TEST(Text, MessagesStayShortAndPrintable) {
  EXPECT_EQ(quote("a\x01\xff"), "'a\\x01\\xff'");
  EXPECT_EQ(quote(std::string(100, 'a')), "'" + std::string(40, 'a') + "...'");
}

TEST(Text, Lines) {
  std::string_view rest = "a\r\n\nb", line;
  ASSERT_TRUE(next_line(rest, line));
  EXPECT_EQ(line, "a");
  ASSERT_TRUE(next_line(rest, line));
  EXPECT_EQ(line, "");
  ASSERT_TRUE(next_line(rest, line));
  EXPECT_EQ(line, "b");
  EXPECT_FALSE(next_line(rest, line));
}

TEST(Text, HexBytes) {
  EXPECT_EQ(parse_hex_byte("0x7f"), 0x7f);
  EXPECT_EQ(parse_hex_byte("0xA"), 0xa);
  EXPECT_EQ(parse_hex_byte("7F"), 0x7f);
  for (const char* word : {"", "0x", "0x100", "C", "W=0x8", "0x1124ed50", "dumped", "0xg0"})
    EXPECT_FALSE(parse_hex_byte(word)) << word;
}

TEST(Text, Ranges) {
  check_range(kPlace, 0, 1);
  check_range(kPlace, ~std::uint64_t{0}, 1);
  check_range(kPlace, 0, std::uint64_t{1} << 30);
  EXPECT_EQ(error_of([] { check_range(kPlace, 16, 0); }),
            "f:3: size 0x0 of the memory range at 0x10 is out of range; expected 1 to 0x40000000");
  EXPECT_EQ(error_of([] { check_range(kPlace, 0, (std::uint64_t{1} << 30) + 1); }),
            "f:3: size 0x40000001 of the memory range at 0x0 is out of range; expected 1 to "
            "0x40000000");
  EXPECT_EQ(error_of([] { check_range(kPlace, ~std::uint64_t{0}, 2); }),
            "f:3: memory range at 0xffffffffffffffff with 0x2 bytes passes the end of the address "
            "space; expected a range inside 64 bits");
}

TEST(Text, FileNames) {
  check_file_name(kPlace, "a.dat");
  check_file_name(kPlace, "./a.dat");
  check_file_name(kPlace, "sub/a..dat");
  const std::string rest = " leads out of the folder; expected the name of a file in the folder";
  EXPECT_EQ(name_error("../a"), "f:3: file name '../a'" + rest);
  EXPECT_EQ(name_error("sub/../../a"), "f:3: file name 'sub/../../a'" + rest);
  EXPECT_EQ(name_error("/etc/passwd"), "f:3: file name '/etc/passwd'" + rest);
  EXPECT_EQ(name_error(""), "f:3: file name ''" + rest);
  EXPECT_EQ(name_error("sub/"), "f:3: file name 'sub/'" + rest);
  EXPECT_EQ(name_error(std::string_view("a\0b", 3)), "f:3: file name 'a\\x00b'" + rest);
}

TEST(Text, RegisterOffsets) {
  check_register_offset(kPlace, 0x3fffc);
  EXPECT_EQ(error_of([] { check_register_offset(kPlace, 0x40000); }),
            "f:3: 0x40000 is not a register offset; expected a multiple of 4 below 0x40000");
  EXPECT_EQ(error_of([] { check_register_offset(kPlace, 2); }),
            "f:3: 0x2 is not a register offset; expected a multiple of 4 below 0x40000");
}

}  // namespace
}  // namespace nvdla::replay
