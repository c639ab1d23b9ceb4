// SPDX-License-Identifier: MIT
#include "picture.hpp"

#include <png.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "files.hpp"

namespace digits {
namespace {

// A header may promise any size; pictures of digits are small.
constexpr std::uint32_t kMaxSide = 8192;

Picture cut(const Picture& sheet, int left, int top, int side) {
  Picture picture{side, side, {}};
  picture.pixels.reserve(static_cast<std::size_t>(side) * static_cast<std::size_t>(side));
  for (int y = top; y < top + side; ++y) {
    const auto row = sheet.pixels.begin() + static_cast<std::ptrdiff_t>(y) * sheet.width + left;
    picture.pixels.insert(picture.pixels.end(), row, row + side);
  }
  return picture;
}

}  // namespace

Picture read_png(const std::filesystem::path& path) {
  const std::string file = read_file(path);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, file.data(), file.size())) {
    fail(path, std::string("not a readable PNG file: ") + image.message);
  }
  if (image.width > kMaxSide || image.height > kMaxSide) {
    const std::string size = std::to_string(image.width) + " x " + std::to_string(image.height);
    png_image_free(&image);
    fail(path, "is " + size + " pixels, at most " + std::to_string(kMaxSide) + " a side");
  }
  image.format = PNG_FORMAT_GRAY;
  Picture picture{static_cast<int>(image.width), static_cast<int>(image.height), {}};
  try {
    picture.pixels.resize(PNG_IMAGE_SIZE(image));
  } catch (...) {
    png_image_free(&image);
    throw;
  }
  // Transparent pixels of a file with an alpha channel lie on black, the ground of the digits.
  const png_color black{0, 0, 0};
  if (!png_image_finish_read(&image, &black, picture.pixels.data(), 0, nullptr)) {
    const std::string message = image.message;
    png_image_free(&image);
    fail(path, "cannot be decoded: " + message);
  }
  // libpng stops reading after the last pixel.
  if (file.find("IEND\xae\x42\x60\x82") == std::string::npos) {
    fail(path, "ends early: the closing IEND chunk is missing");
  }
  return picture;
}

HeldOut read_held_out(const std::filesystem::path& folder) {
  const std::filesystem::path about_path = folder / "held_out.json";
  const std::filesystem::path scores_path = folder / "held_out_scores.json";
  const Picture sheet = read_png(folder / "held_out.png");
  HeldOut held_out;
  int side = 0;
  int columns = 0;
  std::string labels;
  try {
    const nlohmann::json about = read_json(about_path);
    side = about.at("side").get<int>();
    columns = about.at("columns").get<int>();
    labels = about.at("labels").get<std::string>();
  } catch (const nlohmann::json::exception& error) {
    fail(about_path, error.what());
  }
  try {
    const nlohmann::json content = read_json(scores_path);
    for (const nlohmann::json& row : content.at("scores")) {
      std::vector<std::int8_t> scores;
      for (const nlohmann::json& score : row) {
        if (!score.is_number_integer() || score < -128 || score > 127) {
          fail(scores_path, "score " + score.dump() + " is no int8 number");
        }
        scores.push_back(score.get<std::int8_t>());
      }
      held_out.reference_scores.push_back(std::move(scores));
    }
  } catch (const nlohmann::json::exception& error) {
    fail(scores_path, error.what());
  }

  if (side < 1 || side > sheet.width || columns < 1 || columns != sheet.width / side ||
      sheet.width % side != 0 || sheet.height % side != 0) {
    fail(about_path, "side " + std::to_string(side) + " and columns " + std::to_string(columns) +
                         " do not fit a sheet of " + std::to_string(sheet.width) + " x " +
                         std::to_string(sheet.height) + " pixels");
  }
  const std::size_t room =
      static_cast<std::size_t>(columns) * static_cast<std::size_t>(sheet.height / side);
  if (labels.empty() || labels.size() > room || labels.size() != held_out.reference_scores.size()) {
    fail(about_path, std::to_string(labels.size()) + " labels for a sheet of " +
                         std::to_string(room) + " pictures and " +
                         std::to_string(held_out.reference_scores.size()) + " rows of scores");
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < '0' || labels[i] > '9') {
      fail(about_path, "label " + std::to_string(i) + " is not a digit");
    }
    const int index = static_cast<int>(i);
    held_out.labels.push_back(labels[i] - '0');
    held_out.pictures.push_back(cut(sheet, index % columns * side, index / columns * side, side));
  }
  return held_out;
}

}  // namespace digits
