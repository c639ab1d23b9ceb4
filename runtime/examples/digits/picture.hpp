// SPDX-License-Identifier: MIT
//
// Reads grey pictures: files, and the sheet of held-out pictures with its labels.
#ifndef NVDLA_EXAMPLES_DIGITS_PICTURE_HPP
#define NVDLA_EXAMPLES_DIGITS_PICTURE_HPP

#include <cstdint>
#include <filesystem>
#include <vector>

#include "tools/files/picture.hpp"

namespace digits {

using nvdla::program::Picture;

struct HeldOut {
  std::vector<Picture> pictures;
  std::vector<int> labels;
  // The scores that reference.py computes in int8, one row per picture.
  std::vector<std::vector<std::int8_t>> reference_scores;
};

// Reads a PNG, JPEG or PGM file as 8-bit grey. Throws nvdla::program::UsageError.
Picture read_picture(const std::filesystem::path& path);

// Reads held_out.png, held_out.json and held_out_scores.json. Throws likewise.
HeldOut read_held_out(const std::filesystem::path& folder);

}  // namespace digits

#endif  // NVDLA_EXAMPLES_DIGITS_PICTURE_HPP
