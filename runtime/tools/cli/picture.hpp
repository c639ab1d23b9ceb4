// SPDX-License-Identifier: MIT
//
// Pictures as inputs of networks: PNG and PGM, and how their pixels become elements.
#ifndef NVDLA_TOOLS_CLI_PICTURE_HPP
#define NVDLA_TOOLS_CLI_PICTURE_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace nvdla::cli {

struct Picture {
  std::uint32_t width = 0, height = 0;
  std::uint32_t channels = 1;        // 1 grey, 3 red, green, blue
  std::vector<std::uint8_t> pixels;  // line by line, the channels of a pixel together
};

// By what the file begins with, whatever it is called.
bool is_picture(const std::vector<std::uint8_t>& file);
// Eight bits a channel, with as many channels as asked for: 1 or 3. Throws UsageError.
Picture decode_picture(const std::string& name, const std::vector<std::uint8_t>& file,
                       std::uint32_t channels);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_PICTURE_HPP
