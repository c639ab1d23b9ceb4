// SPDX-License-Identifier: MIT
//
// JPEG files from a writer that is not libjpeg.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/jpeg_writer.hpp"
#include "pictures.hpp"
#include "tools/files/picture.hpp"

namespace nvdla::program {
namespace {

using test::JpegImage;
using test::make_jpeg;

Picture decode_jpg(const std::string& file, std::uint32_t channels) {
  return decode_picture("p.jpg", bytes_of(file), channels);
}

JpegImage blocks(unsigned components) {
  JpegImage image{.blocks_across = 3, .blocks_down = 2, .components = components, .blocks = {}};
  for (unsigned i = 0; i < 6 * components; ++i)
    image.blocks.push_back(static_cast<std::uint8_t>(i * 83 + 5));
  return image;
}

// Returns the number of the block that has the pixel.
std::size_t block_of(std::uint32_t x, std::uint32_t y) { return y / 8 * 3 + x / 8; }

TEST(Jpeg, GreyIsWhatTheFileHas) {
  const JpegImage image = blocks(1);
  const std::string file = make_jpeg(image);
  const PictureSize size = picture_size("p.jpg", bytes_of(file));
  EXPECT_EQ(size.width, 24U);
  EXPECT_EQ(size.height, 16U);
  const Picture grey = decode_jpg(file, 1), colours = decode_jpg(file, 3);
  ASSERT_EQ(grey.pixels.size(), 24U * 16);
  ASSERT_EQ(colours.pixels.size(), 24U * 16 * 3);
  for (std::uint32_t i = 0; i < 24 * 16; ++i) {
    ASSERT_EQ(grey.pixels[i], image.blocks[block_of(i % 24, i / 24)]) << i;
    for (unsigned c = 0; c < 3; ++c) ASSERT_EQ(colours.pixels[i * 3 + c], grey.pixels[i]);
  }
}

// The expected colours are those of the formulas of JFIF, rounded.
TEST(Jpeg, ColoursAreThoseOfJfif) {
  const JpegImage image = blocks(3);
  const std::string file = make_jpeg(image);
  const Picture grey = decode_jpg(file, 1), colours = decode_jpg(file, 3);
  for (std::uint32_t i = 0; i < 24 * 16; ++i) {
    const std::uint8_t* block = &image.blocks[block_of(i % 24, i / 24) * 3];
    const double y = block[0], cb = block[1] - 128.0, cr = block[2] - 128.0;
    const double rgb[3] = {y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb};
    ASSERT_EQ(grey.pixels[i], block[0]);
    for (unsigned c = 0; c < 3; ++c)
      ASSERT_NEAR(colours.pixels[i * 3 + c], std::clamp(std::round(rgb[c]), 0.0, 255.0), 1) << i;
  }
}

TEST(Jpeg, EveryCutIsRefused) {
  const std::string whole = make_jpeg(blocks(3));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(usage_error_of([&] {
                decode_jpg(whole.substr(0, size), 3);
              }).find("p.jpg: not a readable "),
              std::string::npos)
        << size;
  }
}

TEST(Jpeg, AnyByteMayBeWrong) {
  const std::string whole = make_jpeg(blocks(3));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 0x80, 0xff}) {
      std::string file = whole;
      file[at] = static_cast<char>(file[at] ^ change);
      const std::string error = usage_error_of([&] { decode_jpg(file, 1); });
      EXPECT_TRUE(error == "no error" || error.find("p.jpg: ") == 0) << error;
    }
  }
}

TEST(Jpeg, SizesThatCannotBe) {
  std::string file = make_jpeg(blocks(1));
  const std::size_t frame = file.find("\xff\xc0");
  file[frame + 7] = '\x20';
  file[frame + 8] = '\x01';
  EXPECT_EQ(usage_error_of([&] { picture_size("p.jpg", bytes_of(file)); }),
            "p.jpg: 8193x16 pixels; sides are 1..8192");
  EXPECT_EQ(usage_error_of([&] { decode_jpg(file, 1); }),
            "p.jpg: 8193x16 pixels; sides are 1..8192");
}

TEST(Jpeg, ColoursOfPrintersAreRefused) {
  EXPECT_EQ(usage_error_of([] { decode_jpg(make_jpeg(blocks(4)), 3); }),
            "p.jpg: a JPEG file of 4 inks or unknown colours; expected grey, RGB or YCbCr");
}

// A small file that takes long: each scan goes over all pixels.
TEST(Jpeg, ManyScansAreRefused) {
  JpegImage image = blocks(1);
  image.scans = 500;
  EXPECT_EQ(usage_error_of([&] { decode_jpg(make_jpeg(image), 1); }),
            "p.jpg: not a readable JPEG file: it has more than 100 scans");
}

}  // namespace
}  // namespace nvdla::program
