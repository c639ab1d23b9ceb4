// SPDX-License-Identifier: MIT
//
// Pictures in another size.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tools/files/picture.hpp"

namespace nvdla::program {
namespace {

constexpr std::uint8_t kGreyEdge = 114;

// The pixels of a line that make one of the result.
struct Blend {
  std::uint32_t first = 0;
  std::vector<double> weights;
};

// Returns the blends that make `to` pixels of `from`.
std::vector<Blend> blends_of(std::uint32_t from, std::uint32_t to) {
  const double step = static_cast<double>(from) / to, reach = std::max(step, 1.0);
  std::vector<Blend> blends;
  for (std::uint32_t i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * step;
    const double low = std::max(std::floor(centre - reach), 0.0);
    const double high = std::min(std::ceil(centre + reach), static_cast<double>(from));
    Blend blend;
    blend.first = static_cast<std::uint32_t>(low);
    double sum = 0;
    for (double at = low; at < high; ++at) {
      const double weight = std::max(1 - std::fabs(at + 0.5 - centre) / reach, 0.0);
      blend.weights.push_back(weight);
      sum += weight;
    }
    for (double& weight : blend.weights) weight /= sum;
    blends.push_back(std::move(blend));
  }
  return blends;
}

Picture stretch(const Picture& picture, std::uint32_t width, std::uint32_t height) {
  const std::size_t channels = picture.channels;
  const auto columns = blends_of(picture.width, width), lines = blends_of(picture.height, height);
  // Lines become shorter first, then fewer.
  std::vector<double> between(std::size_t{picture.height} * width * channels);
  double* to = between.data();
  for (std::uint32_t y = 0; y < picture.height; ++y)
    for (const Blend& blend : columns)
      for (std::size_t c = 0; c < channels; ++c) {
        const std::uint8_t* from =
            &picture.pixels[(std::size_t{y} * picture.width + blend.first) * channels + c];
        double sum = 0;
        for (const double weight : blend.weights) {
          sum += weight * *from;
          from += channels;
        }
        *to++ = sum;
      }
  Picture result{width, height, picture.channels, {}};
  result.pixels.reserve(std::size_t{width} * height * channels);
  for (const Blend& blend : lines)
    for (std::size_t i = 0; i < width * channels; ++i) {
      double sum = 0;
      std::size_t line = blend.first;
      for (const double weight : blend.weights)
        sum += weight * between[line++ * width * channels + i];
      result.pixels.push_back(
          static_cast<std::uint8_t>(std::clamp(std::floor(sum + 0.5), 0.0, 255.0)));
    }
  return result;
}

std::uint32_t scaled(std::uint32_t side, double factor) {
  return std::max<std::uint32_t>(static_cast<std::uint32_t>(std::lround(side * factor)), 1);
}

// Puts a picture into the middle of another one, of which it may be larger or smaller.
Picture centre(const Picture& picture, std::uint32_t width, std::uint32_t height) {
  Picture result{width, height, picture.channels, {}};
  result.pixels.assign(std::size_t{width} * height * picture.channels, kGreyEdge);
  const auto offset = [](std::uint32_t of, std::uint32_t in) {
    return (static_cast<std::int64_t>(in) - static_cast<std::int64_t>(of)) / 2;
  };
  const std::int64_t left = offset(picture.width, width), top = offset(picture.height, height);
  for (std::int64_t y = 0; y < static_cast<std::int64_t>(height); ++y)
    for (std::int64_t x = 0; x < static_cast<std::int64_t>(width); ++x) {
      const std::int64_t from_y = y - top, from_x = x - left;
      if (from_y < 0 || from_y >= picture.height || from_x < 0 || from_x >= picture.width) continue;
      const std::size_t channels = picture.channels;
      std::copy_n(
          &picture.pixels[static_cast<std::size_t>(from_y * picture.width + from_x) * channels],
          channels, &result.pixels[static_cast<std::size_t>(y * width + x) * channels]);
    }
  return result;
}

}  // namespace

Resize parse_resize(const std::string& name) {
  return name == "crop" ? Resize::kCrop : name == "pad" ? Resize::kPad : Resize::kStretch;
}

Picture resize_picture(const Picture& picture, std::uint32_t width, std::uint32_t height,
                       Resize mode) {
  if (picture.width == width && picture.height == height) return picture;
  if (mode == Resize::kStretch) return stretch(picture, width, height);
  const double by_width = static_cast<double>(width) / picture.width;
  const double by_height = static_cast<double>(height) / picture.height;
  const double factor =
      mode == Resize::kCrop ? std::max(by_width, by_height) : std::min(by_width, by_height);
  return centre(stretch(picture, scaled(picture.width, factor), scaled(picture.height, factor)),
                width, height);
}

}  // namespace nvdla::program
