// SPDX-License-Identifier: MIT
//
// Grey pictures: PNG files, and the sheet of held-out pictures with its labels.
#ifndef NVDLA_EXAMPLES_DIGITS_PICTURE_HPP
#define NVDLA_EXAMPLES_DIGITS_PICTURE_HPP

#include <cstdint>
#include <filesystem>
#include <vector>

namespace digits {

struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;  // row by row, 0 is black
};

struct HeldOut {
  std::vector<Picture> pictures;
  std::vector<int> labels;
  // What reference.py computes with the int8 numbers, one row a picture.
  std::vector<std::vector<std::int8_t>> reference_scores;
};

// Reads a PNG file as 8-bit grey; colour is converted. Throws std::runtime_error.
Picture read_png(const std::filesystem::path& path);

// Reads held_out.png, held_out.json and held_out_scores.json. Throws std::runtime_error.
HeldOut read_held_out(const std::filesystem::path& folder);

}  // namespace digits

#endif  // NVDLA_EXAMPLES_DIGITS_PICTURE_HPP
