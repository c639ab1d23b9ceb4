// SPDX-License-Identifier: MIT
//
// PNG files of every colour type, depth and order of lines, written without libpng.
#pragma once

#include <zlib.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace nvdla::test {

struct PngImage {
  std::uint32_t width = 0, height = 0;
  unsigned depth = 8;
  unsigned colour_type = 0;  // 0 grey, 2 colours, 3 palette, 4 grey and alpha, 6 colours and alpha
  bool interlaced = false;
  std::vector<std::uint16_t> samples;  // line by line, those of a pixel together
  std::vector<std::array<std::uint8_t, 3>> palette = {};
  std::string transparency = {};  // of tRNS
  std::string before_data = {};   // whole chunks, such as gAMA

  unsigned channels() const {
    constexpr std::array<unsigned, 7> kChannels = {1, 0, 3, 1, 2, 0, 4};
    return kChannels[colour_type];
  }
};

inline void put32(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

inline std::string png_chunk(const std::string& type, const std::string& data) {
  std::string chunk;
  put32(chunk, static_cast<std::uint32_t>(data.size()));
  const std::string body = type + data;
  chunk += body;
  put32(chunk, static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                                                static_cast<uInt>(body.size()))));
  return chunk;
}

// Every `step`-th pixel of every `line_step`-th line, unfiltered.
inline std::string png_pass(const PngImage& image, std::uint32_t left, std::uint32_t top,
                            std::uint32_t step, std::uint32_t line_step) {
  std::string lines;
  for (std::uint32_t y = top; y < image.height; y += line_step) {
    if (left >= image.width) break;
    lines += '\0';
    unsigned bits = 0, filled = 0;
    for (std::uint32_t x = left; x < image.width; x += step) {
      for (unsigned c = 0; c < image.channels(); ++c) {
        bits = bits << image.depth | image.samples[(y * image.width + x) * image.channels() + c];
        filled += image.depth;
        for (; filled >= 8; filled -= 8) lines += static_cast<char>(bits >> (filled - 8));
      }
    }
    if (filled != 0) lines += static_cast<char>(bits << (8 - filled));
  }
  return lines;
}

inline std::string make_png(const PngImage& image) {
  std::string header;
  put32(header, image.width);
  put32(header, image.height);
  header += static_cast<char>(image.depth);
  header += static_cast<char>(image.colour_type);
  header += std::string(2, '\0');
  header += static_cast<char>(image.interlaced);

  std::string lines;
  if (image.interlaced) {
    constexpr std::uint32_t kPasses[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                             {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    for (const auto& pass : kPasses) lines += png_pass(image, pass[0], pass[1], pass[2], pass[3]);
  } else {
    lines = png_pass(image, 0, 0, 1, 1);
  }
  uLongf size = compressBound(static_cast<uLong>(lines.size()));
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(lines.data()), static_cast<uLong>(lines.size()));
  packed.resize(size);

  std::string palette;
  for (const auto& colour : image.palette)
    for (const std::uint8_t part : colour) palette += static_cast<char>(part);
  std::string file = "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + image.before_data;
  if (!palette.empty()) file += png_chunk("PLTE", palette);
  if (!image.transparency.empty()) file += png_chunk("tRNS", image.transparency);
  return file + png_chunk("IDAT", packed) + png_chunk("IEND", "");
}

}  // namespace nvdla::test
