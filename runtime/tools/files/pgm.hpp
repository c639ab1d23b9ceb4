// SPDX-License-Identifier: MIT
//
// PGM files to pixels: P5 has bytes or words, P2 numbers.
#ifndef NVDLA_TOOLS_FILES_PGM_HPP
#define NVDLA_TOOLS_FILES_PGM_HPP

#include <cstdint>
#include <span>
#include <string>

#include "tools/files/picture.hpp"

namespace nvdla::program {

bool is_pgm(std::span<const std::uint8_t> file);
PictureSize pgm_size(const std::string& name, std::span<const std::uint8_t> file);
Picture decode_pgm(const std::string& name, std::span<const std::uint8_t> file,
                   std::uint32_t channels);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_FILES_PGM_HPP
