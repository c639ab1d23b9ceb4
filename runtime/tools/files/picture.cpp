// SPDX-License-Identifier: MIT
#include "tools/files/picture.hpp"

#include <fmt/format.h>

#include "tools/files/decoders.hpp"
#include "tools/files/status.hpp"

namespace nvdla::program {
namespace {

void check(const std::string& name, std::span<const std::uint8_t> file) {
  if (!is_picture(file)) {
    throw UsageError(fmt::format("{}: not a readable PNG, JPEG or PGM file", name));
  }
}

}  // namespace

bool is_picture(std::span<const std::uint8_t> file) {
  return is_png(file) || is_jpeg(file) || is_pgm(file);
}

PictureSize picture_size(const std::string& name, std::span<const std::uint8_t> file) {
  check(name, file);
  if (is_png(file)) return png_size(name, file);
  return is_jpeg(file) ? jpeg_size(name, file) : pgm_size(name, file);
}

Picture decode_picture(const std::string& name, std::span<const std::uint8_t> file,
                       std::uint32_t channels) {
  check(name, file);
  if (is_png(file)) return decode_png(name, file, channels);
  return is_jpeg(file) ? decode_jpeg(name, file, channels) : decode_pgm(name, file, channels);
}

}  // namespace nvdla::program
