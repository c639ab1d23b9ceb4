// SPDX-License-Identifier: MIT
#include "tools/files/picture.hpp"

#include <fmt/format.h>

#include "tools/files/decoders.hpp"
#include "tools/files/status.hpp"

namespace nvdla::program {
namespace {

void check(const std::string& name, std::span<const std::uint8_t> file) {
  if (!is_picture(file)) {
    throw UsageError(fmt::format("{}: not a readable PNG file or PGM file", name));
  }
}

}  // namespace

bool is_picture(std::span<const std::uint8_t> file) { return is_png(file) || is_pgm(file); }

PictureSize picture_size(const std::string& name, std::span<const std::uint8_t> file) {
  check(name, file);
  return is_png(file) ? png_size(name, file) : pgm_size(name, file);
}

Picture decode_picture(const std::string& name, std::span<const std::uint8_t> file,
                       std::uint32_t channels) {
  check(name, file);
  return is_png(file) ? decode_png(name, file, channels) : decode_pgm(name, file, channels);
}

}  // namespace nvdla::program
