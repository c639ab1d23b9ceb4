// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tools/files/decoders.hpp"
#include "tools/files/status.hpp"

namespace nvdla::program {
namespace {

// The numbers of a PGM, behind blanks and comments.
class Numbers {
 public:
  Numbers(const std::string& name, std::span<const std::uint8_t> file) : name_(name), file_(file) {}

  std::uint32_t next() {
    for (;;) {
      while (at_ < file_.size() && std::isspace(file_[at_])) ++at_;
      if (at_ >= file_.size() || file_[at_] != '#') break;
      while (at_ < file_.size() && file_[at_] != '\n') ++at_;
    }
    std::uint32_t value = 0;
    const std::size_t start = at_;
    while (at_ < file_.size() && std::isdigit(file_[at_]) && value < 1000000) {
      value = value * 10 + (file_[at_++] - '0');
    }
    if (at_ == start) throw UsageError(fmt::format("{}: no number at byte {}", name_, at_));
    return value;
  }
  std::size_t at() const { return at_; }

 private:
  const std::string& name_;
  std::span<const std::uint8_t> file_;
  std::size_t at_ = 2;
};

PictureSize read_size(const std::string& name, Numbers& numbers) {
  PictureSize size;
  size.width = numbers.next();
  size.height = numbers.next();
  if (size.width == 0 || size.height == 0 || size.width > kMaxSide || size.height > kMaxSide) {
    throw UsageError(
        fmt::format("{}: {}x{} pixels; sides are 1..{}", name, size.width, size.height, kMaxSide));
  }
  return size;
}

}  // namespace

bool is_pgm(std::span<const std::uint8_t> file) {
  return file.size() >= 3 && file[0] == 'P' && (file[1] == '5' || file[1] == '2') &&
         std::isspace(file[2]);
}

PictureSize pgm_size(const std::string& name, std::span<const std::uint8_t> file) {
  Numbers numbers(name, file);
  return read_size(name, numbers);
}

Picture decode_pgm(const std::string& name, std::span<const std::uint8_t> file,
                   std::uint32_t channels) {
  Numbers numbers(name, file);
  const PictureSize size = read_size(name, numbers);
  Picture picture{size.width, size.height, channels, {}};
  const std::uint32_t greatest = numbers.next();
  if (greatest == 0 || greatest > 65535) {
    throw UsageError(
        fmt::format("{}: the greatest value is {}; it must be in 1..65535", name, greatest));
  }
  const bool text = file[1] == '2';
  const std::size_t pixels = std::size_t{picture.width} * picture.height;
  const std::size_t bytes = greatest < 256 ? 1 : 2;  // of a pixel
  std::size_t at = numbers.at() + 1;                 // one blank
  if (!text && (file.size() < at || file.size() - at < pixels * bytes)) {
    throw UsageError(fmt::format("{}: {}x{} pixels need {} bytes, {} are there", name,
                                 picture.width, picture.height, pixels * bytes,
                                 file.size() - std::min(at, file.size())));
  }
  for (std::size_t i = 0; i < pixels; ++i) {
    std::uint32_t value = 0;
    if (text) value = numbers.next();
    for (std::size_t k = 0; k < bytes && !text; ++k) value = value << 8 | file[at++];
    if (value > greatest) {
      throw UsageError(fmt::format("{}: pixel {} is {}, more than {}", name, i, value, greatest));
    }
    // The greatest value is white.
    const auto pixel = static_cast<std::uint8_t>((value * 255 + greatest / 2) / greatest);
    picture.pixels.insert(picture.pixels.end(), channels, pixel);
  }
  return picture;
}

std::vector<std::byte> encode_pgm(const Picture& picture) {
  const std::string header = fmt::format("P5\n{} {}\n255\n", picture.width, picture.height);
  std::vector<std::byte> bytes;
  for (const char c : header) bytes.push_back(static_cast<std::byte>(c));
  for (const std::uint8_t pixel : picture.pixels) bytes.push_back(std::byte{pixel});
  return bytes;
}

}  // namespace nvdla::program
