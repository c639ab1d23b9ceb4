// SPDX-License-Identifier: MIT
//
// Pictures of every kind, from a writer that is not libpng.
#include "tools/files/picture.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/png_writer.hpp"
#include "pictures.hpp"

namespace nvdla::program {
namespace {

using test::make_png;
using test::PngImage;

Picture decode(const std::string& file, std::uint32_t channels) {
  return decode_picture("p.png", bytes_of(file), channels);
}

// Sides that no pass of an interlaced file divides.
constexpr std::uint32_t kWidth = 13, kHeight = 11;

std::uint32_t top(unsigned depth) { return (1U << depth) - 1; }

// All values of a depth, or as many as there are pixels.
PngImage ramp(unsigned depth, unsigned colour_type, bool interlaced) {
  PngImage image{kWidth, kHeight, depth, colour_type, interlaced, {}};
  const std::size_t count = std::size_t{kWidth} * kHeight * image.channels();
  for (std::size_t i = 0; i < count; ++i)
    image.samples.push_back(static_cast<std::uint16_t>(i * 457 % (top(depth) + 1)));
  return image;
}

// To eight bits, halves up.
int scaled(std::uint32_t value, unsigned depth) {
  return static_cast<int>((2 * value * 255 + top(depth)) / (2 * top(depth)));
}

int grey_of(double red, double green, double blue) {
  return static_cast<int>(0.299 * red + 0.587 * green + 0.114 * blue + 0.5);
}

TEST(Png, GreyOfEveryDepth) {
  for (const unsigned depth : {1U, 2U, 4U, 8U, 16U}) {
    for (const bool interlaced : {false, true}) {
      SCOPED_TRACE(testing::Message() << depth << " bits, interlaced " << interlaced);
      const PngImage image = ramp(depth, 0, interlaced);
      const std::string file = make_png(image);
      const Picture grey = decode(file, 1), colours = decode(file, 3);
      ASSERT_EQ(grey.width, kWidth);
      ASSERT_EQ(grey.height, kHeight);
      ASSERT_EQ(grey.pixels.size(), image.samples.size());
      ASSERT_EQ(colours.pixels.size(), image.samples.size() * 3);
      for (std::size_t i = 0; i < image.samples.size(); ++i) {
        ASSERT_EQ(grey.pixels[i], scaled(image.samples[i], depth)) << i;
        for (std::size_t c = 0; c < 3; ++c) ASSERT_EQ(colours.pixels[i * 3 + c], grey.pixels[i]);
      }
    }
  }
}

TEST(Png, ColoursOfEveryDepth) {
  for (const unsigned depth : {8U, 16U}) {
    for (const bool interlaced : {false, true}) {
      SCOPED_TRACE(testing::Message() << depth << " bits, interlaced " << interlaced);
      const PngImage image = ramp(depth, 2, interlaced);
      const std::string file = make_png(image);
      const Picture grey = decode(file, 1), colours = decode(file, 3);
      ASSERT_EQ(colours.pixels.size(), image.samples.size());
      for (std::size_t i = 0; i < colours.pixels.size(); ++i)
        ASSERT_EQ(colours.pixels[i], scaled(image.samples[i], depth)) << i;
      for (std::size_t i = 0; i < grey.pixels.size(); ++i) {
        const auto* const rgb = &colours.pixels[i * 3];
        ASSERT_NEAR(grey.pixels[i], grey_of(rgb[0], rgb[1], rgb[2]), 1) << i;
      }
    }
  }
}

TEST(Png, PalettesOfEveryDepth) {
  for (const unsigned depth : {1U, 2U, 4U, 8U}) {
    for (const bool interlaced : {false, true}) {
      SCOPED_TRACE(testing::Message() << depth << " bits, interlaced " << interlaced);
      PngImage image = ramp(depth, 3, interlaced);
      for (std::uint32_t i = 0; i <= top(depth); ++i)
        image.palette.push_back({static_cast<std::uint8_t>(i * 3), static_cast<std::uint8_t>(i * 5),
                                 static_cast<std::uint8_t>(255 - i)});
      // The first entry is transparent.
      image.transparency = std::string(1, '\0');
      const Picture colours = decode(make_png(image), 3);
      for (std::size_t i = 0; i < colours.pixels.size(); ++i) {
        const std::uint16_t index = image.samples[i / 3];
        ASSERT_EQ(colours.pixels[i], index == 0 ? 0 : image.palette[index][i % 3]) << i;
      }
    }
  }
}

TEST(Png, TransparentPixelsLieOnBlack) {
  for (const unsigned type : {4U, 6U}) {
    for (const unsigned depth : {8U, 16U}) {
      SCOPED_TRACE(testing::Message() << "type " << type << ", " << depth << " bits");
      const PngImage image = ramp(depth, type, false);
      const std::size_t colours = image.channels() - 1;
      const Picture picture = decode(make_png(image), 3);
      for (std::size_t i = 0; i < picture.pixels.size(); ++i) {
        const std::size_t pixel = i / 3 * image.channels();
        const int value = scaled(image.samples[pixel + i % 3 % colours], depth);
        const int alpha = scaled(image.samples[pixel + colours], depth);
        ASSERT_EQ(picture.pixels[i], (2 * value * alpha + 255) / 510) << i;
      }
    }
  }
  // A grey that stands for transparent.
  PngImage image = ramp(8, 0, false);
  image.transparency = std::string("\0\x07", 2);
  image.samples[3] = 7;
  image.samples[4] = 8;
  const Picture picture = decode(make_png(image), 1);
  EXPECT_EQ(picture.pixels[3], 0);
  EXPECT_EQ(picture.pixels[4], 8);
}

// A network was trained on the numbers, not on light.
TEST(Png, GammaChangesNothing) {
  PngImage image = ramp(16, 0, false);
  const Picture plain = decode(make_png(image), 1);
  for (const std::uint32_t gamma : {100000U, 45455U}) {
    std::string data;
    test::put32(data, gamma);
    image.before_data = test::png_chunk("gAMA", data);
    EXPECT_EQ(decode(make_png(image), 1).pixels, plain.pixels) << gamma;
  }
}

TEST(Png, TruncatedAnywhere) {
  const std::string whole = make_png(ramp(8, 2, true));
  for (std::size_t size = 1; size < whole.size(); ++size)
    ASSERT_NE(usage_error_of([&] { decode(whole.substr(0, size), 1); }), "no error") << size;
}

TEST(Png, DamagedAnywhere) {
  const std::string whole = make_png(ramp(8, 0, false));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    ASSERT_NE(usage_error_of([&] { decode(damaged, 1); }), "no error") << at;
  }
}

// Refused by the header, whatever follows.
TEST(Pictures, HugeOnesAreRefusedBeforeTheyAreDecoded) {
  PngImage image = ramp(8, 0, false);
  for (const auto& [width, height] :
       {std::pair(8193U, 1U), {1U, 8193U}, {0x7fffffffU, 0x7fffffffU}}) {
    std::string file = make_png(image), header;
    test::put32(header, width);
    test::put32(header, height);
    header += file.substr(24, 5);
    file.replace(8, 25, test::png_chunk("IHDR", header));
    EXPECT_EQ(usage_error_of([&] { picture_size("p.png", bytes_of(file)); }),
              "p.png: " + std::to_string(width) + "x" + std::to_string(height) +
                  " pixels; sides are 1..8192");
    EXPECT_NE(usage_error_of([&] { decode(file, 1); }).find("sides are 1..8192"),
              std::string::npos);
  }
  EXPECT_EQ(usage_error_of([] { picture_size("p.pgm", bytes_of("P5 8193 1 255\n")); }),
            "p.pgm: 8193x1 pixels; sides are 1..8192");
}

TEST(Pictures, WhatIsNone) {
  EXPECT_EQ(usage_error_of([] { decode("P6 1 1 255\nabc", 3); }),
            "p.png: not a readable PNG, JPEG or PGM file");
}

TEST(Pictures, AreReadAsTheyWereWritten) {
  for (const std::uint32_t channels : {1U, 3U}) {
    Picture picture{16, 16, channels, {}};
    for (std::uint32_t i = 0; i < 256 * channels; ++i)
      picture.pixels.push_back(static_cast<std::uint8_t>(i * 7));
    std::string file;
    for (const std::byte b : encode_png(picture)) file += static_cast<char>(b);
    EXPECT_EQ(decode(file, channels).pixels, picture.pixels);
    if (channels != 1) continue;
    file.clear();
    for (const std::byte b : encode_pgm(picture)) file += static_cast<char>(b);
    EXPECT_EQ(decode(file, 1).pixels, picture.pixels);
  }
}

}  // namespace
}  // namespace nvdla::program
