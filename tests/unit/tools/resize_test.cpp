// SPDX-License-Identifier: MIT
//
// Pictures in another size.
#include <gtest/gtest.h>

#include <numeric>

#include "tools/files/picture.hpp"

namespace nvdla::program {
namespace {

Picture ramp(std::uint32_t width, std::uint32_t height, std::uint32_t channels) {
  Picture p{width, height, channels, {}};
  for (std::uint32_t y = 0; y < height; ++y)
    for (std::uint32_t x = 0; x < width; ++x)
      for (std::uint32_t c = 0; c < channels; ++c)
        p.pixels.push_back(static_cast<std::uint8_t>(8 * x + 3 * y + 40 * c));
  return p;
}

TEST(Resize, TheSameSizeIsTheSamePicture) {
  const Picture p = ramp(7, 5, 3);
  for (const Resize mode : {Resize::kCrop, Resize::kStretch, Resize::kPad})
    EXPECT_EQ(resize_picture(p, 7, 5, mode).pixels, p.pixels);
}

TEST(Resize, SmallerPicturesAreAverages) {
  Picture p{4, 2, 1, {0, 100, 200, 100, 100, 0, 100, 200}};
  const Picture small = resize_picture(p, 2, 1, Resize::kStretch);
  EXPECT_EQ(small.width, 2U);
  EXPECT_EQ(small.height, 1U);
  // Triangles over 1/4, 3/4, 3/4, 1/4 of four columns; at an edge without the first.
  ASSERT_EQ(small.pixels.size(), 2U);
  EXPECT_NEAR(small.pixels[0], (3 * 50 + 3 * 50 + 150) / 7.0, 1);
  EXPECT_NEAR(small.pixels[1], (50 + 3 * 150 + 3 * 150) / 7.0, 1);
}

TEST(Resize, LargerPicturesLieBetweenPixels) {
  const Picture large = resize_picture({2, 1, 1, {0, 100}}, 4, 1, Resize::kStretch);
  EXPECT_EQ(large.pixels, (std::vector<std::uint8_t>{0, 25, 75, 100}));
}

TEST(Resize, CroppedPicturesKeepTheirCentre) {
  Picture p{6, 2, 1, {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16}};
  EXPECT_EQ(resize_picture(p, 2, 2, Resize::kCrop).pixels,
            (std::vector<std::uint8_t>{3, 4, 13, 14}));
}

TEST(Resize, PaddedPicturesHaveGreyEdges) {
  const Picture p{2, 1, 3, {1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(resize_picture(p, 2, 3, Resize::kPad).pixels,
            (std::vector<std::uint8_t>{114, 114, 114, 114, 114, 114, 1, 2, 3, 4, 5, 6, 114, 114,
                                       114, 114, 114, 114}));
}

TEST(Resize, AnySizesGiveAnyOthers) {
  for (const auto& [width, height] : {std::pair{1U, 1U}, {1U, 9U}, {31U, 2U}, {8U, 8U}})
    for (const Resize mode : {Resize::kCrop, Resize::kStretch, Resize::kPad}) {
      const Picture p = resize_picture(ramp(width, height, 3), 5, 4, mode);
      EXPECT_EQ(p.pixels.size(), 60U);
    }
}

}  // namespace
}  // namespace nvdla::program
