// SPDX-License-Identifier: MIT
//
// Archives of ZIP, from a writer that is not ours: each fault alone, and damage anywhere.
#include "tools/files/zip.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tools/files/status.hpp"

namespace nvdla::program {
namespace {

std::string number(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xff);
  return text;
}

std::string deflated(const std::string& text) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// A member as the archive has it; a test changes one of its fields.
struct Packed {
  std::string name, bytes;
  std::uint32_t method = 0, flags = 0, sum = 0, size = 0;
  std::uint32_t stored_size = 0;
};

Packed packed(const std::string& name, const std::string& text, bool deflate) {
  const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size());
  Packed p{name, deflate ? deflated(text) : text, deflate ? 8U : 0U,
           0,    static_cast<std::uint32_t>(sum), static_cast<std::uint32_t>(text.size()),
           0};
  p.stored_size = static_cast<std::uint32_t>(p.bytes.size());
  return p;
}

std::vector<std::uint8_t> archive(const std::vector<Packed>& members,
                                  const std::string& comment = {}) {
  std::string file, directory;
  for (const Packed& m : members) {
    const std::string fields = number(20, 2) + number(m.flags, 2) + number(m.method, 2) +
                               number(0, 4) + number(m.sum, 4) + number(m.stored_size, 4) +
                               number(m.size, 4) +
                               number(static_cast<std::uint32_t>(m.name.size()), 2);
    directory += number(0x02014b50, 4) + number(20, 2) + fields + std::string(12, '\0') +
                 number(static_cast<std::uint32_t>(file.size()), 4) + m.name;
    // What is behind the name of a member is skipped: its length differs from the directory's.
    file += number(0x04034b50, 4) + fields + number(4, 2) + m.name + "1234" + m.bytes;
  }
  const auto count = static_cast<std::uint32_t>(members.size());
  const auto begin = static_cast<std::uint32_t>(file.size());
  file += directory + number(0x06054b50, 4) + number(0, 4) + number(count, 2) + number(count, 2) +
          number(static_cast<std::uint32_t>(directory.size()), 4) + number(begin, 4) +
          number(static_cast<std::uint32_t>(comment.size()), 2) + comment;
  return {file.begin(), file.end()};
}

std::string refusal(const std::vector<std::uint8_t>& file) {
  try {
    (void)read_zip("a.npz", file);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

std::string text_of(const ZipMember& member) { return {member.bytes.begin(), member.bytes.end()}; }

TEST(Zip, MembersComeBack) {
  const std::string some = "some text", many(5000, 'a');
  for (const std::string comment : {"", "PK\5\6 is what a directory ends with"}) {
    const auto file = archive(
        {packed("x.npy", some, false), packed("y", many, true), packed("", "", true)}, comment);
    EXPECT_TRUE(is_zip(file));
    const auto members = read_zip("a.npz", file);
    ASSERT_EQ(members.size(), 3U);
    EXPECT_EQ(members[0].name, "x.npy");
    EXPECT_EQ(text_of(members[0]), some);
    EXPECT_EQ(text_of(members[1]), many);
    EXPECT_EQ(text_of(members[2]), "");
  }
  EXPECT_TRUE(read_zip("a.npz", archive({})).empty());
  EXPECT_TRUE(is_zip(archive({})));
  EXPECT_FALSE(is_zip(std::vector<std::uint8_t>{'P', 'K', 3}));
}

struct ZipFault {
  const char* title;
  void (*change)(Packed& member);
  const char* words;
};

class ZipRefusal : public testing::TestWithParam<ZipFault> {};

TEST_P(ZipRefusal, NamesTheMember) {
  for (const bool deflate : {false, true}) {
    Packed member = packed("x.npy", "some text, some text, some text", deflate);
    GetParam().change(member);
    const std::string text = refusal(archive({packed("a", "b", false), member}));
    if (text.empty()) {
      EXPECT_TRUE(deflate) << "nothing is refused of a stored member";
      continue;
    }
    EXPECT_NE(text.find("a.npz: 'x.npy': "), std::string::npos) << text;
    EXPECT_NE(text.find(GetParam().words), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Faults, ZipRefusal,
    testing::Values(
        ZipFault{"Encrypted", [](Packed& m) { m.flags = 1; },
                 "expected an archive without a password"},
        ZipFault{"Method", [](Packed& m) { m.method = 12; }, "packed by method 12"},
        ZipFault{"Sum", [](Packed& m) { ++m.sum; }, "its bytes are damaged: their CRC-32 is"},
        ZipFault{"Size", [](Packed& m) { ++m.size; }, "32"},
        ZipFault{"Large", [](Packed& m) { m.size = 0xffffffff; }, "expected at most 2 GiB"},
        ZipFault{"Ratio", [](Packed& m) { m.size = 1U << 30; }, "1073741824"}),
    [](const auto& each) { return each.param.title; });

TEST(Zip, TruncatedAnywhere) {
  const auto whole = archive({packed("x", "some text", false), packed("y", "some text", true)});
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(
        refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}).empty())
        << size;
}

// What is still read has the right bytes: damage is found by their sum, or is in what nobody needs.
TEST(Zip, DamagedAnywhere) {
  const std::string text = "some text";
  const auto whole = archive({packed("x", text, false), packed("y", text, true)});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const unsigned flip : {1U, 0x80U, 0xffU}) {
      auto file = whole;
      file[at] = static_cast<std::uint8_t>(file[at] ^ flip);
      try {
        for (const ZipMember& member : read_zip("a.npz", file)) EXPECT_EQ(text_of(member), text);
      } catch (const UsageError& error) {
        EXPECT_EQ(std::string(error.what()).find("a.npz: "), 0U);
      }
    }
  }
}

}  // namespace
}  // namespace nvdla::program
