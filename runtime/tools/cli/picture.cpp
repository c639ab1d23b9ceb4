// SPDX-License-Identifier: MIT
#include "tools/cli/picture.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "tools/cli/commands.hpp"

namespace nvdla::cli {
namespace {

constexpr std::uint8_t kPng[] = {0x89, 'P', 'N', 'G'};
constexpr std::uint32_t kMaxSide = 8192;

bool is_png(const std::vector<std::uint8_t>& file) {
  return file.size() >= sizeof(kPng) && std::memcmp(file.data(), kPng, sizeof(kPng)) == 0;
}

// P5 has bytes, P2 has numbers.
bool is_pgm(const std::vector<std::uint8_t>& file) {
  return file.size() >= 3 && file[0] == 'P' && (file[1] == '5' || file[1] == '2') &&
         std::isspace(file[2]);
}

void check_size(const std::string& name, std::uint32_t width, std::uint32_t height) {
  if (width == 0 || height == 0 || width > kMaxSide || height > kMaxSide) {
    throw UsageError(
        fmt::format("{}: {}x{} pixels; sides are 1..{}", name, width, height, kMaxSide));
  }
}

Picture decode_png(const std::string& name, const std::vector<std::uint8_t>& file,
                   std::uint32_t channels) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, file.data(), file.size()) == 0) {
    throw UsageError(fmt::format("{}: {}", name, image.message));
  }
  Picture picture;
  picture.width = image.width;
  picture.height = image.height;
  picture.channels = channels;
  try {
    check_size(name, image.width, image.height);
  } catch (...) {
    png_image_free(&image);
    throw;
  }
  // Of 16 bits the upper half: as 8 bits are, and not as light that is yet to be encoded.
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  picture.pixels.resize(PNG_IMAGE_SIZE(image));
  const png_color black = {};
  if (png_image_finish_read(&image, &black, picture.pixels.data(), 0, nullptr) == 0) {
    throw UsageError(fmt::format("{}: {}", name, image.message));
  }
  return picture;
}

// The numbers of a PGM, behind blanks and comments.
class PgmNumbers {
 public:
  PgmNumbers(const std::string& name, const std::vector<std::uint8_t>& file)
      : name_(name), file_(file) {}

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
  const std::vector<std::uint8_t>& file_;
  std::size_t at_ = 2;
};

Picture decode_pgm(const std::string& name, const std::vector<std::uint8_t>& file,
                   std::uint32_t channels) {
  PgmNumbers numbers(name, file);
  Picture picture;
  picture.width = numbers.next();
  picture.height = numbers.next();
  const std::uint32_t greatest = numbers.next();
  check_size(name, picture.width, picture.height);
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
  picture.channels = channels;
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

}  // namespace

bool is_picture(const std::vector<std::uint8_t>& file) { return is_png(file) || is_pgm(file); }

Picture decode_picture(const std::string& name, const std::vector<std::uint8_t>& file,
                       std::uint32_t channels) {
  return is_png(file) ? decode_png(name, file, channels) : decode_pgm(name, file, channels);
}

}  // namespace nvdla::cli
