// SPDX-License-Identifier: MIT
//
// Pictures: PNG, JPEG and PGM to pixels of eight bits, and PNG and PGM back.
#ifndef NVDLA_TOOLS_FILES_PICTURE_HPP
#define NVDLA_TOOLS_FILES_PICTURE_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nvdla::program {

// A header may promise any size; NVDLA's cubes have no longer sides.
inline constexpr std::uint32_t kMaxSide = 8192;

struct Picture {
  std::uint32_t width = 0, height = 0;
  std::uint32_t channels = 1;        // 1 grey, 3 red, green, blue
  std::vector<std::uint8_t> pixels;  // line by line, the channels of a pixel together
};

struct PictureSize {
  std::uint32_t width = 0, height = 0;
};

// By what the file begins with, whatever it is called.
bool is_picture(std::span<const std::uint8_t> file);

// What the header says, before anything is decoded. Like decode_picture() it throws UsageError for
// what is no picture, is damaged, ends early, or has sides of no or more than kMaxSide pixels.
PictureSize picture_size(const std::string& name, std::span<const std::uint8_t> file);

// As many channels as asked for: 1 or 3. The numbers of the file are taken as they are, whatever it
// says of gamma: the greatest of its depth becomes 255, others in proportion. Colours become grey
// with the weights of ITU-R BT.601; what is transparent lies on black.
Picture decode_picture(const std::string& name, std::span<const std::uint8_t> file,
                       std::uint32_t channels);

// `Resize` tells how a picture is brought to another size.
enum class Resize {
  kCrop,     // as large as needed to cover it; what is beyond is cut off on both sides
  kStretch,  // each axis for itself
  kPad,      // as large as fits; grey (114) on both sides
};
// Returns the mode with a name: "crop", "stretch", "pad".
Resize parse_resize(const std::string& name);
// Returns the picture in another size. Pixels are averages of those that they cover, weighted by
// their distance (a triangle as wide as two of the larger pixels); the same on every machine.
Picture resize_picture(const Picture& picture, std::uint32_t width, std::uint32_t height,
                       Resize mode);

std::vector<std::byte> encode_png(const Picture& picture);
// `picture` has one channel.
std::vector<std::byte> encode_pgm(const Picture& picture);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_FILES_PICTURE_HPP
