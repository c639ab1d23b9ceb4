// SPDX-License-Identifier: MIT
//
// Pixels as the names of their formats say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nvdla::test {

// A component of a pixel: the channel that it becomes, and its size as the format's name has it.
struct Component {
  unsigned channel, bits;
};

struct Plane {
  std::vector<Component> parts;  // lowest address or bit first
  unsigned bytes = 0;            // of a pixel
  bool packed = false;           // components are not whole bytes
};

// The name of a pixel format; components of a pixel word follow from it.
std::string pixel_format_name(unsigned code);

std::vector<Plane> planes(const std::string& format);

// Of so many bytes, the lowest first.
std::uint64_t load_word(const std::vector<std::byte>& memory, std::uint64_t at, unsigned bytes);

// Channel of a pixel as a 16-bit container. Of each plane: its memory, where the line begins, and
// where the pixel lies in it.
std::uint16_t pixel_channel(const std::vector<Plane>& format,
                            const std::vector<std::byte> memory[2], const std::uint64_t line[2],
                            const std::uint64_t at[2], unsigned channel);

}  // namespace nvdla::test
