// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/replay/parsers.hpp"
#include "tools/replay/text.hpp"

namespace nvdla::replay {
namespace {

// Reads tokens of a packet file and counts lines.
class Packets {
 public:
  Packets(std::string_view text, std::string_view file) : rest_(text), place_{file, 1} {}

  const Place& place() const noexcept { return place_; }

  bool at_end() {
    skip_blank();
    return rest_.empty();
  }

  bool take(char c) {
    skip_blank();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(fmt::format("'{}'", c));
  }

  bool sees(std::string_view word) {
    skip_blank();
    return rest_.starts_with(word);
  }

  void expect_key(std::string_view key) {
    if (!sees(key)) fail(fmt::format("'{}:'", key));
    rest_.remove_prefix(key.size());
    expect(':');
  }

  // Up to the next blank or punctuation.
  std::string_view word() {
    skip_blank();
    const std::size_t end = std::min(rest_.find_first_of(" \t\r\n,{}:"), rest_.size());
    const std::string_view result = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return result;
  }

  [[noreturn]] void fail(std::string_view expected) const {
    if (rest_.empty())
      throw Error(place_.file, place_.line,
                  fmt::format("the file ends early; expected {}", expected));
    throw Error(place_.file, place_.line,
                fmt::format("unexpected {}; expected {}", quote(rest_.substr(0, 12)), expected));
  }

 private:
  void skip_blank() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '\n')
        ++place_.line;
      else if (c != ' ' && c != '\t' && c != '\r')
        break;
      rest_.remove_prefix(1);
    }
  }

  std::string_view rest_;
  Place place_;
};

std::vector<std::byte>& segment_at(Blob& blob, std::uint64_t offset) {
  if (blob.empty() || blob.back().offset + blob.back().bytes.size() != offset)
    blob.push_back({offset, {}});
  return blob.back().bytes;
}

}  // namespace

Blob parse_packets(std::string_view text, std::string_view file) {
  Packets in(text, file);
  Blob blob;
  // Some files have braces around all packets, some have not.
  in.expect('{');
  const bool enclosed = !in.sees("offset");
  bool opened = !enclosed;
  while (enclosed ? !in.take('}') : opened || !in.at_end()) {
    if (!opened) in.expect('{');
    opened = false;
    in.expect_key("offset");
    const std::uint64_t offset = parse_number(in.place(), in.word(), "offset", kMaxRange - 1);
    in.expect(',');
    in.expect_key("size");
    const std::uint64_t size = parse_number(in.place(), in.word(), "size", kMaxRange - offset);
    in.expect(',');
    in.expect_key("payload");
    const Place start = in.place();
    std::vector<std::byte>& bytes = segment_at(blob, offset);
    std::uint64_t count = 0;
    while (!in.take('}')) {
      const std::string_view word = in.word();
      if (word.empty()) in.fail("a hexadecimal byte or '}'");
      const auto byte = parse_hex_byte(word);
      if (!byte)
        throw Error(file, in.place().line,
                    fmt::format("{} is not a byte; expected 0x00 to 0xff", quote(word)));
      if (count++ == size) break;
      bytes.push_back(std::byte{*byte});
    }
    if (count != size)
      throw Error(
          file, start.line,
          fmt::format("the payload has {} bytes; expected {} as its size says",
                      count > size ? "more than " + std::to_string(size) : std::to_string(count),
                      size));
    // A comma joins packets; some files have one after the last.
    if (!in.take(',')) {
      if (enclosed) in.expect('}');
      break;
    }
  }
  if (!in.at_end()) in.fail("the end of the file");
  if (blob.empty()) throw Error(file, in.place().line, "no packet; expected at least one");
  return blob;
}

Blob parse_hex_lines(std::string_view text, std::string_view file) {
  Blob blob(1);
  std::vector<std::byte>& bytes = blob.front().bytes;
  Place place{file, 0};
  std::string_view line;
  while (next_line(text, line)) {
    ++place.line;
    std::string_view word = next_word(line);
    if (!parse_hex_byte(word)) continue;
    for (; !word.empty(); word = next_word(line)) {
      const auto byte = parse_hex_byte(word);
      if (!byte)
        throw Error(file, place.line,
                    fmt::format("{} is not a byte; expected 0x00 to 0xff", quote(word)));
      bytes.push_back(std::byte{*byte});
    }
  }
  if (bytes.empty()) throw Error(file, 0, "no bytes; expected lines of hexadecimal bytes");
  return blob;
}

Blob parse_text_blob(std::string_view text, std::string_view file) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return parse_packets(text, file);
  return parse_hex_lines(text, file);
}

std::uint64_t covered(const Blob& blob, std::uint64_t size) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  ranges.reserve(blob.size());
  for (const Segment& segment : blob)
    ranges.emplace_back(segment.offset, segment.offset + segment.bytes.size());
  std::sort(ranges.begin(), ranges.end());
  std::uint64_t end = 0;
  for (const auto& [first, last] : ranges) {
    if (first > end) break;
    end = std::max(end, last);
  }
  return std::min(end, size);
}

}  // namespace nvdla::replay
