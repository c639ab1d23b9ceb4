// SPDX-License-Identifier: MIT
#include "tools/cli/picture.hpp"

#include <fmt/format.h>
#include <png.h>

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

bool is_pgm(const std::vector<std::uint8_t>& file) {
  return file.size() >= 3 && file[0] == 'P' && file[1] == '5' && std::isspace(file[2]);
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
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  picture.pixels.resize(PNG_IMAGE_SIZE(image));
  const png_color black = {};
  if (png_image_finish_read(&image, &black, picture.pixels.data(), 0, nullptr) == 0) {
    throw UsageError(fmt::format("{}: {}", name, image.message));
  }
  return picture;
}

Picture decode_pgm(const std::string& name, const std::vector<std::uint8_t>& file,
                   std::uint32_t channels) {
  std::size_t at = 2;
  const auto number = [&] {
    for (;;) {
      while (at < file.size() && std::isspace(file[at])) ++at;
      if (at >= file.size() || file[at] != '#') break;
      while (at < file.size() && file[at] != '\n') ++at;
    }
    std::uint32_t value = 0;
    const std::size_t start = at;
    while (at < file.size() && std::isdigit(file[at]) && value < 1000000) {
      value = value * 10 + (file[at++] - '0');
    }
    if (at == start)
      throw UsageError(fmt::format("{}: no number at byte {} of its header", name, at));
    return value;
  };
  Picture picture;
  picture.width = number();
  picture.height = number();
  const std::uint32_t greatest = number();
  check_size(name, picture.width, picture.height);
  if (greatest != 255) {
    throw UsageError(fmt::format("{}: the greatest value is {}; only 255 is read", name, greatest));
  }
  ++at;  // one blank
  const std::size_t need = std::size_t{picture.width} * picture.height;
  if (file.size() < at || file.size() - at < need) {
    throw UsageError(fmt::format("{}: {}x{} pixels need {} bytes, {} are there", name,
                                 picture.width, picture.height, need,
                                 file.size() - std::min(at, file.size())));
  }
  picture.channels = channels;
  for (std::size_t i = 0; i < need; ++i) {
    picture.pixels.insert(picture.pixels.end(), channels, file[at + i]);
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
