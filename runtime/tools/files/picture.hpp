// SPDX-License-Identifier: MIT
//
// Decodes PNG, JPEG and PGM to pixels of eight bits, and encodes PNG and PGM.
#ifndef NVDLA_TOOLS_FILES_PICTURE_HPP
#define NVDLA_TOOLS_FILES_PICTURE_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nvdla::program {

// The limit on a picture's sides, since a header may claim any size; NVDLA's cubes have no longer
// sides.
inline constexpr std::uint32_t kMaxSide = 8192;

struct Picture {
  std::uint32_t width = 0, height = 0;
  std::uint32_t channels = 1;        // 1 grey, 3 red, green, blue
  std::vector<std::uint8_t> pixels;  // line by line, the channels of a pixel together
};

struct PictureSize {
  std::uint32_t width = 0, height = 0;
};

// Returns true if a file is a picture by its first bytes, whatever its name.
bool is_picture(std::span<const std::uint8_t> file);

// Returns the size in the header, without decoding the pixels. Like decode_picture(), it throws
// UsageError for a file that is no picture, is damaged, ends early, or has a side of 0 or more than
// kMaxSide pixels.
PictureSize picture_size(const std::string& name, std::span<const std::uint8_t> file);

// Decodes a picture to 1 or 3 channels. Ignores gamma: the greatest number of the file's depth
// becomes 255, and others are in proportion. Colours become grey with the weights of ITU-R BT.601;
// transparent pixels are on black.
Picture decode_picture(const std::string& name, std::span<const std::uint8_t> file,
                       std::uint32_t channels);

// `Resize` selects how a picture is brought to another size.
enum class Resize {
  kCrop,     // as large as needed to cover it; what is beyond is cut off on both sides
  kStretch,  // each axis for itself
  kPad,      // as large as fits; grey (114) on both sides
};
// Returns the mode of a name: "crop", "stretch", "pad".
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
