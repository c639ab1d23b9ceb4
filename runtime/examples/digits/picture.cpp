// SPDX-License-Identifier: MIT
#include "picture.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "files.hpp"
#include "tools/files/files.hpp"

namespace digits {
namespace {

Picture cut(const Picture& sheet, std::uint32_t left, std::uint32_t top, std::uint32_t side) {
  Picture picture{side, side, 1, {}};
  picture.pixels.reserve(std::size_t{side} * side);
  for (std::uint32_t y = top; y < top + side; ++y) {
    const auto row = sheet.pixels.begin() + static_cast<std::ptrdiff_t>(y) * sheet.width + left;
    picture.pixels.insert(picture.pixels.end(), row, row + side);
  }
  return picture;
}

}  // namespace

Picture read_picture(const std::filesystem::path& path) {
  const auto file = nvdla::program::read_file(path.string());
  return nvdla::program::decode_picture(path.string(), file, 1);
}

HeldOut read_held_out(const std::filesystem::path& folder) {
  const std::filesystem::path about_path = folder / "held_out.json";
  const std::filesystem::path scores_path = folder / "held_out_scores.json";
  const Picture sheet = read_picture(folder / "held_out.png");
  HeldOut held_out;
  std::uint32_t side = 0;
  std::uint32_t columns = 0;
  std::string labels;
  try {
    const nlohmann::json about = read_json(about_path);
    side = about.at("side").get<std::uint32_t>();
    columns = about.at("columns").get<std::uint32_t>();
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
  const std::size_t room = std::size_t{columns} * (sheet.height / side);
  if (labels.empty() || labels.size() > room || labels.size() != held_out.reference_scores.size()) {
    fail(about_path, std::to_string(labels.size()) + " labels for a sheet of " +
                         std::to_string(room) + " pictures and " +
                         std::to_string(held_out.reference_scores.size()) + " rows of scores");
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < '0' || labels[i] > '9') {
      fail(about_path, "label " + std::to_string(i) + " is not a digit");
    }
    const auto index = static_cast<std::uint32_t>(i);
    held_out.labels.push_back(labels[i] - '0');
    held_out.pictures.push_back(cut(sheet, index % columns * side, index / columns * side, side));
  }
  return held_out;
}

}  // namespace digits
