// SPDX-License-Identifier: MIT
//
// The decoders of picture files, one for each format.
#ifndef NVDLA_TOOLS_FILES_DECODERS_HPP
#define NVDLA_TOOLS_FILES_DECODERS_HPP

#include <cstdint>
#include <span>
#include <string>

#include "tools/files/picture.hpp"

namespace nvdla::program {

// PGM comes in two kinds: P5 has bytes or words, P2 numbers.
bool is_pgm(std::span<const std::uint8_t> file);
PictureSize pgm_size(const std::string& name, std::span<const std::uint8_t> file);
Picture decode_pgm(const std::string& name, std::span<const std::uint8_t> file,
                   std::uint32_t channels);

// PNG is decoded by libpng.
bool is_png(std::span<const std::uint8_t> file);
PictureSize png_size(const std::string& name, std::span<const std::uint8_t> file);
Picture decode_png(const std::string& name, std::span<const std::uint8_t> file,
                   std::uint32_t channels);

bool is_jpeg(std::span<const std::uint8_t> file);
PictureSize jpeg_size(const std::string& name, std::span<const std::uint8_t> file);
// Decodes by libjpeg. Grey is the luma that the file holds. Pixels stay in the order of the file,
// whatever its EXIF data says of the camera's position.
Picture decode_jpeg(const std::string& name, std::span<const std::uint8_t> file,
                    std::uint32_t channels);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_FILES_DECODERS_HPP
