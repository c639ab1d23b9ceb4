// SPDX-License-Identifier: MIT
#include "expect_error.hpp"
#include "tools/replay/parsers.hpp"

namespace nvdla::replay {
namespace {

std::vector<unsigned> values(const Segment& segment) {
  std::vector<unsigned> result;
  for (std::byte byte : segment.bytes) result.push_back(std::to_integer<unsigned>(byte));
  return result;
}

std::string packet_error(std::string_view text) {
  return error_of([&] { parse_packets(text, "f.dat"); });
}

using Values = std::vector<unsigned>;

TEST(Packets, WithAndWithoutBracesAroundAll) {
  for (const char* text : {
           "{\n{offset:0x0, size:2, payload:0x01 0xfF} ,\n{offset:0x2, size:1, payload:0x7} ,\n}\n",
           "{\n{offset:0x0, size:2, payload:0x01 0xff},{offset:2, size:1, payload:0x07}\n}",
           "{offset:0x0, size:2, payload:0x01 0xff},\n{offset:0x2, size:1, payload:0x07},",
           "{offset:0x0, size:2, payload:0x01 0xff},\r\n{offset:0x2, size:1, payload:0x07}\r\n",
       }) {
    const Blob blob = parse_packets(text, "f.dat");
    ASSERT_EQ(blob.size(), 1u) << text;
    EXPECT_EQ(blob[0].offset, 0u);
    EXPECT_EQ(values(blob[0]), (Values{1, 0xff, 7})) << text;
  }
}

TEST(Packets, GapsStayGaps) {
  const Blob blob =
      parse_packets("{offset:4, size:1, payload:0x01},{offset:0, size:2, payload:0x2 0x3}", "f");
  ASSERT_EQ(blob.size(), 2u);
  EXPECT_EQ(blob[0].offset, 4u);
  EXPECT_EQ(blob[1].offset, 0u);
  EXPECT_EQ(covered(blob, 100), 2u);
  EXPECT_EQ(covered(blob, 1), 1u);
}

TEST(Packets, CoverageInAnyOrder) {
  const Blob blob =
      parse_packets("{offset:2, size:2, payload:1f 2f},{offset:0, size:2, payload:0x2 0x3}", "f");
  EXPECT_EQ(covered(blob, 4), 4u);
  EXPECT_EQ(covered(blob, 5), 4u);
}

TEST(Packets, Errors) {
  EXPECT_EQ(packet_error(""), "f.dat:1: the file ends early; expected '{'");
  EXPECT_EQ(packet_error("{\n"), "f.dat:2: the file ends early; expected '{'");
  EXPECT_EQ(packet_error("{\n}"), "f.dat:2: no packet; expected at least one");
  EXPECT_EQ(packet_error("\nhello"), "f.dat:2: unexpected 'hello'; expected '{'");
  EXPECT_EQ(packet_error("{offset:0, size:2, payload:0x1"),
            "f.dat:1: the file ends early; expected a hexadecimal byte or '}'");
  EXPECT_EQ(packet_error("{\n{offset:0, size:1, payload:0x1},\n"),
            "f.dat:3: the file ends early; expected '{'");
  EXPECT_EQ(packet_error("{\n{offset:0, size:1, payload:0x1}\n"),
            "f.dat:3: the file ends early; expected '}'");
  EXPECT_EQ(packet_error("{offset:0, size:2, payload:0x1}"),
            "f.dat:1: the payload has 1 bytes; expected 2 as its size says");
  EXPECT_EQ(packet_error("{offset:0, size:1, payload:0x1 0x2}"),
            "f.dat:1: the payload has more than 1 bytes; expected 1 as its size says");
  EXPECT_EQ(packet_error("{offset:0, size:1, payload:0x100}"),
            "f.dat:1: '0x100' is not a byte; expected 0x00 to 0xff");
  EXPECT_EQ(packet_error("{offset:x, size:1, payload:0x1}"),
            "f.dat:1: offset 'x' is not a number; expected a decimal or 0x hexadecimal number");
  EXPECT_EQ(packet_error("{offset:0x1000000000000000, size:1, payload:0x1}"),
            "f.dat:1: offset '0x1000000000000000' is too large; expected at most 0x3fffffff");
  EXPECT_EQ(packet_error("{offset:0, size:0x1000000000000000, payload:0x1}"),
            "f.dat:1: size '0x1000000000000000' is too large; expected at most 0x40000000");
  EXPECT_EQ(packet_error("{offset 0"), "f.dat:1: unexpected '0'; expected ':'");
  EXPECT_EQ(packet_error("{offset:0 size:1"), "f.dat:1: unexpected 'size:1'; expected ','");
  EXPECT_EQ(packet_error("{offset:0, length:1"),
            "f.dat:1: unexpected 'length:1'; expected 'size:'");
  EXPECT_EQ(packet_error("{offset:0, size:1, payload:0x1} x"),
            "f.dat:1: unexpected 'x'; expected the end of the file");
}

TEST(HexLines, HeadersAndFootersAreLeftOut) {
  const Blob blob = parse_hex_lines(
      "# dumped @ 2016\nW = 8\nC = 32\nPrecision=INT16\nCrc=0x1124ed50\n0x00 0x20\t0xff\r\n"
      "\n 0x01\n====================\ndump done\n",
      "f.dat");
  ASSERT_EQ(blob.size(), 1u);
  EXPECT_EQ(values(blob[0]), (Values{0, 0x20, 0xff, 1}));
}

TEST(HexLines, Errors) {
  EXPECT_EQ(error_of([] { parse_hex_lines("W = 8\n", "f.dat"); }),
            "f.dat: no bytes; expected lines of hexadecimal bytes");
  EXPECT_EQ(error_of([] { parse_hex_lines("W = 8\n0x01 0x0g\n", "f.dat"); }),
            "f.dat:2: '0x0g' is not a byte; expected 0x00 to 0xff");
}

TEST(TextBlob, FormatIsToldByTheFirstCharacter) {
  EXPECT_EQ(parse_text_blob(" {offset:1, size:1, payload:0x1}", "f")[0].offset, 1u);
  EXPECT_EQ(parse_text_blob("0x1 0x2", "f")[0].bytes.size(), 2u);
}

}  // namespace
}  // namespace nvdla::replay
