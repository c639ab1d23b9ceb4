// SPDX-License-Identifier: MIT
//
// PNG files to pixels, by libpng.
#ifndef NVDLA_TOOLS_FILES_PNG_HPP
#define NVDLA_TOOLS_FILES_PNG_HPP

#include <cstdint>
#include <span>
#include <string>

#include "tools/files/picture.hpp"

namespace nvdla::program {

bool is_png(std::span<const std::uint8_t> file);
PictureSize png_size(const std::string& name, std::span<const std::uint8_t> file);
Picture decode_png(const std::string& name, std::span<const std::uint8_t> file,
                   std::uint32_t channels);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_FILES_PNG_HPP
