// SPDX-License-Identifier: MIT
//
// The directory at the end of an archive has names, sizes and places of all members; what members
// have in front of them repeats it and is skipped.
#include "tools/files/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tools/files/files.hpp"
#include "tools/files/status.hpp"

namespace nvdla::program {
namespace {

constexpr std::uint32_t kMember = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50;
constexpr std::size_t kMemberBytes = 30, kEntryBytes = 46, kEndBytes = 22;
constexpr std::uint64_t kMaxComment = 0xffff;
constexpr std::uint16_t kStored = 0, kDeflated = 8;
// Deflate makes at most this many bytes of one.
constexpr std::uint64_t kMaxRatio = 1032;

template <typename... Args>
[[noreturn]] void refuse_zip(const std::string& path, fmt::format_string<Args...> format,
                             Args&&... args) {
  throw UsageError(path + ": " + fmt::format(format, std::forward<Args>(args)...));
}

// `ZipBytes` reads numbers of a file, the lowest byte first.
class ZipBytes {
 public:
  ZipBytes(const std::string& path, std::span<const std::uint8_t> file)
      : path_(path), file_(file) {}

  std::uint64_t size() const { return file_.size(); }
  std::uint16_t u16(std::uint64_t at) const {
    const auto bytes = part(at, 2);
    return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8);
  }
  std::uint32_t u32(std::uint64_t at) const {
    return u16(at) | static_cast<std::uint32_t>(u16(at + 2)) << 16;
  }
  // Returns some bytes, all of which the file must have.
  std::span<const std::uint8_t> part(std::uint64_t at, std::uint64_t bytes) const {
    if (at > file_.size() || bytes > file_.size() - at)
      refuse_zip(path_, "the archive is damaged: {} bytes at {} are beyond its end, at {}", bytes,
                 at, file_.size());
    return file_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(bytes));
  }

 private:
  const std::string& path_;
  std::span<const std::uint8_t> file_;
};

// Returns where the end of the directory is described, behind which there is only a comment.
std::uint64_t find_end(const std::string& path, const ZipBytes& file) {
  const std::uint64_t size = file.size();
  for (std::uint64_t comment = 0; comment <= kMaxComment && comment + kEndBytes <= size;
       ++comment) {
    const std::uint64_t at = size - kEndBytes - comment;
    if (file.u32(at) == kEnd && file.u16(at + 20) == comment) return at;
  }
  refuse_zip(path, "the archive has no directory at its end; it is truncated, or no archive");
}

std::vector<std::uint8_t> inflate_all(const std::string& place, std::span<const std::uint8_t> from,
                                      std::uint64_t size) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    refuse_zip(place, "there is no memory to inflate it");
  stream.next_in = const_cast<Bytef*>(from.data());
  stream.avail_in = static_cast<uInt>(from.size());
  // An empty member has one byte of room, which shows whether something comes out of it.
  Bytef none = 0;
  stream.next_out = bytes.empty() ? &none : bytes.data();
  stream.avail_out = static_cast<uInt>(std::max<std::size_t>(bytes.size(), 1));
  const int status = inflate(&stream, Z_FINISH);
  const std::uint64_t made = stream.total_out;
  inflateEnd(&stream);
  if (status != Z_STREAM_END || made != size)
    refuse_zip(place, "its deflated bytes are damaged: {} of {} come out", made, size);
  return bytes;
}

// Reads the member that the directory describes at `at`; `left`: bytes that members may still have.
ZipMember read_member(const std::string& path, const ZipBytes& file, std::uint64_t at,
                      std::uint64_t left) {
  const std::uint16_t flags = file.u16(at + 8), method = file.u16(at + 10);
  const std::uint32_t sum = file.u32(at + 16), packed = file.u32(at + 20), size = file.u32(at + 24);
  const auto name = file.part(at + kEntryBytes, file.u16(at + 28));
  ZipMember member = {{name.begin(), name.end()}, {}};
  const std::string place = fmt::format("{}: '{}'", path, member.name);
  if ((flags & 1) != 0)
    refuse_zip(place, "it is encrypted; expected an archive without a password");
  if (method != kStored && method != kDeflated)
    refuse_zip(place, "it is packed by method {}; expected stored or deflated members (0 or 8)",
               method);
  if (size > left) refuse_zip(place, "it has {} bytes; expected at most 2 GiB in an archive", size);
  const std::uint64_t header = file.u32(at + 42);
  if (file.u32(header) != kMember)
    refuse_zip(place, "the archive is damaged: it has no member at {}", header);
  const auto bytes =
      file.part(header + kMemberBytes + file.u16(header + 26) + file.u16(header + 28), packed);
  if (method == kStored) {
    if (packed != size)
      refuse_zip(place, "it is stored, and has sizes of {} and {} bytes", packed, size);
    member.bytes.assign(bytes.begin(), bytes.end());
  } else {
    if (size > packed * kMaxRatio)
      refuse_zip(place, "{} deflated bytes cannot be {} of a member", packed, size);
    member.bytes = inflate_all(place, bytes, size);
  }
  const auto found =
      static_cast<std::uint32_t>(crc32_z(0, member.bytes.data(), member.bytes.size()));
  if (found != sum)
    refuse_zip(place, "its bytes are damaged: their CRC-32 is {:08x}, not {:08x}", found, sum);
  return member;
}

}  // namespace

bool is_zip(std::span<const std::uint8_t> file) {
  if (file.size() < 4) return false;
  const std::string path;
  const std::uint32_t first = ZipBytes(path, file).u32(0);
  return first == kMember || first == kEnd;
}

std::vector<ZipMember> read_zip(const std::string& path, std::span<const std::uint8_t> bytes) {
  const ZipBytes file(path, bytes);
  const std::uint64_t end = find_end(path, file);
  const std::uint16_t count = file.u16(end + 10);
  std::uint64_t at = file.u32(end + 16);
  std::uint64_t left = kMaxFileBytes;
  std::vector<ZipMember> members;
  for (std::uint16_t i = 0; i < count; ++i) {
    if (file.u32(at) != kEntry)
      refuse_zip(path, "the archive is damaged: entry {} of its directory is not at {}", i + 1, at);
    members.push_back(read_member(path, file, at, left));
    left -= members.back().bytes.size();
    at += kEntryBytes + file.u16(at + 28) + file.u16(at + 30) + file.u16(at + 32);
  }
  return members;
}

}  // namespace nvdla::program
